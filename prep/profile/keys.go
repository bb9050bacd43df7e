package profile

import (
	"math"
	"slices"

	"github.com/axiomhq/hyperloglog"
)

// keys counts how often each of many values occurs, the values given by their
// hash. All are counted exactly until the pool's memory is used up; then the
// largest table keeps an ever smaller share of the values, chosen by their
// hash, and beside it the most popular ones by SpaceSaving and the number of
// different ones by HyperLogLog.
type keys struct {
	pool     *pool
	slots    []slot
	n        int
	limit    uint64 // values are kept while their hash is at most this
	requests uint64
	top      *spaceSaving // once limit has fallen
	sketch   *hyperloglog.Sketch
	stack    *stack // nil: no cache is asked for
}

type slot struct {
	hash  uint64 // 0: free
	count uint32
	last  uint32 // position in the stack, 0 for none
}

// pool bounds the memory of all tables together.
type pool struct {
	slots, most int
	followed    int // values in all stacks
	tables      []*keys
}

const (
	poolSlots  = 2 << 20 // of 16 bytes
	tableSlots = 1 << 20 // of one table
	followMost = 1 << 20 // values followed by all stacks together, at about 24 bytes
)

func (p *pool) newKeys(cached bool) *keys {
	k := &keys{pool: p, limit: math.MaxUint64}
	if cached {
		k.stack = newStack()
	}
	p.tables = append(p.tables, k)
	return k
}

// add counts one request for the value of the given hash.
func (k *keys) add(hash uint64) {
	if hash == 0 {
		hash = 1
	}
	k.requests++
	if k.top != nil {
		k.top.add(hash)
		k.sketch.InsertHash(hash)
		if hash > k.limit {
			return
		}
	}
	s := k.slot(hash)
	if s.count < math.MaxUint32 {
		s.count++
	}
	if k.stack != nil && hash <= k.stack.limit {
		k.stack.visit(k, s)
	}
}

// slot finds the slot of a hash, or makes one.
func (k *keys) slot(hash uint64) *slot {
	for {
		if len(k.slots) > 0 {
			mask := len(k.slots) - 1
			for i := int(hash) & mask; ; i = (i + 1) & mask {
				s := &k.slots[i]
				if s.hash == hash {
					return s
				}
				if s.hash == 0 {
					if k.n*4 >= len(k.slots)*3 {
						break
					}
					s.hash = hash
					k.n++
					return s
				}
			}
		}
		k.grow()
		if hash > k.limit { // thinned out meanwhile
			return &slot{hash: hash}
		}
	}
}

func (k *keys) grow() {
	size := max(16, 2*len(k.slots))
	if size > tableSlots {
		k.thin()
		return
	}
	k.resize(size)
	for k.pool.slots > k.pool.most {
		largest := k.pool.tables[0]
		for _, t := range k.pool.tables[1:] {
			if len(t.slots) > len(largest.slots) {
				largest = t
			}
		}
		largest.thin()
	}
}

func (k *keys) resize(size int) {
	old := k.slots
	k.pool.slots += size - len(old)
	k.slots = make([]slot, size)
	k.n = 0
	mask := size - 1
	for _, s := range old {
		if s.hash == 0 || s.hash > k.limit {
			continue
		}
		i := int(s.hash) & mask
		for k.slots[i].hash != 0 {
			i = (i + 1) & mask
		}
		k.slots[i] = s
		k.n++
	}
}

// thin halves the share of values that are kept.
func (k *keys) thin() {
	if k.top == nil {
		k.top = newSpaceSaving(max(64, min(2*HeadIDs, len(k.slots)/16)))
		k.sketch = hyperloglog.New14()
		all := k.live()
		slices.SortFunc(all, func(a, b slot) int { return int(int64(b.count) - int64(a.count)) })
		for i, s := range all {
			k.sketch.InsertHash(s.hash)
			if i < k.top.most {
				k.top.put(s.hash, uint64(s.count))
			}
		}
	}
	k.limit /= 2
	if k.stack != nil {
		k.stack.thin(k, k.limit)
	}
	left := 0
	for _, s := range k.slots {
		if s.hash != 0 && s.hash <= k.limit {
			left++
		}
	}
	size := max(16, len(k.slots)/2)
	for left*4 >= size*3 {
		size *= 2
	}
	k.resize(size)
}

func (k *keys) live() []slot {
	all := make([]slot, 0, k.n)
	for _, s := range k.slots {
		if s.hash != 0 {
			all = append(all, s)
		}
	}
	return all
}

// rate is the share of values that are kept.
func (k *keys) rate() float64 { return (float64(k.limit) + 1) / (math.MaxUint64 + 1.0) }

