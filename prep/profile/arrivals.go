package profile

import (
	"encoding/binary"
	"math"
	"slices"
	"time"

	"headroom/analyze/stat"
)

// arrivals counts requests per second, and per tenth of a second where stamps
// are fine enough, in segments of ten minutes by the clock. Segments may come
// in any order; those not touched for long are packed.
type arrivals struct {
	open        map[int64]*segment
	packed      map[int64][]byte
	packedBytes int
	tick        uint64
	last        *segment
	first, end  int64 // seconds of the first and last arrival
	any         bool
	fine, total uint64 // stamps with digits below a second; all
	reopened    bool   // tenths of a packed segment came later: their squares are not known
	lost        uint64 // arrivals of packed segments that had to go
}

const (
	segmentS   = 600
	openMost   = 2016 // two weeks
	packedMost = 48 << 20
	tenths     = 10 * segmentS
)

// segment is ten minutes.
type segment struct {
	key     int64 // seconds since 1970 over 600
	used    uint64
	seconds [segmentS]uint32
	tenth   []uint16 // nil until a fine stamp comes
	sum     uint64   // of tenths already packed
	squares uint64
}

func newArrivals() *arrivals {
	return &arrivals{open: map[int64]*segment{}, packed: map[int64][]byte{}}
}

// add counts an arrival at an instant, nanoseconds since 1970.
func (a *arrivals) add(ns int64, fine bool) {
	sec := ns / 1e9
	if ns < 0 {
		sec = 0
	}
	if !a.any || sec < a.first {
		a.first = sec
	}
	if !a.any || sec > a.end {
		a.end = sec
	}
	a.any = true
	a.total++
	s := a.last
	if key := sec / segmentS; s == nil || s.key != key {
		s = a.segment(key)
		a.last = s
	}
	i := sec - s.key*segmentS
	s.seconds[i]++
	if fine {
		a.fine++
		if s.tenth == nil {
			s.tenth = make([]uint16, tenths)
		}
		if t := &s.tenth[i*10+(ns%1e9)/1e8]; *t < math.MaxUint16 {
			*t++
		}
	}
}

func (a *arrivals) segment(key int64) *segment {
	a.tick++
	if s := a.open[key]; s != nil {
		s.used = a.tick
		return s
	}
	if len(a.open) >= openMost {
		a.pack()
	}
	s := &segment{key: key, used: a.tick}
	if p, ok := a.packed[key]; ok {
		s.unpack(p)
		a.reopened = a.reopened || s.sum > 0
		a.packedBytes -= len(p)
		delete(a.packed, key)
	}
	a.open[key] = s
	return s
}

// pack packs the quarter of the open segments that was not used for longest.
func (a *arrivals) pack() {
	all := make([]*segment, 0, len(a.open))
	for _, s := range a.open {
		all = append(all, s)
	}
	slices.SortFunc(all, func(x, y *segment) int {
		if x.used < y.used {
			return -1
		}
		return 1
	})
	for _, s := range all[:len(all)/4] {
		p := s.pack()
		a.packed[s.key] = p
		a.packedBytes += len(p)
		delete(a.open, s.key)
	}
	for a.packedBytes > packedMost { // years of seconds: the oldest go
		oldest := int64(math.MaxInt64)
		for k := range a.packed {
			oldest = min(oldest, k)
		}
		var s segment
		s.unpack(a.packed[oldest])
		for _, n := range s.seconds {
			a.lost += uint64(n)
		}
		a.packedBytes -= len(a.packed[oldest])
		delete(a.packed, oldest)
	}
	a.last = nil
}

func (s *segment) tenthSums() (sum, squares uint64) {
	sum, squares = s.sum, s.squares
	for _, n := range s.tenth {
		sum += uint64(n)
		squares += uint64(n) * uint64(n)
	}
	return sum, squares
}

func (s *segment) pack() []byte {
	sum, squares := s.tenthSums()
	p := binary.AppendUvarint(nil, sum)
	p = binary.AppendUvarint(p, squares)
	zeros := uint64(0)
	for _, n := range s.seconds {
		if n == 0 {
			zeros++
			continue
		}
		if zeros > 0 {
			p = binary.AppendUvarint(append(p, 0), zeros)
			zeros = 0
		}
		p = binary.AppendUvarint(p, uint64(n))
	}
	return slices.Clip(p)
}

