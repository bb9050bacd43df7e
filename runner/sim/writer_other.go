//go:build !linux

package sim

import (
	"net"
	"time"
)

// writer writes to a connection without waiting long: a client that lets its
// answers pile up is an error.
type writer struct{ c net.Conn }

func (w *writer) write(b []byte) error {
	if err := w.c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		return err
	}
	_, err := w.c.Write(b)
	return err
}
