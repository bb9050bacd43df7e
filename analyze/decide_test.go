package analyze

import (
	"testing"
	"time"
)

// sweepOf runs plateaus at these rates on eight servers of 10 ms, 800/s.
func sweepOf(t *testing.T, rates ...float64) []Plateau {
	t.Helper()
	return plateausOf(t, simulate(admission, load{rates: rates, plateau: 20 * time.Second, settle: 2 * time.Second, interval: time.Second, seed: 21}))
}

func TestFirstNotHeld(t *testing.T) {
	for _, c := range []struct {
		name  string
		rates []float64
		bad   []int // the generator gave out
		want  int
	}{
		{"all held", []float64{200, 300, 400, 500}, nil, -1},
		{"from the third on", []float64{300, 600, 900, 1000, 1100}, nil, 2},
		{"one bad moment of the generator", []float64{200, 300, 400, 500}, []int{1}, -1},
		{"the generator from the third on", []float64{200, 300, 400, 500}, []int{2, 3}, 2},
		{"none yet", nil, nil, -1},
	} {
		plateaus := sweepOf(t, c.rates...)
		for _, i := range c.bad {
			plateaus[i].Trust.Verdict = Untrusted
		}
		if got := FirstNotHeld(plateaus); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestBisection(t *testing.T) {
	plateaus := sweepOf(t, 400, 600, 1000, 1100)
	var tried []float64
	for range 3 {
		next, ok := NextRefine(plateaus)
		if !ok {
			break
		}
		tried = append(tried, next)
		more := sweepOf(t, next)[0]
		more.Phase, more.Index = 100+len(tried), 100+len(tried)
		plateaus = append(plateaus, more)
	}
	if len(tried) != 3 || tried[0] <= 600 || tried[0] >= 1000 {
		t.Fatalf("tried %v between 600 and 1000", tried)
	}
	for i, a := range tried {
		for _, b := range tried[:i] {
			if a == b {
				t.Errorf("%v was tried twice", a)
			}
		}
	}
	if knee, ok := KneeSoFar(plateaus); !ok || knee < 720 || knee > 880 {
		t.Errorf("knee so far %v, want about 800", knee)
	}
	if _, ok := NextRefine(sweepOf(t, 200, 300)); ok {
		t.Error("a bracket was found where everything held")
	}
	if _, ok := KneeSoFar(sweepOf(t, 200, 300)); ok {
		t.Error("a knee was found where everything held")
	}
}
