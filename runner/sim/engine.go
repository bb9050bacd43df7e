package sim

import (
	"context"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

// EngineOptions describe a service and the generator in front of it.
type EngineOptions struct {
	Service Options

	Delay     time.Duration // network, one way; a new connection costs a round trip before its first request
	MaxConns  int           // 0 = no limit; beyond it requests wait, which is lag
	Reconnect bool          // every request on a connection of its own
	MaxRate   float64       // sends per second that the generator is capable of; 0 = no limit
	Lag       time.Duration // mean of the generator's own delay at each send, exponential; 0 = none
	Stalls    []Freeze      // the generator stands still, counted from the origin
}

// Engine runs a feed against the model of a service in virtual time: Drive
// returns as fast as it can compute. The same options give the same results.
// An answer is the document of the HTTP server, a refusal is status 503, and a
// timeout ends at sent + timeout with ErrAnswerTimeout while the service goes
// on, or drops the work, as Service.KeepWorking says.
type Engine struct {
	o     EngineOptions
	q     *Queue
	lag   *stream
	now   int64
	ready int64 // instant from which the generator can send again: MaxRate
	seq   uint64

	events  []event // heap
	live    map[*flight]struct{}
	waiting []*flight // for a connection
	idle    int       // connections open and unused
	stats   send.Stats
	limited int64 // since when requests wait for a connection; 0 = none do
	buf     []byte
}

var _ send.Engine = (*Engine)(nil)

type flight struct {
	req    *send.Request
	res    send.Result
	job    *Job
	sent   bool
	done   bool
	number uint64
}

type eventKind uint8

// In the order in which events of one instant happen.
const (
	arrive eventKind = iota // at the service
	leave                   // the service learns that the client left
	answer                  // at the generator
	expire                  // the timeout, at the generator
)

type event struct {
	at   int64
	kind eventKind
	seq  uint64
	f    *flight
}

// NewEngine returns an engine whose clock stands at 0.
func NewEngine(o EngineOptions) *Engine {
	o.Service.Hold = false // there is no dependency here
	return &Engine{
		o: o, q: NewQueue(o.Service), lag: newStream(o.Service.Seed, forLag),
		live:  map[*flight]struct{}{},
		stats: send.Stats{Negotiated: map[string]string{"protocol": "simulated"}},
	}
}

// Queue is the service, for its counters.
func (e *Engine) Queue() *Queue { return e.q }

// Now is the virtual time in ns.
func (e *Engine) Now() int64 { return e.now }

// Drive implements send.Engine.
func (e *Engine) Drive(ctx context.Context, feed send.Feed, until int64, idle bool) error {
	for n := 0; ; n++ {
		if n&15 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		due, ok := feed.Due()
		if idle && e.stats.InFlight == 0 && !pending(feed, ok) {
			return nil
		}
		next, what := until+1, 0
		if at, ok := e.q.Next(); ok && at < next {
			next, what = at, 1
		}
		if len(e.events) > 0 && e.events[0].at < next {
			next, what = e.events[0].at, 2
		}
		if ok {
			if at := e.awake(max(due, e.ready, e.now)); at < next {
				next, what = at, 3
			}
		}
		if what == 0 {
			e.now = max(e.now, until)
			return nil
		}
		e.now = max(e.now, next)
		switch what {
		case 1:
			for j := e.q.Depart(e.now); j != nil; j = e.q.Depart(e.now) {
				f := j.Owner.(*flight)
				if f.done {
					continue
				}
				f.res.Status = 200
				e.schedule(e.awake(j.Departed+int64(e.o.Delay)), answer, f)
			}
		case 2:
			e.happen(feed, e.pop())
		case 3:
			if req := feed.Fire(e.now); req != nil {
				e.fire(req)
			}
		}
	}
}

// pending reports whether the feed has something to come besides the
// boundaries of intervals: it says so itself, or Due does.
func pending(feed send.Feed, due bool) bool {
	if p, ok := feed.(interface{ Pending() bool }); ok {
		return p.Pending()
	}
	return due
}

func (e *Engine) fire(req *send.Request) {
	f := &flight{req: req, number: e.seq}
	e.live[f] = struct{}{}
	e.stats.InFlight++
	if e.o.MaxConns > 0 && e.stats.ConnsOpen-e.idle >= e.o.MaxConns {
		if len(e.waiting) == 0 {
			e.limited = e.now
		}
		e.waiting = append(e.waiting, f)
		e.stats.Waiting++
		e.seq++
		return
	}
	e.transmit(f)
}

// transmit sends f now, on an idle connection or a new one.
func (e *Engine) transmit(f *flight) {
	sent := max(e.now, e.ready)
	if e.o.MaxRate > 0 {
		e.ready = sent + int64(1e9/e.o.MaxRate)
	}
	if e.o.Lag > 0 {
		sent += int64(Service{Mean: e.o.Lag, Shape: Exponential}.draw(e.lag))
	}
	if e.idle > 0 {
		e.idle--
		e.stats.Reused++
	} else {
		e.stats.ConnsOpen++
		e.stats.Opened++
		f.res.NewConn = true
		sent += 2 * int64(e.o.Delay)
	}
	sent = e.awake(sent)
	f.sent = true
	f.res.Sent = sent
	f.res.BytesOut = int64(len(f.req.Body))
	e.schedule(sent+int64(e.o.Delay), arrive, f)
	if f.req.Timeout > 0 {
		e.schedule(e.awake(sent+f.req.Timeout), expire, f)
	}
}

func (e *Engine) happen(feed send.Feed, ev event) {
	f := ev.f
	switch ev.kind {
	case arrive:
		if f.res.Unsent { // abandoned before the send
			return
		}
		job, why := e.q.Admit(e.now, f)
		f.job = job
		if why != Admitted {
			f.res.Status = 503
			e.schedule(e.awake(e.now+int64(e.o.Delay)), answer, f)
		}
	case leave:
		if f.job != nil {
			e.q.Cancel(e.now, f.job)
		}
	case answer:
		if f.done {
			return
		}
		e.read(f)
		e.disconnect(!e.o.Reconnect)
		e.finish(feed, f)
	case expire:
		if f.done {
			return
		}
		f.res.Status = 0
		f.res.Err = record.ErrAnswerTimeout
		e.quit(f)
		e.disconnect(false)
		e.finish(feed, f)
	}
}

// read fills in a whole answer.
func (e *Engine) read(f *flight) {
	if f.res.Status == 200 {
		e.buf = appendDocument(e.buf[:0], f.req.Method, f.req.Path, f.job.Wrong)
	} else {
		e.buf = append(e.buf[:0], refusedBody...)
	}
	f.res.FirstByte = e.now
	f.res.BytesIn = int64(len(e.buf))
	f.res.HeaderValue = headerValue
	if f.req.MaxBody > 0 && f.res.BytesIn > f.req.MaxBody {
		f.res.Err = record.ErrTooLarge
	}
	if f.req.KeepBody > 0 {
		f.res.Body = e.buf[:min(len(e.buf), f.req.KeepBody)]
	}
}

// quit lets the service know, a delay later, that the client of f has left.
func (e *Engine) quit(f *flight) {
	if !e.o.Service.KeepWorking {
		e.schedule(max(e.now, f.res.Sent)+int64(e.o.Delay), leave, f)
	}
}

// disconnect gives a connection back, or closes it, and lets the next request
// that waits for one go.
func (e *Engine) disconnect(reusable bool) {
	if reusable {
		e.idle++
	} else {
		e.stats.ConnsOpen--
	}
	if len(e.waiting) == 0 {
		return
	}
	f := e.waiting[0]
	e.waiting = e.waiting[1:]
	e.stats.Waiting--
	if len(e.waiting) == 0 {
		e.stats.LimitedNS += e.now - e.limited
		e.waiting = nil
	}
	e.transmit(f)
}

func (e *Engine) finish(feed send.Feed, f *flight) {
	f.done = true
	f.res.Done = max(e.now, f.res.Sent)
	e.stats.InFlight--
	delete(e.live, f)
	feed.Done(f.req, &f.res)
}

// Abandon implements send.Engine.
func (e *Engine) Abandon(feed send.Feed) {
	if len(e.waiting) > 0 {
		e.stats.LimitedNS += e.now - e.limited
	}
	all := e.inOrder()
	e.waiting, e.stats.Waiting = nil, 0
	for _, f := range all {
		if f.sent && f.res.Sent <= e.now {
			f.res.Status = 0
			f.res.Err = record.ErrDrain
		} else {
			f.res = send.Result{Err: record.ErrNoConnection, Unsent: true}
		}
		if f.sent {
			e.quit(f)
			e.stats.ConnsOpen--
		}
		e.finish(feed, f)
	}
}

// Stats implements send.Engine.
func (e *Engine) Stats() send.Stats {
	s := e.stats
	if len(e.waiting) > 0 {
		s.LimitedNS += e.now - e.limited
	}
	return s
}

// Close implements send.Engine.
func (e *Engine) Close() error { return nil }

// awake is t, or the end of the generator's stall that holds t.
func (e *Engine) awake(t int64) int64 {
	for _, s := range e.o.Stalls {
		if t >= int64(s.At) && t < int64(s.At+s.For) {
			return int64(s.At + s.For)
		}
	}
	return t
}