func (k *keys) distinct() uint64 {
	if k.sketch != nil {
		return k.sketch.Estimate()
	}
	return uint64(k.n)
}

// ranked are the most popular values, most popular first, ties by hash.
func (k *keys) ranked(most int) []ranked {
	var all []ranked
	if k.top != nil {
		all = k.top.all()
	} else {
		all = make([]ranked, 0, k.n)
		for _, s := range k.slots {
			if s.hash != 0 {
				all = append(all, ranked{s.hash, uint64(s.count)})
			}
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		switch {
		case a.count != b.count:
			return compareFalling(a.count, b.count)
		case a.hash < b.hash:
			return -1
		}
		return 1
	})
	return all[:min(most, len(all))]
}

func compareFalling(a, b uint64) int {
	if a > b {
		return -1
	}
	return 1
}

type ranked struct{ hash, count uint64 }

// merge adds the counts of another table, which must not be used any more. The
// order in which the two were asked for is lost.
func (k *keys) merge(o *keys) {
	k.requests += o.requests
	for o.top != nil && (k.top == nil || k.limit > o.limit) {
		k.thin()
	}
	if k.top != nil {
		for _, r := range o.ranked(o.n + HeadIDs) {
			k.top.put(r.hash, r.count)
		}
		if o.sketch != nil {
			_ = k.sketch.Merge(o.sketch) // both have the same precision
		}
	}
	if o.stack != nil && k.stack != nil {
		k.stack.merge(o.stack)
	}
	for _, s := range o.slots {
		if s.hash == 0 {
			continue
		}
		if k.top != nil && o.sketch == nil {
			k.sketch.InsertHash(s.hash)
		}
		if s.hash <= k.limit {
			t := k.slot(s.hash)
			t.count += min(s.count, math.MaxUint32-t.count)
		}
	}
	o.drop()
}

// drop gives the memory back.
func (k *keys) drop() {
	k.pool.slots -= len(k.slots)
	if k.stack != nil {
		k.pool.followed -= k.stack.live
	}
	k.slots, k.n = nil, 0
	if i := slices.Index(k.pool.tables, k); i >= 0 {
		k.pool.tables = slices.Delete(k.pool.tables, i, i+1)
	}
}

// spaceSaving keeps counts of the most popular values: a value that is not
// known takes the place of the least popular one and starts from its count.
//
// Method: Metwally, Agrawal and El Abbadi 2005.
type spaceSaving struct {
	most  int
	heap  []ranked // least count first
	place map[uint64]int
}

func newSpaceSaving(most int) *spaceSaving {
	return &spaceSaving{most: most, place: map[uint64]int{}}
}

func (s *spaceSaving) all() []ranked { return slices.Clone(s.heap) }

func (s *spaceSaving) add(hash uint64) {
	if i, ok := s.place[hash]; ok {
		s.heap[i].count++
		s.down(i)
		return
	}
	if len(s.heap) < s.most {
		s.put(hash, 1)
		return
	}
	delete(s.place, s.heap[0].hash)
	s.heap[0] = ranked{hash, s.heap[0].count + 1}
	s.place[hash] = 0
	s.down(0)
}

// put adds a count.
func (s *spaceSaving) put(hash, count uint64) {
	if i, ok := s.place[hash]; ok {
		s.heap[i].count += count
		s.down(i)
		return
	}
	if len(s.heap) == s.most {
		if count <= s.heap[0].count {
			return
		}
		delete(s.place, s.heap[0].hash)
		s.heap[0] = ranked{hash, count}
		s.place[hash] = 0
		s.down(0)
		return
	}
	s.heap = append(s.heap, ranked{hash, count})
	i := len(s.heap) - 1
	s.place[hash] = i
	for i > 0 && s.heap[i].count < s.heap[(i-1)/2].count {
		s.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (s *spaceSaving) down(i int) {
	for {
		least := i
		for _, c := range [2]int{2*i + 1, 2*i + 2} {
			if c < len(s.heap) && s.heap[c].count < s.heap[least].count {
				least = c
			}
		}
		if least == i {
			return
		}
		s.swap(i, least)
		i = least
	}
}

func (s *spaceSaving) swap(i, j int) {
	s.heap[i], s.heap[j] = s.heap[j], s.heap[i]
	s.place[s.heap[i].hash] = i
	s.place[s.heap[j].hash] = j
}

// addMany counts several requests for one value at once, their order unknown.
func (k *keys) addMany(hash, n uint64) {
	if n == 0 {
		return
	}
	hash = max(hash, 1)
	k.add(hash)
	k.requests += n - 1
	if k.top != nil {
		k.top.put(hash, n-1)
	}
	if hash <= k.limit {
		s := k.slot(hash)
		s.count += uint32(min(n-1, uint64(math.MaxUint32-s.count)))
	}
}
