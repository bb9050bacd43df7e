package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var (
	runsA = []float64{101, 98, 104, 100, 97}
	runsB = []float64{108, 112, 105, 110, 111}
)

// METHODS E1.
func TestLogWelch(t *testing.T) {
	w := LogWelch(runsA, runsB)
	refused(t, "E1", w.Refused, "")
	near(t, "d", w.Diff, 0.0880481913, 1e-9)
	near(t, "se", w.SE, 0.0167247274, 1e-9)
	near(t, "df", w.DF, 7.968604, 1e-6)
	near(t, "t", w.T, 5.264552, 1e-6)
	near(t, "p", w.P, 0.00077005, 1e-8)
	near(t, "ratio", w.Ratio, 1.09204075, 1e-8)
	nearInterval(t, "interval", w.CI, 1.05069772, 1.13501055, 1e-8)
	near(t, "one-sided low", w.Low, 1.05858368, 1e-8)
	near(t, "one-sided high", w.High, 1.12655524, 1e-8)
	if got := w.Judge(1.05); got.Verdict != Regression {
		t.Errorf("at m=1.05: %+v", got)
	}
	p, ok := MannWhitney(runsA, runsB)
	if !ok {
		t.Error("U test not ok")
	}
	near(t, "exact U p", p, 0.0079365079, 1e-9)
	iv, ok := Fieller(runsA, runsB, 0.95)
	if !ok {
		t.Error("Fieller not ok")
	}
	nearInterval(t, "Fieller", iv, 1.05074580, 1.13500005, 1e-8)
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		m    float64
		want string
	}{
		{"9 % slower, 5 % allowed", runsA, runsB, 1.05, Regression},
		{"9 % slower, 20 % allowed", runsA, runsB, 1.2, NoRegression},
		{"9 % slower, 9 % allowed", runsA, runsB, 1.09, Undecided},
		{"8 % less goodput, 2 % allowed", runsB, runsA, 0.98, Regression},
		{"8 % less goodput, 15 % allowed", runsB, runsA, 0.85, NoRegression},
		{"same runs", runsA, runsA, 1.05, NoRegression},
		{"same numbers in every run", []float64{5, 5, 5}, []float64{5, 5, 5}, 1.05, NoRegression},
		{"one run each", runsA[:1], runsB[:1], 1.05, Undecided},
		{"two runs each", runsA[:2], runsB[:2], 1.05, Undecided},
	} {
		if got := LogWelch(c.a, c.b).Judge(c.m); got.Verdict != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
	w := LogWelch(runsA, runsB)
	// h = t(.95, 7.9686)·se = 0.03112; |ln 1.08 − d| = 0.01109; 5·(h/…)² = 39.4.
	if got := w.Judge(1.08); got.Verdict != Undecided || got.RunsNeeded != 40 {
		t.Errorf("runs needed at 1.08: %+v, want 40", got)
	}
	if got := w.Judge(1.06); got.RunsNeeded != 7 {
		t.Errorf("runs needed at 1.06: %+v, want at least two more", got)
	}
}

func TestWelchRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		want Refusal
	}{
		{"nothing", nil, runsB, NoData},
		{"one run each", runsA[:1], runsB[:1], OneRunEach},
		{"one against five", runsA[:1], runsB, TooFewRuns},
		{"two against five", runsA[:2], runsB, TooFewRuns},
		{"latency of 0", []float64{0, 1, 2}, runsB, BadShape},
		{"NaN", []float64{math.NaN(), 1, 2}, runsB, NotFinite},
	} {
		refused(t, c.name, LogWelch(c.a, c.b).Refused, c.want)
	}
	near(t, "ratio of one run each", LogWelch([]float64{100}, []float64{110}).Ratio, 1.1, 1e-12)
	if _, ok := Fieller([]float64{-1, 1, 0.5}, runsB, 0.95); ok {
		t.Error("Fieller with a denominator around 0 must not be ok")
	}
	for _, c := range [][2][]float64{{nil, runsB}, {{3, 3, 3}, {3, 3}}, {{math.Inf(1)}, {1}}} {
		if _, ok := MannWhitney(c[0], c[1]); ok {
			t.Errorf("U test of %v must not be ok", c)
		}
	}
	in := []float64{3, 1, 2}
	MannWhitney(in, runsB)
	if !slices.Equal(in, []float64{3, 1, 2}) {
		t.Error("MannWhitney changed its argument")
	}
}

