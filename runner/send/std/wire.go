package std

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// wire is a connection that stamps requests and answers. For HTTP/1.1 it lies
// above TLS, for HTTP/2 beneath.
type wire struct {
	net.Conn
	now  func() int64
	raw  net.Conn        // the socket
	sys  syscall.RawConn // of the socket; nil where there is none
	call atomic.Pointer[call]
	last atomic.Pointer[call] // the one that ends the connection
	d    *dialer

	ended chan struct{} // closed once nothing more can be read
	why   error         // the reason, once ended is closed
	end   sync.Once

	// HTTP/1.1: a byte that comes while there is no call is one too many.
	asked atomic.Bool

	// HTTP/2: the second write acknowledges the server's SETTINGS, the first
	// being our own preface.
	preface atomic.Bool
	writes  atomic.Int32
	settled chan struct{}
	once    sync.Once
}

const (
	hearFor    = 100 * time.Millisecond
	partFor    = time.Second // to wait for the server to close first
	maxParting = 1024
)

func newWire(raw net.Conn, d *dialer) *wire {
	w := &wire{Conn: raw, now: d.now, raw: raw, d: d, settled: make(chan struct{}), ended: make(chan struct{})}
	if s, ok := raw.(syscall.Conn); ok {
		w.sys, _ = s.SyscallConn() // without it nobody asks whether the far side hung up
	}
	return w
}

func (w *wire) Write(b []byte) (int, error) {
	if c := w.call.Load(); c != nil && c.sent.Load() == 0 {
		if c.guard && w.sys != nil && hungUp(w.sys) {
			return 0, errHungUp
		}
		c.sent.Store(w.now())
	}
	if w.preface.Load() && w.writes.Add(1) == 2 {
		defer w.once.Do(func() { close(w.settled) })
	}
	n, err := w.Conn.Write(b)
	if err != nil && w.asked.Load() {
		w.hear()
	}
	return n, err
}

// hear waits until what the far side sent before it hung up has been read: an
// answer to a request that it did not want to read to the end, or an alert.
func (w *wire) hear() {
	patience := time.NewTimer(hearFor)
	defer patience.Stop()
	select {
	case <-w.ended:
	case <-patience.C:
	}
}

// Read takes bytes that nobody asked for as the end of the connection: net/http
// would do the same, after it has written them to the log.
func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	c := w.call.Load()
	if c == nil && n > 0 && w.asked.Load() {
		n, err = 0, io.EOF
	}
	if err != nil {
		w.end.Do(func() {
			w.why = err
			close(w.ended)
		})
	}
	if n > 0 && c != nil && c.firstByte.Load() == 0 && c.sent.Load() != 0 {
		c.firstByte.Store(w.now())
	}
	return n, err
}

// over is why nothing more can be read, nil while it can.
func (w *wire) over() error {
	select {
	case <-w.ended:
		return w.why
	default:
		return nil
	}
}

// Close closes the connection. Where the answer that ends it has come, the
// server is given a second to close first, so that the wait for stray segments,
// and the port it holds, are its.
func (w *wire) Close() error {
	c := w.last.Load()
	if c == nil || c.firstByte.Load() == 0 || c.http.Context().Err() != nil || c.payload.left() || w.over() != nil {
		return w.Conn.Close()
	}
	if w.d.parting.Add(1) > maxParting {
		w.d.parting.Add(-1)
		return w.Conn.Close()
	}
	go func() {
		defer w.d.parting.Add(-1)
		defer context.AfterFunc(w.d.alive, func() { w.raw.Close() })()
		if w.raw.SetReadDeadline(time.Now().Add(partFor)) == nil {
			_, _ = io.Copy(io.Discard, w.raw) // until it ends, however it ends
		}
		w.Conn.Close()
	}()
	return nil
}
