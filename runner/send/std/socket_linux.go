package std

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// lateBind lets the port be chosen at the connect, when the whole pair is
// known, so that it can be one that is in use towards somewhere else.
func lateBind(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1) // else it is chosen at the bind
	})
}

// hungUp reports whether the far side has closed the connection, also where
// bytes that came before the close are still unread.
func hungUp(c syscall.RawConn) bool {
	gone := false
	err := c.Control(func(fd uintptr) {
		p := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(p[:], 0)
		gone = err == nil && n > 0
	})
	return gone || err != nil
}
