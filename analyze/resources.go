package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// observed is one resource series, in the order of time.
type observed struct {
	record.SeriesInfo
	atNS   []int64
	values []float64
}

// observe reads all resource series.
func observe(ev record.Evidence) ([]observed, error) {
	infos := ev.Header().Observed
	out := make([]observed, len(infos))
	where := map[int]int{}
	for i, s := range infos {
		out[i].SeriesInfo = s
		where[s.ID] = i
	}
	for s, err := range ev.Samples() {
		if err != nil {
			return nil, fmt.Errorf("reading resource series: %w", err)
		}
		i, ok := where[s.Series]
		if !ok || number(s.Value) == nil {
			continue
		}
		out[i].atNS, out[i].values = append(out[i].atNS, s.AtNS), append(out[i].values, s.Value)
	}
	return out, nil
}

// resources summarises the observed series; of a counter, its growth per
// second.
func (r *analysis) resources(all []observed) []Resource {
	from, to := r.atKnee()
	out := make([]Resource, 0, len(all))
	for i := range all {
		s := &all[i]
		if s.counter() {
			rates := s.rates()
			s = &rates
		}
		res := Resource{Name: s.Name, Source: s.Source, Unit: s.Unit, Series: fmt.Sprint(s.ID), Samples: uint64(len(s.values))}
		if len(s.values) > 0 {
			res.Min, res.Max = number(slices.Min(s.values)), number(slices.Max(s.values))
			if m, ok := stat.Mean(s.values); ok {
				res.Mean = number(m)
			}
		}
		res.AtKnee = s.mean(from, to)
		out = append(out, res)
	}
	return out
}

// atKnee is the window of the plateau nearest to the knee: the highest that
// held. Where there is none it is empty.
func (r *analysis) atKnee() (from, to int64) {
	best := 0.0
	for i := range r.knee.sweep.all {
		if p := &r.knee.sweep.all[i]; p.Held != nil && *p.Held && p.OfferedRPS > best {
			best, from, to = p.OfferedRPS, p.FromNS, p.ToNS
		}
	}
	return from, to
}

// mean over the samples in [from, to), nil where there are none.
func (s *observed) mean(from, to int64) *float64 {
	w := s.within(from, to)
	if m, ok := stat.Mean(w.values); ok {
		return number(m)
	}
	return nil
}

// counters are the names of series that only ever grow, by their nature:
// what is looked at is how fast.
var counters = []string{
	"_total", "_count", "_sum", "_bucket", ".cpu_seconds", "pg.commits", "pg.rollbacks", "pg.deadlocks", "pg.blocks_read", "pg.blocks_hit", "pg.temp_bytes",
}

// counter reports whether the series counts events since a start. Labels in
// braces are no part of the name.
func (s *observed) counter() bool { return isCounter(s.Name) }

func isCounter(name string) bool {
	name, _, _ = strings.Cut(name, "{")
	return slices.ContainsFunc(counters, func(c string) bool { return strings.HasSuffix(name, c) })
}

// startTimes are the names of series that change when a process restarts.
func isStartTime(name string) bool {
	name, _, _ = strings.Cut(name, "{")
	return strings.HasSuffix(name, "start_time_seconds") || strings.HasSuffix(name, ".pid") || strings.HasSuffix(name, ".restarts")
}

// restarted reports whether the series shows that what it belongs to began
// anew.
func (s *observed) restarted() bool {
	switch {
	case len(s.values) == 0:
		return false
	case isStartTime(s.Name):
		return slices.Max(s.values) != slices.Min(s.values)
	case s.counter():
		for i := 1; i < len(s.values); i++ {
			if s.values[i] < s.values[i-1] {
				return true
			}
		}
	}
	return false
}

// within keeps the samples in [from, to).
func (s *observed) within(from, to int64) observed {
	out := observed{SeriesInfo: s.SeriesInfo}
	for i, at := range s.atNS {
		if at >= from && at < to {
			out.atNS, out.values = append(out.atNS, at), append(out.values, s.values[i])
		}
	}
	return out
}

// rates turns a counter into its growth per second, one value fewer.
func (s *observed) rates() observed {
	out := observed{SeriesInfo: s.SeriesInfo}
	out.Unit += "/s"
	for i := 1; i < len(s.values); i++ {
		if d := s.atNS[i] - s.atNS[i-1]; d > 0 {
			out.atNS = append(out.atNS, s.atNS[i])
			out.values = append(out.values, nineDigits((s.values[i]-s.values[i-1])/(float64(d)/1e9)))
		}
	}
	return out
}

// nineDigits takes the noise of floating point out, which would pass for a
// signal in a series that is otherwise constant.
func nineDigits(v float64) float64 {
	if v == 0 {
		return 0
	}
	scale := math.Pow(10, 8-math.Floor(math.Log10(math.Abs(v))))
	if r := math.Round(v*scale) / scale; !math.IsNaN(r) && !math.IsInf(r, 0) {
		return r
	}
	return v
}

// falls reports whether the values come down by a tenth or more of what they go up:
// a saw-tooth does, a staircase, whose steps come in a rhythm as well, does not.
func falls(values []float64) bool {
	var up, down float64
	for i := 1; i < len(values); i++ {
		d := values[i] - values[i-1]
		up, down = up+max(0, d), down+max(0, -d)
	}
	return down >= 0.1*up
}

// spacing is the time between samples, in hours; gap is the longest as a
// share of the whole.
func spacing(atNS []int64) (hours, gap float64) {
	n := len(atNS)
	if n < 2 || atNS[n-1] <= atNS[0] {
		return math.NaN(), 1
	}
	var longest int64
	for i := 1; i < n; i++ {
		longest = max(longest, atNS[i]-atNS[i-1])
	}
	whole := float64(atNS[n-1] - atNS[0])
	return whole / float64(n-1) / 3.6e12, float64(longest) / whole
}
