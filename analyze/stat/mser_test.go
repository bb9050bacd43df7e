package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// METHODS A4.
func TestMSER(t *testing.T) {
	x := []float64{
		40, 34, 29, 25, 22, 20, 18, 17, 16, 15, 10, 11, 9, 10, 10, 12, 9, 10, 11, 8, 10, 10, 11, 9, 10,
		9, 10, 12, 10, 9, 11, 10, 9, 10, 10, 10, 8, 11, 10, 11, 9, 10, 10, 12, 9, 10, 11, 9, 10, 10,
	}
	five := MSER(x, 5)
	if five.Discard != 10 || !five.Settled || five.Refused != "" {
		t.Errorf("MSER-5 = %+v, want 10 values discarded", five)
	}
	near(t, "MSER-5", five.Value, 0, 1e-12)
	one := MSER(x, 1)
	if one.Discard != 10 || !one.Settled {
		t.Errorf("MSER-1 = %+v, want 10 values discarded", one)
	}
	near(t, "MSER-1", one.Value, 0.0225, 1e-12)
}

func TestMSERVerdicts(t *testing.T) {
	rising := make([]float64, 60)
	for i := range rising {
		rising[i] = float64(i)
	}
	if got := MSER(rising, 1); got.Settled || got.Refused != "" {
		t.Errorf("a rising series settled: %+v", got)
	}
	flat := make([]float64, 60)
	for i := range flat {
		flat[i] = 1.0 / 3
	}
	if got := MSER(flat, 1); got.Discard != 0 || got.Value != 0 || !got.Settled {
		t.Errorf("a flat series = %+v, want nothing discarded", got)
	}
	refused(t, "no values", MSER(nil, 1).Refused, NoData)
	refused(t, "three values", MSER([]float64{1, 2, 3}, 1).Refused, TooShort)
	refused(t, "NaN", MSER([]float64{1, 2, 3, math.NaN()}, 1).Refused, NotFinite)
	if MSERSize(99) != 1 || MSERSize(100) != 5 {
		t.Error("MSERSize changes at 100")
	}
}

// The one-pass recurrence must agree with the definition.
func TestMSERAgreesWithDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(0, 100), 4, 40).Draw(t, "x")
		got := MSER(x, 1)
		best := math.Inf(1)
		for d := 0; d <= len(x)/2; d++ {
			_, m2 := meanM2(x[d:])
			k := float64(len(x) - d)
			best = min(best, m2/(k*k))
		}
		if math.Abs(got.Value-best) > 1e-9*(1+best) {
			t.Fatalf("MSER = %v, definition %v", got.Value, best)
		}
	})
}
