//go:build !linux

package std

import "syscall"

func lateBind(_, _ string, _ syscall.RawConn) error { return nil }

// hungUp cannot ask the system here; the reading goroutine hears of a close.
func hungUp(syscall.RawConn) bool { return false }
