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

// rest keeps c out of use until send.PromptClose has passed.
func (e *Engine) rest(c *conn) {
	c.state = resting
	e.deadlines.arm(c, e.Now(), send.PromptClose)
}

// rested puts c, which the server has not closed, back into use.
func (e *Engine) rested(c *conn, now int64) {
	e.deadlines.disarm(c)
	e.habits.Rested(c.served)
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
		if d := c.older; d != nil && e.habits.Untried(c.served) && now-c.doneAt < send.SettleFor && !e.stale(d, now) {
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
	if c.served > 0 && now < c.idleUntil {
		e.habits.ClosedUnused(c.served, now-c.doneAt)
	}
	e.close(c)
}

// stale reports whether the server may be about to close c, which is unused.
func (e *Engine) stale(c *conn, now int64) bool {
	if c.served == 0 || !e.habits.Stale(now-c.doneAt) {
		return false
	}
	if old := e.oldest; old.served > 0 && e.habits.Outlived(now-old.doneAt) && sysQuiet(old.fd) {
		e.habits.ForgetUnused()
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
	return e.line.n > e.connecting && !e.wantsConn()
}

// watchLimit adds up the time during which limited was true.
func (e *Engine) watchLimit(now int64) {
	is := e.limited()
	if e.limitedNow {
		e.limitedNS += now - e.limitedAt
	}
	e.limitedNow, e.limitedAt = is, now
}

// full reports whether there are as many connections as we may have.
func (e *Engine) full() bool { return e.cfg.MaxConns > 0 && e.opened >= e.cfg.MaxConns }

// wantsConn reports whether one more connection may be opened. Where requests
// wait although there are idle connections, those are stale, and one of them can
// give up its place.
func (e *Engine) wantsConn() bool {
	return e.line.n > e.connecting && (!e.full() || e.oldest != nil)
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
