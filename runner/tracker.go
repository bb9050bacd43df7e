package runner

import (
	"time"

	"headroom/analyze"
	"headroom/store/record"
)

// trackedNS is the time over which rates and percentiles of a Glance are taken.
const trackedNS = 5 * second

// Glance is a run in one line. Rates are per second, over the last seconds.
type Glance struct {
	Elapsed  time.Duration
	Phase    record.Phase
	Offered  float64
	Sent     float64
	Goodput  float64
	Errors   float64 // everything but good answers and what was shed
	Shed     float64
	Response *float64 // p99, µs; nil where nothing ended
	Service  *float64
	Lag      *float64
	InFlight int
	Trust    string // of the generator, since the run began: trusted, suspect, untrusted
	Reasons  []string
	Knee     *float64 // requests per second, as far as the plateaus so far say
}

// Tracker makes glances of the statuses of one run. It keeps the last seconds
// and is not safe for concurrent use.
type Tracker struct {
	header   record.Header
	last     []*Recent
	all      *Recent // since the run began, drains and warm-up left out
	plateaus int
	knee     *float64
}

// NewTracker makes a tracker of a run.
func NewTracker(h record.Header) *Tracker { return &Tracker{header: h, all: newRecent(h.MaxUS)} }

// Add takes the next status.
func (t *Tracker) Add(s Status) {
	if s.Recent == nil {
		return
	}
	t.last = append(t.last, s.Recent)
	for len(t.last) > 1 && covers(t.last[1:]) >= trackedNS {
		t.last = t.last[1:]
	}
	if k := s.Phase.Kind; k != record.Drain && k != record.Warmup {
		t.all.add(s.Recent)
	}
	if len(s.Plateaus) != t.plateaus {
		t.plateaus = len(s.Plateaus)
		if k, ok := analyze.KneeSoFar(s.Plateaus); ok {
			t.knee = &k
		}
	}
}

func covers(all []*Recent) (ns int64) {
	for _, r := range all {
		ns += r.WidthNS
	}
	return ns
}

// Glance is the run as of the status, which Add was given last.
func (t *Tracker) Glance(s Status) Glance {
	g := Glance{Elapsed: time.Duration(s.AtNS), Phase: s.Phase, InFlight: s.InFlight, Knee: t.knee}
	sum := newRecent(t.header.MaxUS)
	for _, r := range t.last {
		sum.add(r)
	}
	if sum.WidthNS > 0 {
		per := func(n uint64) float64 { return float64(n) / float64(sum.WidthNS) * 1e9 }
		g.Offered, g.Sent, g.Goodput, g.Shed = per(sum.Scheduled), per(sum.Attempts), per(sum.By[record.OK]), per(sum.By[record.Shed])
		g.Errors = per(sum.Done() - sum.By[record.OK] - sum.By[record.Shed])
	}
	g.Response, g.Service, g.Lag = p99(sum.Response), p99(sum.Service), p99(sum.Lag)
	trust := analyze.TrustSoFar(t.header, t.all.counts(), t.all.Late, t.all.Response, t.all.Service, t.all.Lag, t.all.WidthNS, t.all.LimitedNS)
	g.Trust, g.Reasons = trust.Verdict, trust.Reasons
	return g
}

func p99(h *record.Histogram) *float64 {
	if h.Count() == 0 {
		return nil
	}
	v := h.QuantileUS(0.99)
	return &v
}

// counts are those of the requests that ended; what is under way is not judged.
func (r *Recent) counts() record.Counts {
	c := record.Counts{Scheduled: r.Done(), Sent: r.Sent, Attempts: r.Attempts, By: r.By}
	c.Unsent = c.Scheduled - c.Sent - c.By[record.Dropped]
	return c
}
