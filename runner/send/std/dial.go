package std

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

// dial is one attempt to make a connection.
type dial struct {
	began    int64
	patience int64 // limit of the attempt, 0 = none
	wire     *wire // nil where no connection came about
	tls      *tls.ConnectionState
	above    *tls.Conn // HTTP/2 over TLS
	shook    int64     // ns of the handshake
	made     int64     // when the connection was usable
	conn     *conn
	places   int
	err      error
}

const backlogRetry = time.Millisecond

type dialKey struct{}

// dialer is what all attempts share.
type dialer struct {
	network, address string
	net              net.Dialer
	tls              *tls.Config // nil without TLS
	transport        http.Transport
	now              func() int64
	alive            context.Context // until the engine is closed
	made             atomic.Uint64   // connections
	parting          atomic.Int64
}

func newDialer(cfg *send.Config, now func() int64) (*dialer, error) {
	d := &dialer{network: cfg.Network, address: cfg.Address, now: now}
	if d.network == "" {
		d.network = "tcp"
	}
	d.net.KeepAlive = -1 // requests say whether it is alive
	d.net.Resolver = net.DefaultResolver
	if err := d.source(cfg.SourceAddress); err != nil {
		return nil, err
	}
	t := &d.transport
	t.DisableCompression = true
	t.MaxResponseHeaderBytes = int64(cfg.MaxHead)
	t.Protocols = new(http.Protocols)
	t.DialContext = d.dial
	switch cfg.HTTPVersion {
	case "h2c":
		t.Protocols.SetUnencryptedHTTP2(true)
	case "2":
		t.Protocols.SetHTTP2(true)
	default:
		t.Protocols.SetHTTP1(true)
		t.Protocols.SetHTTP2(cfg.HTTPVersion == "auto" && cfg.Scheme == "https")
	}
	if cfg.Scheme == "https" {
		config, err := tlsConfig(cfg)
		if err != nil {
			return nil, err
		}
		d.tls = config
		t.DialTLSContext = d.dialTLS
	}
	return d, nil
}

// source sets the address that connections come from.
func (d *dialer) source(address string) error {
	if address == "" {
		return nil
	}
	if d.network == "unix" {
		return fmt.Errorf("std: a Unix socket has no source address")
	}
	ip, err := net.ResolveIPAddr("ip", address)
	if err != nil {
		return fmt.Errorf("std: source address: %w", err)
	}
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: ip.IP, Zone: ip.Zone})
	if err != nil {
		return fmt.Errorf("std: source address %s cannot be used on this machine: %w", address, err)
	}
	l.Close()
	d.net.LocalAddr = &net.TCPAddr{IP: ip.IP, Zone: ip.Zone}
	d.net.Control = lateBind
	return nil
}

