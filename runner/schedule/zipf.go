package schedule

import (
	"fmt"
	"math"
)

// Zipf draws ranks lo to hi with probability proportional to rank^-s, for any
// s > 0, in constant time and memory: rejection-inversion of Hörmann and
// Derflinger (TOMACS 1996). It is safe for concurrent use.
type Zipf struct {
	lo, hi      float64
	s           float64
	below, area float64 // integral of the hat left of lo's bar, and up to hi's end
	shortcut    float64
}

// NewZipf makes a sampler of the ranks lo to hi, 1 <= lo <= hi <= 2^48, with
// exponent s, above 0 and at most 20.
func NewZipf(lo, hi uint64, s float64) (*Zipf, error) {
	if lo < 1 || hi < lo || hi > 1<<48 {
		return nil, fmt.Errorf("zipf: ranks %d to %d; they must rise from 1 or more to at most 2^48", lo, hi)
	}
	if !(s > 0 && s <= 20) {
		return nil, fmt.Errorf("zipf: exponent %v; it must be above 0 and at most 20", s)
	}
	z := &Zipf{lo: float64(lo), hi: float64(hi), s: s}
	z.below = z.integral(z.lo+0.5) - z.density(z.lo)
	z.area = z.integral(z.hi + 0.5)
	z.shortcut = z.lo + 1 - z.inverse(z.integral(z.lo+1.5)-z.density(z.lo+1))
	return z, nil
}

// Rank draws from the stream.
func (z *Zipf) Rank(stream *Stream) uint64 {
	for {
		u := z.area + float64(stream.Float64()*(z.below-z.area))
		x := z.inverse(u)
		k := min(max(math.Floor(x+0.5), z.lo), z.hi)
		if k-x <= z.shortcut || u >= z.integral(k+0.5)-z.density(k) {
			return uint64(k)
		}
	}
}

func (z *Zipf) density(x float64) float64 { return exp(-z.s * ln(x)) }

// integral is (x^(1-s) - 1) / (1-s), or ln x where s is 1.
func (z *Zipf) integral(x float64) float64 {
	l := ln(x)
	t := float64((1 - z.s) * l)
	if math.Abs(t) < 1e-8 {
		return float64(l * (1 + float64(t/2)))
	}
	return float64(expm1(t) / t * l)
}

func (z *Zipf) inverse(y float64) float64 {
	t := max(float64((1-z.s)*y), -1)
	if math.Abs(t) < 1e-8 {
		return exp(y * (1 - float64(t/2)))
	}
	if t == -1 {
		return z.hi
	}
	return exp(float64(log1p(t) / t * y))
}
