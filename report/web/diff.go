package web

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"headroom/store/record"
)

// diffLine is one line of a plan: on both sides, or on one.
type diffLine struct {
	Text string
	Sign string // "" on both, "−" only before, "+" only after
	Tone string
}

// factLine is one fact on both sides.
type factLine struct {
	Name, A, B string
	Differs    bool
}

type diffData struct {
	A, B                      *Entry
	Plan                      []diffLine
	Facts                     []factLine
	Changed                   int
	SamePlan, NoPlan, TooLong bool
	Runs                      []Entry
	KeyA, KeyB                string
}

// maxDiffLines bounds what is compared line by line.
const maxDiffLines = 3000

func (s *Server) diffPage(w http.ResponseWriter, r *http.Request, p *pageOf) error {
	q := r.URL.Query()
	d := &diffData{KeyA: q.Get("a"), KeyB: q.Get("b")}
	all, err := s.entries(r.Context())
	if err != nil {
		return err
	}
	for i := len(all) - 1; i >= 0 && len(d.Runs) < 500; i-- {
		if all[i].Readable() {
			d.Runs = append(d.Runs, all[i])
		}
	}
	p.Title, p.Where, p.Data = p.W.Diff, "diff", d
	if d.KeyA == "" || d.KeyB == "" {
		return p.show(w, "diff", http.StatusOK)
	}
	var facts [2]record.Facts
	for i, k := range []string{d.KeyA, d.KeyB} {
		e, err := s.readable(r.Context(), k)
		if err != nil {
			return err
		}
		ev, err := s.cfg.Library.Open(r.Context(), *e)
		if err != nil {
			return err
		}
		facts[i] = ev.Facts()
		if err := ev.Close(); err != nil {
			return err
		}
		*[]**Entry{&d.A, &d.B}[i] = e
	}
	d.compare(facts)
	return p.show(w, "diff", http.StatusOK)
}

func (d *diffData) compare(facts [2]record.Facts) {
	a, b := d.A.Header.Plan, d.B.Header.Plan
	d.NoPlan = a == "" && b == ""
	d.SamePlan = a == b && a != ""
	la, lb := strings.Split(strings.TrimRight(a, "\n"), "\n"), strings.Split(strings.TrimRight(b, "\n"), "\n")
	if d.TooLong = len(la) > maxDiffLines || len(lb) > maxDiffLines; !d.TooLong && !d.NoPlan {
		d.Plan = diffLines(la, lb)
	}
	d.Facts = factLines(factsOf(d.A, facts[0]), factsOf(d.B, facts[1]))
	for _, f := range d.Facts {
		if f.Differs {
			d.Changed++
		}
	}
}

// factsOf is everything that is known of a run's circumstances, by name.
func factsOf(e *Entry, f record.Facts) map[string]string {
	h := &e.Header
	m := map[string]string{
		"name": h.Name, "release": h.Release, "model": string(h.Model), "format": h.Format, "arrivals": h.Arrivals,
		"seed": strconv.FormatUint(h.Seed, 10), "interval_s": seconds(h.IntervalNS), "timeout_s": seconds(h.TimeoutNS), "deadline_s": seconds(h.DeadlineNS),
		"max_in_flight": strconv.Itoa(h.MaxInFlight), "max_connections": strconv.Itoa(h.MaxConns), "keepalive": strconv.FormatBool(h.KeepAlive),
		"http_version": h.HTTPVersion, "retries": strconv.Itoa(h.Retries), "shards": strconv.Itoa(h.Shards),
		"tool_version": h.ToolVersion, "plan_digest": h.PlanDigest, "comparable_key": h.Comparable, "gates": strings.Join(h.Gates, "; "),
	}
	if p := h.Production; p != nil {
		m["production.peak_rps"], m["production.taken"], m["production.source"] = fmt.Sprint(p.PeakRPS), p.Taken, p.Source
	}
	for k, v := range f.Generator {
		m["generator."+k] = v
	}
	for k, v := range f.Target {
		m["target."+k] = v
	}
	return m
}

func seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', -1, 64) }

// factLines puts those first that differ.
func factLines(a, b map[string]string) []factLine {
	names := map[string]bool{}
	for k := range a {
		names[k] = true
	}
	for k := range b {
		names[k] = true
	}
	var differ, same []factLine
	for _, k := range slices.Sorted(maps.Keys(names)) {
		l := factLine{k, a[k], b[k], a[k] != b[k]}
		if l.Differs {
			differ = append(differ, l)
		} else {
			same = append(same, l)
		}
	}
	return append(differ, same...)
}

// diffLines is the shortest way from a to b by the longest common subsequence,
// what both have at their ends left out of the table.
func diffLines(a, b []string) []diffLine {
	var head, tail []diffLine
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, diffLine{Text: a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, diffLine{Text: a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	slices.Reverse(tail)
	length := make([][]int32, len(a)+1) // of the common subsequence from here on
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	out := head
	for len(a) > 0 || len(b) > 0 {
		i, j := len(length)-1-len(a), len(length[0])-1-len(b)
		switch {
		case len(a) > 0 && len(b) > 0 && a[0] == b[0]:
			out = append(out, diffLine{Text: a[0]})
			a, b = a[1:], b[1:]
		case len(b) == 0 || len(a) > 0 && length[i+1][j] >= length[i][j+1]:
			out = append(out, diffLine{a[0], "−", "bad"})
			a = a[1:]
		default:
			out = append(out, diffLine{b[0], "+", "good"})
			b = b[1:]
		}
	}
	return append(out, tail...)
}
