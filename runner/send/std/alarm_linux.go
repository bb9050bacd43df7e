package std

import (
	"os"

	"golang.org/x/sys/unix"
)

const plainTimer = false

// alarm calls ring at an instant that may be set anew at any time.
type alarm struct {
	fd   int
	file *os.File
	done chan struct{}
}

func newAlarm(ring func()) (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	a := &alarm{fd, os.NewFile(uintptr(fd), "timerfd"), make(chan struct{})}
	go func() {
		defer close(a.done)
		var count [8]byte
		for {
			if _, err := a.file.Read(count[:]); err != nil {
				return
			}
			ring()
		}
	}()
	return a, nil
}

// set makes it ring ns from now.
func (a *alarm) set(ns int64) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(ns, 1))}
	_ = unix.TimerfdSettime(a.fd, 0, &spec, nil) // the descriptor and the value are good
}

func (a *alarm) close() {
	a.file.Close()
	<-a.done
}
