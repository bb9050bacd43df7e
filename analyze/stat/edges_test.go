package stat

import (
	"math"
	"testing"
)

func TestEdges(t *testing.T) {
	refused(t, "WelchT of nothing", WelchT(nil, runsA).Refused, NoData)
	refused(t, "WelchT of NaN", WelchT([]float64{1, 2, math.NaN()}, runsA).Refused, NotFinite)
	refused(t, "WelchT of one each", WelchT([]float64{1}, []float64{2}).Refused, OneRunEach)
	if w := WelchT([]float64{1, 1, 1}, []float64{2, 2, 2}); w.P != 0 || w.Low != 1 || w.High != 1 || w.Refused != "" {
		t.Errorf("two samples without spread: %+v", w)
	}
	for _, c := range []struct {
		name string
		p    []float64
		n    float64
		want Refusal
	}{{"no key", nil, 1, NoData}, {"negative draws", []float64{1}, -1, BadShape}, {"negative share", []float64{-1}, 1, BadShape}} {
		_, r := ExpectedDistinct(c.p, c.n)
		refused(t, c.name, r, c.want)
	}
	if d, _ := ExpectedDistinct([]float64{1}, 5); d != 1 {
		t.Errorf("one key is %v distinct keys", d)
	}
	if d, _ := ExpectedDistinct([]float64{.5, .5}, 2); math.Abs(d-1.5) > 1e-12 {
		t.Errorf("two draws of two keys are %v distinct keys, want 1.5", d)
	}
	if KSUpperTail(5, 0) != 1 || KSUpperTail(5, 1) != 0 || KSUpperTail(200, 0.001) != 1 {
		t.Error("the Kolmogorov–Smirnov tail has wrong ends")
	}
	refused(t, "TailInterval of two lengths", TailInterval(repeat(1, 10), repeat(1, 11)).Refused, BadShape)
	refused(t, "more above than requests in an interval", TailInterval(append(repeat(9, 20), 11, 1), append(repeat(100, 20), 10, 100)).Refused, BadShape)
	if iv := (Line{Slope: 3}).Interval(5); iv != (Interval{3, 3}) {
		t.Errorf("interval of a line without pairs: %v", iv)
	}
	refused(t, "one value over and over", Drift(make([]float64, 700), DriftOpts{SpacingH: 1, Cycle: 40}).Refused, TooShort)
	limit := math.Inf(1)
	refused(t, "limit of infinity", Drift(make([]float64, 700), DriftOpts{SpacingH: 1, Limit: &limit}).Refused, NotFinite)
	for name, f := range map[string]func(){
		"no lag":       func() { LjungBox(runsA, 0) },
		"segments":     func() { Segments(runsA, 0) },
		"no draws":     func() { Gumbel{}.MaxQuantile(0, 0.5) },
		"KS of none":   func() { KSUpperTail(0, 0.5) },
		"NaN z":        func() { NormalUpperTail(math.NaN()) },
		"ratio limit":  func() { LogWelch(runsA, runsB).Judge(0) },
		"NaN for band": func() { Band(Signal{}, RecoveryOpts{Q: 2}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
