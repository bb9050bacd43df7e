package analyze

import (
	"math"

	"headroom/analyze/stat"
)

func compareMeasure(m *measure, base, new []*Analysis, at scope) ComparedMetric {
	x := ComparedMetric{Metric: m.name, Unit: m.unit, Tolerance: m.limit, Higher: m.higher, BaseValues: []float64{}, NewValues: []float64{}, m: m}
	var se []float64
	take := func(runs []*Analysis) (out []measured) {
		for _, a := range runs {
			v := m.value(a, at)
			if v.why != "" {
				x.Reason = v.why
				continue
			}
			if v.se > 0 {
				se = append(se, v.se)
			}
			out = append(out, v)
		}
		return out
	}
	b, n := take(base), take(new)
	x.RunsBase, x.RunsNew = len(b), len(n)
	for _, v := range b {
		x.BaseValues = append(x.BaseValues, v.v)
	}
	for _, v := range n {
		x.NewValues = append(x.NewValues, v.v)
	}
	if s, ok := stat.Median(se); ok {
		x.WithinRun = number(s)
	}
	if len(b) == 0 || len(n) == 0 {
		x.Reason = orWord(x.Reason, "no_data")
		return x
	}
	if len(b) == len(base) && len(n) == len(new) {
		x.Reason = ""
	}
	if m.unit == "share" {
		x.compareShares(b, n)
	} else {
		x.compareValues(b, n)
	}
	if p, ok := stat.MannWhitney(x.BaseValues, x.NewValues); ok {
		x.ExactP = number(p)
	}
	if x.welch.Refused == "" {
		x.P = number(x.welch.P)
		x.SpreadBase, x.SpreadNew = number(x.welch.SDA), number(x.welch.SDB)
	}
	return x
}

func (x *ComparedMetric) compareValues(b, n []measured) {
	// A recovery of 0 s has no logarithm: everything is moved by a second.
	shift := 0.0
	if x.m.name == "recovery" {
		shift = 1
	}
	logs := func(all []measured) []float64 {
		out := make([]float64, len(all))
		for i, v := range all {
			out[i] = v.v + shift
		}
		return out
	}
	x.welch = stat.LogWelch(logs(b), logs(n))
	x.Base, x.New = number(geometric(logs(b))-shift), number(geometric(logs(n))-shift)
	if x.welch.Ratio > 0 {
		x.Ratio = number(x.welch.Ratio)
	}
	if x.welch.Refused == "" {
		x.CI95 = interval(x.welch.CI[0], x.welch.CI[1])
	}
}

// compareShares compares log odds, so that 0 of n counts too.
func (x *ComparedMetric) compareShares(b, n []measured) {
	odds := func(all []measured) (out []float64, total measured) {
		for _, v := range all {
			l, _ := stat.Logit(v.k, v.n)
			out = append(out, l)
			total.k, total.n = total.k+v.k, total.n+v.n
		}
		total.v = float64(total.k) / float64(total.n)
		return out, total
	}
	lb, tb := odds(b)
	ln, tn := odds(n)
	x.share = &[2]measured{tb, tn}
	x.Base, x.New = number(tb.v), number(tn.v)
	if tb.v > 0 {
		x.Ratio = number(tn.v / tb.v)
	}
	x.welch = stat.WelchT(lb, ln)
	if x.welch.Refused == "" {
		x.CI95 = interval(math.Exp(x.welch.CI[0]), math.Exp(x.welch.CI[1]))
	}
}

func geometric(x []float64) float64 {
	var s float64
	for _, v := range x {
		if v <= 0 {
			return math.NaN()
		}
		s += math.Log(v) / float64(len(x))
	}
	return math.Exp(s)
}

// adjust allows for the number of metrics: Holm over the gated ones,
// Benjamini and Hochberg over the others, which are exploratory.
func (c *Comparison) adjust() {
	for _, family := range []struct {
		gated bool
		by    func([]float64) []float64
	}{{true, stat.Holm}, {false, stat.BenjaminiHochberg}} {
		var p []float64
		var of []int
		for i := range c.Metrics {
			if x := &c.Metrics[i]; x.Gated == family.gated && x.P != nil {
				p, of = append(p, *x.P), append(of, i)
			}
		}
		for k, v := range family.by(p) {
			c.Metrics[of[k]].Adjusted = number(v)
		}
	}
}

// judge gives the verdict: worse or better where the difference is significant
// and may be beyond the tolerance, same where it is certainly within, unknown
// otherwise.
func (x *ComparedMetric) judge() {
	x.Verdict = Unknown
	switch {
	case len(x.BaseValues) == 0 || len(x.NewValues) == 0:
		return
	case x.welch.Refused == stat.OneRunEach, x.welch.Refused == stat.TooFewRuns:
		x.Reason, x.RunsNeeded = string(x.welch.Refused), defaultRuns
		return
	case x.welch.Refused != "":
		x.Reason = orWord(x.Reason, string(x.welch.Refused))
		return
	}
	up, down, ok := x.tolerances()
	if !ok {
		x.Reason = orWord(x.Reason, "no_tolerance")
		return
	}
	w := x.welch
	threshold := up
	if x.Higher {
		threshold = down
	}
	j := w.Judge(threshold)
	x.Regression = j.Verdict
	rises, fallsBy := w.Diff > 0, w.Diff < 0
	significant := x.Adjusted != nil && *x.Adjusted < compareLevel
	bad, good := rises, fallsBy
	if x.Higher {
		bad, good = fallsBy, rises
	}
	within := w.High < up && w.Low > down
	switch {
	case within:
		x.Verdict = Same
	case significant && bad:
		x.Verdict = Worse
	case significant && good:
		x.Verdict = Better
	default:
		x.RunsNeeded = max(w.Judge(up).RunsNeeded, w.Judge(down).RunsNeeded, max(x.RunsBase, x.RunsNew)+2)
	}
}

// tolerances are the bounds, on the scale of the comparison, within which two
// releases are the same.
func (x *ComparedMetric) tolerances() (up, down float64, ok bool) {
	if x.share == nil {
		up = max(x.m.limit, 1/x.m.limit)
		return up, 1 / up, true
	}
	t := x.share[0]
	at := (float64(t.k) + 0.5) / (float64(t.n) + 1)
	if up, ok = stat.LogitThreshold(at, x.m.limit); !ok {
		return 0, 0, false
	}
	return up, -up, true
}

// Worst is the verdict over the gated metrics: worse where one is, unknown
// where the runs cannot be compared, same otherwise.
func (c *Comparison) Worst() string {
	if !c.Comparable && !c.Forced {
		return Unknown
	}
	for i := range c.Metrics {
		if c.Metrics[i].Gated && c.Metrics[i].Verdict == Worse {
			return Worse
		}
	}
	return Same
}
