package profile

import "math"

// window is a length of the windows that arrivals are counted in.
type window struct {
	name     string
	tenths   int64
	variance float64 // Σ over segments of the variance of their counts
	mean     float64 // Σ over segments of the mean of their counts
	segments uint64
	n        uint64 // windows within segments

	// All windows as one series, counted from the first arrival.
	at      int64 // the window being counted
	count   float64
	all     int64 // windows
	sum     float64
	squares float64
}

// bursts counts arrivals in windows of four lengths. Only windows that lie
// within the time covered count, the last second not included, since the log
// may begin and end within a second.
//
// Method: index of dispersion for counts, pooled within segments (Gusella
// 1991); METHODS part h.
func (a *arrivals) bursts() []window {
	w := []window{{name: "0.1s", tenths: 1}, {name: "1s", tenths: 10}, {name: "10s", tenths: 100}, {name: "60s", tenths: 600}}
	if !a.any {
		return w
	}
	for i := range w {
		w[i].all = (a.end - a.first) * 10 / w[i].tenths
	}
	a.each(func(s *segment) {
		start := s.key * segmentS
		from := max(a.first-start, 0)
		to := min(a.end-start, segmentS)
		if to <= from {
			return
		}
		sum, squares := s.tenthSums()
		w[0].segment(float64(sum), float64(squares), uint64(to-from)*10)
		w[0].sum += float64(sum)
		w[0].squares += float64(squares)
		for i := range w[1:] {
			w := &w[i+1]
			width := w.tenths / 10
			var n uint64
			var sum, squares float64
			for t := (from + width - 1) / width * width; t+width <= to; t += width {
				var c float64
				for _, k := range s.seconds[t : t+width] {
					c += float64(k)
				}
				n++
				sum += c
				squares += c * c
			}
			w.segment(sum, squares, n)
			for t := from; t < to; t++ {
				if k := s.seconds[t]; k > 0 {
					w.see((start+t-a.first)/width, float64(k))
				}
			}
		}
	})
	for i := range w[1:] {
		w[i+1].see(w[i+1].all, 0)
	}
	return w
}

// see counts arrivals in a window of the whole series; windows come in order.
func (w *window) see(at int64, n float64) {
	if at != w.at {
		w.sum += w.count
		w.squares += w.count * w.count
		w.at, w.count = at, 0
	}
	if at < w.all {
		w.count += n
	}
}

// segment adds the sums of the n windows of a segment.
func (w *window) segment(sum, squares float64, n uint64) {
	w.n += n
	if n < 2 {
		return
	}
	mean := sum / float64(n)
	w.segments++
	w.mean += mean
	w.variance += math.Max(squares-sum*mean, 0) / float64(n-1)
}

// within is the index pooled within segments, whole that of all windows as one.
func (w *window) within() float64 {
	if w.mean == 0 {
		return 0
	}
	return w.variance / w.mean
}

func (w *window) whole() float64 {
	if w.all < 2 || w.sum == 0 {
		return 0
	}
	n := float64(w.all)
	mean := w.sum / n
	return math.Max(w.squares-w.sum*mean, 0) / (n - 1) / mean
}
