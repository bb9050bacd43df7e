package analyze

import (
	"math"
	"slices"
)

// measure is one number of a run that runs are compared by.
type measure struct {
	name   string
	unit   string // us, rps, ratio, factor, s, share
	higher bool   // more is better
	// limit is the ratio, new over base, at which a change starts to matter.
	limit float64
	value func(a *Analysis, at scope) measured
	gates []string // metrics of gates that are about it
}

// measured is a value, or the reason why there is none.
type measured struct {
	v      float64
	se     float64 // standard error of its logarithm within the run; 0 where not known
	k, n   uint64  // counts behind a share
	lo, hi *float64
	why    string // "" where there is a value
}

const (
	limitLatency = 1.05
	limitRate    = 0.98
	limitShare   = 0.001 // absolute
	limitFactor  = 1.1
)

// scope is where in a run the numbers are taken: a plateau of a step load, by
// its target rate, or all judged windows.
type scope struct{ rps float64 }

// measures, in the order in which they are told.
var measures = []measure{
	{name: "knee", unit: "rps", higher: true, limit: limitRate, value: kneeOf, gates: []string{"knee"}},
	{name: "margin", unit: "factor", higher: true, limit: limitRate, value: marginIn, gates: []string{"margin", "margin_point"}},
	{name: "post_saturation", unit: "ratio", higher: true, limit: limitRate, value: pastOf, gates: []string{"post_saturation"}},
	{name: "goodput", unit: "rps", higher: true, limit: limitRate, value: goodputOf, gates: []string{"goodput", "goodput_ratio"}},
	{name: "response_p50", unit: "us", limit: limitLatency, value: latencyOf("p50", false), gates: []string{"response"}},
	{name: "response_p90", unit: "us", limit: limitLatency, value: latencyOf("p90", false)},
	{name: "response_p99", unit: "us", limit: limitLatency, value: latencyOf("p99", false), gates: []string{"response"}},
	{name: "response_p99_9", unit: "us", limit: limitLatency, value: latencyOf("p99_9", false)},
	{name: "service_p50", unit: "us", limit: limitLatency, value: latencyOf("p50", true), gates: []string{"service"}},
	{name: "service_p99", unit: "us", limit: limitLatency, value: latencyOf("p99", true), gates: []string{"service"}},
	{name: "error_ratio", unit: "share", limit: limitShare, value: shareOf(func(k string) bool { return k != "ok" && k != "shed" }), gates: []string{"error_ratio", "unexpected", "wrong"}},
	{name: "shed_ratio", unit: "share", limit: limitShare, value: shareOf(func(k string) bool { return k == "shed" }), gates: []string{"shed_ratio"}},
	{name: "recovery", unit: "s", limit: limitFactor, value: recoveryOf, gates: []string{"recovery"}},
	{name: "omission", unit: "factor", limit: limitFactor, value: omissionOf, gates: []string{"omission"}},
	{name: "amplification", unit: "factor", limit: limitLatency, value: amplificationOf, gates: []string{"amplification"}},
}

// MeasureNames are the metrics that runs are compared by.
func MeasureNames() []string {
	out := make([]string, len(measures))
	for i, m := range measures {
		out[i] = m.name
	}
	return out
}

func none(why string) measured { return measured{why: why} }

func valueOf(v *float64, why string) measured {
	if v == nil {
		return none(why)
	}
	return measured{v: *v}
}

// withCI adds an interval, and from it the spread within the run.
func (m measured) withCI(iv *Interval) measured {
	if iv == nil || m.why != "" {
		return m
	}
	m.lo, m.hi = number(iv[0]), number(iv[1])
	if iv[0] > 0 && iv[1] > iv[0] {
		m.se = math.Log(iv[1]/iv[0]) / (2 * 1.959964)
	}
	return m
}

func kneeOf(a *Analysis, _ scope) measured {
	if a.Knee == nil {
		return none("no_sweep")
	}
	return valueOf(a.Knee.RPS, orWord(a.Knee.Reason, a.Knee.Status)).withCI(a.Knee.CI95)
}

func marginIn(a *Analysis, _ scope) measured {
	if a.Margin == nil {
		return none("no_peak")
	}
	if a.Margin.AtLeast {
		return none("at_least")
	}
	return valueOf(a.Margin.Value, orWord(a.Margin.Refused, "no_knee")).withCI(a.Margin.CI95)
}

func pastOf(a *Analysis, _ scope) measured {
	for i := range a.PostSaturation {
		if p := &a.PostSaturation[i]; p.At == defaultPast {
			return valueOf(p.Ratio, orWord(p.Refused, "no_plateau")).withCI(p.CI95)
		}
	}
	return none("no_plateau")
}

