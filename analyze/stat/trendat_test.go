package stat

import (
	"math"
	"testing"
)

func TestTheilSenAt(t *testing.T) {
	y := []float64{266, 145.9, 183.1, 119.3, 180.3, 168.5, 231.8, 224.5, 192.8, 122.9, 336.5, 185.9}
	at := make([]float64, len(y))
	for i := range at {
		at[i] = float64(i)
	}
	even := TheilSen(y)
	got := TheilSenAt(at, y)
	if got.Slope != even.Slope || got.Interval(200) != even.Interval(200) {
		t.Errorf("equally spaced: %+v, want %+v", got, even)
	}
	// A line, with holes and two values at one instant.
	got = TheilSenAt([]float64{0, 1, 1, 5, 9}, []float64{3, 5, 5, 13, 21})
	if got.Slope != 2 || got.Intercept != 3 || got.Level != 21 {
		t.Errorf("a line: %+v", got)
	}
	for _, c := range []struct {
		t, y []float64
		want Refusal
	}{
		{[]float64{1}, []float64{1}, TooShort},
		{[]float64{1, 1}, []float64{1, 2}, TooShort},
		{[]float64{1, 2}, []float64{1}, BadShape},
		{[]float64{2, 1}, []float64{1, 2}, BadShape},
		{[]float64{1, 2}, []float64{1, math.NaN()}, NotFinite},
	} {
		if got := TheilSenAt(c.t, c.y).Refused; got != c.want {
			t.Errorf("%v %v: %q, want %q", c.t, c.y, got, c.want)
		}
	}
}
