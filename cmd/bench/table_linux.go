package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// table gathers what was measured, a value a round.
type table struct {
	machine string
	server  string
	busy    []string // what other work has had of the machine, for each part
	tools   []*row   // of the comparison, in the order in which they came
	order   []string // keys of single
	single  map[string][]float64
	truths  []*truthRow
	limits  []budget
	notes   []string
}

// row is one tool at one rate.
type row struct {
	tool string
	rate float64 // +Inf: as fast as it goes
	all  []outcome
}

type truthRow struct {
	tool               string
	said               []outcome
	lateness, response []quantiles // as the server saw them
}

// note keeps a sentence for the end, once.
func (t *table) note(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	if !slices.Contains(t.notes, s) {
		t.notes = append(t.notes, s)
	}
}

// values adds values of a single measurement.
func (t *table) values(key string, v ...float64) {
	if t.single == nil {
		t.single = map[string][]float64{}
	}
	if t.single[key] == nil {
		t.order = append(t.order, key)
	}
	t.single[key] = append(t.single[key], v...)
}

func (t *table) compared(tool string, rate float64, o outcome) {
	for _, r := range t.tools {
		if r.tool == tool && r.rate == rate {
			r.all = append(r.all, o)
			return
		}
	}
	t.tools = append(t.tools, &row{tool, rate, []outcome{o}})
}

func (t *table) heldRate(tool string, rate float64) { t.values("held "+tool, rate) }

func (t *table) truthful(tool string, o outcome, lateness, response quantiles) {
	i := slices.IndexFunc(t.truths, func(r *truthRow) bool { return r.tool == tool })
	if i < 0 {
		t.truths = append(t.truths, &truthRow{tool: tool})
		i = len(t.truths) - 1
	}
	r := t.truths[i]
	r.said, r.lateness, r.response = append(r.said, o), append(r.lateness, lateness), append(r.response, response)
}

// at is the values of a tool's row, nil where it has none.
func (t *table) at(tool string, rate float64, value func(*outcome) float64) []float64 {
	for _, r := range t.tools {
		if r.tool == tool && r.rate == rate {
			return each(r.all, value)
		}
	}
	return nil
}

func each[T any](all []T, value func(*T) float64) []float64 {
	var v []float64
	for i := range all {
		v = append(v, value(&all[i]))
	}
	return v
}

