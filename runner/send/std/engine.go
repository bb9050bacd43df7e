package std

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

const (
	defaultMaxHead     = 64 << 10
	defaultIdleTimeout = int64(90e9)
	sendsPerTurn       = 32
)

// Engine is the portable engine. Make one with New.
type Engine struct {
	cfg    send.Config
	scheme string
	origin time.Time
	dialer *dialer
	alarm  *alarm
	wake   chan struct{}
	inbox  inbox
	news   news
	feed   send.Feed // during Drive and Abandon
	alive  context.Context
	die    context.CancelFunc
	wg     sync.WaitGroup

	line     line
	seq      uint64
	flying   deadlines
	workers  []*worker // at rest
	result   send.Result
	lookup   func(string) string
	lookupIn http.Header

	known          map[*conn]bool
	newest, oldest *conn   // idle HTTP/1.1
	multi          []*conn // HTTP/2
	resting        []*conn
	opened         int // connecting, idle and busy
	connecting     int
	perConn        int // requests that a new connection takes at once; 0 = not known yet
	nextOpen       int64
	openGap        int64 // ns between two attempts to connect
	shortest       int64 // handshake, ns
	armedFor       int64

	habits send.Habits

	conns             record.Connections
	fullNS, resumedNS int64
	facts             map[string]string
	limitedNow        bool
	limitedAt         int64
	limitedNS         int64
	abandoning        bool
	closed            bool
}

var _ send.Engine = (*Engine)(nil)

// New makes an engine. Its instants count from origin, which must carry a
// monotonic clock reading. Files of certificates are read here; names are
// looked up at each connection.
func New(cfg send.Config, origin time.Time) (send.Engine, error) {
	e, err := newEngine(cfg, origin)
	if err != nil {
		return nil, err
	}
	return e, nil
}

func newEngine(cfg send.Config, origin time.Time) (*Engine, error) {
	if cfg.Scheme == "" {
		cfg.Scheme = "http"
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
	if err := check(&cfg); err != nil {
		return nil, err
	}
	e := &Engine{
		cfg: cfg, scheme: cfg.Scheme, origin: origin, wake: make(chan struct{}, 1),
		known: map[*conn]bool{}, facts: map[string]string{},
	}
	switch cfg.HTTPVersion {
	case "2", "h2c":
		e.perConn = usualLimit
	case "auto":
		if cfg.Scheme == "http" {
			e.perConn = 1
		}
	default:
		e.perConn = 1
	}
	e.openGap = openEvery
	if cfg.Scheme == "https" {
		e.openGap = shakeEvery
	}
	e.inbox.awake = e.ring
	e.lookup = func(name string) string { return e.lookupIn.Get(name) }
	var err error
	if e.dialer, err = newDialer(&cfg, e.Now); err != nil {
		return nil, err
	}
	if e.alarm, err = newAlarm(e.ring); err != nil {
		return nil, fmt.Errorf("std: %w", err)
	}
	if plainTimer {
		e.facts["timer"] = "plain"
	}
	e.alive, e.die = context.WithCancel(context.Background())
	e.dialer.alive = e.alive
	return e, nil
}

func check(cfg *send.Config) error {
	switch {
	case cfg.Scheme != "http" && cfg.Scheme != "https":
		return fmt.Errorf("std: scheme %q, only http and https", cfg.Scheme)
	case cfg.Network != "" && cfg.Network != "tcp" && cfg.Network != "unix":
		return fmt.Errorf("std: network %q, only tcp and unix", cfg.Network)
	}
	switch cfg.HTTPVersion {
	case "", "1.1", "auto":
	case "2":
		if cfg.Scheme != "https" {
			return errors.New("std: HTTP/2 without TLS is h2c; ask for h2c, or for https")
		}
	case "h2c":
		if cfg.Scheme != "http" {
			return errors.New("std: h2c is without TLS; ask for 2, or for http")
		}
	default:
		return fmt.Errorf("std: HTTP version %q, only 1.1, 2, h2c and auto", cfg.HTTPVersion)
	}
	return nil
}

// Now is the time since origin in ns.
func (e *Engine) Now() int64 { return int64(time.Since(e.origin)) }

// ring wakes the loop; it may be called on any goroutine.
func (e *Engine) ring() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// pending is what a feed may have beside the methods of send.Feed; see package
// loop, Idle.
type pending interface{ Pending() bool }

// Drive runs the loop on the calling goroutine, see send.Engine.
func (e *Engine) Drive(ctx context.Context, feed send.Feed, until int64, untilIdle bool) error {
	if e.closed {
		return errors.New("std: Drive after Close")
	}
	e.feed = feed
	defer func() { e.feed = nil }()
	more, _ := feed.(pending)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.read()
		e.expire()
		e.rested(e.Now())
		e.dropOld(e.Now())
		e.serve()
		at, behind := e.fire(until)
		e.open()
		now := e.Now()
		e.watchLimit(now)
		if behind {
			runtime.Gosched() // the workers have something to send
			continue
		}
		if now >= until {
			return nil
		}
		if untilIdle && len(e.flying)+e.line.n+e.connecting == 0 && (more == nil || !more.Pending()) {
			return nil
		}
		if at = min(at, until, e.nextInstant()); at <= now {
			continue
		}
		if at != e.armedFor && at != never {
			e.armedFor = at
			e.alarm.set(at - now)
		}
		select {
		case <-e.wake:
		case <-ctx.Done():
		}
	}
}

