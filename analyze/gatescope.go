package analyze

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"headroom/store/record"
)

// gateScope is the part of the run that a gate judges.
type gateScope struct {
	r        *analysis
	plateaus []*Plateau
	class    int // -1: all
	whole    bool
	words    string
	own      bool // has a trust of its own, narrower than the run's
	trust    string
	reasons  []string
	refused  string
}

// scope finds what a gate is about. In a step load a gate on latency, errors
// or goodput that names no phase judges the plateaus up to production's peak
// where a peak is known, else those that held, else all: what happens past the
// knee is not what it asks. It is all judged phases elsewhere.
func (r *analysis) scope(g record.Gate) gateScope {
	s := gateScope{r: r, class: -1, whole: true}
	if g.Class != "" {
		s.class = slices.IndexFunc(r.header.Classes, func(c record.Class) bool { return c.Name == g.Class })
		if s.class < 0 {
			s.refused = fmt.Sprintf("the run has no class %q", g.Class)
			return s
		}
	}
	include := func(*Plateau) bool { return true }
	switch {
	case g.Phase != "":
		include = func(p *Plateau) bool { return string(p.Kind) == g.Phase }
		s.words = fmt.Sprintf("in the phases of kind %s", g.Phase)
	case len(r.knee.sweep.all) > 0 && loadGate(g.Metric):
		include, s.words = r.usual()
	}
	for i := range r.plateaus {
		if p := &r.plateaus[i]; include(p) {
			s.plateaus = append(s.plateaus, p)
		}
	}
	s.whole = len(s.plateaus) == len(r.plateaus)
	if len(s.plateaus) == 0 && g.Phase != "" {
		s.refused = fmt.Sprintf("no judged phase of kind %s in this run", g.Phase)
	}
	if !s.whole {
		s.judge()
	}
	return s
}

func loadGate(metric string) bool {
	switch metric {
	case "response", "service", "lag", "goodput_ratio", "error_ratio", "shed_ratio", "amplification":
		return true
	}
	return false
}

// usual selects the plateaus of a step load that a gate on everyday behaviour
// means.
func (r *analysis) usual() (include func(*Plateau) bool, words string) {
	if r.peak != nil {
		top := math.Inf(1)
		for i := range r.plateaus {
			if t := r.plateaus[i].TargetRPS; t >= r.peak.PeakRPS {
				top = min(top, t)
			}
		}
		return func(p *Plateau) bool { return p.TargetRPS <= top },
			fmt.Sprintf("on the plateaus up to the production peak of %s/s", rate(r.peak.PeakRPS))
	}
	held := map[int]bool{}
	for i := range r.knee.sweep.all {
		if p := &r.knee.sweep.all[i]; p.Held != nil && *p.Held {
			held[p.Phase] = true
		}
	}
	if len(held) == 0 {
		return func(*Plateau) bool { return true }, "on all plateaus, since none held"
	}
	return func(p *Plateau) bool { return held[p.Phase] }, "on the plateaus that held"
}

// judge gives a part of the run the worst trust of its plateaus.
func (s *gateScope) judge() {
	s.own, s.trust = true, Trusted
	for _, p := range s.plateaus {
		switch {
		case p.Trust.Verdict == Untrusted:
			s.trust = Untrusted
		case p.Trust.Verdict == Suspect && s.trust == Trusted:
			s.trust = Suspect
		}
		s.reasons = append(s.reasons, p.Trust.Reasons...)
	}
	slices.Sort(s.reasons)
	s.reasons = slices.Compact(s.reasons)
}

// cells are the counters of the scope's classes, plateau by plateau.
func (s *gateScope) cells(yield func(*ClassCounts) bool) {
	for _, p := range s.plateaus {
		for i := range p.Cells {
			if s.class >= 0 && i != s.class {
				continue
			}
			c := &p.Cells[i]
			if s.class >= 0 && s.r.header.Classes[i].Flow {
				c = &p.Flows[i]
			}
			if !yield(c) {
				return
			}
		}
	}
}

