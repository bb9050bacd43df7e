package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"headroom/analyze"
	"headroom/runner/plan"
	"headroom/runner/schedule"
	"headroom/runner/send"
	"headroom/runner/tally"
	"headroom/store/record"
)

var errStorageBehind = errors.New("the evidence can't be written as fast as it arises: the storage is too slow or stuck")

// Config is everything that a run needs.
type Config struct {
	Header  record.Header
	Facts   record.Facts // at the start; written before anything else
	Script  Script
	Traffic Traffic
	Engine  send.Engine
	Sink    record.Sink
	Watch   Watch // nil: the generator is not watched (simulation)

	// Arrivals makes the arrivals of a phase; nil: a Poisson process of the
	// span's rates.
	Arrivals func(s Span, phase int) (schedule.Arrivals, error)
	Pacing   int64 // ns, closed model
	Think    int64 // ns, closed model

	Rules []plan.Abort // that end the run early
	// OwnThread keeps Record on one thread of the system, for engines that send
	// on the calling one, and tells a Watch that has a method ThisThread.
	OwnThread bool
	Progress  func(Status)        // called on the loop once an interval; must not block
	Abort     func(Status) string // a reason to end the run, or ""
}

// Status is what a run can say of itself at an interval's end.
type Status struct {
	Phase    record.Phase
	AtNS     int64
	Counters Counters
	InFlight int
	Plateaus []analyze.Plateau // ended ones
	Recent   *Recent           // the interval that just ended, by the clock; not to be changed
}

// run is a run in progress.
type run struct {
	Config
	c        *conductor
	t        *tally.Tally
	rec      *recorder
	phases   int
	plateaus []analyze.Plateau
	builder  *analyze.PlateauBuilder
	judged   int // phase index of builder
	cancel   context.CancelFunc
	current  record.Phase
	aborted  string
	ticked   int64 // instant of the last tick
	limited  int64 // ns at limits of our own, until then
	inherits bool  // the service was not idle at the end of the last drain
}

// Record executes the run and returns how it ended. When soft is cancelled,
// sending stops, what is in flight is drained, and the run ends as interrupted;
// when hard is cancelled, it ends at once. The sink is not closed.
func (cfg Config) Record(soft, hard context.Context) record.End {
	if cfg.OwnThread {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if w, ok := cfg.Watch.(interface{ ThisThread() }); ok {
			w.ThisThread()
		}
	}
	r := &run{Config: cfg}
	if r.Arrivals == nil {
		r.Arrivals = func(s Span, phase int) (schedule.Arrivals, error) {
			return schedule.New(schedule.Spec{Process: schedule.Poisson, Shape: s.shape()}, cfg.Header.Seed, phase)
		}
	}
	r.rec = newRecorder(cfg.Sink, cfg.Watch, r.mirror)
	r.t = tally.New(cfg.Header, func(iv *record.Interval) { r.rec.send(iv) }, func(s *record.SendSample) { r.rec.send(s) })
	r.c = newConductor(cfg.Header, cfg.Traffic, cfg.Engine, r.t)
	r.c.onTick = r.tick
	if r.Progress != nil || r.Abort != nil {
		r.c.recent = newRecent(cfg.Header.MaxUS)
	}
	var err error
	if r.c.aborts, err = newAbortRules(cfg.Rules, &cfg.Header); err != nil {
		_ = r.rec.close()
		return record.End{State: record.Failed, Reason: err.Error()}
	}
	r.rec.send(cfg.Facts)

	reason := r.phasesLoop(soft, hard)
	r.t.Close()
	end := record.End{State: record.Complete, AtNS: max(cfg.Engine.Now(), r.current.EndNS), Conns: cfg.Engine.Stats().Connections}
	err = r.rec.close()
	switch {
	case err != nil:
		end.State, end.Reason = record.Failed, "storage: "+err.Error()
	case reason != "":
		end.State, end.Reason = record.Failed, reason
	case r.aborted != "":
		end.State, end.Reason = record.Interrupted, "abort: "+r.aborted
	case soft.Err() != nil || hard.Err() != nil:
		end.State, end.Reason = record.Interrupted, "signal: stopped from outside"
	}
	return end
}

// mirror folds a closed interval into the plateau that it belongs to. It runs
// on the recorder's goroutine; endPlateau waits for it before reading.
func (r *run) mirror(iv *record.Interval) {
	if b := r.builder; b != nil && iv.Phase == r.judged {
		if err := b.Add(iv); err != nil {
			r.rec.failed.CompareAndSwap(nil, &err)
		}
	}
}

func (r *run) stopped(soft, hard context.Context) bool {
	return soft.Err() != nil || hard.Err() != nil || r.rec.err() != nil || r.aborted != ""
}

func (r *run) phasesLoop(soft, hard context.Context) (failure string) {
	at := r.Engine.Now()
	began := at
	r.ticked = at
	for !r.stopped(soft, hard) {
		if s, ok := r.Script.(timed); ok {
			s.elapsed(r.Engine.Now() - began)
		}
		span, note, ok := r.Script.Next(r.plateaus)
		if note != nil {
			note.AtNS = r.Engine.Now()
			r.rec.send(*note)
		}
		if !ok {
			return ""
		}
		at = max(at, r.Engine.Now())
		end, failure := r.span(soft, hard, span, at)
		if failure != "" {
			return failure
		}
		at = end
	}
	return ""
}