// step finds the plateau of the scope.
func (s scope) step(a *Analysis) *StepResult {
	for i := range a.Steps {
		if p := &a.Steps[i]; p.Kind == "step" && p.TargetRPS == s.rps {
			return p
		}
	}
	return nil
}

func goodputOf(a *Analysis, at scope) measured {
	if len(a.Steps) > 0 {
		if a.PeakGoodput == nil {
			return none("no_plateau")
		}
		return valueOf(a.PeakGoodput.RPS, "no_plateau").withCI(a.PeakGoodput.CI95)
	}
	if a.Judged == nil || a.Judged.Scheduled == 0 {
		return none("no_data")
	}
	return measured{v: a.Judged.GoodputRPS}
}

// latencyOf reads a percentile at the scope.
func latencyOf(name string, service bool) func(*Analysis, scope) measured {
	return func(a *Analysis, at scope) measured {
		var l *LatencyUS
		switch {
		case len(a.Steps) > 0:
			p := at.step(a)
			if p == nil {
				return none("no_common_plateau")
			}
			if l = &p.Response; service {
				l = &p.Service
			}
		case a.Latency == nil:
			return none("no_data")
		case service:
			l = &a.Latency.Service
		default:
			l = &a.Latency.Response
		}
		if _, censored := l.Censored[name]; censored {
			return none("beyond_timeout")
		}
		m := valueOf(l.at(name), orWord(l.Refused[name], "no_data"))
		if m.why == "" && m.v <= 0 {
			return none("not_positive")
		}
		return m.withCI(l.CI95[name])
	}
}

// shareOf counts outcomes at the scope.
func shareOf(is func(outcome string) bool) func(*Analysis, scope) measured {
	return func(a *Analysis, at scope) measured {
		var all Outcomes
		switch {
		case len(a.Steps) > 0:
			p := at.step(a)
			if p == nil {
				return none("no_common_plateau")
			}
			all = p.Outcomes
		case a.Judged != nil:
			all = a.Judged.Outcomes
		}
		var k, n uint64
		for o, c := range all {
			n += c
			if is(o) {
				k += c
			}
		}
		if n == 0 {
			return none("no_data")
		}
		return measured{v: float64(k) / float64(n), k: k, n: n}
	}
}

func recoveryOf(a *Analysis, _ scope) measured {
	if b := a.Burst; b != nil {
		return recovered(b.RecoveryS, b.CensoredAtS, b.Refused)
	}
	worst := none("no_burst")
	for i := range a.Chaos {
		c := &a.Chaos[i]
		m := recovered(c.RecoveryS, c.CensoredAtS, c.Refused)
		if m.why != "" {
			return m
		}
		if worst.why != "" || m.v > worst.v {
			worst = m
		}
	}
	return worst
}

func recovered(took, censored *float64, refused string) measured {
	switch {
	case took != nil:
		// One interval is what it is known to; the logarithm wants more than 0.
		return measured{v: *took}
	case censored != nil:
		return none("not_recovered")
	}
	return none(orWord(refused, "no_data"))
}

func omissionOf(a *Analysis, _ scope) measured {
	if a.Trust == nil || a.Trust.OmissionFactor == nil {
		return none("no_data")
	}
	return valueOf(a.Trust.OmissionFactor.P99, "no_data")
}

func amplificationOf(a *Analysis, _ scope) measured {
	if a.Accounting == nil {
		return none("no_data")
	}
	return valueOf(a.Accounting.Amplification, "no_data")
}

// commonPlateau is the highest target rate of a plateau that held in every one
// of the runs; 0 where there is none.
func commonPlateau(all []*Analysis) scope {
	count := map[float64]int{}
	for _, a := range all {
		seen := map[float64]bool{}
		for i := range a.Steps {
			if p := &a.Steps[i]; p.Kind == "step" && p.Held != nil && *p.Held && !seen[p.TargetRPS] {
				seen[p.TargetRPS] = true
				count[p.TargetRPS]++
			}
		}
	}
	var best float64
	for rps, n := range count {
		if n == len(all) {
			best = max(best, rps)
		}
	}
	return scope{rps: best}
}

// gatedBy reports whether a gate's metric is about the measure.
func (m *measure) gatedBy(metric, quantile string) bool {
	if !slices.Contains(m.gates, metric) {
		return false
	}
	switch metric {
	case "response", "service":
		return m.name == metric+"_"+quantile
	}
	return true
}
