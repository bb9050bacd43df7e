package runner

import (
	"headroom/runner/tally"
	"headroom/store/record"
)

// Recent is what happened during one interval by the clock, kept for those who
// watch a run while it goes on. Requests are counted where they ended,
// Scheduled and Attempts where they happened.
type Recent struct {
	WidthNS   int64
	Scheduled uint64
	Attempts  uint64 // written
	Sent      uint64 // requests that ended and had been sent
	By        [record.NumOutcomes]uint64
	Late      [4]uint64 // of those sent: later than 1 ms, 10 ms, 100 ms, 1 s
	LimitedNS int64     // at a limit of our own

	Response, Service, Lag *record.Histogram
}

func newRecent(maxUS int64) *Recent {
	return &Recent{Response: record.NewHistogram(maxUS), Service: record.NewHistogram(maxUS), Lag: record.NewHistogram(maxUS)}
}

func (r *Recent) ended(e *tally.End) {
	r.By[e.Outcome]++
	if e.Attempts == 0 {
		return
	}
	r.Sent++
	lag := e.FirstSent - e.Scheduled
	r.Response.Record(e.Done - e.Scheduled)
	r.Service.Record(e.Done - e.Sent)
	r.Lag.Record(lag)
	for i, limit := range [...]int64{1e6, 1e7, 1e8, 1e9} {
		if lag > limit {
			r.Late[i]++
		}
	}
}

// Done is how many requests ended.
func (r *Recent) Done() (n uint64) {
	for _, v := range r.By {
		n += v
	}
	return n
}

// add puts another interval's counts to r's. Histograms of one run have one
// geometry, so they merge.
func (r *Recent) add(o *Recent) {
	r.WidthNS += o.WidthNS
	r.LimitedNS += o.LimitedNS
	r.Scheduled += o.Scheduled
	r.Attempts += o.Attempts
	r.Sent += o.Sent
	for i := range r.By {
		r.By[i] += o.By[i]
	}
	for i := range r.Late {
		r.Late[i] += o.Late[i]
	}
	_ = r.Response.Merge(o.Response)
	_ = r.Service.Merge(o.Service)
	_ = r.Lag.Merge(o.Lag)
}
