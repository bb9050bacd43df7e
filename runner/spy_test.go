package runner_test

import (
	"context"

	"headroom/runner"
	"headroom/runner/send"
	"headroom/runner/sim"
)

// spy is the simulated engine with somebody who looks at what is sent and what
// comes back, before the runner does.
type spy struct {
	*sim.Engine
	fired func(r *send.Request, now int64)
	done  func(r *send.Request, res *send.Result)
	due   func(now int64)
}

func (s *spy) Drive(ctx context.Context, f send.Feed, until int64, idle bool) error {
	return s.Engine.Drive(ctx, spied{f, s}, until, idle)
}

func (s *spy) Abandon(f send.Feed) { s.Engine.Abandon(spied{f, s}) }

type spied struct {
	send.Feed
	s *spy
}

func (f spied) Due() (int64, bool) {
	if f.s.due != nil {
		f.s.due(f.s.Now())
	}
	return f.Feed.Due()
}

func (f spied) Fire(now int64) *send.Request {
	r := f.Feed.Fire(now)
	if r != nil && f.s.fired != nil {
		f.s.fired(r, now)
	}
	return r
}

func (f spied) Done(r *send.Request, res *send.Result) {
	if f.s.done != nil {
		f.s.done(r, res)
	}
	f.Feed.Done(r, res)
}

func (f spied) Pending() bool { return f.Feed.(interface{ Pending() bool }).Pending() }

// watched puts the spy before the engine of a run.
func watched(s *spy, o sim.EngineOptions) func(*runner.Config) {
	return func(cfg *runner.Config) {
		s.Engine = sim.NewEngine(o)
		cfg.Engine = s
	}
}
