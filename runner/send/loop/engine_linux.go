package loop

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"headroom/runner/send"
	"headroom/store/record"
)

const (
	inputSize          = 64 << 10
	inlineBody         = 16 << 10 // longer bodies are not copied behind the head
	readsPerTurn       = 2
	sendsPerTurn       = 32
	defaultIdleTimeout = int64(90e9)
)

// Engine is the loop. Make one with New.
type Engine struct {
	cfg    send.Config
	origin time.Time
	target *target
	poll   *poller
	feed   send.Feed // during Drive and Abandon

	slots     []*conn
	freeSlots []int32
	again     []handle // have more to read
	againNow  []handle
	line      line
	deadlines deadlines
	buffers   buffers
	input     []byte
	scratch   []byte
	result    send.Result
	lookup    func(string) string
	lookupIn  []byte

	newest, oldest *conn // idle
	opened         int   // connecting, idle and busy
	connecting     int
	busy           int
	parting        int
	nextOpen       int64

	habits send.Habits

	conns      record.Connections
	limitedNow bool
	limitedAt  int64
	limitedNS  int64
	closed     bool
}

var _ send.Engine = (*Engine)(nil)

// Supports reports whether New can do what cfg asks.
func Supports(cfg send.Config) bool { return supports(&cfg) == nil }

func supports(cfg *send.Config) error {
	switch {
	case cfg.Scheme != "" && cfg.Scheme != "http":
		return fmt.Errorf("%w: scheme %q, only http", ErrUnsupported, cfg.Scheme)
	case cfg.HTTPVersion != "" && cfg.HTTPVersion != "1.1" && cfg.HTTPVersion != "auto":
		return fmt.Errorf("%w: HTTP version %q, only 1.1", ErrUnsupported, cfg.HTTPVersion)
	case cfg.Network != "" && cfg.Network != "tcp" && cfg.Network != "unix":
		return fmt.Errorf("%w: network %q, only tcp and unix", ErrUnsupported, cfg.Network)
	}
	return nil
}

