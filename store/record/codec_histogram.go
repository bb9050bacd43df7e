package record

import "google.golang.org/protobuf/encoding/protowire"

// Fields of message Histogram.
const (
	histMin     = 1
	histSpread  = 2
	histSum     = 3
	histClamped = 4
	histBuckets = 5
)

func (h *Histogram) append(b []byte) []byte {
	b = appendInt(b, histMin, h.minNS)
	b = appendInt(b, histSpread, h.maxNS-h.minNS)
	b = appendUint(b, histSum, h.sumNS)
	b = appendUint(b, histClamped, h.clamped)
	if h.n == 0 {
		return b
	}
	return appendNested(b, histBuckets, func(b []byte) []byte {
		last := -1
		h.Each(func(k Bucket) bool {
			gap := uint64(k.Index-last-1) << 1
			if k.Count == 1 {
				b = protowire.AppendVarint(b, gap)
			} else {
				b = protowire.AppendVarint(b, gap|1)
				b = protowire.AppendVarint(b, k.Count)
			}
			last = k.Index
			return true
		})
		return b
	})
}

func decodeHistogram(b []byte, maxUS int64) (*Histogram, error) {
	p := HistogramParts{MaxUS: maxUS}
	var spread int64
	err := eachField(b, func(f field) error {
		switch f.num {
		case histMin:
			return f.setInt(&p.MinNS)
		case histSpread:
			return f.setInt(&spread)
		case histSum:
			return f.setUint(&p.SumNS)
		case histClamped:
			return f.setUint(&p.Clamped)
		case histBuckets:
			if err := f.want(protowire.BytesType); err != nil {
				return err
			}
			var err error
			p.Buckets, err = decodeBuckets(f.b, BucketIndex(maxUS)+1)
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if spread < 0 || p.MinNS+spread < p.MinNS {
		return nil, codecError("histogram: impossible range")
	}
	p.MaxNS = p.MinNS + spread
	h, err := FromParts(p)
	if err != nil {
		return nil, codecError("%v", err)
	}
	return h, nil
}

// decodeBuckets reads gaps and counts; no index reaches limit.
func decodeBuckets(b []byte, limit int) ([]Bucket, error) {
	buckets := make([]Bucket, 0, min(packedLen(b), limit))
	next := uint64(0)
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, codecError("bad varint in a histogram")
		}
		b = b[n:]
		k := Bucket{Count: 1}
		if v&1 == 1 {
			if k.Count, n = protowire.ConsumeVarint(b); n < 0 {
				return nil, codecError("bad varint in a histogram")
			}
			b = b[n:]
		}
		gap := v >> 1
		if gap >= uint64(limit) || next+gap >= uint64(limit) {
			return nil, codecError("histogram bucket beyond the last one, %d", limit-1)
		}
		k.Index = int(next + gap)
		next = uint64(k.Index) + 1
		buckets = append(buckets, k)
	}
	return buckets, nil
}
