package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"headroom/prep/realism"
	"headroom/runner"
)

// checked is what check found out about a plan.
type checked struct {
	Plan     string        `json:"plan"`
	Name     string        `json:"name"`
	Phases   []phaseRow    `json:"phases"`
	LengthS  float64       `json:"length_s"`
	Expected float64       `json:"expected_requests"`
	Decided  string        `json:"decided_during_the_run,omitempty"`
	Requests []requestRow  `json:"requests"`
	Realism  []realism.Row `json:"realism"`
	schedule runner.Schedule
}

type phaseRow struct {
	Kind      string  `json:"kind"`
	StartS    float64 `json:"start_s"`
	LengthS   float64 `json:"length_s"`
	TargetRPS float64 `json:"target_rps,omitempty"`
	Users     int     `json:"users,omitempty"`
	Requests  float64 `json:"expected_requests"`
}

type requestRow struct {
	Class     string  `json:"class"`
	Status    int     `json:"status"`
	Outcome   string  `json:"outcome"`
	Error     string  `json:"error,omitempty"`
	Bytes     int64   `json:"bytes"`
	ConnectMS float64 `json:"connect_ms"`
	FirstMS   float64 `json:"first_byte_ms"`
	TotalMS   float64 `json:"total_ms"`
}

func (r *checked) print(w io.Writer, format string) error {
	for _, p := range r.schedule.Phases {
		r.Phases = append(r.Phases, phaseRow{string(p.Kind), p.Start.Seconds(), p.Length.Seconds(), p.RPS, p.Users, p.Count})
	}
	r.LengthS, r.Expected, r.Decided = r.schedule.Length.Seconds(), r.schedule.Requests, r.schedule.Open
	if format == "json" {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	switch format {
	case "csv":
		return csv.NewWriter(w).WriteAll(append([][]string{phaseHead}, r.phaseTable()...))
	case "markdown":
		printMarkdownTable(w, phaseHead, r.phaseTable())
		if len(r.Requests) > 0 {
			fmt.Fprintln(w)
			printMarkdownTable(w, requestHead, r.requestTable())
		}
		fmt.Fprintln(w)
		printMarkdownTable(w, realismHead, r.realismTable())
		return nil
	}
	return r.printText(w)
}

var (
	phaseHead   = []string{"phase", "start_s", "length_s", "target_rps", "users", "expected_requests"}
	requestHead = []string{"class", "status", "outcome", "error", "bytes", "connect_ms", "first_byte_ms", "total_ms"}
)

func (r *checked) phaseTable() [][]string {
	var rows [][]string
	for _, p := range r.Phases {
		target, users := decimal(p.TargetRPS), ""
		if p.Users > 0 {
			target, users = "", strconv.Itoa(p.Users)
		}
		rows = append(rows, []string{p.Kind, decimal(p.StartS), decimal(p.LengthS), target, users, decimal(p.Requests)})
	}
	return rows
}

func (r *checked) requestTable() [][]string {
	var rows [][]string
	for _, q := range r.Requests {
		rows = append(rows, []string{
			q.Class, strconv.Itoa(q.Status), q.Outcome, q.Error, strconv.FormatInt(q.Bytes, 10),
			decimal(q.ConnectMS), decimal(q.FirstMS), decimal(q.TotalMS),
		})
	}
	return rows
}

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func (r *checked) printText(w io.Writer) error {
	fmt.Fprintf(w, "%s: the plan %q is valid\n\n", r.Plan, r.Name)
	if err := r.printSchedule(w); err != nil {
		return err
	}
	r.printRealism(w)
	if len(r.Requests) == 0 {
		return nil
	}
	return r.printRequests(w)
}

// printSchedule prints what is known of the schedule beforehand: of a load that
// looks for its rates itself that is no more than what it does.
func (r *checked) printSchedule(w io.Writer) error {
	if r.Expected == 0 && r.Decided != "" {
		if r.schedule.Length > 0 {
			fmt.Fprintf(w, "at most %s: ", r.schedule.Length)
		}
		_, err := fmt.Fprintln(w, r.Decided)
		return err
	}
	fmt.Fprintln(w, "schedule, without the drains between plateaus:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "phase\tstart\tlength\ttarget\texpected requests\t")
	for _, p := range r.schedule.Phases {
		target := fmt.Sprintf("%.4g/s", p.RPS)
		if p.Users > 0 {
			target = fmt.Sprintf("%d users", p.Users)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.0f\t\n", p.Kind, p.Start, p.Length, target, p.Count)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "at most %s and about %.0f requests", r.schedule.Length, r.Expected)
	if r.Decided != "" {
		fmt.Fprintf(w, "; %s", r.Decided)
	}
	_, err := fmt.Fprintln(w)
	return err
}

func (r *checked) printRequests(w io.Writer) error {
	fmt.Fprintln(w, "\none request of each class:")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "class\tstatus\toutcome\tbody\tconnect\tfirst byte\ttotal")
	for _, q := range r.Requests {
		what := q.Outcome
		if q.Error != "" {
			what += " (" + q.Error + ")"
		}
		fmt.Fprintf(t, "%s\t%d\t%s\t%d B\t%.2f ms\t%.2f ms\t%.2f ms\n", q.Class, q.Status, what, q.Bytes, q.ConnectMS, q.FirstMS, q.TotalMS)
	}
	return t.Flush()
}
