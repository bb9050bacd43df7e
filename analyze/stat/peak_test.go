package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// METHODS B1.
func TestMeanOfRuns(t *testing.T) {
	three := MeanOfRuns([]float64{1180, 1215, 1204}, 0.95)
	refused(t, "three runs", three.Refused, "")
	near(t, "mean", three.Mean, 1199.577351, 1e-8)
	nearInterval(t, "interval", three.CI, 1155.820945, 1244.990263, 1e-8)

	five := MeanOfRuns([]float64{1180, 1215, 1204, 1192, 1209}, 0.95)
	near(t, "mean", five.Mean, 1199.934294, 1e-8)
	nearInterval(t, "interval", five.CI, 1182.614638, 1217.507601, 1e-8)
	near(t, "margin", five.Mean/640, 1.874897, 1e-6)
	nearInterval(t, "margin", Interval{five.CI[0] / 640, five.CI[1] / 640}, 1.847835, 1.902356, 1e-6)

	two := MeanOfRuns([]float64{100, 121}, 0.95)
	refused(t, "two runs", two.Refused, TooFewRuns)
	near(t, "mean of two", two.Mean, 110, 1e-12)
	refused(t, "none", MeanOfRuns(nil, 0.95).Refused, NoData)
	refused(t, "a run of 0", MeanOfRuns([]float64{1, 0, 2}, 0.95).Refused, BadShape)
	refused(t, "a run of NaN", MeanOfRuns([]float64{1, math.NaN(), 2}, 0.95).Refused, NotFinite)
}

var dailyMaxima = []float64{612, 598, 640, 575, 603, 588, 621, 594, 607, 581, 599, 616}

// METHODS B2.
func TestGumbel(t *testing.T) {
	fit, r := GumbelFit(dailyMaxima)
	refused(t, "B2", r, "")
	near(t, "beta", fit.Beta, 15.21387498, 1e-9)
	near(t, "mu", fit.Mu, 594.05164637, 1e-9)
	near(t, "median of 90 days", fit.MaxQuantile(90, 0.5), 668.087270, 1e-8)
	near(t, "95 % of 90 days", fit.MaxQuantile(90, 0.95), 707.699367, 1e-8)

	same, r := GumbelFit([]float64{500, 500, 500})
	if r != "" || same.Beta != 0 || same.MaxQuantile(90, 0.95) != 500 {
		t.Errorf("equal maxima: %+v, %q", same, r)
	}
	_, r = GumbelFit([]float64{1})
	refused(t, "one maximum", r, TooShort)
	_, r = GumbelFit(nil)
	refused(t, "no maximum", r, NoData)
}

func TestPeakNext(t *testing.T) {
	refused(t, "12 days", PeakNext(dailyMaxima, 90, 0.95).Refused, TooFewDays)
	refused(t, "none", PeakNext(nil, 90, 0.95).Refused, NoData)

	rng := rand.New(rand.NewPCG(21, 22))
	steady := make([]float64, 60)
	growing := make([]float64, 60)
	for i := range steady {
		v := 600 - 15*math.Log(rng.ExpFloat64())
		steady[i] = v
		growing[i] = v + 2*float64(i)
	}
	got := PeakNext(steady, 90, 0.95)
	refused(t, "steady", got.Refused, "")
	// The truth: 600 + 15 (ln 90 + 2.9702).
	relative(t, "steady", got.Value, 712, 0.05)
	refused(t, "growing", PeakNext(growing, 90, 0.95).Refused, PeakTrending)
	slices.Reverse(growing)
	refused(t, "falling", PeakNext(growing, 90, 0.95).Refused, PeakTrending)
}

// The yardstick of METHODS part b: the busiest of the 7,776,000 seconds of
// 90 days when arrivals are plain Poisson.
func TestPoissonPeak(t *testing.T) {
	const seconds = 90 * 86400
	for _, c := range []struct {
		mean        float64
		median, p95 uint64
	}{{10, 30, 33}, {100, 156, 162}, {1000, 1169, 1185}, {10000, 10526, 10574}} {
		if got, ok := PoissonPeak(c.mean, seconds, 0.5); !ok || got != c.median {
			t.Errorf("mean %v: median peak %d, want %d", c.mean, got, c.median)
		}
		if got, ok := PoissonPeak(c.mean, seconds, 0.95); !ok || got != c.p95 {
			t.Errorf("mean %v: 95 %% peak %d, want %d", c.mean, got, c.p95)
		}
	}
	// Peaks scaled up from sampled logs: 1000/s at 1 % and 10 %.
	for share, want := range map[float64]float64{0.01: 3000, 0.1: 1560} {
		got, _ := PoissonPeak(1000*share, seconds, 0.5)
		near(t, "sampled peak", float64(got)/share, want, 1e-9)
	}
	for _, mean := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, ok := PoissonPeak(mean, 10, 0.5); ok {
			t.Errorf("mean %v must not be ok", mean)
		}
	}
}

func TestBeatenProbability(t *testing.T) {
	p, _ := BeatenProbability(90, 90)
	near(t, "90 of 90", p, 0.5, 1e-12)
	p, _ = BeatenProbability(12, 90)
	near(t, "12 then 90", p, 0.882353, 1e-6)
	if _, ok := BeatenProbability(0, 90); ok {
		t.Error("no day is not ok")
	}
}
