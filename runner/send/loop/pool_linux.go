package loop

import (
	"golang.org/x/sys/unix"

	"headroom/runner/send"
	"headroom/store/record"
)

const (
	openEvery    = 50_000        // ns between two attempts to connect
	backlogRetry = 1_000_000     // ns until the next attempt where a Unix socket's backlog is full
	partFor      = 1_000_000_000 // ns to wait for the server to close first
	maxParting   = 1024
	promptClose  = 20_000_000 // ns after an answer within which a close belongs to it
	settleFor    = 1_000_000  // ns after which a close would probably have been seen
	closesToTell = 3          // before the habit is called a fact
)

// handle names a connection as long as it lives.
type handle struct{ slot, gen int32 }

// live is the connection of h, nil where it has been closed since.
func (e *Engine) live(h handle) *conn {
	if h.slot < 0 || int(h.slot) >= len(e.slots) {
		return nil
	}
	if c := e.slots[h.slot]; c.gen == h.gen && c.state != unused {
		return c
	}
	return nil
}

func (e *Engine) newConn() *conn {
	if n := len(e.freeSlots); n > 0 {
		c := e.slots[e.freeSlots[n-1]]
		e.freeSlots = e.freeSlots[:n-1]
		return c
	}
	c := &conn{slot: int32(len(e.slots)), fd: -1}
	e.slots = append(e.slots, c)
	return c
}

// close closes c at once; its request must have ended.
func (e *Engine) close(c *conn) {
	switch c.state {
	case connecting:
		e.connecting--
		e.opened--
	case idle:
		e.unlinkIdle(c)
		e.opened--
	case busy, resting:
		e.opened--
	case parting:
		e.parting--
	case unused:
		return
	}
	e.deadlines.disarm(c)
	if c.fd >= 0 {
		unix.Close(c.fd)
	}
	slot, gen, text := c.slot, c.gen+1, c.answer
	text.release()
	*c = conn{slot: slot, gen: gen, fd: -1}
	e.freeSlots = append(e.freeSlots, slot)
}

// part lets the server close first, so that the local port is free again at
// once instead of after a minute.
func (e *Engine) part(c *conn) {
	if e.parting >= maxParting {
		e.close(c)
		return
	}
	e.opened--
	e.parting++
	c.state = parting
	e.deadlines.arm(c, c.doneAt, partFor)
	if !sysQuiet(c.fd) {
		e.close(c)
	}
}

// learn is told that the server closed a connection right after its nth answer
// without having said so. Some servers do that by habit, and a request that is
// written at that moment is lost. So the next connection that has given n
// answers rests for a moment before it is used again: if the server closes it,
// nothing is lost; if not, the habit is refuted and forgotten.
func (e *Engine) learn(n int) {
	if n < e.maxServed {
		return // another connection has given more than that
	}
	if n != e.closedAfter {
		e.closedAfter, e.closedTimes = n, 0
	}
	e.closedTimes++
}

// rest keeps c out of use until promptClose has passed.
func (e *Engine) rest(c *conn) {
	c.state = resting
	e.deadlines.arm(c, e.Now(), promptClose)
}

// rested puts c, which the server has not closed, back into use.
func (e *Engine) rested(c *conn, now int64) {
	e.deadlines.disarm(c)
	if c.served == e.closedAfter {
		e.closedAfter, e.closedTimes = 0, 0
	}
	c.state = busy // for the moment
	e.release(c, now)
}

// release gives c to the request that has waited longest, or to the idle stack.
func (e *Engine) release(c *conn, now int64) {
	if e.line.n > 0 {
		if sysQuiet(c.fd) {
			e.send(c, e.line.pop().req)
		} else {
			e.lost(c, now)
		}
		return
	}
	c.state = idle
	c.idleUntil = never
	if c.idleFor > 0 && now < never-c.idleFor {
		c.idleUntil = now + c.idleFor
	}
	c.newer, c.older = nil, e.newest
	if e.newest != nil {
		e.newest.newer = c
	} else {
		e.oldest = c
	}
	e.newest = c
}

func (e *Engine) unlinkIdle(c *conn) {
	if c.newer != nil {
		c.newer.older = c.older
	} else {
		e.newest = c.older
	}
	if c.older != nil {
		c.older.newer = c.newer
	} else {
		e.oldest = c.newer
	}
	c.newer, c.older = nil, nil
}

// takeIdle is the connection that was returned last and can still be used. One
// that has just given more answers than any before it is passed over if there
// is another, because nobody knows yet whether the server keeps it.
func (e *Engine) takeIdle(now int64) *conn {
	for c := e.newest; c != nil; c = e.newest {
		if d := c.older; d != nil && c.served >= e.maxServed && now-c.doneAt < settleFor && !e.stale(d, now) {
			c = d
		}
		if e.stale(c, now) {
			return nil
		}
		if now < c.idleUntil && sysQuiet(c.fd) {
			e.unlinkIdle(c)
			return c
		}
		e.lost(c, now)
	}
	return nil
}

// lost closes an unused connection that has ended or is too old.
func (e *Engine) lost(c *conn, now int64) {
	if unused := now - c.doneAt; c.served > 0 && now < c.idleUntil {
		if unused < promptClose {
			e.learn(c.served)
		} else {
			e.learnIdle(unused)
		}
	}
	e.close(c)
}

// learnIdle is told that the server closed a connection that had been unused
// for so many ns, without having said when it would. The shortest such time is
// the server's limit or close above it, and a request written at that moment is
// lost, so what has been unused for four fifths of it is not used again. It is
// kept, though: one that lives half as long again refutes the limit.
func (e *Engine) learnIdle(unused int64) {
	e.idleCloses++
	if e.closesIdle == 0 || unused < e.closesIdle || unused > e.closesIdle/2*3 {
		e.closesIdle = unused
	}
}

// stale reports whether the server may be about to close c, which is unused.
func (e *Engine) stale(c *conn, now int64) bool {
	if e.closesIdle == 0 || c.served == 0 || now-c.doneAt < e.closesIdle/5*4 {
		return false
	}
	if old := e.oldest; now-old.doneAt > e.closesIdle/2*3 && old.served > 0 && sysQuiet(old.fd) {
		e.closesIdle, e.idleCloses = 0, 0
		return false
	}
	return true
}

// dropOld closes idle connections whose time is over.
func (e *Engine) dropOld(now int64) {
	for c := e.oldest; c != nil && c.idleUntil <= now; c = e.oldest {
		e.close(c)
	}
}

// limited reports whether requests wait because of our own connection limit.
func (e *Engine) limited() bool {
	return e.cfg.MaxConns > 0 && e.line.n > e.connecting && e.opened >= e.cfg.MaxConns
}

// watchLimit adds up the time during which limited was true.
func (e *Engine) watchLimit(now int64) {
	is := e.limited()
	if e.limitedNow {
		e.limitedNS += now - e.limitedAt
	}
	e.limitedNow, e.limitedAt = is, now
}

// wantsConn reports whether one more connection may be opened.
func (e *Engine) wantsConn() bool {
	return e.line.n > e.connecting && (e.cfg.MaxConns <= 0 || e.opened < e.cfg.MaxConns)
}

// failWaiting ends the request that has waited longest.
func (e *Engine) failWaiting(kind record.ErrorKind, began int64) {
	if e.line.n == 0 {
		return
	}
	w := e.line.pop()
	r := &e.result
	*r = send.Result{Done: e.Now(), Err: kind}
	if kind.Own() {
		r.Unsent = true
	} else {
		r.Sent = max(began, w.since)
		r.NewConn = true
	}
	e.feed.Done(w.req, r)
}
