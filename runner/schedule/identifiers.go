package schedule

import (
	"fmt"
	"math"
	"strconv"
)

// identifiers are numbers whose popularity falls with a rank: a head of given
// probabilities and a tail that follows Zipf's law. Which identifier has which
// rank is a keyed permutation, so that popular ones are not neighbours, as they
// would be on the same page of a table or an index.
type identifiers struct {
	keyed
	first, count uint64

	head      *Alias // over the head, and the tail as its last index; nil: all is tail
	headShare []float64
	tailShare float64
	tail      *Zipf // nil: all is head
	tailNorm  float64
	exponent  float64
}

func newProfile(k keyed, spec SourceSpec) (Source, error) {
	n := uint64(len(spec.Head))
	if n == 0 { // only the law of its popularity is known
		return newIdentifiers(k, spec, nil, 1)
	}
	if spec.Count < n {
		return nil, fmt.Errorf("the profile has %d identifiers, but counts for %d", spec.Count, n)
	}
	for i, w := range spec.Head {
		if i > 0 && w > spec.Head[i-1] {
			return nil, fmt.Errorf("the profile's counts must fall, but count %d is larger than the one before", i)
		}
	}
	tail := spec.TailMass
	if spec.Count == n {
		tail = 0
	}
	var sum float64
	for _, w := range spec.Head {
		sum += w
	}
	sum += tail
	head := make([]float64, n, n+1)
	for i, w := range spec.Head {
		head[i] = w / sum
	}
	return newIdentifiers(k, spec, head, tail/sum)
}

func newIdentifiers(k keyed, spec SourceSpec, head []float64, tailShare float64) (Source, error) {
	if spec.Count < 1 || spec.Count > 1<<48 {
		return nil, fmt.Errorf("count %d; it must be from 1 to 2^48", spec.Count)
	}
	if spec.First > math.MaxInt64-spec.Count {
		return nil, fmt.Errorf("first identifier %d; the last one would be above 2^63", spec.First)
	}
	s := &identifiers{
		keyed: k, first: spec.First, count: spec.Count,
		headShare: head, tailShare: tailShare, exponent: spec.Exponent,
	}
	lo := uint64(len(head)) + 1
	var err error
	if tailShare > 0 {
		if s.tail, err = NewZipf(lo, spec.Count, spec.Exponent); err != nil {
			return nil, err
		}
		s.tailNorm = zipfSum(lo, spec.Count, spec.Exponent)
	}
	if head != nil {
		if s.head, err = NewAlias(append(head, tailShare)); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Append implements Source.
func (s *identifiers) Append(dst []byte, seed, arrival uint64) []byte {
	return s.AppendNth(dst, seed, arrival, 0)
}

// AppendNth implements Source.
func (s *identifiers) AppendNth(dst []byte, seed, arrival, occurrence uint64) []byte {
	key := s.key(seed)
	stream := draw(key, arrival, occurrence)
	id := NewPermutation(key, s.count).Apply(s.rank(&stream) - 1)
	return strconv.AppendUint(dst, s.first+id, 10)
}

func (s *identifiers) rank(stream *Stream) uint64 {
	if s.head != nil {
		if i := s.head.Pick(stream.Uint64()); i < len(s.headShare) {
			return uint64(i) + 1
		}
	}
	return s.tail.Rank(stream)
}

// Distinct implements Source.
func (s *identifiers) Distinct() uint64 { return s.count }

// Probability implements Source.
func (s *identifiers) Probability(rank uint64) float64 {
	switch {
	case rank < 1 || rank > s.count:
		return 0
	case rank <= uint64(len(s.headShare)):
		return s.headShare[rank-1]
	case s.tail == nil:
		return 0
	}
	return s.tailShare * exp(-s.exponent*ln(float64(rank))) / s.tailNorm
}

// zipfSum is the sum of k^-s for k from lo to hi: terms up to 1000 one by one,
// the rest by the Euler-Maclaurin formula, whose next term is below 1e-12 of
// the sum.
func zipfSum(lo, hi uint64, s float64) float64 {
	var sum float64
	k := lo
	for ; k <= hi && k < 1000; k++ {
		sum += exp(-s * ln(float64(k)))
	}
	if k > hi {
		return sum
	}
	a, b := float64(k), float64(hi)
	fa, fb := exp(-s*ln(a)), exp(-s*ln(b))
	integral := ln(b / a)
	if t := float64((1 - s) * ln(b/a)); math.Abs(t) > 1e-12 {
		integral = expm1(t) / (1 - s)
	}
	if s != 1 {
		integral *= exp((1 - s) * ln(a))
	}
	return sum + integral + float64((fa+fb)/2) + float64(s*(fa/a-fb/b)/12)
}
