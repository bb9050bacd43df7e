package profile

import (
	"math"
	"math/bits"
)

// sizes counts values in buckets of a thirty-second of an octave; the counts
// grow around the values that occur.
type sizes struct {
	count, sum uint64
	max        uint64
	first      int // bucket of counts[0]
	counts     []uint32
}

const subBits = 5

// bucketOf maps values below 64 to themselves, others to 32 buckets per octave.
func bucketOf(v uint64) int {
	if v < 2<<subBits {
		return int(v)
	}
	e := bits.Len64(v) - subBits - 1
	return (e << subBits) + int(v>>e)
}

// bucketValue is the middle of a bucket.
func bucketValue(b int) uint64 {
	if b < 2<<subBits {
		return uint64(b)
	}
	e := b>>subBits - 1
	low := uint64(b-e<<subBits) << e
	return low + 1<<e/2
}

func (s *sizes) add(v uint64) {
	s.count++
	s.sum += v
	s.max = max(s.max, v)
	s.addTo(bucketOf(v), 1)
}

func (s *sizes) addTo(b int, n uint32) {
	switch {
	case s.counts == nil:
		s.first = b
		s.counts = make([]uint32, 1, 4)
	case b < s.first:
		grown := make([]uint32, s.first-b+len(s.counts))
		copy(grown[s.first-b:], s.counts)
		s.counts, s.first = grown, b
	case b >= s.first+len(s.counts):
		for b >= s.first+len(s.counts) {
			s.counts = append(s.counts, 0)
		}
	}
	if c := &s.counts[b-s.first]; *c > math.MaxUint32-n {
		*c = math.MaxUint32
	} else {
		*c += n
	}
}

func (s *sizes) merge(o *sizes) {
	s.count += o.count
	s.sum += o.sum
	s.max = max(s.max, o.max)
	for i, n := range o.counts {
		if n > 0 {
			s.addTo(o.first+i, n)
		}
	}
}

// quantile is the middle of the bucket of nearest rank, never above the maximum.
func (s *sizes) quantile(q float64) uint64 {
	rank := uint64(math.Ceil(q * float64(s.count)))
	var sum uint64
	for i, n := range s.counts {
		if sum += uint64(n); sum >= rank && n > 0 {
			return min(bucketValue(s.first+i), s.max)
		}
	}
	return s.max
}

func (s *sizes) summary(requests uint64) Sizes {
	out := Sizes{Count: s.count, Unknown: requests - s.count, Sum: s.sum, Max: s.max}
	if s.count > 0 {
		out.Mean = float64(s.sum) / float64(s.count)
		out.P50, out.P90, out.P99, out.P999 = s.quantile(0.5), s.quantile(0.9), s.quantile(0.99), s.quantile(0.999)
	}
	return out
}
