package schedule

import "math/bits"

// Permutation is a keyed bijection of 0 to n-1: a Feistel network of four
// rounds over the next even number of bits, walked until it falls into the
// range (Black and Rogaway, CT-RSA 2002). It hides order, it is no cipher.
type Permutation struct {
	key  uint64
	n    uint64
	half uint
}

// NewPermutation makes a permutation of n values.
func NewPermutation(key, n uint64) Permutation {
	width := 1
	if n > 2 {
		width = bits.Len64(n - 1)
	}
	return Permutation{key: key, n: n, half: uint(width+1) / 2}
}

// Apply maps i, below n.
func (p Permutation) Apply(i uint64) uint64 {
	if p.n <= 1 {
		return i
	}
	mask := uint64(1)<<p.half - 1
	for {
		l, r := i>>p.half, i&mask
		for round := range uint64(4) {
			l, r = r, l^mix(p.key+golden*(round+1)+r)&mask
		}
		i = l<<p.half | r
		if i < p.n {
			return i
		}
	}
}
