package record

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of message Interval.
const (
	ivPhase  = 1
	ivIndex  = 2
	ivStart  = 3
	ivWidth  = 4
	ivMaxUS  = 5
	ivCell   = 6
	ivFlow   = 7
	ivMoment = 8
)

// Fields of message Cell.
const (
	cellClass     = 1
	cellScheduled = 2
	cellSent      = 3
	cellUnsent    = 4
	cellBy        = 5
	cellAttempts  = 6
	cellBytesIn   = 7
	cellBytesOut  = 8
	cellOK        = 9
	cellOther     = 10
	cellService   = 11
	cellLag       = 12
	cellAtOrBelow = 13
	cellStatus    = 14
	cellErrors    = 15
	cellLate      = 16
)

// AppendInterval appends the encoded form of iv to b. It refuses what could not
// be read back: cells out of order, histograms of several geometries, numbers
// that are not finite.
func AppendInterval(b []byte, iv *Interval) ([]byte, error) {
	if iv.Phase < 0 || iv.Phase > math.MaxUint32 || iv.Index < 0 || iv.Index > math.MaxUint32 {
		return b, fmt.Errorf("interval %d of phase %d: numbers must be in [0, 2^32)", iv.Index, iv.Phase)
	}
	if iv.StartNS < 0 || iv.WidthNS < 0 {
		return b, fmt.Errorf("interval %d of phase %d: start %d ns, width %d ns", iv.Index, iv.Phase, iv.StartNS, iv.WidthNS)
	}
	if math.IsInf(iv.Moment.Gen.MachineBusy, 0) {
		return b, fmt.Errorf("interval %d of phase %d: machine busy is infinite", iv.Index, iv.Phase)
	}
	maxUS, err := geometry(iv)
	if err != nil {
		return b, fmt.Errorf("interval %d of phase %d: %w", iv.Index, iv.Phase, err)
	}
	b = appendInt(b, ivPhase, int64(iv.Phase))
	b = appendInt(b, ivIndex, int64(iv.Index))
	b = appendInt(b, ivStart, iv.StartNS)
	b = appendInt(b, ivWidth, iv.WidthNS)
	b = appendInt(b, ivMaxUS, maxUS)
	for i := range iv.Cells {
		b = appendNested(b, ivCell, iv.Cells[i].append)
	}
	for i := range iv.Flows {
		b = appendNested(b, ivFlow, iv.Flows[i].append)
	}
	return appendNested(b, ivMoment, iv.Moment.append), nil
}

// geometry is the one highest value of all histograms of iv, 0 without any.
func geometry(iv *Interval) (int64, error) {
	var maxUS int64
	for _, cells := range [][]Cell{iv.Cells, iv.Flows} {
		last := -1
		for i := range cells {
			c := &cells[i]
			if c.Class <= last || c.Class >= MaxClasses {
				return 0, fmt.Errorf("class %d after class %d", c.Class, last)
			}
			last = c.Class
			if len(c.AtOrBelow) > MaxThresholds {
				return 0, fmt.Errorf("class %d: %d thresholds, not at most %d", c.Class, len(c.AtOrBelow), MaxThresholds)
			}
			for code := range c.Status {
				if code < 0 || code > 999 {
					return 0, fmt.Errorf("class %d: status %d", c.Class, code)
				}
			}
			for _, h := range []*Histogram{c.OKResponse, c.OtherResponse, c.Service, c.Lag} {
				if h == nil {
					continue
				}
				if maxUS != 0 && h.maxUS != maxUS {
					return 0, fmt.Errorf("histograms up to %d and %d µs", maxUS, h.maxUS)
				}
				maxUS = h.maxUS
			}
		}
	}
	return maxUS, nil
}

func (c *Cell) append(b []byte) []byte {
	b = appendInt(b, cellClass, int64(c.Class))
	b = appendUint(b, cellScheduled, c.Counts.Scheduled)
	b = appendUint(b, cellSent, c.Counts.Sent)
	b = appendUint(b, cellUnsent, c.Counts.Unsent)
	b = appendPacked(b, cellBy, c.Counts.By[:], true)
	b = appendUint(b, cellAttempts, c.Counts.Attempts)
	b = appendUint(b, cellBytesIn, c.Counts.BytesIn)
	b = appendUint(b, cellBytesOut, c.Counts.BytesOut)
	for i, h := range []*Histogram{c.OKResponse, c.OtherResponse, c.Service, c.Lag} {
		if h != nil {
			b = appendNested(b, protowire.Number(cellOK+i), h.append)
		}
	}
	b = appendPacked(b, cellAtOrBelow, c.AtOrBelow, false)
	b = appendPacked(b, cellStatus, pairs(c.Status), false)
	b = appendPacked(b, cellErrors, pairs(c.Errors), false)
	return appendPacked(b, cellLate, c.LateSends[:], true)
}

