package sim

import (
	"errors"
	"net"
	"syscall"
)

var errFull = errors.New("the client does not read its answers")

// writer writes to a connection without ever waiting: a client that lets its
// answers pile up is an error.
type writer struct {
	c   net.Conn
	raw syscall.RawConn
	fn  func(fd uintptr) bool
	b   []byte
	err error
}

func (w *writer) write(b []byte) error {
	if w.raw == nil {
		raw, err := w.c.(syscall.Conn).SyscallConn()
		if err != nil {
			return err
		}
		w.raw = raw
		w.fn = func(fd uintptr) bool {
			n, err := syscall.Write(int(fd), w.b)
			for err == syscall.EINTR {
				n, err = syscall.Write(int(fd), w.b)
			}
			w.err = err
			if err == syscall.EAGAIN || err == nil && n < len(w.b) {
				w.err = errFull
			}
			return true
		}
	}
	w.b = b
	if err := w.raw.Write(w.fn); err != nil {
		return err
	}
	return w.err
}
