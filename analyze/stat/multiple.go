package stat

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// MannWhitney returns the two-sided p-value of the Mann–Whitney U test of two
// samples, exact for small samples, ties included. It is not ok when either
// is empty, a value is not finite, or all values are equal, in which case
// there is nothing to rank.
func MannWhitney(a, b []float64) (p float64, ok bool) {
	if len(a) == 0 || len(b) == 0 || !Finite(a) || !Finite(b) {
		return 0, false
	}
	th := benchmath.DefaultThresholds
	c := benchmath.AssumeNothing.Compare(
		benchmath.NewSample(slices.Clone(a), &th), benchmath.NewSample(slices.Clone(b), &th))
	first := a[0]
	differs := func(v float64) bool { return v != first }
	if !slices.ContainsFunc(a, differs) && !slices.ContainsFunc(b, differs) {
		return 0, false
	}
	return min(max(c.P, 0), 1), true
}

// Holm returns the p-values adjusted for their number, in their order: each
// may be compared with the wanted probability of any false alarm. It returns
// nil when one lies outside [0,1].
//
// Method: Holm 1979.
func Holm(p []float64) []float64 {
	return adjust(p, func(order []int, out []float64) {
		last := 0.0
		for i, k := range order {
			last = max(last, min(1, p[k]*float64(len(p)-i)))
			out[k] = last
		}
	})
}

// BenjaminiHochberg returns the p-values adjusted for the share of false
// alarms among the alarms, in their order. It returns nil when one lies
// outside [0,1].
//
// Method: Benjamini and Hochberg 1995.
func BenjaminiHochberg(p []float64) []float64 {
	return adjust(p, func(order []int, out []float64) {
		last := 1.0
		for i := len(order) - 1; i >= 0; i-- {
			last = min(last, p[order[i]]*float64(len(p))/float64(i+1))
			out[order[i]] = last
		}
	})
}

func adjust(p []float64, f func(order []int, out []float64)) []float64 {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(p))
	f(order, out)
	return out
}