// dial makes a connection without TLS. A name is looked up each time.
func (d *dialer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	a := ctx.Value(dialKey{}).(*dial)
	c, err := d.net.DialContext(ctx, d.network, d.address)
	for err != nil && d.network == "unix" && errors.Is(err, syscall.EAGAIN) {
		// The backlog is full and nothing says when it no longer is.
		select {
		case <-time.After(backlogRetry):
			c, err = d.net.DialContext(ctx, d.network, d.address)
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil {
		return nil, err
	}
	d.made.Add(1)
	a.wire = newWire(c, d)
	a.wire.preface.Store(d.transport.Protocols.UnencryptedHTTP2())
	return a.wire, nil
}

// dialTLS makes a connection with TLS. What it returns is a *tls.Conn where the
// protocol is HTTP/2, and else something above it that sees the plain text.
func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	if _, err := d.dial(ctx, network, address); err != nil {
		return nil, err
	}
	a := ctx.Value(dialKey{}).(*dial)
	began := d.now()
	t := tls.Client(a.wire, d.tls)
	if err := t.HandshakeContext(ctx); err != nil {
		a.wire.raw.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, handshakeError{err}
	}
	a.shook = d.now() - began
	state := t.ConnectionState()
	a.tls = &state
	switch {
	case state.NegotiatedProtocol == "h2":
		a.wire.preface.Store(true)
		a.above = t
		return t, nil
	case !d.transport.Protocols.HTTP1():
		t.Close()
		return nil, fmt.Errorf("%w: it did not choose HTTP/2 in the TLS handshake", errProtocol)
	}
	above := newWire(t, d)
	above.raw, above.sys = a.wire.raw, a.wire.sys
	a.wire = above
	return above, nil
}

// connect makes a connection, and for HTTP/2 waits until it is usable.
func (e *Engine) connect(a *dial) {
	ctx, cancel := e.alive, context.CancelFunc(func() {})
	if a.patience > 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(a.patience))
	}
	defer cancel()
	cc, err := e.dialer.transport.NewClientConn(context.WithValue(ctx, dialKey{}, a), e.scheme, "target:80")
	if err != nil {
		a.err = err
		if a.wire != nil {
			a.wire.raw.Close()
		}
		return
	}
	c := &conn{
		e: e, cc: cc, wire: a.wire, h2: a.wire.preface.Load(), gone: make(chan struct{}),
		limit: e.cfg.MaxPerConn, idleFor: e.cfg.IdleTimeout, idleUntil: never,
	}
	cc.SetStateHook(c.changed)
	if c.h2 {
		select {
		case <-a.wire.settled:
			if cc.Err() != nil { // it was the goodbye
				a.err = a.why()
			}
		case <-c.gone:
			a.err = a.why()
		case <-ctx.Done():
			a.err = ctx.Err()
		}
		if a.err != nil {
			a.wire.raw.Close()
			cc.Close()
			return
		}
	}
	a.conn, a.places, a.made = c, 1, e.Now()
	if c.h2 {
		a.places = max(cc.Available(), 1)
	}
}

// why is the reason for which a connection ended before it was usable. A TLS
// connection keeps its last error, an alert for instance.
func (a *dial) why() error {
	if a.above != nil {
		a.wire.raw.Close()
		var b [1]byte
		_, err := a.above.Read(b[:])
		var op *net.OpError
		if errors.As(err, &op) && isAlert(op) {
			return handshakeError{err}
		}
	}
	return errClosed
}

// open begins to open at most one connection.
func (e *Engine) open() {
	if !e.wantsConn() {
		return
	}
	now := e.Now()
	if now < e.nextOpen {
		return
	}
	e.nextOpen = now + e.openGap
	a := &dial{began: now, patience: e.line.first().req.Timeout}
	e.connecting++
	e.opened++
	e.wg.Go(func() {
		e.connect(a)
		e.inbox.dialled(a)
	})
}

// dialled takes the end of an attempt to connect.
func (e *Engine) dialled(a *dial) {
	e.connecting--
	if a.tls != nil {
		e.shook(a)
	}
	if a.err != nil {
		e.opened--
		kind := kindOfDial(a.err)
		if kind == record.ErrConnectTimeout && e.line.n > 0 {
			// Only who has waited for its whole timeout fails; who came later
			// gets an attempt of its own.
			w := e.line.first()
			if w.req.Timeout > 0 && e.Now()-max(a.began, w.since) < w.req.Timeout {
				return
			}
		}
		e.failWaiting(kind, a.began)
		return
	}
	c := a.conn
	c.doneAt = a.made
	e.known[c] = true
	e.perConn = a.places
	e.negotiated(a)
	if c.h2 {
		c.idleUntil = until(e.Now(), c.idleFor)
		e.multi = append(e.multi, c)
	}
	if e.line.n > 0 && c.cc.Reserve() == nil {
		e.send(c, e.line.pop())
		return
	}
	if e.line.n > 0 || c.cc.Err() != nil {
		e.drop(c)
		if e.line.n > 0 && e.Now()-a.made > send.PromptClose && e.line.first().back < maxBack {
			e.line.at(0).back++ // closed as idle, because we were late to use it
			return
		}
		// It accepted and closed, and that is its answer to the request that
		// asked for the connection.
		kind := kindOfDial(a.why())
		if over := c.wire.over(); over != nil && kindOf(over, false) == record.ErrTLS {
			kind = record.ErrTLS
		}
		e.failWaiting(kind, a.began)
		return
	}
	if !c.h2 {
		e.toIdle(c, e.Now())
	}
}
