package foreign

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"headroom/store/record"
)

// The clocks that headroom's own logs have in their tags.
const (
	serviceTag = "/service"
	lagTag     = "/lag"
)

// class is the class of a tag.
func (l *hlog) class(tag string) string {
	if l.ours {
		tag = strings.TrimSuffix(strings.TrimSuffix(tag, serviceTag), lagTag)
	}
	if tag == "" {
		return "request"
	}
	return className(tag)
}

// writeLog writes the intervals of a histogram log.
func (im *Import) writeLog(sink record.Sink) (record.End, error) {
	end := record.End{State: record.Complete, AtNS: im.endNS}
	p := record.Phase{Kind: record.Steady, Step: -1, EndNS: im.endNS}
	if err := sink.PutPhase(p); err != nil {
		return end, err
	}
	l := &hlog{ours: im.header.Imported == "headroom"}
	for i := range im.logged {
		iv, err := im.logInterval(l, i)
		if err != nil {
			return end, err
		}
		if err := sink.PutInterval(iv); err != nil {
			return end, err
		}
	}
	p.Ended = true
	return end, sink.PutPhase(p)
}

func (im *Import) logInterval(l *hlog, index int) (*record.Interval, error) {
	li := &im.logged[index]
	iv := &record.Interval{Index: index, StartNS: li.startNS, WidthNS: li.widthNS}
	iv.Moment.Gen.MachineBusy = math.NaN()
	cells := map[int]*record.Cell{}
	for k := range li.lines {
		line := &li.lines[k]
		if line.h.total == 0 {
			continue
		}
		name := l.class(line.tag)
		class := slices.IndexFunc(im.header.Classes, func(c record.Class) bool { return c.Name == name })
		c := cells[class]
		if c == nil {
			c = &record.Cell{Class: class}
			cells[class] = c
		}
		h, err := line.h.convert(im.unitNS, im.header.MaxUS)
		if err != nil {
			return nil, fmt.Errorf("interval %d of the log: %w", index, err)
		}
		switch {
		case l.ours && strings.HasSuffix(line.tag, serviceTag):
			err = join(&c.Service, h)
		case l.ours && strings.HasSuffix(line.tag, lagTag):
			err = join(&c.Lag, h)
		default:
			if err = join(&c.OKResponse, h); err == nil && !l.ours {
				err = join(&c.Service, h)
			}
			n := line.h.total
			c.Counts.Scheduled += n
			c.Counts.Sent += n
			c.Counts.Attempts += n
			c.Counts.By[record.OK] += n
			iv.Moment.Done[record.OK] += n
			iv.Moment.Sends += n
		}
		if err != nil {
			return nil, err
		}
	}
	for class := range im.header.Classes {
		c := cells[class]
		if c == nil {
			continue
		}
		// Lag of requests whose response the log does not have is nobody's.
		if c.Counts.Scheduled == 0 {
			continue
		}
		if n := len(im.header.Thresholds); n > 0 {
			c.AtOrBelow = make([]uint64, n)
		}
		iv.Cells = append(iv.Cells, *c)
	}
	return iv, nil
}

// join adds a histogram to one that may not be there yet.
func join(into **record.Histogram, h *record.Histogram) error {
	if *into == nil {
		*into = h.Clone()
		return nil
	}
	return (*into).Merge(h)
}

// convert puts the counts into our buckets by the upper edge of each, the sum
// by its middle. One unit is so many ns.
func (h *hdrHistogram) convert(unitNS, maxUS int64) (*record.Histogram, error) {
	p := record.HistogramParts{MaxUS: maxUS}
	var sum float64
	for _, b := range h.buckets {
		// The edge of the bucket is just below the next: 1000 ns are 1 µs.
		ns := b.high * unitNS
		us := (ns + 500) / 1000
		if unitNS >= 1000 {
			us = ns / 1000
		}
		if us > maxUS {
			us = maxUS
			p.Clamped += b.count
		}
		index := record.BucketIndex(us)
		if n := len(p.Buckets); n > 0 && p.Buckets[n-1].Index == index {
			p.Buckets[n-1].Count += b.count
		} else {
			p.Buckets = append(p.Buckets, record.Bucket{Index: index, Count: b.count})
		}
		sum += float64(b.count) * (float64(b.low) + float64(b.high)) / 2 * float64(unitNS)
		if p.MaxNS == 0 && len(p.Buckets) == 1 && p.Buckets[0].Count == b.count {
			p.MinNS = b.low * unitNS
		}
		p.MaxNS = ns
	}
	if sum > math.MaxInt64/4 {
		return nil, fmt.Errorf("the durations sum to more than can be counted")
	}
	p.SumNS = max(uint64(sum), uint64(p.MaxNS))
	return record.FromParts(p)
}
