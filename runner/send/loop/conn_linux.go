package loop

import (
	"syscall"

	"golang.org/x/sys/unix"

	"headroom/runner/send"
	"headroom/store/record"
)

type connState uint8

const (
	unused connState = iota
	connecting
	idle
	busy
	resting // may be about to be closed by the server; see send.Habits
	parting // answered for the last time; waits for the server to close first
)

// conn is one connection and, while it is busy, the request on it.
type conn struct {
	fd        int
	slot, gen int32
	state     connState
	last      bool // the server knows that no request follows this one
	cut       bool // must be closed: ended, or out of step
	ended     bool // the far side sends nothing more
	again     bool // listed in Engine.again
	served    int  // answers
	limit     int  // answers that this connection may give, 0 = any number
	idleFor   int64
	began     int64 // of the attempt to connect
	patience  int64 // limit of the attempt, 0 = none
	tried     int   // addresses
	doneAt    int64 // last answer's end
	idleUntil int64

	req       *send.Request
	sent      int64
	firstByte int64
	head      []byte // not written yet
	body      []byte // not written yet
	answer    answer

	deadline      int64 // 0 = none; see deadlines
	queue         int
	sooner, later *conn
	newer, older  *conn // idle stack
}

// send writes req on c, which is open and owes nothing.
func (e *Engine) send(c *conn, req *send.Request) {
	c.state, c.req = busy, req
	e.busy++
	if c.served > 0 {
		e.conns.Reused++
	}
	last := !e.cfg.KeepAlive || c.limit > 0 && c.served+1 >= c.limit
	e.scratch, c.last = wire(e.scratch[:0], req, e.cfg.Host, last)
	head, body := e.scratch, req.Body
	if len(body) <= inlineBody {
		head = append(head, body...)
		e.scratch, body = head, nil
	}
	c.answer.begin(req.Method == "HEAD", req.KeepBody, req.MaxBody)
	c.firstByte = 0
	c.sent = e.Now()
	e.deadlines.arm(c, c.sent, req.Timeout)
	c.head, c.body = head, body
	e.flush(c)
	if c.req == req && len(c.head) > 0 {
		c.head = append([]byte(nil), c.head...) // scratch is needed again
	}
}

// flush writes what is left of the request.
func (e *Engine) flush(c *conn) {
	for len(c.head) > 0 || len(c.body) > 0 {
		p, more := c.body, false
		if len(c.head) > 0 {
			p, more = c.head, len(c.body) > 0
		}
		n, errno := sysSend(c.fd, p, more)
		if errno == unix.EAGAIN {
			return
		}
		if errno != 0 {
			// There may be an answer nevertheless: a server may refuse a body
			// without reading it.
			c.cut, c.ended = true, true
			req := c.req
			if e.read(c); c.req == req {
				e.fail(c, kindOf(errno))
			}
			return
		}
		if more || len(c.head) > 0 {
			c.head = c.head[n:]
		} else {
			c.body = c.body[n:]
		}
	}
	c.head, c.body = nil, nil
}

// bytesOut is how much of the request's body has been handed to the kernel.
func (c *conn) bytesOut() int64 {
	n := int64(len(c.req.Body) - len(c.body))
	if len(c.req.Body) <= inlineBody {
		n -= int64(min(len(c.head), len(c.req.Body)))
	}
	return n
}

// read reads and delivers what has come; where the far side has ended, to the
// end, because no further event will come.
func (e *Engine) read(c *conn) {
	for range readsPerTurn {
		n, errno := sysRead(c.fd, e.input)
		if errno == unix.EAGAIN {
			return
		}
		if errno != 0 {
			e.fail(c, kindOf(errno))
			return
		}
		if n == 0 {
			if kind := c.answer.end(); kind != record.ErrNone {
				e.fail(c, kind)
				return
			}
			c.cut = true
			e.finish(c, record.ErrNone)
			return
		}
		if c.firstByte == 0 {
			c.firstByte = e.Now()
		}
		used, kind := c.answer.take(e.input[:n])
		if kind != record.ErrNone {
			e.fail(c, kind)
			return
		}
		if c.answer.stage == complete {
			if c.ended && !c.last && !c.answer.close {
				e.habits.ClosedAfter(c.served + 1)
			}
			c.cut = c.cut || c.ended || used < n || len(c.head) > 0 || len(c.body) > 0
			e.finish(c, record.ErrNone)
			return
		}
		if c.answer.stage == inHead && !c.answer.started() {
			c.firstByte = 0 // only interim answers so far
		}
		if n < len(e.input) && !c.ended {
			return
		}
	}
	if !c.again {
		c.again = true
		e.again = append(e.again, handle{c.slot, c.gen})
	}
}

// fail ends the request on c, and c.
func (e *Engine) fail(c *conn, kind record.ErrorKind) {
	if kind == record.ErrConnectTimeout {
		kind = record.ErrAnswerTimeout // the kernel gave up on an open connection
	}
	if (kind == record.ErrClosed || kind == record.ErrReset) && c.firstByte == 0 && c.served > 0 && c.sent-c.doneAt < send.PromptClose {
		e.habits.ClosedAfter(c.served)
	}
	e.finish(c, kind)
}

// finish hands the result over and frees c for the next request, or closes it.
func (e *Engine) finish(c *conn, kind record.ErrorKind) {
	now := e.Now()
	req, a := c.req, &c.answer
	r := &e.result
	*r = send.Result{
		Sent: c.sent, FirstByte: c.firstByte, Done: now,
		Err: kind, BytesIn: a.total, BytesOut: c.bytesOut(),
		Body: a.kept, NewConn: c.served == 0,
	}
	if a.text != nil {
		r.Status = a.status
		r.HeaderValue = e.lookup
		e.lookupIn = a.text
	}
	e.deadlines.disarm(c)
	c.req, c.head, c.body = nil, nil, nil
	c.doneAt = now
	e.busy--
	e.feed.Done(req, r)
	e.lookupIn, r.HeaderValue, r.Body = nil, nil, nil

	leaves := c.last || a.close || a.idleFor == 0 || a.idleMax == 0
	c.idleFor = e.idleTimeout(a.idleFor)
	a.release()
	if kind != record.ErrNone || c.cut {
		e.close(c)
		return
	}
	c.served++
	rest := e.habits.Answered(c.served)
	switch {
	case leaves:
		e.part(c)
	case rest:
		e.rest(c)
	default:
		e.release(c, now)
	}
}

// idleTimeout is how long a connection may stay unused when the server said
// that it keeps it for so many seconds (-1: it did not say).
func (e *Engine) idleTimeout(seconds int64) int64 {
	if seconds < 0 || seconds > 1e9 {
		return e.cfg.IdleTimeout
	}
	ns := seconds * 1e9
	return min(e.cfg.IdleTimeout, ns-min(ns/2, 1e9))
}

// kindOf is the error kind of a system call's error on a connection.
func kindOf(errno syscall.Errno) record.ErrorKind {
	if errno == unix.ENONET { // other systems do not have it
		return record.ErrUnreachable
	}
	return send.KindOf(errno)
}