// read takes what other goroutines have to tell.
func (e *Engine) read() {
	e.inbox.take(&e.news)
	for _, r := range e.news.calls {
		e.ended(r.call)
		e.restWorker(r.worker)
	}
	for _, c := range e.news.conns {
		e.heard(c)
	}
	for _, d := range e.news.dials {
		e.dialled(d)
	}
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
		e.seq++
		w := waiting{req: req, since: now, seq: e.seq}
		if e.line.n == 0 {
			if c := e.take(now); c != nil {
				e.send(c, w)
				continue
			}
		}
		e.line.push(w)
	}
	return 0, true
}

// nextInstant is when the loop must turn again although nothing comes.
func (e *Engine) nextInstant() int64 {
	at := e.flying.next()
	if e.oldest != nil {
		at = min(at, e.oldest.idleUntil)
	}
	for _, c := range e.multi {
		if c.busy == 0 {
			at = min(at, c.idleUntil)
		}
	}
	if len(e.resting) > 0 {
		at = min(at, e.resting[0].restUntil)
	}
	if e.wantsConn() {
		at = min(at, e.nextOpen)
	}
	return at
}

// Abandon ends everything in flight, see send.Engine. A whole answer that is
// here already counts; a request that got a connection and of which no byte was
// written counts as one without.
func (e *Engine) Abandon(feed send.Feed) {
	e.feed, e.abandoning = feed, true
	defer func() { e.feed, e.abandoning = nil, false }()
	for n := e.line.n; n > 0; n-- {
		e.failWaiting(record.ErrNoConnection, 0)
	}
	for _, a := range append([]*call(nil), e.flying...) {
		if a.ending == record.ErrNone {
			e.end(a, record.ErrDrain, e.Now())
		}
	}
	for len(e.flying) > 0 {
		e.armedFor = 0
		if at := e.flying.next(); at != never {
			e.alarm.set(at - e.Now())
		}
		<-e.wake
		e.expire()
		e.read()
	}
	e.watchLimit(e.Now())
}

// Stats is what the engine has counted so far.
func (e *Engine) Stats() send.Stats {
	e.watchLimit(e.Now())
	facts := maps.Clone(e.facts)
	e.habits.Facts(facts)
	mean := func(name string, sum int64, n uint64) {
		if n > 0 {
			facts[name] = strconv.FormatInt(sum/int64(n)/1000, 10)
		}
	}
	mean("tls_handshake_full_mean_us", e.fullNS, e.conns.FullHandshakes)
	mean("tls_handshake_resumed_mean_us", e.resumedNS, e.conns.ResumedHandshakes)
	conns := e.conns
	conns.Opened = e.dialer.made.Load()
	return send.Stats{
		Connections: conns,
		ConnsOpen:   e.opened - e.connecting,
		InFlight:    len(e.flying) + e.line.n,
		Waiting:     e.line.n,
		LimitedNS:   e.limitedNS,
		Negotiated:  facts,
	}
}

// Close closes all connections. What is in flight ends without a result; see
// Abandon.
func (e *Engine) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	e.die()
	for _, a := range e.flying {
		a.cancel()
	}
	for c := range e.known {
		c.wire.raw.Close()
		c.cc.Close()
	}
	for len(e.flying) > 0 {
		e.inbox.take(&e.news)
		for _, r := range e.news.calls {
			e.flying.remove(r.call)
			e.workers = append(e.workers, r.worker)
		}
		e.closeDialled()
		if len(e.flying) > 0 {
			<-e.wake
		}
	}
	for _, w := range e.workers {
		close(w.jobs)
	}
	e.wg.Wait()
	e.inbox.take(&e.news)
	e.closeDialled()
	e.alarm.close()
	return nil
}

// closeDialled closes connections that came about after the end.
func (e *Engine) closeDialled() {
	for _, d := range e.news.dials {
		if d.conn != nil {
			d.conn.wire.raw.Close()
			d.conn.cc.Close()
		}
	}
}
