//go:build unix

package std

import (
	"syscall"

	"headroom/store/record"
)

// kindOfErrno is the error kind of a system call's error on a connection.
func kindOfErrno(errno syscall.Errno) record.ErrorKind {
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
