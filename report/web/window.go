package web

import (
	"iter"
	"math"
	"net/url"
	"strconv"

	"headroom/store/record"
)

// span is a stretch of a run, in seconds since its origin. The zero span is the
// whole run.
type span struct{ from, to float64 }

func (s span) whole() bool { return s == span{} }

// key names the span within a cache.
func (s span) key() string {
	if s.whole() {
		return ""
	}
	return strconv.FormatFloat(s.from, 'f', 3, 64) + "-" + strconv.FormatFloat(s.to, 'f', 3, 64)
}

// query is the span as names and values.
func (s span) query() []string {
	if s.whole() {
		return nil
	}
	return []string{"from", strconv.FormatFloat(s.from, 'f', -1, 64), "to", strconv.FormatFloat(s.to, 'f', -1, 64)}
}

// parseSpan reads ?from=S&to=S; both or none.
func parseSpan(q url.Values) (span, error) {
	a, b := q.Get("from"), q.Get("to")
	if a == "" && b == "" {
		return span{}, nil
	}
	from, err1 := strconv.ParseFloat(a, 64)
	to, err2 := strconv.ParseFloat(b, 64)
	const year = 366 * 24 * 3600
	if err1 != nil || err2 != nil || math.IsNaN(from) || math.IsNaN(to) || from < 0 || to > year || to-from < 0.001 {
		return span{}, badRequest("from=%s&to=%s is not a stretch of a run in seconds", clip(a, 40), clip(b, 40))
	}
	round := func(v float64) float64 { return math.Round(v*1000) / 1000 }
	return span{round(from), round(to)}, nil
}

// watched is evidence of which only a stretch is seen; every interval that is
// read is shown to see.
type watched struct {
	Evidence
	span
	see func(p record.Phase, iv *record.Interval)
}

func (w *watched) inside(startNS, endNS int64) bool {
	return w.whole() || float64(endNS)/1e9 > w.from && float64(startNS)/1e9 < w.to
}

// Phases are those of the stretch, cut at its ends.
func (w *watched) Phases() []record.Phase {
	all := w.Evidence.Phases()
	if w.whole() {
		return all
	}
	from, to := int64(w.from*1e9), int64(w.to*1e9)
	var kept []record.Phase
	for _, p := range all {
		if !w.inside(p.StartNS, max(p.EndNS, p.StartNS+1)) {
			continue
		}
		if p.StartNS < from {
			p.SettleNS = max(0, p.SettleNS-(from-p.StartNS))
			p.StartNS = from
		}
		p.EndNS = min(p.EndNS, to)
		kept = append(kept, p)
	}
	return kept
}

// FaultEvents are those of the stretch.
func (w *watched) FaultEvents() []record.FaultEvent {
	var kept []record.FaultEvent
	for _, e := range w.Evidence.FaultEvents() {
		if w.inside(e.AtNS, e.AtNS+1) {
			kept = append(kept, e)
		}
	}
	return kept
}

// Samples are those of the stretch.
func (w *watched) Samples() iter.Seq2[record.Sample, error] {
	return func(yield func(record.Sample, error) bool) {
		for s, err := range w.Evidence.Samples() {
			if err == nil && !w.inside(s.AtNS, s.AtNS+1) {
				continue
			}
			if !yield(s, err) {
				return
			}
		}
	}
}

// Intervals are those of the stretch.
func (w *watched) Intervals() iter.Seq2[*record.Interval, error] {
	byIndex := map[int]record.Phase{}
	for _, p := range w.Evidence.Phases() {
		byIndex[p.Index] = p
	}
	return func(yield func(*record.Interval, error) bool) {
		for iv, err := range w.Evidence.Intervals() {
			if err == nil && !w.inside(iv.StartNS, iv.StartNS+iv.WidthNS) {
				continue
			}
			if err == nil && w.see != nil {
				w.see(byIndex[iv.Phase], iv)
			}
			if !yield(iv, err) {
				return
			}
		}
	}
}
