package runner

import (
	"context"

	"headroom/runner/send"
	"headroom/store/record"
)

// One is what came of one request that was sent on its own.
type One struct {
	Class   int
	Due     int64
	Result  send.Result // Body and HeaderValue are not kept
	Outcome record.Outcome
	Err     record.ErrorKind
}

// OneOfEach sends one request of each class, each after the answer to the one
// before, and one walk through each flow, without think times.
func OneOfEach(ctx context.Context, h record.Header, t Traffic, e send.Engine) []One {
	var all []One
	send := func(class int, vars map[string]string) bool {
		one, ok := sendOne(ctx, h, t, e, class, uint64(class), vars)
		if ctx.Err() != nil {
			return false
		}
		all = append(all, one)
		return ok
	}
	for i, c := range h.Classes {
		switch {
		case c.Flow:
			vars := map[string]string{}
			for k := range t.Steps(i) {
				class, _ := t.Step(i, k)
				if !send(class, vars) {
					break
				}
			}
		case c.Step == "":
			send(i, nil)
		}
	}
	return all
}

// single is a feed of one request.
type single struct {
	req  *send.Request
	done func(*send.Result)
}

func (s *single) Due() (int64, bool) { return 0, s.req != nil }

func (s *single) Fire(int64) *send.Request {
	r := s.req
	s.req = nil
	return r
}

func (s *single) Done(_ *send.Request, r *send.Result) { s.done(r) }

func (s *single) Pending() bool { return s.req != nil }

func sendOne(ctx context.Context, h record.Header, t Traffic, e send.Engine, class int, arrival uint64, vars map[string]string) (One, bool) {
	now := e.Now()
	one := One{Class: class, Due: now}
	req := &send.Request{Class: class, Arrival: arrival, Scheduled: now, Due: now, Timeout: h.TimeoutNS}
	if kind := t.Prepare(req, class, arrival, vars); kind != record.ErrNone {
		one.Outcome, one.Err = record.GeneratorError, kind
		one.Result.Unsent = true
		return one, false
	}
	captured := true
	f := &single{req: req, done: func(r *send.Result) {
		one.Outcome, one.Err = t.Judge(class, arrival, now, r, vars)
		if vars != nil && one.Outcome.Valid() {
			captured = t.Capture(class, r, vars)
		}
		one.Result = *r
		one.Result.Body, one.Result.HeaderValue = nil, nil
	}}
	if e.Drive(ctx, f, now+2*h.TimeoutNS+1_000_000_000, true) != nil {
		e.Abandon(f)
	}
	if !captured {
		one.Outcome, one.Err = record.Wrong, record.ErrCapture
	}
	return one, one.Outcome.Valid()
}