func (s *segment) unpack(p []byte) {
	next := func() uint64 {
		v, n := binary.Uvarint(p)
		p = p[max(n, 0):]
		return v
	}
	s.sum, s.squares = next(), next()
	for i := 0; i < segmentS && len(p) > 0; i++ {
		v := next()
		if v == 0 {
			i += int(next()) - 1
			continue
		}
		s.seconds[i] = uint32(v)
	}
}

// each calls f for each segment that has arrivals, in order of time.
func (a *arrivals) each(f func(s *segment)) {
	keys := make([]int64, 0, len(a.open)+len(a.packed))
	for k := range a.open {
		keys = append(keys, k)
	}
	for k := range a.packed {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if s := a.open[k]; s != nil {
			f(s)
			continue
		}
		s := &segment{key: k}
		s.unpack(a.packed[k])
		f(s)
	}
}

// seconds is the length of the time covered.
func (a *arrivals) seconds() int64 {
	if !a.any {
		return 0
	}
	return a.end - a.first + 1
}

// busiest keeps the largest of many counts.
type busiest struct {
	n    uint64
	at   int64
	ties int
}

func (b *busiest) see(n uint64, at int64) {
	switch {
	case n > b.n:
		*b = busiest{n, at, 1}
	case n == b.n && n > 0:
		b.ties++
	}
}

func (b *busiest) summary(span, scale float64) *Busiest {
	return &Busiest{RPS: round(float64(b.n) / span * scale), Requests: b.n, At: stampText(b.at), Ties: b.ties}
}

// peaks finds the busiest spans. Scale is the number of requests that a line
// stands for.
func (a *arrivals) peaks(scale float64) Peak {
	var second, ten, minute, daySecond, dayMinute busiest
	var daySum uint64
	day := int64(math.MinInt64)
	p := Peak{Daily: []Day{}}
	flush := func() {
		if daySum > 0 {
			p.Daily = append(p.Daily, Day{
				Date: time.Unix(day*86400, 0).UTC().Format(time.DateOnly), Requests: daySum,
				SecondRPS: round(float64(daySecond.n) * scale), MinuteRPS: round(float64(dayMinute.n) / 60 * scale),
			})
		}
		daySecond, dayMinute, daySum = busiest{}, busiest{}, 0
	}
	var busy uint64 // the busiest minute that holds a busiest second
	a.each(func(s *segment) {
		start := s.key * segmentS
		if d := start / 86400; d != day {
			flush()
			day = d
		}
		for m := 0; m < segmentS; m += 60 {
			var inMinute uint64
			for t := m; t < m+60; t += 10 {
				var inTen uint64
				for i := t; i < t+10; i++ {
					n := uint64(s.seconds[i])
					inTen += n
					if n > second.n {
						busy = 0
					}
					second.see(n, start+int64(i))
					daySecond.see(n, start+int64(i))
				}
				ten.see(inTen, start+int64(t))
				inMinute += inTen
			}
			minute.see(inMinute, start+int64(m))
			dayMinute.see(inMinute, start+int64(m))
			daySum += inMinute
			if second.at >= start+int64(m) && second.at < start+int64(m)+60 {
				busy = inMinute
			}
		}
	})
	flush()
	if second.n == 0 {
		return p
	}
	p.Second = second.summary(1, scale)
	if n, ok := stat.PoissonPeak(float64(busy)/60, 60, 0.5); ok {
		p.Second.PoissonRPS = round(float64(n) * scale)
	}
	p.TenSeconds, p.Minute = ten.summary(10, scale), minute.summary(60, scale)
	return p
}

// curve is the rate in at most about a thousand steps.
func (a *arrivals) curve(scale float64) RateCurve {
	if !a.any {
		return RateCurve{RPS: []float64{}}
	}
	step := int64(1)
	for _, s := range []int64{1, 2, 5, 10, 30, 60, 300, 600, 1800, 3600, 6 * 3600, 86400, 7 * 86400, 30 * 86400} {
		if step = s; a.seconds()/s <= 1000 {
			break
		}
	}
	from := a.first / step * step
	counts := make([]float64, (a.end-from)/step+1)
	a.each(func(s *segment) {
		for i, n := range s.seconds {
			if n > 0 {
				counts[(s.key*segmentS+int64(i)-from)/step] += float64(n)
			}
		}
	})
	for i := range counts {
		counts[i] = round(counts[i] * scale / float64(step))
	}
	return RateCurve{From: stampText(from), StepS: float64(step), RPS: counts}
}

// round keeps six significant digits, so that a profile is easy to read.
func round(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(v))))
	if math.IsInf(scale, 0) || scale == 0 {
		return v
	}
	return math.Round(v*scale) / scale
}