// median is NaN where there is no value, or one that is not known.
func median(v []float64) float64 {
	if len(v) == 0 || slices.ContainsFunc(v, math.IsNaN) {
		return math.NaN()
	}
	s := slices.Clone(v)
	slices.Sort(s)
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// spread is the median and, where there are several values, their range.
func spread(v []float64) string {
	m := median(v)
	if math.IsNaN(m) {
		return "–"
	}
	if len(v) == 1 || slices.Min(v) == slices.Max(v) {
		return short(m)
	}
	return fmt.Sprintf("%s (%s–%s)", short(m), short(slices.Min(v)), short(slices.Max(v)))
}

// short is a number to three digits.
func short(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	a := math.Abs(v)
	switch {
	case a >= 100:
		return grouped(v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.01 || a == 0:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

func grouped(v float64) string {
	s := fmt.Sprintf("%.0f", math.Abs(v))
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if v < 0 {
		return "-" + s
	}
	return s
}

func triple(all []outcome, of func(*outcome) quantiles) string {
	return strings.Join([]string{
		short(median(each(all, func(o *outcome) float64 { return of(o).p50 }))),
		short(median(each(all, func(o *outcome) float64 { return of(o).p99 }))),
		short(median(each(all, func(o *outcome) float64 { return of(o).p999 }))),
	}, " / ")
}

func tripleOf(all []quantiles) string {
	return strings.Join([]string{
		short(median(each(all, func(q *quantiles) float64 { return q.p50 }))),
		short(median(each(all, func(q *quantiles) float64 { return q.p99 }))),
		short(median(each(all, func(q *quantiles) float64 { return q.p999 }))),
	}, " / ")
}

// grid is one of the tables that are printed: a heading, columns, rows.
type grid struct {
	title string
	rows  [][]string // the first names the columns
}

func (t *table) grids() []grid {
	var all []grid
	if len(t.tools) > 0 {
		g := grid{title: "Side by side against " + t.server + ", one core each", rows: [][]string{{
			"asked /s", "tool", "CPU per request, µs", "achieved /s", "failed", "lag p50 / p99 / p99.9, µs", "response p50 / p99 / p99.9, µs", "peak memory, MB",
		}}}
		for _, r := range t.tools {
			asked := "no limit"
			if !math.IsInf(r.rate, 0) {
				asked = grouped(r.rate)
			}
			g.rows = append(g.rows, []string{
				asked, r.tool,
				spread(each(r.all, (*outcome).cpuPerRequest)),
				spread(each(r.all, func(o *outcome) float64 { return o.achieved })),
				short(median(each(r.all, func(o *outcome) float64 { return o.failed }))),
				triple(r.all, func(o *outcome) quantiles { return o.lag }),
				triple(r.all, func(o *outcome) quantiles { return o.response }),
				spread(each(r.all, func(o *outcome) float64 { return float64(o.memory) / 1e6 })),
			})
		}
		all = append(all, g)
	}
	if len(t.truths) > 0 {
		g := grid{title: fmt.Sprintf("Against the server's own truth, %s/s", grouped(truthRate)), rows: [][]string{{
			"tool", "lag it reports, µs", "lag the server saw, µs", "response it reports, µs", "response by the server, µs",
		}}}
		for _, r := range t.truths {
			g.rows = append(g.rows, []string{
				r.tool,
				triple(r.said, func(o *outcome) quantiles { return o.lag }), tripleOf(r.lateness),
				triple(r.said, func(o *outcome) quantiles { return o.response }), tripleOf(r.response),
			})
		}
		all = append(all, g)
	}
	if len(t.limits) > 0 {
		g := grid{title: "Budgets", rows: [][]string{{"what", "measured", "required", "ratio", ""}}}
		for _, l := range t.limits {
			g.rows = append(g.rows, []string{l.what, l.measured, l.required, l.ratio, l.word})
		}
		all = append(all, g)
	}
	return all
}

// others notes how much of the machine other work has had during a part.
func (t *table) others(part string, share float64) {
	t.busy = append(t.busy, fmt.Sprintf("%s %.0f %%", part, 100*share))
	if share > quietShare {
		t.note("other work had %.0f %% of the machine during %s: its figures are not those of a quiet machine (-wait 1h waits for one)", 100*share, part)
	}
}

// heading says where, and what else went on.
func (t *table) heading() string {
	return fmt.Sprintf("%s. Other work on the machine: %s. Median (least–most) of the rounds; quantiles are medians.", t.machine, strings.Join(t.busy, ", "))
}

func (t *table) text() string {
	var b strings.Builder
	fmt.Fprintln(&b, t.heading())
	for _, g := range t.grids() {
		fmt.Fprintf(&b, "\n%s\n", g.title)
		width := make([]int, len(g.rows[0]))
		for _, r := range g.rows {
			for i, cell := range r {
				width[i] = max(width[i], len([]rune(cell)))
			}
		}
		for _, r := range g.rows {
			line := ""
			for i, cell := range r {
				line += "  " + cell + strings.Repeat(" ", width[i]-len([]rune(cell)))
			}
			fmt.Fprintln(&b, strings.TrimRight(line, " "))
		}
	}
	for i, n := range t.notes {
		if i == 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintln(&b, "note: "+n)
	}
	return b.String()
}

func (t *table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", t.heading())
	for _, g := range t.grids() {
		fmt.Fprintf(&b, "\n**%s**\n\n", g.title)
		for i, r := range g.rows {
			fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
			if i == 0 {
				fmt.Fprintf(&b, "|%s\n", strings.Repeat("---|", len(r)))
			}
		}
	}
	for i, n := range t.notes {
		if i == 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintln(&b, "- "+n)
	}
	return b.String()
}
