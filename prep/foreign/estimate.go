package foreign

import (
	"headroom/store/record"
)

// An estimate of the omission factor from a rebuilt schedule has two bounds,
// because a file of requests that were sent does not say what became of those
// that were due and never sent.
//
// High: the sequence is taken at its word. Request i was due i intervals after
// the first, so a tool that skipped requests during a stall stays late for
// ever, as in front of a service that never catches up; requests that were due
// before the end and are missing from the sequence waited at least as long as
// the last one was late, and at least until the end.
//
// Low: each request is given to the due instant nearest to its own start, as
// far as that leaves enough requests for the rest; a due instant without a
// request waited until the first answer after it, as in front of a service that
// answers the whole queue at once when a stall ends. Lateness below one interval
// does not count. For one connection and a constant interval this is
// HdrHistogram's correction.
//
// A tool that caught up has every request in its sequence, and the bounds meet
// but for that.
type estimator struct {
	intervalNS int64
	tick0      int64 // when the first request was due
	n          int64 // length of the sequence
	k          int64 // how many were due before the last answer
	last       int64 // due instant given to the request before
	endNS      int64
	lagNS      int64 // of the last request of the sequence
	flight     []int64
	low, high  *record.Histogram
	service    *record.Histogram
}

func newEstimator(intervalNS, tick0, endNS, n, maxUS int64) *estimator {
	return &estimator{
		intervalNS: intervalNS, tick0: tick0, endNS: endNS, n: n, k: (endNS-1-tick0)/intervalNS + 1, last: -1,
		low: record.NewHistogram(maxUS), high: record.NewHistogram(maxUS), service: record.NewHistogram(maxUS),
	}
}

// omitted is how many requests were due and are not in the sequence.
func (e *estimator) omitted() int64 { return max(e.k-e.n, 0) }

func (e *estimator) due(i int64) int64 { return e.tick0 + i*e.intervalNS }

// add takes request i of the sequence, in order.
func (e *estimator) add(i, start, done int64) {
	e.service.Record(done - start)
	e.high.Record(done - min(e.due(i), start))
	e.lagNS = max(start-e.due(i), 0)
	near := (start - e.tick0 + e.intervalNS/2) / e.intervalNS
	given := max(min(max(e.last+1, near), e.omitted()+i), e.last+1)
	for t := e.last + 1; t < given; t++ {
		e.skipped(e.due(t), start)
	}
	e.last = given
	// The first request may itself have been late, so a lateness below one
	// interval proves nothing.
	felt := done - start
	if lag := start - e.due(given); lag >= e.intervalNS {
		felt += lag
	}
	e.low.Record(felt)
	for len(e.flight) > 0 && e.flight[0] <= e.due(given) {
		e.pop()
	}
	e.push(done)
}

// skipped counts a request that was due at the instant and never sent: the
// first answer after it, or else the next request, ends its wait.
func (e *estimator) skipped(due, next int64) {
	for len(e.flight) > 0 && e.flight[0] <= due {
		e.pop()
	}
	until := next
	if len(e.flight) > 0 {
		until = e.flight[0]
	}
	e.low.Record(max(until-due, 0))
}

// finish counts what was due after the last request.
func (e *estimator) finish() {
	for t := e.last + 1; t < e.k; t++ {
		e.skipped(e.due(t), e.endNS)
	}
	for t := e.n; t < e.k; t++ {
		e.high.Record(max(e.endNS-e.due(t), e.lagNS))
	}
}

// bounds are the omission factors of both histograms.
func (e *estimator) bounds() *record.OmissionEstimate {
	if e.service.Count() == 0 {
		return nil
	}
	o := &record.OmissionEstimate{IntervalNS: e.intervalNS, Omitted: uint64(e.omitted())}
	const floorUS = 1000 // of both clocks, as everywhere
	for i, q := range record.EstimateQuantiles() {
		s := max(e.service.QuantileUS(q), floorUS)
		low, high := max(e.low.QuantileUS(q), floorUS)/s, max(e.high.QuantileUS(q), floorUS)/s
		o.Low[i], o.High[i] = min(low, high), max(low, high)
	}
	return o
}

func (e *estimator) push(v int64) {
	h := append(e.flight, v)
	for i := len(h) - 1; i > 0; {
		p := (i - 1) / 2
		if h[p] <= h[i] {
			break
		}
		h[p], h[i], i = h[i], h[p], p
	}
	e.flight = h
}

func (e *estimator) pop() {
	h := e.flight
	n := len(h) - 1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			break
		}
		if c+1 < n && h[c+1] < h[c] {
			c++
		}
		if h[i] <= h[c] {
			break
		}
		h[i], h[c], i = h[c], h[i], c
	}
	e.flight = h
}
