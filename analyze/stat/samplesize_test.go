package stat

import "testing"

// The sample sizes of METHODS part a.
func TestRequestsNeeded(t *testing.T) {
	for eps, want := range map[float64]float64{.01: 102348, .02: 25587, .05: 4094} {
		if got, ok := RequestsNeeded(eps); !ok || got != want {
			t.Errorf("eps %v: %v, want %v", eps, got, want)
		}
	}
	for _, eps := range []float64{0, 1, -1} {
		if _, ok := RequestsNeeded(eps); ok {
			t.Errorf("eps %v must not be ok", eps)
		}
	}
}
