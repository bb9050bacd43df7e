package analyze

import (
	"fmt"
	"math"
	"slices"

	"headroom/store/record"
)

// GateError is a rule that cannot be read.
type GateError struct {
	Rule string
	Err  error
}

func (e *GateError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong with the rule.
func (e *GateError) Unwrap() error { return e.Err }

func parseGates(plan, more []string) ([]record.Gate, error) {
	var gates []record.Gate
	for _, rule := range slices.Concat(plan, more) {
		g, err := record.ParseGate(rule)
		if err != nil {
			return nil, &GateError{Rule: rule, Err: err}
		}
		if !slices.ContainsFunc(gates, func(o record.Gate) bool { return o.Rule == g.Rule }) {
			gates = append(gates, g)
		}
	}
	return gates, nil
}

// reading is what a gate measured: a value that is known to lie in [lo, hi],
// or the reason why there is none.
type reading struct {
	lo, hi  float64
	shown   *float64 // the value for people
	why     string
	missing bool // no data
	unclear bool // data, but they cannot decide
}

func exactly(v float64, why string) reading {
	return reading{lo: v, hi: v, shown: number(v), why: why}
}

func noData(format string, args ...any) reading {
	return reading{missing: true, why: fmt.Sprintf(format, args...)}
}

func unclear(format string, args ...any) reading {
	return reading{unclear: true, why: fmt.Sprintf(format, args...)}
}

func (r *analysis) judgeGates(gates []record.Gate) []GateResult {
	out := make([]GateResult, 0, len(gates))
	for _, g := range gates {
		out = append(out, r.judgeGate(g))
	}
	return out
}

func (r *analysis) judgeGate(g record.Gate) GateResult {
	out := GateResult{Rule: g.Rule, Unit: g.Unit, Limit: g.Limit, Findings: []string{}}
	s := r.scope(g)
	var m reading
	switch {
	case s.refused != "":
		m = noData("%s", s.refused)
	case g.Quantile > 0:
		m = s.latency(g)
	default:
		m = r.measure(g, &s)
	}
	out.Measured, out.Why = m.shown, m.why
	switch {
	case m.missing:
		out.Outcome = NoData
	case m.unclear:
		out.Outcome = Inconclusive
	default:
		out.Outcome = compareTo(m, g)
		if out.Outcome == Inconclusive && out.Why == "" {
			out.Why = "only a bound is known, and it does not decide"
		}
	}
	trust, codes := r.trust.Verdict, r.trust.Reasons
	if s.own {
		trust, codes = s.trust, s.reasons
	}
	if len(r.law) > 0 {
		trust, codes = Untrusted, []string{"law_broken"}
	}
	if trust != Trusted {
		out.Findings = append(out.Findings, codes...)
	}
	if trust == Untrusted && out.Outcome != NoData {
		out.Outcome = Inconclusive
		out.Why = join("the numbers cannot be trusted", out.Why)
	}
	return out
}

func join(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}

// compareTo decides what is certain.
func compareTo(m reading, g record.Gate) Verdict {
	holds := func(v float64) bool {
		switch g.Op {
		case "<=":
			return v <= g.Limit
		case "<":
			return v < g.Limit
		case ">=":
			return v >= g.Limit
		case ">":
			return v > g.Limit
		}
		return v == g.Limit
	}
	if g.Op == "==" && m.lo != m.hi {
		if g.Limit < m.lo || g.Limit > m.hi {
			return Fail
		}
		return Inconclusive
	}
	switch lo, hi := holds(m.lo), holds(m.hi); {
	case lo && hi:
		return Pass
	case !lo && !hi:
		return Fail
	}
	return Inconclusive
}

// measure reads every metric that is not a percentile.
func (r *analysis) measure(g record.Gate, s *gateScope) reading {
	switch g.Metric {
	case "knee", "margin", "margin_point", "post_saturation", "leaks", "recovery", "degraded", "users_lost":
		if g.Class != "" || g.Phase != "" {
			return noData("%s belongs to the whole run; leave out the narrowing", g.Metric)
		}
	}
	switch g.Metric {
	case "knee":
		return r.kneeReading(1)
	case "margin", "margin_point":
		return r.marginReading(g.Metric == "margin_point")
	case "post_saturation":
		for _, p := range r.out.PostSaturation {
			if p.At == g.Arg && p.Ratio != nil {
				why := ""
				if p.Interpolated {
					why = "interpolated between two plateaus"
				}
				return exactly(*p.Ratio, why)
			} else if p.At == g.Arg {
				return unclear("no ratio: %s", p.Refused)
			}
		}
		return noData("there is no knee")
	case "omission":
		if r.trust.Factor == nil || r.trust.Factor.P99 == nil {
			return noData("no omission factor: it takes an open loop and both clocks")
		}
		return exactly(*r.trust.Factor.P99, "at p99")
	case "recovery":
		return r.recoveryReading()
	case "leaks":
		return r.leaksReading()
	case "degraded":
		return r.degradedReading(g.Fault)
	case "users_lost":
		return r.usersLost()
	case "goodput":
		if p := r.out.PeakGoodput; p != nil && g.Phase == "" && g.Class == "" {
			return exactly(*p.RPS, "of the best plateau")
		}
	}
	return s.count(g.Metric)
}

// kneeReading is the knee, or the bound on it, over a divisor.
func (r *analysis) kneeReading(by float64) reading {
	k := &r.knee.Knee
	switch {
	case k.RPS != nil:
		return exactly(*k.RPS/by, "")
	case k.Status == NotReached && k.AtLeast != nil:
		return reading{lo: *k.AtLeast / by, hi: math.Inf(1), shown: number(*k.AtLeast / by), why: "at least: the knee was not reached"}
	case k.Status == AlreadySaturated && k.LowestFailed != nil:
		return reading{lo: 0, hi: *k.LowestFailed / by, shown: number(*k.LowestFailed / by), why: "less than: the lowest plateau was too much already"}
	case k.Status == "":
		return noData("the load was no sweep, so there is no knee")
	}
	return unclear("no knee: %s", orWord(k.Reason, k.Status))
}

func orWord(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func (r *analysis) marginReading(point bool) reading {
	m := r.out.Margin
	if m == nil {
		return noData("the plan names no production peak; give one with production or --peak")
	}
	if m.CI95 != nil && !point {
		return exactly(m.CI95[0], "the lower end of the interval")
	}
	return r.kneeReading(m.PeakRPS)
}
