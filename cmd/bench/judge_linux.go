package main

import (
	"fmt"
	"math"
	"slices"
)

// budget is a line of the specification.
type budget struct {
	what, measured, required, ratio string
	word                            string // pass, MISSED, not measured
}

const (
	passed      = "pass"
	missed      = "MISSED"
	notMeasured = "not measured"
)

// missed reports whether a budget was measured and missed.
func (t *table) missed() bool {
	return slices.ContainsFunc(t.limits, func(l budget) bool { return l.word == missed })
}

// atMost adds a line for values of which the median may be at most limit.
func (t *table) atMost(what, unit string, v []float64, limit float64) {
	t.limit(what, unit, v, limit, "at most ", func(m float64) bool { return m <= limit })
}

// atLeast adds a line for values of which the median must be at least limit.
func (t *table) atLeast(what, unit string, v []float64, limit float64) {
	t.limit(what, unit, v, limit, "at least ", func(m float64) bool { return m >= limit })
}

func (t *table) limit(what, unit string, v []float64, limit float64, how string, good func(float64) bool) {
	l := budget{what: what, measured: spread(v), required: "–", ratio: "–", word: notMeasured}
	m := median(v)
	if !math.IsNaN(limit) {
		l.required = how + short(limit) + " " + unit
	}
	if !math.IsNaN(m) && !math.IsNaN(limit) && limit > 0 { // twice nothing is no budget
		l.ratio = fmt.Sprintf("%.2f", m/limit)
		l.word = missed
		if good(m) {
			l.word = passed
		}
	}
	if !math.IsNaN(m) {
		l.measured += " " + unit
	}
	t.limits = append(t.limits, l)
}

// judge compares what was measured with section 12 of the specification.
func (b *bench) judge() {
	t := &b.t
	cpu := func(tool string) []float64 { return t.at(tool, 20000, (*outcome).cpuPerRequest) }
	t.atMost("CPU per request at 20,000/s: half of vegeta's", "µs", cpu("headroom"), median(cpu("vegeta"))/2)
	t.atMost("CPU per request at 20,000/s: twice wrk2's", "µs", cpu("headroom"), median(cpu("wrk2"))*2)
	held := func(tool string) []float64 { return t.single["held "+tool] }
	t.atLeast("highest rate held: 2 × vegeta's", "/s", held("headroom"), 2*median(held("vegeta")))
	t.atLeast("highest rate held: 4 × k6's", "/s", held("headroom"), 4*median(held("k6")))
	t.atLeast("highest rate held: 0.9 × wrk2's", "/s", held("headroom"), 0.9*median(held("wrk2")))
	for _, q := range []struct {
		name  string
		limit float64
		of    func(*outcome) float64
	}{
		{"p50", 60, func(o *outcome) float64 { return o.lag.p50 }},
		{"p99", 200, func(o *outcome) float64 { return o.lag.p99 }},
		{"p99.9", 2000, func(o *outcome) float64 { return o.lag.p999 }},
	} {
		t.atMost("lag "+q.name+" at 5,000/s", "µs", t.at("headroom", 5000, q.of), q.limit)
	}
	t.atMost("error at the median on a server of exactly 1 ms", "µs", each(t.single["instrument"], func(v *float64) float64 { return math.Abs(*v) }), 60)
	t.atMost("peak memory of a 4 h soak, tally and store, intervals of 1 s", "MB", t.single["memory 1s"], 150)
	t.atMost("peak memory of a 4 h soak, tally and store, intervals of 10 s", "MB", t.single["memory 10s"], 150)
	t.atMost("what its heap grew by from the first hour to the last, intervals of 1 s", "MB", t.single["growth 1s"], 5)
	t.atMost("evidence of the 4 h soak, intervals of 1 s", "MB", t.single["evidence 1s"], 400)
	t.atMost("evidence of the 4 h soak, intervals of 10 s", "MB", t.single["evidence 10s"], 60)
	t.atMost("analyze, step run of 40 minutes", "s", t.single["analyze step"], 1)
	t.atMost("analyze, 4 h soak, intervals of 1 s", "s", t.single["analyze 1s"], 10)
	t.atMost("analyze, 4 h soak, intervals of 10 s", "s", t.single["analyze 10s"], 10)
	t.atMost("serve, history over 1,000 runs", "ms", t.single["history"], 300)
	t.atMost("serve, page of a run", "ms", t.single["run page"], 500)
	t.atLeast("prep profile, per second of CPU", "MB", t.single["profile"], 100)
	t.atMost("prep profile, memory", "MB", t.single["profile memory"], 200)
	t.limits = slices.DeleteFunc(t.limits, func(l budget) bool { return l.measured == "–" })
	if len(t.single["history first"]) > 0 {
		t.note("first view of the history of 1,000 runs, right after the start: %.0f ms; of a run: %.0f ms", t.single["history first"][0], t.single["run page first"][0])
	}
	if len(t.single["held wrk2"]) == 0 {
		t.note("what is required in comparison with a generator that is not here is not measured")
	}
}
