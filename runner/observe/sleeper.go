package observe

import (
	"sync/atomic"
	"time"
)

// sleepFor is how long the sleeper means to sleep.
const sleepFor = 50 * time.Millisecond

// sleeper sleeps 50 ms at a time and keeps how late it was woken at worst: what
// any other goroutine of the process may have suffered as well.
type sleeper struct {
	origin  time.Time
	worst   atomic.Int64 // ns, since the last take
	planned atomic.Int64 // ns since origin: the next wake-up
	stop    chan struct{}
	done    chan struct{}
}

func startSleeper() *sleeper {
	s := &sleeper{origin: time.Now(), stop: make(chan struct{}), done: make(chan struct{})}
	s.planned.Store(int64(sleepFor))
	go s.run()
	return s
}

func (s *sleeper) run() {
	defer close(s.done)
	timer := time.NewTimer(sleepFor)
	defer timer.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-timer.C:
		}
		now := int64(time.Since(s.origin))
		s.late(now - s.planned.Load())
		s.planned.Store(now + int64(sleepFor))
		timer.Reset(sleepFor)
	}
}

func (s *sleeper) late(ns int64) {
	for {
		worst := s.worst.Load()
		if ns <= worst || s.worst.CompareAndSwap(worst, ns) {
			return
		}
	}
}

// take is the latest wake-up since the last take, in ns; a sleeper that should
// have been awake by now counts as that late.
func (s *sleeper) take() int64 {
	s.late(int64(time.Since(s.origin)) - s.planned.Load())
	return max(s.worst.Swap(0), 0)
}

func (s *sleeper) close() {
	close(s.stop)
	<-s.done
}
