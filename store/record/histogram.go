package record

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Geometry of every histogram: values in whole microseconds, lowest 1, three
// significant digits, which is the layout of HdrHistogram with 2048 sub-buckets.
const (
	subBucketBits  = 11
	subBucketCount = 1 << subBucketBits
	subBucketHalf  = subBucketCount / 2
	subBucketMask  = subBucketCount - 1

	// DefaultMaxUS is the highest trackable value of a histogram unless the
	// plan's timeout is larger: 60 s in microseconds.
	DefaultMaxUS = 60_000_000
	// MaxMaxUS bounds what a file may ask for: one day.
	MaxMaxUS = 86_400_000_000
)

// sparseLimit is how many single values a histogram keeps as a list before it
// becomes an array of counts.
const sparseLimit = 1024

// Histogram counts durations. It has the bucket layout of an HdrHistogram
// (1 µs to a maximum, 3 significant digits), keeps few values as a short list
// and many as an array, and carries the exact count, minimum, maximum and sum
// beside the buckets. The zero value is not usable; see NewHistogram.
// It is not safe for concurrent use.
type Histogram struct {
	maxUS   int64
	n       uint64
	clamped uint64
	minNS   int64
	maxNS   int64
	sumNS   uint64
	list    []uint32 // bucket indexes, unsorted, while dense is nil
	dense   []uint64
	low     int      // dense counts nothing below low,
	high    int      // nor from high on
	fixed   []Bucket // rising, as read from a file; until something is added
}

// NewHistogram returns an empty histogram that tracks up to maxUS microseconds.
func NewHistogram(maxUS int64) *Histogram {
	if maxUS < 2 {
		maxUS = 2
	}
	return &Histogram{maxUS: maxUS}
}

// BucketIndex is the index of the bucket that holds us microseconds.
func BucketIndex(us int64) int {
	if us < 0 {
		us = 0
	}
	bucket := 64 - bits.LeadingZeros64(uint64(us)|subBucketMask) - subBucketBits
	sub := int(us >> uint(bucket))
	return (bucket+1)*subBucketHalf + sub - subBucketHalf
}

// BucketRange is the lowest and highest value, in microseconds, of a bucket.
func BucketRange(index int) (lowUS, highUS int64) {
	bucket := index/subBucketHalf - 1
	sub := int64(index%subBucketHalf) + subBucketHalf
	if bucket < 0 {
		bucket = 0
		sub -= subBucketHalf
	}
	low := sub << uint(bucket)
	return low, low + (int64(1) << uint(bucket)) - 1
}

// MaxUS is the highest trackable value in microseconds.
func (h *Histogram) MaxUS() int64 { return h.maxUS }

// Buckets is the number of buckets of the geometry.
func (h *Histogram) Buckets() int { return BucketIndex(h.maxUS) + 1 }

// Record counts one duration in nanoseconds. A negative value counts as 0; a
// value above the maximum is counted in the last bucket and as clamped.
func (h *Histogram) Record(ns int64) {
	if ns < 0 {
		ns = 0
	}
	h.thaw()
	if h.n == 0 || ns < h.minNS {
		h.minNS = ns
	}
	if h.n == 0 || ns > h.maxNS {
		h.maxNS = ns
	}
	h.n++
	h.sumNS += uint64(ns)
	us := (ns + 500) / 1000
	if us > h.maxUS {
		us = h.maxUS
		h.clamped++
	}
	i := BucketIndex(us)
	if h.dense == nil && len(h.list) < sparseLimit {
		h.list = append(h.list, uint32(i))
		return
	}
	h.densify()
	h.count(i, 1)
}

// count adds to a bucket of the array.
func (h *Histogram) count(i int, n uint64) {
	h.dense[i] += n
	h.low, h.high = min(h.low, i), max(h.high, i+1)
}

func (h *Histogram) densify() {
	if h.dense != nil {
		return
	}
	h.dense = make([]uint64, h.Buckets())
	h.low, h.high = len(h.dense), 0
	for _, b := range h.fixed {
		h.count(b.Index, b.Count)
	}
	h.fixed = nil
	for _, i := range h.list {
		h.count(int(i), 1)
	}
	h.list = nil
}

// Count is the number of recorded values.
func (h *Histogram) Count() uint64 {
	if h == nil {
		return 0
	}
	return h.n
}

// Clamped is how many values were above the maximum.
func (h *Histogram) Clamped() uint64 {
	if h == nil {
		return 0
	}
	return h.clamped
}

// MinNS, MaxNS and SumNS are exact, in nanoseconds; 0 when empty.
func (h *Histogram) MinNS() int64 {
	if h == nil {
		return 0
	}
	return h.minNS
}

// MaxNS is the exact largest recorded value in nanoseconds; 0 when empty.
func (h *Histogram) MaxNS() int64 {
	if h == nil {
		return 0
	}
	return h.maxNS
}