// The smallest p of the exact test at 3, 4 and 5 runs a side.
func TestMannWhitneySmallest(t *testing.T) {
	for n, want := range map[int]float64{3: .1, 4: .0285714286, 5: .0079365079} {
		a, b := make([]float64, n), make([]float64, n)
		for i := range n {
			a[i], b[i] = float64(i), float64(i+n)
		}
		p, _ := MannWhitney(a, b)
		near(t, "smallest p", p, want, 1e-9)
	}
}

func TestWelchLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(1, 1000)
		a := rapid.SliceOfN(value, 3, 8).Draw(t, "a")
		b := rapid.SliceOfN(value, 3, 8).Draw(t, "b")
		k := rapid.Float64Range(0.5, 4).Draw(t, "k")
		w, back := LogWelch(a, b), LogWelch(b, a)
		if math.Abs(w.Ratio*back.Ratio-1) > 1e-9 || math.Abs(w.P-back.P) > 1e-9 {
			t.Fatalf("swapped: %+v, %+v", w, back)
		}
		if !(w.CI[0] <= w.Ratio*(1+1e-9) && w.Ratio <= w.CI[1]*(1+1e-9)) || w.P < 0 || w.P > 1 {
			t.Fatalf("%+v", w)
		}
		ka, kb := make([]float64, len(a)), make([]float64, len(b))
		for i := range a {
			ka[len(a)-1-i] = k * a[i]
		}
		for i := range b {
			kb[i] = k * b[i]
		}
		if s := LogWelch(ka, kb); math.Abs(s.Ratio/w.Ratio-1) > 1e-9 {
			t.Fatalf("in another unit and order: %v, %v", w.Ratio, s.Ratio)
		}
	})
}

// METHODS E4: two sides of five runs that do not differ.
func TestSameReleaseIsNoRegression(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	regressions, significant := 0, 0
	const pairs = 200
	for range pairs {
		side := func() []float64 {
			x := make([]float64, 5)
			for i := range x {
				x[i] = 100 * math.Exp(0.03*rng.NormFloat64())
			}
			return x
		}
		w := LogWelch(side(), side())
		if w.Judge(1.05).Verdict == Regression {
			regressions++
		}
		if w.P < 0.05 {
			significant++
		}
	}
	if regressions > pairs/20 {
		t.Errorf("%d of %d pairs called regressions", regressions, pairs)
	}
	if significant > pairs/10 {
		t.Errorf("%d of %d pairs significant at 5 %%", significant, pairs)
	}
}

func TestLogit(t *testing.T) {
	v, ok := Logit(0, 1000)
	near(t, "0 of 1000", v, math.Log(0.5/1000.5), 1e-12)
	if !ok {
		t.Error("0 of 1000 is ok")
	}
	if _, ok := Logit(2, 1); ok {
		t.Error("2 of 1 is not ok")
	}
	m, _ := LogitThreshold(0.01, 0.001)
	near(t, "0.1 points on 1 %", m, math.Log(.011/.989)-math.Log(.01/.99), 1e-12)
	if _, ok := LogitThreshold(0, 0.001); ok {
		t.Error("no share has no odds")
	}
	a := []float64{-4.60, -4.62, -4.58}
	b := []float64{-3.90, -3.92, -3.88}
	if got := WelchT(a, b).Judge(m); got.Verdict != Regression {
		t.Errorf("twice the failures: %+v", got)
	}
}

// METHODS E2.
func TestAdjustedP(t *testing.T) {
	p := []float64{.001, .012, .03, .04, .2}
	for i, want := range []float64{.005, .048, .09, .09, .2} {
		near(t, "Holm", Holm(p)[i], want, 1e-12)
	}
	for i, want := range []float64{.005, .03, .05, .05, .2} {
		near(t, "BH", BenjaminiHochberg(p)[i], want, 1e-12)
	}
	if got := Holm(nil); len(got) != 0 {
		t.Errorf("Holm(nil) = %v", got)
	}
	if Holm([]float64{math.NaN()}) != nil || BenjaminiHochberg([]float64{1.5}) != nil {
		t.Error("a p-value outside [0,1] was adjusted")
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 0, 20).Draw(t, "p")
		holm, bh := Holm(p), BenjaminiHochberg(p)
		for i := range p {
			if holm[i] < bh[i]-1e-12 || bh[i] < p[i]-1e-12 || holm[i] > 1 {
				t.Fatalf("p %v, BH %v, Holm %v", p[i], bh[i], holm[i])
			}
			for j := range p {
				if p[i] < p[j] && (holm[i] > holm[j] || bh[i] > bh[j]) {
					t.Fatal("the order of p-values changed")
				}
			}
		}
	})
}