// span executes one phase and the drain after it, and returns where it ended.
func (r *run) span(soft, hard context.Context, s Span, at int64) (end int64, failure string) {
	p := record.Phase{
		Index: r.phases, Kind: s.Kind, Step: s.Step, TargetRPS: s.RPS, Users: s.Users, Multiple: s.Multiple,
		StartNS: at, EndNS: at + s.Length, SettleNS: s.Settle, Inherits: r.inherits,
	}
	var arrivals schedule.Arrivals
	if s.Users == 0 {
		var err error
		if arrivals, err = r.Arrivals(s, p.Index); err != nil {
			return at, fmt.Sprintf("schedule: %v", err)
		}
	}
	r.begin(p, arrivals, s.plateau())
	if s.Users > 0 {
		r.c.populate(s.Users, at, r.Pacing, r.Think)
	}
	r.drive(soft, hard, p.EndNS)
	cut := r.stopped(soft, hard)
	end = p.EndNS
	if cut {
		end = min(max(r.Engine.Now(), at), p.EndNS)
		r.c.hasNext, r.c.arrivals = false, nil
	}
	r.endPhase(end, !cut)
	if s.Drain == 0 && !cut {
		r.endPlateau()
		return end, ""
	}
	limit := s.Drain
	if cut {
		limit = max(limit, finalDrain(r.Header.TimeoutNS))
	}
	end = r.drain(hard, s, end, limit)
	r.endPlateau()
	return end, ""
}

// begin starts a phase.
func (r *run) begin(p record.Phase, a schedule.Arrivals, plateau bool) {
	r.phases++
	r.current = p
	r.rec.send(p)
	if plateau {
		r.rec.wait()
		r.builder, r.judged = analyze.NewPlateau(r.Header, p), p.Index
	}
	r.t.Begin(p)
	r.c.begin(a, p.StartNS, p.EndNS)
}

// drive runs the loop to the instant, and past it as long as arrivals of the
// phase are still to be sent because the generator fell behind.
func (r *run) drive(soft, hard context.Context, until int64) {
	ctx, cancel := context.WithCancel(soft)
	defer cancel()
	stop := context.AfterFunc(hard, cancel)
	defer stop()
	r.cancel = cancel
	for {
		err := r.Engine.Drive(ctx, r.c, until, false)
		if err != nil || r.stopped(soft, hard) {
			return
		}
		if !r.c.hasNext {
			r.c.catchUp(min(r.Engine.Now(), r.current.EndNS))
			return
		}
		until = r.Engine.Now() + 1_000_000
	}
}

// catchUp closes the moments of intervals that ended at or before the instant.
func (c *conductor) catchUp(at int64) {
	for {
		b, ok := c.tally.Boundary()
		if !ok || b > at {
			return
		}
		c.tick()
	}
}

func (r *run) endPhase(at int64, ended bool) {
	r.c.catchUp(at)
	st := r.Engine.Stats()
	limited := r.c.limitedNS(st)
	if index := r.t.EndPhase(at, st.Waiting, limited-r.c.lastLimited, st.ConnsOpen); index >= 0 {
		r.c.lastLimited = limited
		r.rec.send(tick{r.current.Index, index, at})
	}
	p := r.current
	p.EndNS, p.Ended = at, ended
	r.current = p
	r.rec.send(p)
}

// drain waits, without new arrivals, until nothing is in flight, at most limit
// ns; what is left then ends as unfinished. After a plateau that did not hold
// it also probes, at most for the length of that plateau, until the service
// answers as fast as it did when it was idle: a service that goes on working
// for clients which gave up is not idle when the last of them has left.
func (r *run) drain(hard context.Context, s Span, at, limit int64) (end int64) {
	quiet := at + limit
	p := record.Phase{Index: r.phases, Kind: record.Drain, Step: s.Step, StartNS: at, EndNS: quiet}
	if s.plateau() {
		p.EndNS += s.Length
	}
	r.phases++
	r.current = p
	r.rec.send(p)
	r.t.Begin(p)
	r.c.begin(nil, p.StartNS, p.EndNS)
	stopped := r.Engine.Drive(hard, r.c, quiet, true) != nil
	r.cutOff()
	r.inherits = false
	if !stopped && s.plateau() {
		r.endPlateau()
		r.inherits = !r.probe(hard, p)
		r.cutOff()
	}
	end = max(r.Engine.Now(), at+1)
	r.endPhase(end, true)
	return end
}

// cutOff ends what is still in flight, or still to come of itself.
func (r *run) cutOff() {
	if r.c.outstanding > 0 {
		r.Engine.Abandon(r.c)
		r.c.cancel()
	}
}

// endPlateau closes the plateau of a judged phase, once everything of it has
// reached the recorder.
func (r *run) endPlateau() {
	if r.builder == nil {
		return
	}
	r.rec.wait()
	r.plateaus = append(r.plateaus, r.builder.Plateau())
	r.builder = nil
}

func (r *run) tick(phase, index int) {
	now := r.Engine.Now()
	r.rec.send(tick{phase, index, now})
	st := Status{Phase: r.current, AtNS: now, Counters: r.c.live, InFlight: r.c.inFlight, Plateaus: r.plateaus, Recent: r.recent(now)}
	if r.c.aborts != nil && r.aborted == "" {
		r.aborted = r.c.aborts.tick(r.current, now, now-r.ticked, r.c.inFlight)
	}
	r.ticked = now
	if r.Abort != nil && r.aborted == "" {
		r.aborted = r.Abort(st)
	}
	if r.cancel != nil && (r.aborted != "" || r.rec.err() != nil) {
		r.cancel()
	}
	if r.Progress != nil {
		r.Progress(st)
	}
}

// recent hands out what the interval that ends now brought, and begins the next.
func (r *run) recent(now int64) *Recent {
	out := r.c.recent
	if out == nil {
		return nil
	}
	limited := r.c.limitedNS(r.Engine.Stats())
	out.WidthNS, out.LimitedNS = now-r.ticked, limited-r.limited
	r.limited = limited
	r.c.recent = newRecent(r.Header.MaxUS)
	return out
}