// SumNS is the sum of all recorded values in nanoseconds.
func (h *Histogram) SumNS() uint64 {
	if h == nil {
		return 0
	}
	return h.sumNS
}

// MeanUS is the exact mean in microseconds, NaN when empty.
func (h *Histogram) MeanUS() float64 {
	if h.Count() == 0 {
		return math.NaN()
	}
	return float64(h.sumNS) / float64(h.n) / 1000
}

// Bucket is a bucket's index and its count.
type Bucket struct {
	Index int
	Count uint64
}

// Each calls yield for every bucket that is not empty, in rising order.
func (h *Histogram) Each(yield func(Bucket) bool) {
	if h == nil {
		return
	}
	if h.dense != nil {
		for i := h.low; i < h.high; i++ {
			if n := h.dense[i]; n > 0 && !yield(Bucket{i, n}) {
				return
			}
		}
		return
	}
	for _, b := range h.fixed {
		if !yield(b) {
			return
		}
	}
	slices.Sort(h.list)
	for i := 0; i < len(h.list); {
		j := i + 1
		for j < len(h.list) && h.list[j] == h.list[i] {
			j++
		}
		if !yield(Bucket{int(h.list[i]), uint64(j - i)}) {
			return
		}
		i = j
	}
}

// Merge adds o, which must have the same geometry, to h. A nil o adds nothing.
func (h *Histogram) Merge(o *Histogram) error {
	if o == nil || o.n == 0 {
		return nil
	}
	if o.maxUS != h.maxUS {
		return fmt.Errorf("histograms of different geometry: highest value %d and %d µs", h.maxUS, o.maxUS)
	}
	if h.n == 0 || o.minNS < h.minNS {
		h.minNS = o.minNS
	}
	if h.n == 0 || o.maxNS > h.maxNS {
		h.maxNS = o.maxNS
	}
	if h.n == 0 && o.fixed != nil && h.dense == nil {
		h.list, h.fixed = nil, slices.Clone(o.fixed)
		h.n, h.clamped, h.sumNS = o.n, o.clamped, o.sumNS
		return nil
	}
	h.thaw() // while n is still h's own
	h.n += o.n
	h.clamped += o.clamped
	h.sumNS += o.sumNS
	if h.dense == nil && o.dense == nil && h.n <= sparseLimit {
		h.list = append(h.list, o.list...)
		h.list = appendBuckets(h.list, o.fixed)
		return nil
	}
	h.densify()
	if o.dense == nil {
		for _, b := range o.fixed {
			h.count(b.Index, b.Count)
		}
		for _, i := range o.list {
			h.count(int(i), 1)
		}
		return nil
	}
	for i := o.low; i < o.high; i++ {
		h.dense[i] += o.dense[i]
	}
	h.low, h.high = min(h.low, o.low), max(h.high, o.high)
	return nil
}

// Clone returns an independent copy.
func (h *Histogram) Clone() *Histogram {
	if h == nil {
		return nil
	}
	c := *h
	c.list = slices.Clone(h.list)
	c.dense = slices.Clone(h.dense)
	c.fixed = slices.Clone(h.fixed)
	return &c
}

// QuantileUS is the value in microseconds at or below which at least the share
// q, in [0,1], of the recorded values lies: the nearest rank ceil(q*n), read as
// the upper edge of its bucket and never above the exact maximum. It is NaN for
// an empty histogram.
func (h *Histogram) QuantileUS(q float64) float64 {
	if h.Count() == 0 || math.IsNaN(q) {
		return math.NaN()
	}
	q = min(max(q, 0), 1)
	// The small term keeps 0.99*100 from becoming rank 100.
	rank := uint64(math.Ceil(q*float64(h.n) - 1e-9*float64(h.n)*q))
	rank = min(max(rank, 1), h.n)
	if rank == 1 && q == 0 {
		return float64(h.minNS) / 1000
	}
	var seen uint64
	var value float64
	h.Each(func(b Bucket) bool {
		seen += b.Count
		if seen < rank {
			return true
		}
		_, high := BucketRange(b.Index)
		value = float64(high)
		return false
	})
	exact := float64(h.maxNS) / 1000
	if rank == h.n || value > exact {
		return exact
	}
	return value
}

// CountAbove is how many values lie in buckets wholly above us microseconds.
func (h *Histogram) CountAbove(us float64) uint64 {
	var above uint64
	if h != nil && h.dense != nil && us >= 0 && us < float64(h.maxUS) {
		for i := max(h.low, BucketIndex(int64(us))+1); i < h.high; i++ {
			above += h.dense[i]
		}
		return above
	}
	h.Each(func(b Bucket) bool {
		if low, _ := BucketRange(b.Index); float64(low) > us {
			above += b.Count
		}
		return true
	})
	return above
}
