package std

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"headroom/runner/send"
	"headroom/store/record"
)

// call is one attempt on a connection. Calls are not used again: net/http's
// goroutines may hold one a little longer than the attempt lasts.
type call struct {
	waiting
	c       *conn
	guard   bool // the connection may have been closed since it was used or made
	fresh   bool // the first request of its connection
	began   int64
	http    *http.Request
	payload *payload
	cancel  context.CancelFunc

	sent, firstByte atomic.Int64

	// Of the worker until it reports.
	status int
	header http.Header
	leaves bool // the answer ends the connection
	err    error
	in     int64
	kept   []byte
	done   int64

	// Of the loop.
	deadline int64
	place    int              // in deadlines
	ending   record.ErrorKind // why it was cancelled
}

var errTooLarge = errors.New("the body is longer than it may be")

// worker does one round trip after another.
type worker struct {
	e    *Engine
	jobs chan *call // holds one, so that handing it over never waits
	buf  []byte
}

func (w *worker) run() {
	for c := range w.jobs {
		w.trip(c)
		w.e.inbox.ended(c, w)
	}
}

func (w *worker) trip(c *call) {
	e := w.e
	if c.c.h2 {
		c.sent.Store(e.Now())
	} else {
		c.c.wire.call.Store(c)
		c.c.wire.asked.Store(true)
		if c.http.Close {
			c.c.wire.last.Store(c)
		}
		defer c.c.wire.call.Store(nil)
	}
	res, err := c.c.cc.RoundTrip(c.http)
	if err != nil {
		c.err, c.done = err, e.Now()
		return
	}
	if c.firstByte.Load() == 0 {
		c.firstByte.Store(e.Now())
	}
	c.status, c.header, c.leaves = res.StatusCode, res.Header, res.Close
	if w.buf == nil {
		w.buf = make([]byte, bodyBuffer)
	}
	if limit := c.req.MaxBody; limit > 0 && res.ContentLength > limit {
		err = errTooLarge
	}
	for err == nil {
		var n int
		n, err = res.Body.Read(w.buf)
		c.in += int64(n)
		if room := c.req.KeepBody - len(c.kept); room > 0 && n > 0 {
			c.kept = append(c.kept, w.buf[:min(n, room)]...)
		}
		if limit := c.req.MaxBody; limit > 0 && c.in > limit {
			err = errTooLarge
		}
	}
	c.done = e.Now()
	if err != io.EOF {
		c.err = err
	}
	res.Body.Close() // what could be wrong was heard of in Read
}

// kind is how the call ended.
func (c *call) kind() record.ErrorKind {
	switch {
	case c.err == nil:
		return record.ErrNone
	case c.ending == record.ErrAnswerTimeout && c.done-c.sent.Load() < c.req.Timeout:
		// It had failed by itself before it was cancelled.
	case c.ending != record.ErrNone:
		return c.ending
	case errors.Is(c.err, errTooLarge):
		return record.ErrTooLarge
	}
	kind := kindOf(c.err, c.status != 0)
	if c.c.h2 || c.status != 0 {
		return kind
	}
	// Which of several errors net/http reports is a matter of luck; how reading
	// ended is not.
	over := c.c.wire.over()
	if over != nil && kindOf(over, false) == record.ErrTLS {
		return record.ErrTLS
	}
	if kind == record.ErrProtocol && (c.firstByte.Load() == 0 || over == io.EOF) {
		return record.ErrClosed // cut off, which looks like bad syntax to net/http
	}
	return kind
}

// unprocessed reports whether the server cannot have processed the call.
func (c *call) unprocessed() bool {
	if c.err == nil || c.ending != record.ErrNone || c.status != 0 || c.back >= maxBack {
		return false
	}
	if c.c.h2 {
		return neverProcessed(c.err)
	}
	return c.guard && c.sent.Load() == 0 && c.c.cc.Err() != nil
}

