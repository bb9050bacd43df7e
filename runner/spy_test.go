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
	fired  func(r *send.Request, now int64)
	done   func(r *send.Request, res *send.Result)
	driven func(until int64) // at each Drive
}

func (s *spy) Drive(ctx context.Context, f send.Feed, until int64, idle bool) error {
	if s.driven != nil {
		s.driven(until)
	}
	return s.Engine.Drive(ctx, spied{f, s}, until, idle)
}

func (s *spy) Abandon(f send.Feed) { s.Engine.Abandon(spied{f, s}) }

type spied struct {
	send.Feed
	s *spy
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
