package std

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"headroom/runner/send"
	"headroom/store/record"
)

// conn is one connection.
type conn struct {
	e       *Engine
	cc      *http.ClientConn
	wire    *wire
	h2      bool
	gone    chan struct{} // closed once the connection is
	once    sync.Once
	touched atomic.Bool // is in the inbox

	// Of the loop.
	state     connState
	used      int // requests handed to it
	served    int // answers
	busy      int // requests on it
	limit     int // requests that it may have, 0 = any number
	leaving   bool
	full      bool // HTTP/2: no stream is free, as far as is known
	idleFor   int64
	idleUntil int64
	doneAt    int64
	restUntil int64

	newer, older *conn // idle HTTP/1.1 connections
}

type connState uint8

const (
	inUse connState = iota // or not yet used
	idle                   // HTTP/1.1, in the stack
	resting
	dropped
)

// changed is net/http's state hook; it runs on any goroutine.
func (c *conn) changed(cc *http.ClientConn) {
	if cc.Err() != nil {
		c.once.Do(func() { close(c.gone) })
	} else if !c.h2 {
		return // its worker reports
	}
	if c.touched.CompareAndSwap(false, true) {
		c.e.inbox.changed(c)
	}
}

// heard takes the news that c's state has changed.
func (e *Engine) heard(c *conn) {
	c.touched.Store(false)
	if c.state == dropped || !e.known[c] {
		return
	}
	if c.cc.Err() == nil {
		c.full = false
		return
	}
	switch {
	case c.state == idle, c.state == resting:
		e.lost(c, e.Now())
	case c.h2:
		c.full = true
		if c.busy == 0 {
			e.drop(c)
		}
	}
}

// drop forgets c and closes it.
func (e *Engine) drop(c *conn) {
	switch c.state {
	case idle:
		e.unlinkIdle(c)
	case resting:
		e.resting = without(e.resting, c)
	case dropped:
		return
	}
	if c.h2 {
		e.multi = without(e.multi, c)
	}
	c.state = dropped
	delete(e.known, c)
	e.opened--
	if c.cc.Err() != nil {
		return
	}
	// Closing says goodbye over TLS, which may have to wait.
	e.wg.Go(func() { c.cc.Close() })
}

func without(list []*conn, c *conn) []*conn {
	for i := range list {
		if list[i] == c {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// after decides what becomes of a connection when a call on it has ended.
func (e *Engine) after(a *call, kind record.ErrorKind) {
	c, now := a.c, e.Now()
	dead := c.cc.Err() != nil
	soon := a.sent.Load() != 0 && a.sent.Load()-c.doneAt < send.PromptClose || a.sent.Load() == 0 && now-c.doneAt < send.PromptClose
	if !c.h2 {
		if (kind == record.ErrClosed || kind == record.ErrReset) && a.firstByte.Load() == 0 && c.served > 0 && soon {
			e.habits.ClosedAfter(c.served)
		}
		if kind != record.ErrNone {
			e.drop(c)
			return
		}
	}
	rest := false
	if kind == record.ErrNone {
		c.served++
		c.doneAt = now
		rest = e.habits.Answered(c.served)
		c.idleFor = e.idleTimeout(a.header)
	}
	c.leaving = c.leaving || a.leaves || c.idleFor == 0
	if c.h2 {
		c.full = dead
		if c.busy == 0 && (dead || c.leaving) {
			e.drop(c)
		} else if c.busy == 0 {
			c.idleUntil = until(now, c.idleFor)
		}
		return
	}
	switch {
	case dead && !c.leaving:
		e.habits.ClosedAfter(c.served)
		e.drop(c)
	case dead, c.leaving:
		e.drop(c)
	case rest:
		c.state, c.restUntil = resting, now+send.PromptClose
		e.resting = append(e.resting, c)
	default:
		e.toIdle(c, now)
	}
}

func until(now, after int64) int64 {
	if after <= 0 || now > never-after {
		return never
	}
	return now + after
}

// idleTimeout is how long a connection may stay unused after an answer with
// these fields; 0 = it may not.
func (e *Engine) idleTimeout(h http.Header) int64 {
	for _, part := range strings.Split(h.Get("Keep-Alive"), ",") {
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		if err != nil || n < 0 {
			continue
		}
		switch name = strings.TrimSpace(name); {
		case n == 0 && (strings.EqualFold(name, "timeout") || strings.EqualFold(name, "max")):
			return 0
		case strings.EqualFold(name, "timeout") && n <= 1e9:
			ns := n * 1e9
			return min(e.cfg.IdleTimeout, ns-min(ns/2, 1e9))
		}
	}
	return e.cfg.IdleTimeout
}
