package record

import (
	"fmt"
	"math"
	"slices"
)

// HistogramParts is a histogram taken apart, for encoders.
type HistogramParts struct {
	MaxUS        int64
	Clamped      uint64
	MinNS, MaxNS int64
	SumNS        uint64
	Buckets      []Bucket // rising, no empty ones
}

// Parts takes h apart.
func (h *Histogram) Parts() HistogramParts {
	p := HistogramParts{MaxUS: h.maxUS, Clamped: h.clamped, MinNS: h.minNS, MaxNS: h.maxNS, SumNS: h.sumNS}
	h.Each(func(b Bucket) bool { p.Buckets = append(p.Buckets, b); return true })
	return p
}

// Equal reports whether two histograms have the same geometry, buckets and
// totals. Two nil histograms are equal; nil and empty are not.
func (h *Histogram) Equal(o *Histogram) bool {
	if h == nil || o == nil {
		return h == o
	}
	a, b := h.Parts(), o.Parts()
	return a.MaxUS == b.MaxUS && a.Clamped == b.Clamped && a.MinNS == b.MinNS &&
		a.MaxNS == b.MaxNS && a.SumNS == b.SumNS && slices.Equal(a.Buckets, b.Buckets)
}

// FromParts puts a histogram together and checks what it is given, as it may
// come from a damaged file or a stranger. It keeps p.Buckets: the histogram
// costs no more memory than its parts until something is added to it.
func FromParts(p HistogramParts) (*Histogram, error) {
	if p.MaxUS < 2 || p.MaxUS > MaxMaxUS {
		return nil, fmt.Errorf("histogram: highest value %d µs is outside 2 to %d", p.MaxUS, int64(MaxMaxUS))
	}
	h := NewHistogram(p.MaxUS)
	limit, last := h.Buckets(), -1
	var n uint64
	for _, b := range p.Buckets {
		if b.Index <= last || b.Index >= limit {
			return nil, fmt.Errorf("histogram: bucket %d after %d of %d", b.Index, last, limit)
		}
		if b.Count == 0 || b.Count > math.MaxInt64 || n+b.Count > math.MaxInt64 {
			return nil, fmt.Errorf("histogram: bucket %d has an impossible count %d", b.Index, b.Count)
		}
		last, n = b.Index, n+b.Count
	}
	if p.Clamped > n || p.MinNS < 0 || p.MaxNS < p.MinNS || p.SumNS < uint64(p.MaxNS) {
		return nil, fmt.Errorf("histogram: totals contradict each other")
	}
	if n == 0 && p.MaxNS != 0 {
		return nil, fmt.Errorf("histogram: no values, but a largest one of %d ns", p.MaxNS)
	}
	h.n, h.clamped, h.minNS, h.maxNS, h.sumNS = n, p.Clamped, p.MinNS, p.MaxNS, p.SumNS
	h.fixed = p.Buckets
	return h, nil
}

// thaw turns the fixed buckets of a file into a form that values can be added to.
func (h *Histogram) thaw() {
	if h.fixed == nil {
		return
	}
	if h.n > sparseLimit {
		h.densify()
		return
	}
	h.list = appendBuckets(h.list, h.fixed)
	h.fixed = nil
}

// appendBuckets appends each bucket's index as often as it was counted.
func appendBuckets(list []uint32, buckets []Bucket) []uint32 {
	for _, b := range buckets {
		for range b.Count {
			list = append(list, uint32(b.Index))
		}
	}
	return list
}
