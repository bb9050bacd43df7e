package stat

import (
	"math"
	"testing"
)

// near fails unless got is within tol of want, tol being relative above 1
// and absolute below.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tol*max(1, math.Abs(want)) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

func nearInterval(t *testing.T, what string, got Interval, lo, hi, tol float64) {
	t.Helper()
	near(t, what+" low", got[0], lo, tol)
	near(t, what+" high", got[1], hi, tol)
}

// relative fails unless got is within the relative tolerance of want.
func relative(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tol*math.Abs(want) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

func refused(t *testing.T, what string, got, want Refusal) {
	t.Helper()
	if got != want {
		t.Errorf("%s refused with %q, want %q", what, got, want)
	}
}