func (s *gateScope) counts() record.Counts {
	var c record.Counts
	s.cells(func(cc *ClassCounts) bool { c.Add(&cc.Counts); return true })
	return c
}

// count reads the metrics that are counters or ratios of them.
func (s *gateScope) count(metric string) reading {
	c := s.counts()
	if c.Scheduled == 0 {
		return noData("no request was scheduled")
	}
	n := float64(c.Scheduled)
	switch metric {
	case "samples":
		return exactly(n, s.words)
	case "wrong":
		return exactly(float64(c.By[record.Wrong]), s.words)
	case "unexpected":
		return exactly(float64(c.Errors()), s.words)
	case "error_ratio":
		return exactly(float64(c.Errors())/n, s.of(c.Errors(), c.Scheduled))
	case "shed_ratio":
		return exactly(float64(c.By[record.Shed])/n, s.of(c.By[record.Shed], c.Scheduled))
	case "goodput_ratio":
		return exactly(float64(c.By[record.OK])/n, s.of(c.By[record.OK], c.Scheduled))
	case "goodput":
		var width int64
		for _, p := range s.plateaus {
			width += p.widthNS()
		}
		return exactly(perSecond(c.By[record.OK], width), s.words)
	case "amplification":
		if c.Sent == 0 {
			return noData("no request was sent")
		}
		return exactly(float64(c.Attempts)/float64(c.Sent), s.words)
	}
	return noData("%s is not known to this version", metric)
}

func (s *gateScope) of(k, n uint64) string {
	text := fmt.Sprintf("%d of %d", k, n)
	if s.words != "" {
		text += " " + s.words
	}
	return text
}

// enough reports whether k of n are at least the share q, in integers. A
// percentile of a gate has at most 12 decimals.
func enough(k, n uint64, q float64) bool {
	const den = 1_000_000_000_000
	h1, l1 := bits.Mul64(k, den)
	h2, l2 := bits.Mul64(n, uint64(math.Round(q*den)))
	return h1 > h2 || h1 == h2 && l1 >= l2
}

// need is the smallest count that is enough.
func need(n uint64, q float64) uint64 {
	k := uint64(math.Ceil(q * float64(n)))
	for k > 0 && enough(k-1, n, q) {
		k--
	}
	for !enough(k, n, q) {
		k++
	}
	return k
}

// latency judges a percentile by how many of all scheduled requests were
// answered in time: an exact counter where the run kept one for the limit,
// else what the buckets of the histogram prove.
func (s *gateScope) latency(g record.Gate) reading {
	c := s.counts()
	if c.Scheduled == 0 {
		return noData("no request was scheduled")
	}
	t, ok := g.Threshold()
	if !ok {
		return noData("%s is no percentile", g.Rule)
	}
	lo, hi, known := s.within(t)
	if !known {
		return unclear("the run did not count requests within this limit; write the gate into the plan")
	}
	// below says whether the percentile is at or below the counted limit.
	certain, possible := enough(lo, c.Scheduled, g.Quantile), enough(hi, c.Scheduled, g.Quantile)
	words := ""
	if s.words != "" {
		words = " " + s.words
	}
	why := fmt.Sprintf("%d of %d within the limit%s, %d needed", lo, c.Scheduled, words, need(c.Scheduled, g.Quantile))
	if lo != hi {
		why = fmt.Sprintf("%d to %d of %d within the limit%s, %d needed; the run did not count this limit, so it was read from the histogram", lo, hi, c.Scheduled, words, need(c.Scheduled, g.Quantile))
	}
	m := reading{why: why}
	if certain != possible {
		m.unclear = true
		m.shown = s.shown(g, c.Scheduled)
		return m
	}
	m.shown = s.shown(g, c.Scheduled)
	// A value on the right side of the limit, for the comparison, and what is
	// shown kept on that side of it too.
	limit := g.Limit
	if certain {
		m.lo, m.hi = math.Inf(-1), math.Inf(-1)
		if m.shown != nil && *m.shown > limit {
			m.shown = number(limit)
		}
		return m
	}
	m.lo, m.hi = math.Inf(1), math.Inf(1)
	if m.shown != nil && *m.shown <= limit {
		m.shown = number(math.Nextafter(limit, math.Inf(1)))
	}
	return m
}

