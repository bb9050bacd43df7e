package foreign

import (
	"container/heap"
	"fmt"

	"headroom/runner/tally"
	"headroom/store/record"
)

// Write writes the evidence but its header, which the sink's maker has, and
// returns the run's end.
func (im *Import) Write(sink record.Sink) (record.End, error) {
	end := record.End{State: record.Complete}
	if err := sink.PutFacts(record.Facts{Generator: im.facts, Target: map[string]string{}}); err != nil {
		return end, err
	}
	for _, n := range im.notes {
		if err := sink.PutNote(n); err != nil {
			return end, err
		}
	}
	if im.c == nil {
		return im.writeLog(sink)
	}
	w := &writer{im: im, sink: sink}
	return w.all()
}

// maxSumNS is what a histogram's sum can hold, in ns, with room to spare.
const maxSumNS = 1.6e19

// event is something that happens to a request that is open.
type event struct {
	at   int64
	send bool // else its end
	open *tally.Open
	end  *tally.End
}

type events []event

func (h events) Len() int { return len(h) }
func (h events) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].send && !h[j].send
}
func (h events) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *events) Push(x any)   { *h = append(*h, x.(event)) }
func (h *events) Pop() any {
	old := *h
	x := old[len(old)-1]
	old[len(old)-1] = event{}
	*h = old[:len(old)-1]
	return x
}

// writer plays the requests to a tally in virtual time.
type writer struct {
	im      *Import
	sink    record.Sink
	t       *tally.Tally
	due     events
	waiting int
	number  int64
	felt    float64 // response times summed, ns
	est     *estimator
	err     error
}

func (w *writer) all() (record.End, error) {
	im, end := w.im, record.End{State: record.Complete}
	w.t = tally.New(im.header,
		func(iv *record.Interval) { w.keep(w.sink.PutInterval(iv)) },
		func(s *record.SendSample) { w.keep(w.sink.PutSendSample(s)) })
	if im.expectNS > 0 {
		w.est = newEstimator(im.expectNS, im.tick0, im.c.maxDone, im.sequence(), im.header.MaxUS)
	}
	p := record.Phase{Kind: record.Steady, Step: -1, TargetRPS: im.header.TargetRPS, EndNS: im.endNS}
	if err := w.sink.PutPhase(p); err != nil {
		return end, err
	}
	w.t.Begin(p)
	if err := im.c.each(w.row); err != nil {
		return end, err
	}
	// What happens at the very end belongs to what comes after.
	w.until(p.EndNS - 1)
	w.tick(p.EndNS)
	w.t.EndPhase(p.EndNS, w.waiting, 0, 0)
	p.Ended = true
	w.keep(w.sink.PutPhase(p))
	end.AtNS = p.EndNS
	if len(w.due) > 0 {
		last := im.c.maxDone - im.originNS + 1
		d := record.Phase{Index: 1, Kind: record.Drain, Step: -1, StartNS: p.EndNS, EndNS: last}
		w.keep(w.sink.PutPhase(d))
		w.t.Begin(d)
		w.until(last)
		w.t.EndPhase(last, w.waiting, 0, 0)
		d.Ended = true
		w.keep(w.sink.PutPhase(d))
		end.AtNS = last
	}
	w.t.Close()
	if w.est != nil {
		w.est.finish()
		end.Omission = w.est.bounds()
	}
	return end, w.err
}

func (w *writer) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

// row schedules the next request.
func (w *writer) row(it *item) error {
	im := w.im
	i := w.number
	w.number++
	if i&4095 == 0 {
		if err := im.ctx.Err(); err != nil {
			return err
		}
	}
	if im.expectNS > 0 {
		if im.c.hasSeq {
			i = it.seq - im.c.minSeq
		}
		it.sched = min(im.tick0+i*im.expectNS, it.start)
		if record.Outcome(it.outcome) != record.Dropped {
			w.est.add(i, it.start, it.done)
		}
	}
	sched, start, done := max(it.sched-im.originNS, 0), it.start-im.originNS, it.done-im.originNS
	sched = min(sched, im.endNS-1)
	w.until(sched)
	if w.felt += float64(done - sched); w.felt > maxSumNS {
		return refuse(TooLarge, "the response times sum to more than can be counted, five hundred years: instants or the expected interval must be wrong")
	}
	open := w.t.Scheduled(int(it.class), sched)
	e := &tally.End{
		Class: int(it.class), Arrival: i, Scheduled: sched, FirstSent: start, Sent: start, Done: done, Attempts: 1,
		Outcome: record.Outcome(it.outcome), Err: record.ErrorKind(it.err), Status: int(it.status), BytesIn: it.in, BytesOut: it.out,
	}
	if e.Outcome == record.Dropped {
		e.Attempts, e.FirstSent, e.Sent = 0, 0, 0
		w.t.Ended(open, e)
		return w.err
	}
	w.waiting++
	if len(w.due) >= 2*maxInFlight {
		return refuse(IntervalTooShort, "more than %d requests would be open at the same time: the expected interval is shorter than the tool's own, or instants are wrong", maxInFlight)
	}
	heap.Push(&w.due, event{at: start, send: true, open: open, end: e})
	return w.err
}

// until lets time pass up to the instant: what happened before it, and the
// boundaries of intervals.
func (w *writer) until(at int64) {
	for len(w.due) > 0 && w.due[0].at <= at {
		e := heap.Pop(&w.due).(event)
		w.tick(e.at)
		if e.send {
			w.waiting--
			w.t.Attempt(e.at)
			heap.Push(&w.due, event{at: e.end.Done, open: e.open, end: e.end})
			continue
		}
		w.t.Ended(e.open, e.end)
	}
	w.tick(at)
}

func (w *writer) tick(at int64) {
	for {
		b, ok := w.t.Boundary()
		if !ok || b > at {
			return
		}
		w.t.Tick(w.waiting, 0, 0)
	}
}

// Summary says what was imported, for people.
func (im *Import) Summary() string {
	text := fmt.Sprintf("%d requests of %s, model %s, schedule %s", im.Rows, im.header.Imported, im.header.Model, im.header.Arrivals)
	if n := im.Damage.Total(); n > 0 {
		text += fmt.Sprintf("; %d damaged rows: %s", n, im.Damage)
	}
	return text
}
