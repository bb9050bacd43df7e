package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

var otava = []float64{1.02, .95, .99, 1.00, 1.12, 1.00, 1.01, .98, 1.01, .96, .50, .51, .48, .48, .55, .50, .49, .51, .50, .49}

// METHODS E3.
func TestChangePoint(t *testing.T) {
	got, r := ChangePoints(otava, ChangeOpts{})
	refused(t, "E3", r, "")
	if len(got) != 1 || got[0].Index != 10 {
		t.Fatalf("points %+v, want one at 10", got)
	}
	near(t, "Q", got[0].Q, 4.682222222, 1e-9)
	relative(t, "p", got[0].P, 3.6276e-17, 1e-4)
	near(t, "before", got[0].Before, 1.004, 1e-12)
	near(t, "after", got[0].After, 0.501, 1e-12)

	second := []float64{1, 1.02, 1.05, .95, .98, .80, .82, .85, .79, .77}
	p := compareMeans(second[:5], second[5:])
	near(t, "t", p.T, 8.891975, 1e-6)
	relative(t, "p", p.P, 2.02498e-5, 1e-5)
	got, _ = ChangePoints(second, ChangeOpts{})
	if len(got) != 1 || got[0].Index != 5 {
		t.Errorf("points %+v, want one at 5", got)
	}
	if p := compareMeans(second[:5], second[:5]); p.P != 1 {
		t.Errorf("identical halves: p = %v", p.P)
	}
}

func TestChangePointsAbsent(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 82))
	level := func(n int, sd float64, f func(i int) float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = f(i) + sd*rng.NormFloat64()
		}
		return x
	}
	flat := func(int) float64 { return 5 }
	spike := func(i int) float64 {
		if i == 12 {
			return 6
		}
		return 5
	}
	for _, c := range []struct {
		name string
		x    []float64
	}{
		{"constant", make([]float64, 30)},
		{"noise", level(40, 0.01, flat)},
		{"one spike", level(30, 0.01, spike)},
		{"a clean spike", level(30, 0, spike)},
		{"a step of 1 %", level(40, 0.001, func(i int) float64 { return 5 + 0.01*float64(i/20) })},
		{"identical halves", append(append([]float64{}, runsA...), runsA...)},
	} {
		if got, r := ChangePoints(c.x, ChangeOpts{}); len(got) > 0 || r != "" {
			t.Errorf("%s: %+v, %q", c.name, got, r)
		}
	}
	false_ := 0
	for range 50 {
		if got, _ := ChangePoints(level(40, 0.05, flat), ChangeOpts{}); len(got) > 0 {
			false_++
		}
	}
	if false_ > 5 {
		t.Errorf("change points in %d of 50 series of noise", false_)
	}
}

func TestChangePointsSeveral(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 84))
	x := make([]float64, 60)
	for i := range x {
		x[i] = []float64{0, 0.2, 0.1}[i/20] + 0.01*rng.NormFloat64()
	}
	got, r := ChangePoints(x, ChangeOpts{})
	refused(t, "three levels", r, "")
	if len(got) != 2 || got[0].Index != 20 || got[1].Index != 40 {
		t.Errorf("points %+v, want 20 and 40", got)
	}
	up := make([]float64, len(x))
	for i := range x {
		up[i] = x[i] + 7
	}
	shifted, _ := ChangePoints(up, ChangeOpts{})
	if len(shifted) != 2 || shifted[0].Index != 20 || shifted[1].Index != 40 {
		t.Errorf("after a shift: %+v", shifted)
	}
}

func TestChangePointsRefuses(t *testing.T) {
	_, r := ChangePoints([]float64{1, 2, 3, 4, 5}, ChangeOpts{})
	refused(t, "five values", r, TooShort)
	_, r = ChangePoints(nil, ChangeOpts{})
	refused(t, "none", r, TooShort)
	_, r = ChangePoints([]float64{1, 2, 3, 4, 5, math.NaN()}, ChangeOpts{})
	refused(t, "NaN", r, NotFinite)
	_, r = ChangePoints(otava, ChangeOpts{P: 2})
	refused(t, "p of 2", r, BadShape)
}
