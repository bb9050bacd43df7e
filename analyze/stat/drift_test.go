package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// ar1 draws an AR(1) series of standard deviation 1.
func ar1(rng *rand.Rand, n int, phi float64) []float64 {
	x := make([]float64, n)
	v := rng.NormFloat64()
	for i := range x {
		x[i] = v
		v = phi*v + math.Sqrt(1-phi*phi)*rng.NormFloat64()
	}
	return x
}

func randomWalk(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	var v float64
	for i := range x {
		v += rng.NormFloat64()
		x[i] = v
	}
	return x
}

// sawTooth draws cycles of jittered length that rise from 0 to 1.
func sawTooth(rng *rand.Rand, n int, period float64) []float64 {
	x := make([]float64, n)
	length := period
	at := 0.0
	for i := range x {
		x[i] = at/length + 0.05*rng.NormFloat64()
		if at++; at >= length {
			at, length = 0, period*(0.9+0.2*rng.Float64())
		}
	}
	return x
}

func plus(x []float64, f func(share float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = v + f(float64(i)/float64(len(x)))
	}
	return y
}

// The shares of a hundred seeded series that get each answer. Bounds are the
// rates of METHODS part d with room for the smaller number of series.
func TestDriftRates(t *testing.T) {
	const n, series = 600, 100
	level := func(float64) float64 { return 10 }
	for _, c := range []struct {
		name                 string
		make                 func(*rand.Rand) []float64
		minLeak, maxLeak     int
		minRefuse, maxRefuse int
	}{
		{"white noise", func(r *rand.Rand) []float64 { return plus(ar1(r, n, 0), level) }, 0, 5, 0, 5},
		{"AR(1) .5", func(r *rand.Rand) []float64 { return plus(ar1(r, n, .5), level) }, 0, 6, 0, 5},
		{"AR(1) .9", func(r *rand.Rand) []float64 { return plus(ar1(r, n, .9), level) }, 0, 6, 0, 15},
		{"AR(1) .97", func(r *rand.Rand) []float64 { return plus(ar1(r, n, .97), level) }, 0, 8, 10, 60},
		{"random walk", func(r *rand.Rand) []float64 { return plus(randomWalk(r, n), level) }, 0, 12, 70, 100},
		{"saw-tooth of 14", func(r *rand.Rand) []float64 { return plus(sawTooth(r, n, 14), level) }, 0, 3, 0, 8},
		{"white noise + 1 sd", func(r *rand.Rand) []float64 {
			return plus(ar1(r, n, 0), func(s float64) float64 { return 10 + s })
		}, 80, 100, 0, 20},
		{"AR(1) .9 + 4 sd", func(r *rand.Rand) []float64 {
			return plus(ar1(r, n, .9), func(s float64) float64 { return 10 + 4*s })
		}, 75, 100, 0, 25},
		{"saw-tooth of 14 + 2 amplitudes", func(r *rand.Rand) []float64 {
			return plus(sawTooth(r, n, 14), func(s float64) float64 { return 10 + 2*s })
		}, 95, 100, 0, 5},
	} {
		leaks, refusals := 0, 0
		for seed := range uint64(series) {
			got := Drift(c.make(rand.New(rand.NewPCG(seed, 41))), DriftOpts{SpacingH: 1. / 60, WarmUpRemoved: true})
			switch {
			case got.Refused != "":
				refusals++
			case got.Kind == DriftLeak:
				leaks++
			}
		}
		if leaks < c.minLeak || leaks > c.maxLeak {
			t.Errorf("%s: %d of %d called leaks, want %d to %d", c.name, leaks, series, c.minLeak, c.maxLeak)
		}
		if refusals < c.minRefuse || refusals > c.maxRefuse {
			t.Errorf("%s: %d of %d refused, want %d to %d", c.name, refusals, series, c.minRefuse, c.maxRefuse)
		}
	}
}

func TestDriftKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	const n = 720 // 12 hours, one value a minute
	noise := func() []float64 { return ar1(rng, n, 0) }
	limit := 2000.0
	for _, c := range []struct {
		name    string
		x       []float64
		o       DriftOpts
		kind    string
		refused Refusal
	}{
		{"flat", plus(noise(), func(float64) float64 { return 1000 }), DriftOpts{}, DriftNone, ""},
		{"constant", make([]float64, n), DriftOpts{}, DriftNone, ""},
		{"leak", plus(noise(), func(s float64) float64 { return 1000 + 50*s }), DriftOpts{Limit: &limit}, DriftLeak, ""},
		{"growth too slow to matter", plus(noise(), func(s float64) float64 { return 1000 + 2*s }), DriftOpts{HorizonH: 24}, DriftNone, ""},
		{"falling", plus(noise(), func(s float64) float64 { return 1000 - 50*s }), DriftOpts{}, DriftNone, ""},
		{"latency", plus(noise(), func(s float64) float64 { return 100 + 30*s }), DriftOpts{Latency: true}, DriftDrift, ""},
		{"step", plus(noise(), func(s float64) float64 {
			if s < .6 {
				return 100
			}
			return 130
		}), DriftOpts{}, DriftStep, StepOrWarmUp},
		{"warm-up", plus(noise(), func(s float64) float64 { return 1000 - 40*math.Exp(-s/.12) }), DriftOpts{WarmUpRemoved: true}, DriftWarmUp, StepOrWarmUp},
		{"warm-up, removed", plus(noise(), func(s float64) float64 { return 1000 - 40*math.Exp(-s/.05) }), DriftOpts{}, DriftNone, ""},
		{"saw-tooth", plus(sawTooth(rng, n, 15), func(float64) float64 { return 10 }), DriftOpts{}, DriftSawTooth, ""},
		{"saw-tooth with a leak", plus(sawTooth(rng, n, 15), func(s float64) float64 { return 10 + s }), DriftOpts{}, DriftLeak, ""},
		{"saw-tooth too long", plus(sawTooth(rng, n, 100), func(float64) float64 { return 10 }), DriftOpts{}, "", TooShort},
		{"too short", noise()[:300], DriftOpts{}, "", TooShort},
		{"load rises", plus(noise(), func(s float64) float64 { return 1000 + 50*s }), DriftOpts{Load: plus(noise(), func(s float64) float64 { return 500 + 50*s })}, "", LoadNotConstant},
		{"load flat", plus(noise(), func(s float64) float64 { return 1000 + 50*s }), DriftOpts{Load: plus(noise(), func(float64) float64 { return 500 })}, DriftLeak, ""},
		{"NaN", append(noise(), math.NaN()), DriftOpts{}, "", NotFinite},
		{"empty", nil, DriftOpts{}, "", NoData},
		{"latency of 0", make([]float64, n), DriftOpts{Latency: true}, "", BadShape},
	} {
		c.o.SpacingH = 1. / 60
		got := Drift(c.x, c.o)
		if got.Kind != c.kind || got.Refused != c.refused {
			t.Errorf("%s: kind %q, refused %q, want %q, %q\n%+v", c.name, got.Kind, got.Refused, c.kind, c.refused, got)
		}
	}
	refused(t, "no spacing", Drift(noise(), DriftOpts{}).Refused, BadShape)
}

// A leak of 10 per hour at 1120 after 12 hours meets 2000 in 88 hours.
func TestDriftForecast(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	limit := 2000.0
	x := plus(ar1(rng, 720, 0), func(s float64) float64 { return 1000 + 120*s })
	got := Drift(x, DriftOpts{SpacingH: 1. / 60, Limit: &limit})
	if got.Kind != DriftLeak {
		t.Fatalf("%+v", got)
	}
	relative(t, "slope", got.SlopePerH, 10, 0.02)
	relative(t, "level", got.Level, 1120, 0.01)
	relative(t, "exhaustion", *got.Exhaustion.At, 88, 0.02)
	if !(got.CI[0] <= 10 && 10 <= got.CI[1]) {
		t.Errorf("slope interval %v does not hold 10", got.CI)
	}
	if !(*got.Exhaustion.CI[0] <= *got.Exhaustion.At && *got.Exhaustion.At <= *got.Exhaustion.CI[1]) {
		t.Errorf("exhaustion %v outside its interval", *got.Exhaustion.At)
	}
	step := plus(ar1(rng, 720, 0), func(s float64) float64 {
		if s < 0.5 {
			return 100
		}
		return 200
	})
	if got := Drift(step, DriftOpts{SpacingH: 1. / 60}); got.Kind != DriftStep || math.Abs(float64(got.StepAt)-360) > 25 {
		t.Errorf("step at %d, want about 360 (%+v)", got.StepAt, got)
	}
}
