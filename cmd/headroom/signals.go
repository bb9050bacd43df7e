package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// stops watches SIGINT and SIGTERM. The first cancels soft: sending stops, what
// is in flight is drained, the evidence is sealed. The second cancels hard: the
// run ends at once, and the evidence is still sealed. Further ones change nothing.
type stops struct {
	soft, hard context.Context
	got        atomic.Int64
	release    func()
}

// watchStops watches until release is called. It calls the functions of first
// at the first signal.
func watchStops(ctx context.Context, first ...func()) *stops {
	s := &stops{}
	soft, cancelSoft := context.WithCancel(ctx)
	hard, cancelHard := context.WithCancel(ctx)
	s.soft, s.hard = soft, hard
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case sig := <-ch:
				n, _ := sig.(syscall.Signal)
				if s.got.CompareAndSwap(0, int64(n)) {
					cancelSoft()
					for _, f := range first {
						if f != nil {
							f()
						}
					}
					continue
				}
				cancelHard()
			}
		}
	}()
	s.release = func() {
		signal.Stop(ch)
		close(done)
		cancelSoft()
		cancelHard()
	}
	return s
}

// code is the exit code of the first signal, or 0.
func (s *stops) code() int {
	switch syscall.Signal(s.got.Load()) {
	case 0:
		return 0
	case syscall.SIGTERM:
		return exitSIGTERM
	}
	return exitSIGINT
}
