package stat

import (
	"math"
	"slices"
)

// TheilSenAt is TheilSen for values at any instants t, in rising order: the
// median over all pairs at different instants of (y_j − y_i)/(t_j − t_i).
// Intercept is at t = 0, Level at the last instant. It refuses NotFinite,
// BadShape for slices of different length or instants that go back, and
// TooShort where fewer than two instants differ.
//
// Method: Sen 1968, who allows unequal spacing.
func TheilSenAt(t, y []float64) Line {
	switch {
	case len(t) != len(y) || !slices.IsSorted(t):
		return Line{Refused: BadShape}
	case !Finite(t) || !Finite(y):
		return Line{Refused: NotFinite}
	}
	pairs := make([]float64, 0, len(y)*(len(y)-1)/2)
	for i := range y {
		for j := i + 1; j < len(y); j++ {
			if t[j] > t[i] {
				pairs = append(pairs, (y[j]-y[i])/(t[j]-t[i]))
			}
		}
	}
	if len(pairs) == 0 {
		return Line{Refused: TooShort}
	}
	if !Finite(pairs) {
		return Line{Refused: NotFinite}
	}
	slices.Sort(pairs)
	l := Line{Slope: medianSorted(pairs), pairs: pairs}
	rest := make([]float64, len(y))
	for i := range y {
		rest[i] = y[i] - l.Slope*t[i]
	}
	l.Intercept, _ = Median(rest)
	l.Level = l.Intercept + l.Slope*t[len(t)-1]
	if math.IsNaN(l.Level) || !Finite([]float64{l.Intercept, l.Level}) {
		return Line{Refused: NotFinite}
	}
	return l
}
