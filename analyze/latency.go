package analyze

import (
	"math"
	"slices"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// quantileNames are the percentiles that a latency summary has, rising.
var quantileNames = [...]struct {
	name string
	q    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99_9", 0.999}}

const numQuantiles = len(quantileNames)

// Reasons why a percentile has no interval, besides those of package stat.
const mixedRates = "mixed_rates" // several plateaus, so nothing that one interval could describe

// spectrum collects durations over a window in ten contiguous batches, and
// each interval's own percentiles, so that a percentile's interval can be
// computed afterwards without keeping the intervals.
type spectrum struct {
	maxUS          int64
	fromNS, spanNS int64
	batches        [stat.Batches]*record.Histogram
	all            *record.Histogram
	series         [numQuantiles][]float64 // logarithms of each interval's percentiles
}

func newSpectrum(maxUS, fromNS, toNS int64) *spectrum {
	return &spectrum{maxUS: maxUS, fromNS: fromNS, spanNS: max(toNS-fromNS, 1), all: record.NewHistogram(maxUS)}
}

func (s *spectrum) add(startNS int64, cells []record.Cell, pick func(*record.Cell) [2]*record.Histogram) error {
	at := int(float64(startNS-s.fromNS) / float64(s.spanNS) * stat.Batches)
	at = min(max(at, 0), stat.Batches-1)
	if s.batches[at] == nil {
		s.batches[at] = record.NewHistogram(s.maxUS)
	}
	one := record.NewHistogram(s.maxUS)
	for i := range cells {
		for _, h := range pick(&cells[i]) {
			if err := one.Merge(h); err != nil {
				return err
			}
		}
	}
	if one.Count() == 0 {
		return nil
	}
	for i, v := range percentiles(one) {
		s.series[i] = append(s.series[i], math.Log(max(v, 1)))
	}
	if err := s.batches[at].Merge(one); err != nil {
		return err
	}
	return s.all.Merge(one)
}

// percentiles reads all five at once, in microseconds.
func percentiles(h *record.Histogram) (out [numQuantiles]float64) {
	n := float64(h.Count())
	next, seen := 0, 0.0
	h.Each(func(b record.Bucket) bool {
		seen += float64(b.Count)
		for next < numQuantiles && seen >= quantileNames[next].q*n {
			_, high := record.BucketRange(b.Index)
			out[next] = float64(high)
			next++
		}
		return next < numQuantiles
	})
	return out
}

// latency summarises what was collected. Cut is how many of the durations are
// only known to be at least limitUS, the timeout.
func (s *spectrum) latency(cut uint64, limitUS float64) LatencyUS {
	l := summarise(s.all, cut, limitUS)
	if l.Count == 0 {
		return l
	}
	var batches []*record.Histogram
	for _, b := range s.batches {
		if b.Count() > 0 {
			batches = append(batches, b)
		}
	}
	for i, q := range quantileNames {
		if _, censored := l.Censored[q.name]; censored {
			continue
		}
		iv, why := s.interval(i, q.q, batches)
		l.CI95[q.name] = iv
		if why != "" {
			l.Refused[q.name] = why
		}
	}
	return l
}

func (s *spectrum) interval(i int, q float64, batches []*record.Histogram) (*Interval, string) {
	if len(batches) < stat.Batches/2 {
		return nil, string(stat.TooFewIntervals)
	}
	x := s.all.QuantileUS(q)
	exceed, total := make([]uint64, len(batches)), make([]uint64, len(batches))
	for b, h := range batches {
		exceed[b], total[b] = h.CountAbove(x), h.Count()
	}
	tail := stat.BatchTail(exceed, total)
	if tail.Refused != "" {
		return nil, string(tail.Refused)
	}
	if s.independent(i) < minIndependent {
		return nil, string(stat.TooCorrelated)
	}
	lo, hi := s.all.QuantileUS(tail.Levels[0]), s.all.QuantileUS(tail.Levels[1])
	return &Interval{min(lo, x), max(hi, x)}, ""
}

// minIndependent is how many independent intervals a percentile's interval
// takes at least.
const minIndependent = 5

// independent is how many independent intervals the window is worth at a
// percentile: their number divided by the correlation time of the intervals'
// own percentiles.
func (s *spectrum) independent(i int) float64 {
	n := float64(len(s.series[i]))
	if r, ok := stat.Autocorrelation(s.series[i], 1); ok && r > 0 {
		n *= (1 - r) / (1 + r)
	}
	return n
}

// summarise reads a histogram. The cut largest durations are only known to be
// at least limitUS: percentiles among them are absent and named in Censored.
func summarise(h *record.Histogram, cut uint64, limitUS float64) LatencyUS {
	l := LatencyUS{Count: h.Count(), Clamped: h.Clamped(), CI95: map[string]*Interval{}, Refused: map[string]string{}, Censored: map[string]float64{}}
	if l.Count == 0 {
		return l
	}
	l.Min, l.Mean, l.Max = number(float64(h.MinNS())/1000), number(h.MeanUS()), number(float64(h.MaxNS())/1000)
	for i, p := range []**float64{&l.P50, &l.P90, &l.P95, &l.P99, &l.P999} {
		q := quantileNames[i]
		// The rank ceil(q n) must lie among the durations that are known.
		if cut > 0 && math.Ceil(q.q*float64(l.Count)-1e-9*float64(l.Count)) > float64(l.Count-min(cut, l.Count)) {
			l.Censored[q.name] = limitUS
			continue
		}
		*p = number(h.QuantileUS(q.q))
	}
	return l
}

// merged summarises several histograms as one, without intervals: why says
// why there are none.
func merged(maxUS int64, cut uint64, limitUS float64, why string, hs ...*record.Histogram) (LatencyUS, error) {
	all := record.NewHistogram(maxUS)
	for _, h := range hs {
		if err := all.Merge(h); err != nil {
			return LatencyUS{}, err
		}
	}
	l := summarise(all, cut, limitUS)
	if l.Count > 0 && why != "" {
		for _, q := range quantileNames {
			if _, censored := l.Censored[q.name]; !censored {
				l.CI95[q.name], l.Refused[q.name] = nil, why
			}
		}
	}
	return l, nil
}

// at returns the named percentile, nil where it is absent.
func (l *LatencyUS) at(name string) *float64 {
	i := slices.IndexFunc(quantileNames[:], func(q struct {
		name string
		q    float64
	},
	) bool {
		return q.name == name
	})
	if i < 0 {
		return nil
	}
	return []*float64{l.P50, l.P90, l.P95, l.P99, l.P999}[i]
}

// number is a pointer to v, nil where v is NaN or infinite.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func quantile(h *record.Histogram, q float64) *float64 {
	if h.Count() == 0 {
		return nil
	}
	return number(h.QuantileUS(q))
}

func interval(lo, hi float64) *Interval {
	if number(lo) == nil || number(hi) == nil {
		return nil
	}
	return &Interval{lo, hi}
}
