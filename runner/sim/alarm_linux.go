package sim

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// alarm wakes one goroutine at an instant that others may set anew at any
// time. A timerfd read through the runtime's poller wakes within about 50 µs,
// where a timer of an idle process rounds up to a millisecond.
type alarm struct {
	fd   int
	file *os.File
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return &alarm{fd, os.NewFile(uintptr(fd), "timerfd")}, nil
}

// set makes wait return d from now. It must not be called after close.
func (a *alarm) set(d time.Duration) error {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(int64(d), 1))}
	return unix.TimerfdSettime(a.fd, 0, &spec, nil)
}

// wait returns false once the alarm is closed.
func (a *alarm) wait() bool {
	var count [8]byte
	_, err := a.file.Read(count[:])
	return err == nil
}

func (a *alarm) close() { a.file.Close() }

// machineClock is CLOCK_MONOTONIC in ns, which all processes share.
func machineClock() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