// pairs is a map as key, value, key, value, in rising order of the keys.
func pairs[K interface{ ~int | ~uint8 }](m map[K]uint64) []uint64 {
	keys := make([]K, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	list := make([]uint64, 0, 2*len(m))
	for _, k := range keys {
		list = append(list, uint64(k), m[k])
	}
	return list
}

// DecodeInterval is the inverse of AppendInterval. It checks everything it is
// given and allocates in proportion to len(b).
func DecodeInterval(b []byte) (*Interval, error) {
	iv := &Interval{}
	// Histograms need the geometry, which other writers may put anywhere.
	var maxUS int64
	err := eachField(b, func(f field) error {
		switch f.num {
		case ivPhase:
			return f.setIndex(&iv.Phase, 1<<32)
		case ivIndex:
			return f.setIndex(&iv.Index, 1<<32)
		case ivStart:
			return f.setInt(&iv.StartNS)
		case ivWidth:
			return f.setInt(&iv.WidthNS)
		case ivMaxUS:
			return f.setInt(&maxUS)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if iv.StartNS < 0 || iv.WidthNS < 0 || iv.StartNS+iv.WidthNS < 0 {
		return nil, codecError("interval: start %d ns, width %d ns", iv.StartNS, iv.WidthNS)
	}
	if maxUS < 0 || maxUS > MaxMaxUS {
		return nil, codecError("interval: histograms up to %d µs", maxUS)
	}
	iv.Moment.Gen.MachineBusy = math.NaN()
	err = eachField(b, func(f field) error {
		switch f.num {
		case ivCell, ivFlow:
			if err := f.want(protowire.BytesType); err != nil {
				return err
			}
			list := &iv.Cells
			if f.num == ivFlow {
				list = &iv.Flows
			}
			c, err := decodeCell(f.b, maxUS)
			if err != nil {
				return err
			}
			if n := len(*list); n > 0 && (*list)[n-1].Class >= c.Class {
				return codecError("class %d after class %d", c.Class, (*list)[n-1].Class)
			}
			*list = append(*list, c)
		case ivMoment:
			if err := f.want(protowire.BytesType); err != nil {
				return err
			}
			return iv.Moment.decode(f.b)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return iv, nil
}

func decodeCell(b []byte, maxUS int64) (Cell, error) {
	var c Cell
	err := eachField(b, func(f field) error {
		switch f.num {
		case cellClass:
			return f.setIndex(&c.Class, MaxClasses)
		case cellScheduled:
			return f.setUint(&c.Counts.Scheduled)
		case cellSent:
			return f.setUint(&c.Counts.Sent)
		case cellUnsent:
			return f.setUint(&c.Counts.Unsent)
		case cellBy:
			return f.fill(c.Counts.By[:])
		case cellAttempts:
			return f.setUint(&c.Counts.Attempts)
		case cellBytesIn:
			return f.setUint(&c.Counts.BytesIn)
		case cellBytesOut:
			return f.setUint(&c.Counts.BytesOut)
		case cellOK, cellOther, cellService, cellLag:
			if err := f.want(protowire.BytesType); err != nil {
				return err
			}
			h, err := decodeHistogram(f.b, maxUS)
			if err != nil {
				return err
			}
			*[]**Histogram{&c.OKResponse, &c.OtherResponse, &c.Service, &c.Lag}[f.num-cellOK] = h
			return nil
		case cellAtOrBelow:
			vs, err := f.packed(MaxThresholds)
			c.AtOrBelow = vs
			return err
		case cellStatus:
			m, err := decodePairs[int](f, 1000)
			c.Status = m
			return err
		case cellErrors:
			m, err := decodePairs[ErrorKind](f, 256)
			c.Errors = m
			return err
		case cellLate:
			return f.fill(c.LateSends[:])
		}
		return nil
	})
	return c, err
}

func decodePairs[K interface{ ~int | ~uint8 }](f field, limit uint64) (map[K]uint64, error) {
	vs, err := f.packed(2 * int(limit))
	if err != nil {
		return nil, err
	}
	if len(vs)%2 != 0 {
		return nil, codecError("field %d: a key without a count", f.num)
	}
	m := make(map[K]uint64, len(vs)/2)
	for i := 0; i < len(vs); i += 2 {
		if vs[i] >= limit {
			return nil, codecError("field %d: key %d, not below %d", f.num, vs[i], limit)
		}
		m[K(vs[i])] += vs[i+1]
	}
	return m, nil
}
