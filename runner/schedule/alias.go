package schedule

import (
	"fmt"
	"math"
	"math/bits"
)

// Alias draws an index with given weights in constant time: Walker's table in
// the construction of Vose (IEEE TSE 1991). It is safe for concurrent use.
type Alias struct {
	keep  []uint64 // probability, in units of 2^-64, that a column keeps its own index
	other []uint32
}

// NewAlias makes the table. Weights are finite, not negative, and not all 0.
func NewAlias(weights []float64) (*Alias, error) {
	n := len(weights)
	if n == 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("%d weights; there must be at least one and at most 2^31-1", n)
	}
	var sum float64
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return nil, fmt.Errorf("weight %d is %v; a weight is a finite number, 0 or above", i, w)
		}
		sum += w
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("the weights sum to %v; the sum must be above 0", sum)
	}
	a := &Alias{keep: make([]uint64, n), other: make([]uint32, n)}
	scaled := make([]float64, n)
	var small, large []uint32
	for i, w := range weights {
		scaled[i] = float64(w/sum) * float64(n)
		if scaled[i] < 1 {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		a.keep[s], a.other[s] = uint64(scaled[s]*0x1p64), l
		scaled[l] = float64(scaled[l]+scaled[s]) - 1
		if scaled[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	// What is left over is 1 up to rounding. A weight of 0 must stay impossible
	// even so: such a column gives its whole width to an index that has weight.
	heaviest := 0
	for i, w := range weights {
		if w > weights[heaviest] {
			heaviest = i
		}
	}
	for _, i := range append(small, large...) {
		a.keep[i], a.other[i] = math.MaxUint64, i
		if weights[i] == 0 {
			a.keep[i], a.other[i] = 0, uint32(heaviest)
		}
	}
	return a, nil
}

// Len is the number of weights.
func (a *Alias) Len() int { return len(a.keep) }

// Pick maps 64 uniform bits to an index.
func (a *Alias) Pick(u uint64) int {
	column, within := bits.Mul64(u, uint64(len(a.keep)))
	if within < a.keep[column] || uint64(a.other[column]) == column {
		return int(column)
	}
	return int(a.other[column])
}
