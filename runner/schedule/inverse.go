package schedule

import (
	"math"
	"math/bits"
)

// position is a point on the axis of the cumulative rate: a number of arrivals,
// in two parts so that the 10^9th is placed as precisely as the first.
type position struct {
	whole uint64
	frac  float64 // [0, 1)
}

func (p position) before(q position) bool {
	return p.whole < q.whole || p.whole == q.whole && p.frac < q.frac
}

// plus adds a number of arrivals, at least 0.
func (p position) plus(n float64) position {
	whole := math.Floor(n)
	p.whole += uint64(whole)
	p.frac += n - whole
	if p.frac >= 1 {
		p.frac--
		p.whole++
	}
	return p
}

// minus is p - q, where q is not after p.
func (p position) minus(q position) position {
	d := position{p.whole - q.whole, p.frac - q.frac}
	if d.frac < 0 {
		d.frac++
		d.whole--
	}
	return d
}

// inverse is the inverse of a cumulative rate. It is asked for rising positions
// and makes its segments as it goes, so it holds one at a time.
type inverse struct {
	next   func() (Segment, bool)
	length int64 // of the whole schedule, ns

	seg        Segment
	start      int64 // of the segment, ns
	first, end position
	rate       ratio // where the segment's rate is constant
	last       int64
}

func newInverse(shape []Segment) inverse {
	v := inverse{next: pieces(shape)}
	for _, seg := range shape {
		v.length += seg.Length
	}
	return v
}

// at is the instant, in nanoseconds and rounded to the nearest, at which the
// cumulative rate reaches p; ok is false where that is not before the end.
func (v *inverse) at(p position) (int64, bool) {
	for !p.before(v.end) {
		start := v.start + v.seg.Length
		seg, ok := v.next()
		if !ok {
			return 0, false
		}
		v.seg, v.start, v.first = seg, start, v.end
		v.end = v.end.plus(seg.count())
		if seg.From == seg.To && seg.From > 0 {
			v.rate = newRatio(seg.From)
		}
	}
	d := p.minus(v.first)
	var after int64
	if v.seg.From == v.seg.To {
		after = v.rate.divide(d)
	} else {
		after = ramp(v.seg, d)
	}
	at := max(v.start+min(after, v.seg.Length), v.last)
	v.last = at
	return at, at < v.length
}

// ramp solves From t + (To - From) t² / (2 Length) = d, in the form that does
// not subtract near numbers.
func ramp(s Segment, d position) int64 {
	n := float64(d.whole) + d.frac
	slope := (s.To - s.From) / (float64(s.Length) / second)
	root := float64(s.From*s.From) + float64(2*slope*n)
	t := 2 * n / (s.From + sqrt(max(root, 0)))
	if n == 0 {
		return 0
	}
	return int64(math.Round(t * second))
}

// ratio is a rate as the exact fraction that a float64 is, den / 2^shift, so
// that times can be computed in integers of 128 bits.
type ratio struct {
	den    uint64
	shift  uint
	period float64 // ns
}

func newRatio(rps float64) ratio {
	m, e := math.Frexp(rps)
	den := uint64(m * (1 << 53))
	e -= 53
	zeros := bits.TrailingZeros64(den)
	den >>= uint(zeros)
	e += zeros
	r := ratio{period: second / rps}
	if e > 0 {
		r.den = den << uint(e)
	} else {
		r.den, r.shift = den, uint(-e)
	}
	return r
}

// divide is d divided by the rate, in ns, rounded to the nearest. The quotient
// must be below 2^63, which makes the product fit into 128 bits.
func (r ratio) divide(d position) int64 {
	hi, lo := bits.Mul64(d.whole, second)
	switch {
	case r.shift >= 64:
		hi, lo = lo<<(r.shift-64), 0
	case r.shift > 0:
		hi, lo = hi<<r.shift|lo>>(64-r.shift), lo<<r.shift
	}
	if hi >= r.den {
		return math.MaxInt64 / 2
	}
	quo, rem := bits.Div64(hi, lo, r.den)
	rest := float64(rem)/float64(r.den) + float64(d.frac*r.period)
	return int64(quo) + int64(math.Floor(rest+0.5))
}

// pieces yields segments one by one.
func pieces(shape []Segment) func() (Segment, bool) {
	i := 0
	return func() (Segment, bool) {
		if i == len(shape) {
			return Segment{}, false
		}
		i++
		return shape[i-1], true
	}
}

// modulated cuts segments at whole seconds and multiplies the rate of each
// piece by a gamma number, so that counts per second have the given index of
// dispersion.
func modulated(next func() (Segment, bool), dispersion float64, seed uint64, phase int) func() (Segment, bool) {
	var (
		seg   Segment
		used  int64 // of seg
		now   int64
		piece uint64
	)
	return func() (Segment, bool) {
		for used >= seg.Length {
			used = 0
			var ok bool
			if seg, ok = next(); !ok {
				return Segment{}, false
			}
		}
		length := min(second-now%second, seg.Length-used)
		at := func(t int64) float64 {
			return seg.From + float64((seg.To-seg.From)*(float64(t)/float64(seg.Length)))
		}
		out := Segment{Length: length, From: at(used), To: at(used + length)}
		if seg.From == seg.To {
			out.To = out.From
		}
		if mean := (out.From + out.To) / 2; mean > 0 {
			stream := Derive(seed, "rate", uint64(phase), piece)
			g := stream.Gamma(mean / (dispersion - 1))
			out.From = float64(out.From * g)
			out.To = float64(out.To * g)
			if seg.From == seg.To {
				out.To = out.From
			}
		}
		used += length
		now += length
		piece++
		return out, true
	}
}