// dispatch hands a call to a worker.
func (e *Engine) dispatch(c *call) {
	var w *worker
	if n := len(e.workers); n > 0 {
		w, e.workers = e.workers[n-1], e.workers[:n-1]
	} else {
		w = &worker{e: e, jobs: make(chan *call, 1)}
		e.wg.Go(w.run)
	}
	w.jobs <- c
}

// restWorker takes back a worker that has reported.
func (e *Engine) restWorker(w *worker) {
	if len(e.workers) >= maxResting {
		close(w.jobs)
		return
	}
	e.workers = append(e.workers, w)
}

// send sends w's request on c, on which a place has been reserved.
func (e *Engine) send(c *conn, w waiting) {
	c.used++
	c.busy++
	last := !e.cfg.KeepAlive || c.limit > 0 && c.used >= c.limit
	a := &call{waiting: w, c: c, fresh: c.used == 1, began: e.Now(), deadline: never}
	a.guard = c.served > 0 || a.began-c.doneAt > send.PromptClose
	a.http, a.payload = e.newRequest(w.req, last)
	c.leaving = c.leaving || a.http.Close
	var ctx context.Context
	ctx, a.cancel = context.WithCancel(context.Background())
	a.http = a.http.WithContext(ctx)
	if t := w.req.Timeout; t > 0 && a.began < never-t {
		a.deadline = a.began + t
	}
	e.flying.add(a)
	e.dispatch(a)
}

// expire cancels what has timed out.
func (e *Engine) expire() {
	if len(e.flying) == 0 {
		return
	}
	now := e.Now()
	for len(e.flying) > 0 && e.flying.next() <= now {
		a := e.flying[0]
		sent := a.sent.Load()
		switch {
		case a.ending != record.ErrNone:
			// It does not come back, because something holds the connection.
			a.c.wire.raw.Close()
			e.flying.move(a, never)
		case sent == 0 && now < a.began+a.req.Timeout+hardAfter:
			e.flying.move(a, now+1e6) // not written yet; its time has not begun
		case sent > 0 && sent+a.req.Timeout > now:
			e.flying.move(a, sent+a.req.Timeout)
		default:
			e.end(a, record.ErrAnswerTimeout, now)
		}
	}
}

// end cancels a call; it is over when its worker reports.
func (e *Engine) end(a *call, kind record.ErrorKind, now int64) {
	a.ending = kind
	a.cancel()
	e.flying.move(a, now+hardAfter)
}

// ended takes a call back from its worker.
func (e *Engine) ended(a *call) {
	e.flying.remove(a)
	a.cancel()
	c := a.c
	c.busy--
	out := a.payload.stop()
	if !e.abandoning && a.unprocessed() {
		a.waiting.back++
		e.line.putBack(a.waiting)
		if a.fresh {
			c.used-- // it has not had a request yet
		}
		e.after(a, record.ErrClosed)
		return
	}
	kind := a.kind()
	if e.abandoning && kind != record.ErrNone {
		kind = record.ErrDrain
	}
	r := &e.result
	*r = send.Result{
		Sent: a.sent.Load(), FirstByte: a.firstByte.Load(), Done: a.done, Status: a.status, Err: kind,
		BytesIn: a.in, BytesOut: out, Body: a.kept, NewConn: a.fresh,
	}
	if a.header != nil {
		r.HeaderValue = e.lookup
		e.lookupIn = a.header
	}
	if r.FirstByte != 0 { // it may come before the request was written, and while it is cancelled
		r.FirstByte = min(max(r.FirstByte, r.Sent), r.Done)
	}
	switch {
	case r.Sent != 0:
	case kind == record.ErrDrain:
		r.Err, r.Unsent, r.NewConn = record.ErrNoConnection, true, false
	case kind.Own():
		r.Unsent, r.NewConn = true, false
	default:
		r.Sent = a.began
	}
	if !r.Unsent && !a.fresh {
		e.conns.Reused++
	}
	e.feed.Done(a.req, r)
	e.lookupIn, r.HeaderValue, r.Body = nil, nil, nil
	e.after(a, kind)
}
