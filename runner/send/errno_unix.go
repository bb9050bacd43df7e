//go:build unix

package send

import (
	"syscall"

	"headroom/store/record"
)

// KindOf is the error kind of a system call's error on a connection; an error
// that is not known is ErrReset.
func KindOf(errno syscall.Errno) record.ErrorKind {
	switch errno {
	case syscall.ECONNREFUSED, syscall.ENOENT:
		return record.ErrRefused
	case syscall.EPIPE:
		return record.ErrClosed
	case syscall.ETIMEDOUT:
		return record.ErrConnectTimeout
	case syscall.EMFILE, syscall.ENFILE:
		return record.ErrDescriptors
	case syscall.EADDRNOTAVAIL, syscall.EADDRINUSE:
		return record.ErrPorts
	case syscall.ENOBUFS, syscall.ENOMEM, syscall.ENOSPC:
		return record.ErrMemory
	case syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN, syscall.EACCES, syscall.EPERM, syscall.EAFNOSUPPORT:
		return record.ErrUnreachable
	}
	return record.ErrReset
}
