package stat

import (
	"math"
	"math/bits"
	"slices"
)

// CacheHit is the hit ratio of a cache of a number of equal entries.
type CacheHit struct {
	Hit float64
	// T is the characteristic time of Che's approximation, in requests: how
	// long a key stays without being asked for. 0 where it was not computed.
	T       float64
	Refused Refusal
}

// CheLRU returns the hit ratio of an LRU cache of the given number of entries
// under independent requests with the given probabilities, by Che's
// approximation: T solves Σ(1−e^{−p_i T}) = entries, and Hit is
// Σ p_i(1−e^{−p_i T}). A cache that holds every key hits always, with T 0. It
// refuses NoData, NotFinite, BadShape for probabilities that are negative or
// sum to more than 1, or entries below 1.
//
// Method: Che, Tung and Wang 2002; Fricker, Robert and Roberts 2012.
func CheLRU(p []float64, entries float64) CacheHit {
	if r := checkWeights(p); r != "" {
		return CacheHit{Refused: r}
	}
	if !(entries >= 1) {
		return CacheHit{Refused: BadShape}
	}
	keys, sum := 0, 0.0
	for _, v := range p {
		if v > 0 {
			keys++
			sum += v
		}
	}
	if entries >= float64(keys) {
		return CacheHit{Hit: min(sum, 1)}
	}
	// The expected number of keys held is concave in T and at most T, so that
	// Newton's steps from T = entries come up to the root from below.
	t := entries
	for range 1000 {
		var held, slope float64
		for _, v := range p {
			gone := math.Exp(-v * t)
			held += 1 - gone
			slope += v * gone
		}
		step := (entries - held) / slope
		if !(step > 1e-13*t) {
			break
		}
		t += step
	}
	if math.IsInf(t, 0) || math.IsNaN(t) {
		return CacheHit{Refused: NotFinite}
	}
	c := CacheHit{T: t}
	for _, v := range p {
		c.Hit -= v * math.Expm1(-v*t)
	}
	return c
}

// exactKeys bounds the keys of LRUExact, whose work doubles with each.
const exactKeys = 20

// LRUExact is CheLRU without the approximation, for at most 20 keys: the
// probability that a cache holds a set of keys is built up set by set. More
// keys, or probabilities that do not sum to 1, are BadShape.
//
// Method: King 1971.
func LRUExact(p []float64, entries int) CacheHit {
	if r := checkWeights(p); r != "" {
		return CacheHit{Refused: r}
	}
	n := len(p)
	var sum float64
	for _, v := range p {
		sum += v
	}
	if n > exactKeys || entries < 1 || math.Abs(sum-1) > 1e-9 || slices.Contains(p, 0) {
		return CacheHit{Refused: BadShape}
	}
	if entries >= n {
		return CacheHit{Hit: 1}
	}
	// held[S] is the probability that the last len(S) distinct keys are S:
	// the most recent but len(S)−1 are S without i, and the next one back that
	// is not among them is i.
	held := make([]float64, 1<<n)
	mass := make([]float64, 1<<n)
	held[0] = 1
	var hit float64
	for s := 1; s < 1<<n; s++ {
		low := bits.TrailingZeros(uint(s))
		mass[s] = mass[s&(s-1)] + p[low]
		size := bits.OnesCount(uint(s))
		if size > entries {
			continue
		}
		for rest := s; rest != 0; rest &= rest - 1 {
			i := bits.TrailingZeros(uint(rest))
			without := s &^ (1 << i)
			held[s] += held[without] * p[i] / (1 - mass[without])
		}
		if size == entries {
			hit += held[s] * mass[s]
		}
	}
	return CacheHit{Hit: min(hit, 1)}
}

// LFUBound returns the hit ratio of a cache that holds the most popular keys
// for ever: no cache does better under independent requests. Refusals as
// CheLRU.
func LFUBound(p []float64, entries int) CacheHit {
	if r := checkWeights(p); r != "" {
		return CacheHit{Refused: r}
	}
	if entries < 1 {
		return CacheHit{Refused: BadShape}
	}
	s := slices.Clone(p)
	slices.Sort(s)
	var hit float64
	for _, v := range s[max(0, len(s)-entries):] {
		hit += v
	}
	return CacheHit{Hit: min(hit, 1)}
}
