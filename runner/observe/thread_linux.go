package observe

import "golang.org/x/sys/unix"

func thisThread() int { return unix.Gettid() }
