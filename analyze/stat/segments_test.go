package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

func poissonCounts(rng *rand.Rand, n int, rate func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		for t := rng.ExpFloat64(); t < rate(i); t += rng.ExpFloat64() {
			x[i]++
		}
	}
	return x
}

// A daily curve is not burstiness: within segments the index stays 1.
func TestDispersionOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(111, 112))
	curve := poissonCounts(rng, 6000, func(i int) float64 { return 60 * (1 + 0.5*math.Sin(float64(i)/2000)) })
	whole := DispersionOf([][]float64{curve})
	cut := DispersionOf(Segments(curve, 100))
	refused(t, "cut", cut.Refused, "")
	near(t, "in segments", cut.Index, 1, 0.06)
	if whole.Index < 1.5 || cut.Segments != 60 {
		t.Errorf("undivided %+v, in segments %+v", whole, cut)
	}
	two := DispersionOf([][]float64{{1, 3}, {10, 14}, {5}, nil})
	near(t, "by hand", two.Index, (2+8)/(2+12.), 1e-12)
	if two.Segments != 2 {
		t.Errorf("%+v", two)
	}
	refused(t, "none", DispersionOf(nil).Refused, NoData)
	refused(t, "single counts", DispersionOf([][]float64{{1}, {2}}).Refused, NoData)
	refused(t, "zeros", DispersionOf([][]float64{{0, 0}}).Refused, BadShape)
	refused(t, "negative", DispersionOf([][]float64{{-1, 2}}).Refused, BadShape)
	refused(t, "NaN", DispersionOf([][]float64{{1, math.NaN()}}).Refused, NotFinite)
}

// The replay model of METHODS part h.
func TestBurstModel(t *testing.T) {
	for _, c := range []struct{ mean, index, v, r float64 }{
		{1000, 5, .004, 250}, {1000, 21, .02, 50}, {200, 3, .01, 100},
	} {
		g, ok := BurstModel(c.mean, c.index)
		if !ok {
			t.Fatal("not ok")
		}
		near(t, "v", g.CV2, c.v, 1e-12)
		near(t, "r", g.Shape, c.r, 1e-9)
	}
	near(t, "CV", math.Sqrt(.004), .0632, 1e-4)
	for _, c := range [][2]float64{{1000, 1}, {1000, 0.9}, {0, 5}, {-1, 0}, {1000, math.NaN()}} {
		if _, ok := BurstModel(c[0], c[1]); ok {
			t.Errorf("mean %v, index %v must not be ok", c[0], c[1])
		}
	}
}