// within counts the requests at or below a limit: certainly, and possibly.
func (s *gateScope) within(t record.Threshold) (lo, hi uint64, known bool) {
	for i, have := range s.r.header.Thresholds {
		if have.Clock != t.Clock || have.LimitNS != t.LimitNS {
			continue
		}
		s.cells(func(c *ClassCounts) bool { lo += at(c.AtOrBelow, i); return true })
		return lo, lo, true
	}
	hs, ok := s.hist()
	if !ok {
		return 0, 0, false
	}
	c := s.counts()
	switch t.Clock {
	case record.Response:
		lo, hi = belowLimit(hs.ok, t.LimitNS)
		_, late := belowLimit(hs.other, t.LimitNS)
		return lo, hi + min(late, c.By[record.Late]), true
	case record.Service:
		valid := c.By[record.OK] + c.By[record.Late]
		a, b := belowLimit(hs.service, t.LimitNS)
		failed := hs.service.Count() - min(valid, hs.service.Count())
		return a - min(failed, a), min(b, valid), true
	case record.Lag:
		if hs.lag == nil {
			return 0, 0, false
		}
		lo, hi = belowLimit(hs.lag, t.LimitNS)
		return lo, hi, true
	}
	return 0, 0, false
}

// hist are the histograms of the scope; ok is false where the run does not
// keep them that finely.
func (s *gateScope) hist() (plateauHist, bool) {
	max := s.r.header.MaxUS
	if s.class >= 0 {
		cf := &s.r.class[s.class]
		if s.r.header.Classes[s.class].Flow {
			cf = &s.r.flows[s.class]
		}
		if !s.whole || cf.ok == nil {
			return plateauHist{}, false
		}
		return plateauHist{ok: cf.ok, other: cf.other, service: cf.service}, true
	}
	out := plateauHist{ok: record.NewHistogram(max), other: record.NewHistogram(max), service: record.NewHistogram(max), lag: record.NewHistogram(max)}
	for _, p := range s.plateaus {
		for _, m := range []struct{ into, from *record.Histogram }{{out.ok, p.hist.ok}, {out.other, p.hist.other}, {out.service, p.hist.service}, {out.lag, p.hist.lag}} {
			if m.into.Merge(m.from) != nil {
				return plateauHist{}, false
			}
		}
	}
	return out, true
}

// belowLimit is how many values of h certainly and possibly are at or below a
// limit in nanoseconds. Buckets are in microseconds, rounded to the nearest.
func belowLimit(h *record.Histogram, limitNS int64) (certain, possible uint64) {
	last := h.Buckets() - 1
	h.Each(func(b record.Bucket) bool {
		low, high := record.BucketRange(b.Index)
		if low*1000-500 <= limitNS {
			possible += b.Count
			if high*1000+500 <= limitNS && !(b.Index == last && h.Clamped() > 0) {
				certain += b.Count
			}
		}
		return true
	})
	return certain, possible
}

// shown is the percentile over all scheduled requests, in seconds: what was
// not answered counts as slower than everything. It is for people; the gate
// rests on the counts.
func (s *gateScope) shown(g record.Gate, scheduled uint64) *float64 {
	hs, ok := s.hist()
	if !ok {
		return nil
	}
	h := hs.ok
	switch record.Clock(g.Metric) {
	case record.Service:
		h = hs.service
	case record.Lag:
		h = hs.lag
	}
	k := need(scheduled, g.Quantile)
	if h.Count() < k || k == 0 {
		return nil
	}
	return number(h.QuantileUS(float64(k)/float64(h.Count())) / 1e6)
}
