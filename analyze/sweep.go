package analyze

import (
	"math"
	"slices"
)

// judgedPlateau is a plateau with its verdict.
type judgedPlateau struct {
	*Plateau
	Judged
}

// sweep is a set of plateaus, judged together.
type sweep struct {
	all   []judgedPlateau // rising offered rate
	valid []judgedPlateau // those that can be judged
	base  float64         // failure ratio far below saturation
}

// judgeSweep judges plateaus of a step load in whatever order they come.
func judgeSweep(plateaus []Plateau) sweep {
	var s sweep
	refs := make([]*Plateau, 0, len(plateaus))
	for i := range plateaus {
		refs = append(refs, &plateaus[i])
	}
	slices.SortStableFunc(refs, func(a, b *Plateau) int {
		if x, y := a.Offered(), b.Offered(); x != y {
			return compare(x, y)
		}
		return a.Phase - b.Phase
	})
	var sound []*Plateau
	for _, p := range refs {
		if p.Lacks == "" && p.Trust.Verdict != Untrusted && !p.Inherits {
			sound = append(sound, p)
		}
	}
	s.base = baseErrors(sound)
	failed := math.Inf(1) // the lowest rate that was too much for an idle service
	for _, p := range refs {
		jp := judgedPlateau{p, Classify(p, s.base)}
		s.all = append(s.all, jp)
		if jp.Held != nil && !*jp.Held {
			failed = min(failed, jp.OfferedRPS)
		}
	}
	for i := range s.all {
		jp := &s.all[i]
		// Work left over from before explains a failure at a lower rate, but
		// not at a rate that was too much without it.
		if jp.Why == whyInherits && jp.class == saturated && jp.OfferedRPS >= failed {
			jp.accept()
		}
		if jp.valid {
			s.valid = append(s.valid, *jp)
		}
	}
	return s
}

func compare(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// bracket finds the highest plateau that held and the lowest that did not,
// -1 where there is none. Where the one lies above the other by a little, the
// plateaus between contradict each other within the tolerance and the bracket
// is taken around them; by more, the sweep is unstable.
func (s *sweep) bracket() (low, up int, unstable bool) {
	low, up = -1, -1
	for i := range s.valid {
		switch h := s.valid[i].Held; {
		case h == nil:
		case *h:
			low = i
		case up < 0:
			up = i
		}
	}
	if low < 0 || up < 0 || low < up {
		return low, up, false
	}
	if s.valid[low].OfferedRPS > inversion*s.valid[up].OfferedRPS {
		return low, up, true
	}
	high, first := low, up
	for low >= 0 && (low >= up || s.valid[low].Held == nil || !*s.valid[low].Held) {
		low--
	}
	for up < len(s.valid) && (up <= high || s.valid[up].Held == nil || *s.valid[up].Held) {
		up++
	}
	if up == len(s.valid) || low < 0 {
		return high, first, true
	}
	return low, up, false
}
