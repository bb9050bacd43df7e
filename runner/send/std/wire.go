package std

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// wire is a connection that stamps requests and answers. For HTTP/1.1 it lies
// above TLS, for HTTP/2 beneath.
type wire struct {
	net.Conn
	now  func() int64
	raw  net.Conn        // the socket
	sys  syscall.RawConn // of the socket; nil where there is none
	call atomic.Pointer[call]
	eof  atomic.Bool // the far side sends nothing more

	// HTTP/2: the second write acknowledges the server's SETTINGS, the first
	// being our own preface.
	preface atomic.Bool
	writes  atomic.Int32
	settled chan struct{}
	once    sync.Once
}

func newWire(raw net.Conn, now func() int64) *wire {
	w := &wire{Conn: raw, now: now, raw: raw, settled: make(chan struct{})}
	if s, ok := raw.(syscall.Conn); ok {
		w.sys, _ = s.SyscallConn() // without it nobody asks whether the far side hung up
	}
	return w
}

func (w *wire) Write(b []byte) (int, error) {
	if c := w.call.Load(); c != nil && c.sent.Load() == 0 {
		if c.again && w.sys != nil && hungUp(w.sys) {
			return 0, errHungUp
		}
		c.sent.Store(w.now())
	}
	if w.preface.Load() && w.writes.Add(1) == 2 {
		defer w.once.Do(func() { close(w.settled) })
	}
	return w.Conn.Write(b)
}

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if err == io.EOF {
		w.eof.Store(true)
	}
	if n > 0 {
		if c := w.call.Load(); c != nil && c.firstByte.Load() == 0 && c.sent.Load() != 0 {
			c.firstByte.Store(w.now())
		}
	}
	return n, err
}
