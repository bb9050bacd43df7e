//go:build !linux

package std

import "time"

const plainTimer = true

// alarm calls ring at an instant that may be set anew at any time, with the
// precision of a plain timer.
type alarm struct{ timer *time.Timer }

func newAlarm(ring func()) (*alarm, error) {
	return &alarm{time.AfterFunc(time.Hour, ring)}, nil
}

// set makes it ring ns from now.
func (a *alarm) set(ns int64) { a.timer.Reset(time.Duration(max(ns, 0))) }

func (a *alarm) close() { a.timer.Stop() }