// New makes an engine. Its instants count from origin, which must carry a
// monotonic clock reading. A host name is looked up here, and again, every 30 s
// at most, when connections are opened.
func New(cfg send.Config, origin time.Time) (send.Engine, error) {
	e, err := newEngine(cfg, origin, true)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func newEngine(cfg send.Config, origin time.Time, precise bool) (*Engine, error) {
	if err := supports(&cfg); err != nil {
		return nil, err
	}
	if cfg.MaxHead <= 0 {
		cfg.MaxHead = defaultMaxHead
	}
	if cfg.IdleTimeout <= 0 {
		cfg.IdleTimeout = defaultIdleTimeout
	}
	if cfg.Host == "" {
		cfg.Host = cfg.Address
		if cfg.Network == "unix" {
			cfg.Host = "localhost"
		}
	}
	t, err := newTarget(&cfg)
	if err != nil {
		return nil, err
	}
	poll, err := newPoller(precise)
	if err != nil {
		t.cancel()
		return nil, err
	}
	e := &Engine{cfg: cfg, origin: origin, target: t, poll: poll, input: make([]byte, inputSize)}
	e.lookup = func(name string) string { return header(e.lookupIn, name) }
	return e, nil
}

// Now is the time since origin in ns.
func (e *Engine) Now() int64 { return int64(time.Since(e.origin)) }

// pending is what a feed may have beside the methods of send.Feed; see the
// package comment, Idle.
type pending interface{ Pending() bool }

// Drive runs the loop on the calling goroutine, see send.Engine.
func (e *Engine) Drive(ctx context.Context, feed send.Feed, until int64, untilIdle bool) error {
	if e.closed {
		return errors.New("loop: Drive after Close")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer punctual()()
	stop := context.AfterFunc(ctx, e.poll.wake.wake)
	defer stop()
	e.feed = feed
	defer func() { e.feed = nil }()
	more, _ := feed.(pending)

	wait := int64(0) // what has come meanwhile is read first
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		events, err := e.poll.wait(wait)
		if err != nil {
			return err
		}
		e.take(events)
		e.expire()
		at, behind := e.fire(until)
		e.open()
		now := e.Now()
		e.watchLimit(now)
		if !behind {
			if now >= until {
				return nil
			}
			if untilIdle && e.busy+e.line.n == 0 && (more == nil || !more.Pending()) {
				return nil
			}
		}
		switch {
		case behind || len(e.again) > 0:
			wait = 0
		default:
			wait = max(0, min(at, until, e.nextInstant())-now)
		}
	}
}

// take reads what has come.
func (e *Engine) take(events []unix.EpollEvent) {
	for i := range events {
		ev := &events[i]
		if ev.Fd < 0 {
			if ev.Fd == slotWake {
				e.poll.wake.drain()
			}
			continue
		}
		c := e.live(handle{ev.Fd, ev.Pad})
		if c == nil {
			continue
		}
		const ended = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
		switch c.state {
		case connecting:
			e.connected(c, ev.Events)
		case busy:
			req := c.req
			c.ended = c.ended || ev.Events&ended != 0
			if len(c.head)+len(c.body) > 0 && ev.Events&(unix.EPOLLOUT|ended) != 0 {
				e.flush(c)
			}
			if c.req == req && ev.Events&(unix.EPOLLIN|ended) != 0 {
				e.read(c)
			}
		case idle:
			if ev.Events&(unix.EPOLLIN|ended) != 0 {
				e.lost(c, e.Now())
			}
		case resting:
			if ev.Events&(unix.EPOLLIN|ended) != 0 {
				e.lost(c, e.Now())
			}
		case parting:
			if ev.Events&(unix.EPOLLIN|ended) != 0 {
				e.close(c)
			}
		}
	}
	if len(e.again) > 0 {
		e.again, e.againNow = e.againNow[:0], e.again
		for _, h := range e.againNow {
			if c := e.live(h); c != nil && c.again {
				c.again = false
				if c.state == busy {
					e.read(c)
				}
			}
		}
	}
}

// expire ends what has timed out. A socket is read once more before its
// request is given up, because after a stall of ours the answer may be there.
func (e *Engine) expire() {
	now := e.Now()
	for c := e.deadlines.first(); c != nil && c.deadline <= now; c = e.deadlines.first() {
		switch c.state {
		case connecting:
			e.connectExpired(c, now)
		case busy:
			req := c.req
			if e.read(c); c.req == req {
				e.fail(c, record.ErrAnswerTimeout)
			}
		case resting:
			e.rested(c, now)
		default:
			e.close(c)
		}
	}
	e.dropOld(now)
}

// fire sends what is due, one by one. It returns when the next is due, and
// whether it stopped although more was due.
func (e *Engine) fire(until int64) (at int64, behind bool) {
	for range sendsPerTurn {
		at, ok := e.feed.Due()
		if !ok {
			return never, false
		}
		now := e.Now()
		if at > now || at > until {
			return at, false
		}
		req := e.feed.Fire(now)
		if req == nil {
			continue
		}
		if !req.Fits() {
			e.result = send.Result{Done: now, Err: record.ErrRequest, Unsent: true}
			e.feed.Done(req, &e.result)
			continue
		}
		if e.line.n == 0 {
			if c := e.takeIdle(now); c != nil {
				e.send(c, req)
				continue
			}
		}
		e.line.push(waiting{req, now})
	}
	return 0, true
}

// nextInstant is when the loop must turn again although nothing comes.
func (e *Engine) nextInstant() int64 {
	at := never
	if c := e.deadlines.first(); c != nil {
		at = c.deadline
	}
	if e.oldest != nil {
		at = min(at, e.oldest.idleUntil)
	}
	if e.wantsConn() {
		at = min(at, e.nextOpen)
	}
	return at
}

// Abandon ends everything in flight, see send.Engine.
func (e *Engine) Abandon(feed send.Feed) {
	e.feed = feed
	defer func() { e.feed = nil }()
	for n := e.line.n; n > 0; n-- {
		e.failWaiting(record.ErrNoConnection, 0)
	}
	for _, c := range e.slots {
		switch c.state {
		case connecting:
			e.close(c)
		case busy:
			e.fail(c, record.ErrDrain)
		}
	}
	e.watchLimit(e.Now())
}

// Stats is what the engine has counted so far.
func (e *Engine) Stats() send.Stats {
	e.watchLimit(e.Now())
	negotiated := map[string]string{"protocol": "HTTP/1.1"}
	e.habits.Facts(negotiated)
	return send.Stats{
		Connections: e.conns,
		ConnsOpen:   e.opened - e.connecting,
		InFlight:    e.busy + e.line.n,
		Waiting:     e.line.n,
		LimitedNS:   e.limitedNS,
		Negotiated:  negotiated,
	}
}

// Close closes all connections. What is in flight ends without a result; see
// Abandon.
func (e *Engine) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	e.target.cancel()
	for _, c := range e.slots {
		e.close(c)
	}
	e.poll.close()
	return nil
}
