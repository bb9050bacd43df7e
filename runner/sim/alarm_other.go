//go:build !linux

package sim

import (
	"time"
)

// alarm wakes one goroutine at an instant that others may set anew at any
// time, with the precision of a plain timer.
type alarm struct {
	timer *time.Timer
	done  chan struct{}
}

func newAlarm() (*alarm, error) {
	a := &alarm{timer: time.NewTimer(time.Hour), done: make(chan struct{})}
	return a, nil
}

// set makes wait return d from now.
func (a *alarm) set(d time.Duration) error {
	a.timer.Reset(max(d, 0))
	return nil
}

// wait returns false once the alarm is closed.
func (a *alarm) wait() bool {
	select {
	case <-a.timer.C:
		return true
	case <-a.done:
		return false
	}
}

func (a *alarm) close() {
	a.timer.Stop()
	close(a.done)
}

// machineClock is the wall clock in ns: there is no shared monotonic clock to read.
func machineClock() int64 { return time.Now().UnixNano() }
