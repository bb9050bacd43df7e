package profile

import (
	"cmp"
	"math"
	"slices"
)

// stack measures how many different values are asked for between two requests
// for the same one, and with it the hit ratio of an LRU cache of any size.
// Values are sampled by their hash; at most stackKeys are followed, which is
// all of them up to that number.
//
// Method: stack distances in a Fenwick tree over the last visits (Mattson et
// al. 1970), sampled as SHARDS with a fixed number of values and its
// correction (Waldspurger et al. 2015).
type stack struct {
	limit uint64 // values are followed while their hash is at most this
	live  int
	next  uint32 // position of the next visit, from 1
	tree  []int32
	total float64 // requests seen, each weighed by 1/rate
	near  []float64
	few   [2 << distanceBits]float64
}

const (
	stackKeys    = 1 << 17
	stackLeast   = 1 << 12 // followed even where all stacks together have too many
	distanceBits = 7       // buckets per octave of distances: 128
)

func newStack() *stack { return &stack{limit: math.MaxUint64, next: 1} }

func (s *stack) rate() float64 { return (float64(s.limit) + 1) / (math.MaxUint64 + 1.0) }

// visit records a request for the value in the slot.
func (s *stack) visit(k *keys, at *slot) {
	if int(s.next) >= len(s.tree) {
		s.renumber(k)
	}
	weight := 1 / s.rate()
	s.total += weight
	if at.last == 0 {
		if s.live >= stackKeys || (k.pool.followed >= followMost && s.live >= stackLeast) {
			s.thin(k, s.limit/2)
			if at.hash > s.limit {
				return
			}
		}
		s.live++
		k.pool.followed++
	} else {
		between := s.live - s.sum(at.last) + 1
		s.record(float64(between)*weight, weight)
		s.change(at.last, -1)
	}
	at.last = s.next
	s.change(s.next, 1)
	s.next++
}

// record counts a distance: 1 for a value asked for twice in a row.
func (s *stack) record(distance, weight float64) {
	b := distanceBucket(distance)
	if b < len(s.few) {
		s.few[b] += weight
		return
	}
	b -= len(s.few)
	for b >= len(s.near) {
		s.near = append(s.near, 0)
	}
	s.near[b] += weight
}

func distanceBucket(d float64) int {
	if d < 2<<distanceBits {
		return int(d)
	}
	f, e := math.Frexp(d) // f in [0.5, 1)
	return (e-distanceBits-1)<<distanceBits + int(f*(2<<distanceBits))
}

// hits returns the hit ratio of caches of the given sizes, rising, empty at
// the beginning, over all requests.
func (s *stack) hits(requests float64, size []float64) []float64 {
	out := make([]float64, len(size))
	// What the sample has too few or too many requests of are those of the
	// most popular values, which every cache holds.
	sum := requests - s.total
	done := 0
	for i, c := range size {
		for last := distanceBucket(c); done <= last; done++ {
			if done < len(s.few) {
				sum += s.few[done]
			} else if done-len(s.few) < len(s.near) {
				sum += s.near[done-len(s.few)]
			}
		}
		out[i] = min(max(sum/requests, 0), 1)
	}
	return out
}

func (s *stack) sum(i uint32) int {
	var n int32
	for ; i > 0; i &= i - 1 {
		n += s.tree[i]
	}
	return int(n)
}

func (s *stack) change(i uint32, by int32) {
	for ; int(i) < len(s.tree); i += i & -i {
		s.tree[i] += by
	}
}

// renumber closes the gaps that old visits left and makes room.
func (s *stack) renumber(k *keys) {
	visited := make([]*slot, 0, s.live)
	for i := range k.slots {
		if k.slots[i].last > 0 {
			visited = append(visited, &k.slots[i])
		}
	}
	slices.SortFunc(visited, func(a, b *slot) int { return cmp.Compare(a.last, b.last) })
	size := 64
	for size < 4*(len(visited)+1) {
		size *= 2
	}
	s.tree = make([]int32, size)
	k.pool.followed += len(visited) - s.live
	s.live = len(visited)
	for i, v := range visited {
		v.last = uint32(i + 1)
		s.tree[i+1] = 1
	}
	for i := 1; i < size; i++ { // sums of the tree from those of the leaves
		if up := i + i&-i; up < size {
			s.tree[up] += s.tree[i]
		}
	}
	s.next = uint32(len(visited) + 1)
}

// thin follows only values with hashes up to the limit from now on.
func (s *stack) thin(k *keys, limit uint64) {
	if limit >= s.limit {
		return
	}
	s.limit = limit
	for i := range k.slots {
		if k.slots[i].hash > limit {
			k.slots[i].last = 0
		}
	}
	s.renumber(k)
}

func (s *stack) merge(o *stack) {
	s.total += o.total
	for i, n := range o.few {
		s.few[i] += n
	}
	for i, n := range o.near {
		for i >= len(s.near) {
			s.near = append(s.near, 0)
		}
		s.near[i] += n
	}
}
