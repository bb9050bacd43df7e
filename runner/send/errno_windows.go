package send

import (
	"syscall"

	"golang.org/x/sys/windows"

	"headroom/store/record"
)

// KindOf is the error kind of a system call's error on a connection; an error
// that is not known is ErrReset.
func KindOf(errno syscall.Errno) record.ErrorKind {
	switch errno {
	case windows.WSAECONNREFUSED, windows.ERROR_FILE_NOT_FOUND:
		return record.ErrRefused
	case windows.WSAESHUTDOWN, windows.ERROR_BROKEN_PIPE:
		return record.ErrClosed
	case windows.WSAETIMEDOUT:
		return record.ErrConnectTimeout
	case windows.WSAEMFILE:
		return record.ErrDescriptors
	case windows.WSAEADDRNOTAVAIL, windows.WSAEADDRINUSE:
		return record.ErrPorts
	case windows.WSAENOBUFS, windows.ERROR_NOT_ENOUGH_MEMORY:
		return record.ErrMemory
	case windows.WSAEHOSTUNREACH, windows.WSAENETUNREACH, windows.WSAEHOSTDOWN, windows.WSAENETDOWN, windows.WSAEACCES, windows.WSAEAFNOSUPPORT:
		return record.ErrUnreachable
	}
	return record.ErrReset
}
