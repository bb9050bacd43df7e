package std

import (
	"headroom/runner/send"
	"headroom/store/record"
)

const (
	openEvery  = 50_000        // ns between two attempts to connect
	shakeEvery = 500_000       // the same with TLS, to begin with; see pace
	shakeLeast = 200_000       // ns
	shakeMost  = 2_000_000     // ns
	hardAfter  = 1_000_000_000 // ns after which what does not end is torn down
	usualLimit = 100           // streams that a connection is expected to have until the first says so

	maxBack    = 16
	maxResting = 512 // workers kept
	bodyBuffer = 16 << 10
)

// rested puts back into use what the server has not closed meanwhile.
func (e *Engine) rested(now int64) {
	for len(e.resting) > 0 && e.resting[0].restUntil <= now {
		c := e.resting[0]
		e.resting = e.resting[1:]
		e.habits.Rested(c.served)
		c.state = inUse
		e.toIdle(c, now)
	}
}

func (e *Engine) toIdle(c *conn, now int64) {
	c.state = idle
	c.idleUntil = until(now, c.idleFor)
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

// take is a connection on which a place has been reserved, nil where none is
// free. An HTTP/1.1 connection that has just given more answers than any before
// it is passed over if there is another, because nobody knows yet whether the
// server keeps it.
func (e *Engine) take(now int64) *conn {
	for i := 0; i < len(e.multi); i++ {
		c := e.multi[i]
		if c.full || c.leaving {
			continue
		}
		if c.busy == 0 && now >= c.idleUntil {
			e.drop(c)
			i--
			continue
		}
		if c.cc.Reserve() == nil {
			return c
		}
		c.full = true
		if c.busy == 0 && c.cc.InFlight() == 0 {
			e.drop(c) // it takes no more, and says nothing: GOAWAY while it was idle
			i--
		}
	}
	for c := e.newest; c != nil; c = e.newest {
		if d := c.older; d != nil && e.habits.Untried(c.served) && now-c.doneAt < send.SettleFor && !e.stale(d, now) {
			c = d
		}
		if e.stale(c, now) {
			if e.cfg.MaxConns > 0 && e.opened >= e.cfg.MaxConns {
				e.drop(e.oldest) // it holds the place of one that can be used
			}
			return nil // all others have been unused for longer
		}
		if now < c.idleUntil && c.cc.Reserve() == nil {
			e.unlinkIdle(c)
			c.state = inUse
			return c
		}
		e.lost(c, now)
	}
	return nil
}

// serve sends what waits, as far as connections are free.
func (e *Engine) serve() {
	for e.line.n > 0 {
		c := e.take(e.Now())
		if c == nil {
			return
		}
		e.send(c, e.line.pop())
	}
}

// lost closes an unused connection that has ended or is too old.
func (e *Engine) lost(c *conn, now int64) {
	if c.served > 0 && now < c.idleUntil && c.cc.Err() != nil {
		e.habits.ClosedUnused(c.served, now-c.doneAt)
	}
	e.drop(c)
}

// stale reports whether the server may be about to close c, which is unused.
func (e *Engine) stale(c *conn, now int64) bool {
	if c.served == 0 || !e.habits.Stale(now-c.doneAt) {
		return false
	}
	if old := e.oldest; old.served > 0 && e.habits.Outlived(now-old.doneAt) && old.cc.Err() == nil {
		e.habits.ForgetUnused()
		return false
	}
	return true
}

// dropOld closes connections that were unused for too long.
func (e *Engine) dropOld(now int64) {
	for c := e.oldest; c != nil && c.idleUntil <= now; c = e.oldest {
		e.drop(c)
	}
	for i := 0; i < len(e.multi); i++ {
		if c := e.multi[i]; c.busy == 0 && c.idleUntil <= now {
			e.drop(c)
			i--
		}
	}
}

// places is how many requests the connections that are being opened will take.
func (e *Engine) places() int {
	if e.perConn > 0 {
		return e.connecting * e.perConn
	}
	if e.connecting > 0 { // the protocol is not known before the first
		return never32
	}
	return 0
}

const never32 = 1 << 30

// limited reports whether requests wait because of our own connection limit.
func (e *Engine) limited() bool {
	return e.cfg.MaxConns > 0 && e.line.n > e.places() && e.opened >= e.cfg.MaxConns
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
	return e.line.n > e.places() && (e.cfg.MaxConns <= 0 || e.opened < e.cfg.MaxConns)
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
