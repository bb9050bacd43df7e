package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

var tenGaps = []float64{.10, .25, .40, .55, .80, 1.00, 1.30, 1.70, 2.40, 3.50}

// METHODS G1.
func TestGapTests(t *testing.T) {
	for _, c := range []struct {
		name       string
		got        Test
		d, p       float64
		n          int
		pTolerance float64
	}{
		{"KS λ=1", KSExponential(tenGaps, 1), .1506710359, .9523191345, 10, 1e-9},
		{"KS λ=2", KSExponential(tenGaps, 2), .3981034820, .0609901363, 10, 1e-9},
		{"CU-KS", ConditionalUniformKS(tenGaps), .4111111111, .0686845701, 9, 1e-9},
		{"Lewis", LewisKS(tenGaps), .0972222222, .9999296714, 9, 1e-9},
		{"AD λ=1", AndersonDarling(tenGaps, 1), .3624873644, .885, 10, 1e-3},
		{"AD mean estimated", AndersonDarlingMean(tenGaps), .1239230487, .9999, 10, 0.05},
		{"Lilliefors distance", KSExponential(tenGaps, 1/1.2), .0880636538, 1, 10, 1e-3},
	} {
		refused(t, c.name, c.got.Refused, "")
		near(t, c.name+" statistic", c.got.Statistic, c.d, 1e-9)
		near(t, c.name+" p", c.got.P, c.p, c.pTolerance)
		if c.got.N != c.n {
			t.Errorf("%s: n = %d, want %d", c.name, c.got.N, c.n)
		}
	}
}

func TestCriticalValues(t *testing.T) {
	for p, x := range map[float64]float64{.05: 1.358099, .01: 1.627624, .001: 1.949475} {
		relative(t, "KS limit law", kolmogorovTail(x), p, 1e-5)
	}
	near(t, "KS forms meet", kolmogorovTail(1), kolmogorovTail(math.Nextafter(1, 0)), 1e-12)
	for p, z := range map[float64]float64{.10: 1.93304, .05: 2.49223, .025: 3.0775, .01: 3.87836, .001: 5.96706} {
		relative(t, "AD, rate known", andersonDarlingTail(z), p, 2e-3)
	}
	for p, z := range map[float64]float64{.15: .922, .10: 1.078, .05: 1.341, .025: 1.606, .01: 1.957} {
		relative(t, "AD, mean estimated", stephensTail(z), p, 0.04)
	}
	// The published acceptance ranges of the index of dispersion, 99.9 %.
	for n, r := range map[float64]Interval{60: {.502379, 1.718537}, 300: {.752578, 1.291201}, 600: {.820727, 1.201137}, 3600: {.924246, 1.079394}} {
		near(t, "IDC low", ChiSquaredQuantile(.0005, n-1)/(n-1), r[0], 1e-6)
		near(t, "IDC high", ChiSquaredQuantile(.9995, n-1)/(n-1), r[1], 1e-6)
	}
}

func TestExactKSMeetsTheLimitLaw(t *testing.T) {
	for _, d := range []float64{.05, .1, .15, .2} {
		exact, limit := KSUpperTail(100, d), kolmogorovTail(10*d+1/60.+(10*d-1)/40)
		near(t, "p at n=100", exact, limit, 0.02)
	}
	if got := KSUpperTail(1, 0.7); math.Abs(got-0.6) > 1e-12 {
		t.Errorf("n=1, D=.7: p = %v, want 2(1−.7)", got)
	}
}

func TestGapTestsRefuse(t *testing.T) {
	for _, c := range []struct {
		name string
		got  Refusal
		want Refusal
	}{
		{"no gap", KSExponential(nil, 1).Refused, NoData},
		{"negative gap", KSExponential([]float64{1, -1}, 1).Refused, BadShape},
		{"no rate", KSExponential(tenGaps, 0).Refused, BadShape},
		{"NaN", LewisKS([]float64{1, math.NaN(), 2}).Refused, NotFinite},
		{"one gap, Lewis", LewisKS([]float64{1}).Refused, TooShort},
		{"one gap, CU", ConditionalUniformKS([]float64{1}).Refused, TooShort},
		{"all at once", LewisKS([]float64{0, 0, 0}).Refused, BadShape},
		{"zero gap, AD", AndersonDarling([]float64{0, 1}, 1).Refused, BadShape},
		{"zero gaps, AD mean", AndersonDarlingMean([]float64{0, 0}).Refused, BadShape},
		{"no gap, AD mean", AndersonDarlingMean(nil).Refused, NoData},
		{"outside [0,1]", KSUniform([]float64{0.5, 1.5}).Refused, BadShape},
		{"LB of lags values", LjungBox([]float64{1, 2, 3}, 3).Refused, TooShort},
		{"LB of equal values", LjungBox([]float64{1, 1, 1, 1}, 1).Refused, BadShape},
		{"one count", DispersionTest([]float64{3}).Refused, TooShort},
		{"counts of 0", DispersionTest([]float64{0, 0}).Refused, BadShape},
	} {
		refused(t, c.name, c.got, c.want)
	}
}

func TestGapTestsIgnoreTheUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gaps := rapid.SliceOfN(rapid.Float64Range(0.001, 10), 2, 60).Draw(t, "gaps")
		a := math.Ldexp(1, rapid.IntRange(-20, 20).Draw(t, "a")) // exact scaling
		scaled := make([]float64, len(gaps))
		for i, g := range gaps {
			scaled[i] = a * g
		}
		if x, y := LewisKS(gaps), LewisKS(scaled); x != y {
			t.Fatalf("Lewis: %v, scaled %v", x, y)
		}
		if x, y := KSExponential(gaps, 2), KSExponential(scaled, 2/a); x != y {
			t.Fatalf("KS: %v, scaled %v", x, y)
		}
		p := LewisKS(gaps).P
		if !(p >= 0 && p <= 1) {
			t.Fatalf("p = %v", p)
		}
	})
}

// Under the hypothesis p must be uniform: seeded Poisson streams reject at
// 5 % about as often as that.
func TestLewisSize(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rejected := 0
	for range 400 {
		gaps := make([]float64, 80)
		for i := range gaps {
			gaps[i] = rng.ExpFloat64()
		}
		if LewisKS(gaps).P < 0.05 {
			rejected++
		}
	}
	if rejected < 8 || rejected > 36 {
		t.Errorf("%d of 400 rejected at 5 %%", rejected)
	}
}

// METHODS G2.
func TestLjungBox(t *testing.T) {
	got := LjungBox([]float64{1.2, .3, .7, 2.1, .4, .9, 1.6, .2, .5, 3.0, .8, 1.1}, 3)
	refused(t, "G2", got.Refused, "")
	for i, want := range []float64{-.3300507311, -.3682482841, .4265890779} {
		near(t, "r", got.R[i], want, 1e-9)
	}
	near(t, "Q", got.Q, 7.3388328001, 1e-9)
	near(t, "p", got.P, .0618473872, 1e-9)
	near(t, "max |r|", got.MaxR, .4265890779, 1e-9)
}

// METHODS G3.
func TestDispersion(t *testing.T) {
	got := DispersionTest([]float64{8, 12, 9, 11, 10, 14, 7, 9, 10, 10})
	near(t, "index", got.Index, .4, 1e-12)
	near(t, "X", got.X, 3.6, 1e-12)
	near(t, "upper p", got.PUpper, .9357164109, 1e-9)
	near(t, "lower p", got.PLower, .0642835891, 1e-9)
}
