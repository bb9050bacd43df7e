package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"headroom/runner"
	"headroom/runner/plan"
	"headroom/runner/send"
	"headroom/store/record"
)

func initCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "init", Usage: "write a commented plan to start from; never overwrites", ArgsUsage: "[FILE]",
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usagef("init takes at most one argument, the file to write")
			}
			file := c.Args().First()
			if file == "" {
				file = "headroom.yaml"
			}
			if file == "-" {
				_, err := std.Out.Write(plan.Init())
				return err
			}
			f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if errors.Is(err, os.ErrExist) {
				return fmt.Errorf("%s exists already and is left as it is; give another name", file)
			}
			if err != nil {
				return err
			}
			_, err = f.Write(plan.Init())
			if err = errors.Join(err, f.Close()); err != nil {
				os.Remove(file)
				return err
			}
			_, err = fmt.Fprintln(std.Out, file)
			return err
		},
	}
}

func checkCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "validate a plan, print its schedule, and send one request per class", ArgsUsage: "PLAN",
		Flags: commonFlags(
			&cli.BoolFlag{Name: "offline", Usage: "send nothing"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
		),
		Action: func(c *cli.Context) error {
			file, err := oneArgument(c, "the plan")
			if err != nil {
				return err
			}
			if f := c.String("format"); f != "text" && f != "json" {
				return usagef("--format %s: check prints text or json", f)
			}
			p, err := loadPlan(file, std)
			if err != nil {
				return err
			}
			s, err := runner.ScheduleOf(p)
			if err != nil {
				return &exitError{exitUsage, err}
			}
			result := checked{Plan: file, Name: p.Name, schedule: s}
			if !c.Bool("offline") {
				if result.Requests, err = dryRun(c.Context, p, std); err != nil {
					return err
				}
			}
			if err := result.print(std.Out, c.String("format")); err != nil {
				return err
			}
			for _, r := range result.Requests {
				if r.Outcome != record.OK.String() {
					return fmt.Errorf("class %s: %s; put the request or its expectation right, or check with --offline", r.Class, r.Outcome)
				}
			}
			return nil
		},
	}
}

type checked struct {
	Plan     string       `json:"plan"`
	Name     string       `json:"name"`
	Phases   []phaseRow   `json:"phases"`
	LengthS  float64      `json:"length_s"`
	Expected float64      `json:"expected_requests"`
	Decided  string       `json:"decided_during_the_run,omitempty"`
	Requests []requestRow `json:"requests"`
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
	fmt.Fprintf(w, "%s: the plan %q is valid\n\nschedule, without the drains between plateaus:\n", r.Plan, r.Name)
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
	fmt.Fprintln(w)
	if len(r.Requests) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\none request of each class:")
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
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

// dryRun sends one request of each class, or one walk through each flow, one
// after the other.
func dryRun(ctx context.Context, p *plan.Plan, std IO) ([]requestRow, error) {
	stops := watchStops(ctx)
	defer stops.release()
	t, err := startTarget(stops, p)
	if err != nil {
		return nil, err
	}
	defer t.stop()
	engine, err := newEngine(t.config(p))
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	h := header(p, time.Now())
	traffic, err := runner.NewTraffic(p, h)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	var rows []requestRow
	for _, one := range runner.OneOfEach(stops.soft, h, traffic, engine) {
		row := requestRow{Class: h.Classes[one.Class].Name, Status: one.Result.Status, Outcome: one.Outcome.String(), Bytes: one.Result.BytesIn}
		if one.Err != record.ErrNone {
			row.Error = one.Err.String()
		}
		row.ConnectMS = millis(one.Result, one.Result.Sent-one.Due)
		row.FirstMS = millis(one.Result, one.Result.FirstByte-one.Result.Sent)
		row.TotalMS = millis(one.Result, one.Result.Done-one.Due)
		rows = append(rows, row)
	}
	if code := stops.code(); code != 0 {
		return nil, exit(code)
	}
	return rows, nil
}

func millis(r send.Result, ns int64) float64 {
	if r.Unsent || ns < 0 {
		return 0
	}
	return float64(ns) / 1e6
}
