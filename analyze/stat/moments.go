package stat

import (
	"math"
	"slices"
)

// largest is the size above which values are taken for infinite, so that
// squares and their sums stay finite.
const largest = 1e100

// Finite reports whether every value is finite, which here means at most
// 1e100 in size. It is true for no values.
func Finite(x []float64) bool {
	for _, v := range x {
		if !(math.Abs(v) <= largest) {
			return false
		}
	}
	return true
}

// Mean returns the arithmetic mean of x. It is not ok when x is empty or
// holds a value that is not finite.
func Mean(x []float64) (mean float64, ok bool) {
	if len(x) == 0 || !Finite(x) {
		return 0, false
	}
	m, _ := meanM2(x)
	return m, true
}

// SD returns the standard deviation of x with n−1 in the denominator. It is
// not ok with fewer than two values or one that is not finite.
func SD(x []float64) (sd float64, ok bool) {
	if len(x) < 2 || !Finite(x) {
		return 0, false
	}
	_, m2 := meanM2(x)
	sd = math.Sqrt(m2 / float64(len(x)-1))
	return sd, true
}

// meanM2 returns the mean and the sum of squared deviations from it by two
// passes over values shifted by the first, so that large offsets do not
// cancel. x must not be empty.
func meanM2(x []float64) (mean, m2 float64) {
	shift := x[0]
	var sum float64
	for _, v := range x {
		sum += v - shift
	}
	d := sum / float64(len(x))
	var comp float64
	for _, v := range x {
		e := v - shift - d
		m2 += e * e
		comp += e
	}
	m2 -= comp * comp / float64(len(x))
	return shift + d, max(m2, 0)
}

// Median returns the middle value of x, or the mean of the two middle ones.
// It is not ok when x is empty or holds a value that is not finite.
func Median(x []float64) (median float64, ok bool) {
	if len(x) == 0 || !Finite(x) {
		return 0, false
	}
	s := slices.Clone(x)
	slices.Sort(s)
	return medianSorted(s), true
}

func medianSorted(s []float64) float64 {
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return s[n/2-1]/2 + s[n/2]/2
}

// Quantile returns the q-quantile of x by nearest rank: the smallest value
// with at least q·n values at or below it; q = 0 gives the minimum. The
// result is always one of the values. It is not ok when x is empty, holds a
// value that is not finite, or q is outside [0,1].
func Quantile(x []float64, q float64) (v float64, ok bool) {
	if len(x) == 0 || !Finite(x) || !(q >= 0 && q <= 1) {
		return 0, false
	}
	s := slices.Clone(x)
	slices.Sort(s)
	return quantileSorted(s, q), true
}

func quantileSorted(s []float64, q float64) float64 {
	// The small step back keeps 0.95 × 20, which is 19.000…, at rank 19
	// whatever the rounding of the product.
	rank := int(math.Ceil(q*float64(len(s))*(1-1e-12)) - 1)
	return s[min(max(rank, 0), len(s)-1)]
}

// Autocorrelation returns Σ(x_i−x̄)(x_{i+lag}−x̄)/Σ(x_i−x̄)², the usual
// estimate with n in both denominators. It is not ok when lag is negative or
// not less than the number of values, when all values are equal, or when one
// is not finite.
func Autocorrelation(x []float64, lag int) (r float64, ok bool) {
	if lag < 0 || lag >= len(x) || !Finite(x) {
		return 0, false
	}
	mean, m2 := meanM2(x)
	if m2 == 0 {
		return 0, false
	}
	var c float64
	for i := lag; i < len(x); i++ {
		c += (x[i] - mean) * (x[i-lag] - mean)
	}
	return c / m2, true
}

// ranks returns the ranks of x from 1, ties sharing their mean rank.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	r := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		mid := float64(i+j+1) / 2
		for ; i < j; i++ {
			r[order[i]] = mid
		}
	}
	return r
}

func signum(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// sortedFinite returns the values in ascending order; it refuses none and
// any that is not finite.
func sortedFinite(x []float64) ([]float64, Refusal) {
	if len(x) == 0 {
		return nil, NoData
	}
	if !Finite(x) {
		return nil, NotFinite
	}
	s := slices.Clone(x)
	slices.Sort(s)
	return s, ""
}
