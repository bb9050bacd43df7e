// Package schedule says when requests are due and what they carry, as a pure
// function of a plan's numbers and its seed. It reads no clock and no file.
//
// Every purpose draws from a stream of its own, derived from the seed and a
// name, so that a new consumer never shifts the numbers of the others. The
// generator and the elementary functions are written out here, with every
// product rounded before it is added, so that a schedule is the same on every
// architecture and under every Go release: shards of one plan may run on
// different machines and must agree on the whole schedule.
package schedule

import "math/bits"

// golden is the increment of splitmix64: 2^64 divided by the golden ratio, odd.
const golden = 0x9e3779b97f4a7c15

// mix is the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA 2014, with
// Stafford's variant 13): a bijection of 64 bits that scatters its input.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// hash is FNV-1a over a name, scattered.
func hash(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return mix(h)
}

// Stream is a splitmix64 sequence of uniform numbers. It is a small value and
// not safe for concurrent use.
type Stream struct{ state uint64 }

// Derive returns the stream for a purpose, told apart by further numbers such
// as the index of a phase. The same arguments give the same stream, for ever.
func Derive(seed uint64, purpose string, n ...uint64) Stream {
	s := mix(mix(seed+golden) ^ hash(purpose))
	for _, v := range n {
		s = mix(s + golden + mix(v))
	}
	return Stream{s}
}

// draw is the stream that belongs to one draw of one source.
func draw(key, arrival, occurrence uint64) Stream {
	return Stream{mix(mix(key+golden*(arrival+1)) + occurrence)}
}

// Uint64 returns the next 64 uniform bits.
func (s *Stream) Uint64() uint64 {
	s.state += golden
	return mix(s.state)
}

// Float64 returns the next uniform number of the open interval (0, 1), one of
// 2^52 equally spaced midpoints: it is never 0 and never 1.
func (s *Stream) Float64() float64 {
	return (float64(s.Uint64()>>12) + 0.5) * 0x1p-52
}

// Below returns a uniform number of [0, n) without bias (Lemire, TOMACS 2019);
// 0 where n is 0.
func (s *Stream) Below(n uint64) uint64 {
	hi, lo := bits.Mul64(s.Uint64(), n)
	if lo < n {
		for least := -n % max(n, 1); lo < least; {
			hi, lo = bits.Mul64(s.Uint64(), n)
		}
	}
	return hi
}

// Normal returns a standard normal number by the polar method.
func (s *Stream) Normal() float64 {
	for {
		x := float64(2*s.Float64()) - 1
		y := float64(2*s.Float64()) - 1
		q := float64(x*x) + float64(y*y)
		if q > 0 && q < 1 {
			return x * sqrt(-2*ln(q)/q)
		}
	}
}

// Gamma returns a gamma number of the given shape, above 0, and scale 1/shape,
// so that its mean is 1 and its squared coefficient of variation 1/shape
// (Marsaglia and Tsang, TOMS 2000).
func (s *Stream) Gamma(shape float64) float64 {
	a, boost := shape, 1.0
	if a < 1 {
		boost = exp(ln(s.Float64()) / a)
		a++
	}
	d := a - 1.0/3
	c := 1 / sqrt(9*d)
	for {
		x := s.Normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = float64(v * v * v)
		if ln(s.Float64()) < float64(0.5*x*x)+float64(d*(1-v+ln(v))) {
			return d * v * boost / shape
		}
	}
}
