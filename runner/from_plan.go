package runner

import (
	"fmt"
	"math"
	"time"

	"headroom/runner/plan"
	"headroom/runner/schedule"
	"headroom/store/record"
)

// ScriptOf makes the script of a plan's load.
func ScriptOf(p *plan.Plan) (Script, error) {
	final := finalDrain(longestRequest(p))
	warm := warmup(p)
	list := func(spans ...Span) (Script, error) {
		if warm.Length > 0 {
			spans = append([]Span{warm}, spans...)
		}
		spans[len(spans)-1].Drain = final
		return List(spans).Script(), nil
	}
	switch l := p.Load; {
	case l.Step != nil && l.Step.Auto:
		return newAutoScript(l.Step, p.Header().Load, int64(p.Interval), warm), nil
	case l.Step != nil:
		return StepScript(p.Header().Load, warm), nil
	case l.Steady != nil:
		return list(steady(record.Steady, l.Steady.Rate, l.Steady.Length))
	case l.Chaos != nil:
		return list(steady(record.Steady, l.Chaos.Rate, l.Chaos.Length))
	case l.Soak != nil:
		if l.Soak.Rate <= 0 {
			return nil, fmt.Errorf("load.soak: the rate of of_knee has not been worked out")
		}
		return list(steady(record.Soak, l.Soak.Rate, l.Soak.Length))
	case l.Burst != nil:
		b := l.Burst
		return list(
			steady(record.Base, b.Base, b.Before),
			steady(record.Burst, b.Base*b.Factor, b.Length),
			steady(record.Recovery, b.Base, b.After),
		)
	case l.Ramp != nil:
		r := l.Ramp
		s := steady(record.Steady, (r.From+r.To)/2, r.Length)
		s.Shape = []schedule.Segment{{Length: int64(r.Length), From: r.From, To: r.To}}
		return list(s)
	case l.Closed != nil:
		var spans []Span
		for users := l.Closed.Users; ; users += l.Closed.By {
			spans = append(spans, Span{Kind: record.Steady, Step: -1, Users: users, Length: int64(l.Closed.Length)})
			if l.Closed.By <= 0 || users+l.Closed.By > l.Closed.To {
				break
			}
		}
		return list(spans...)
	}
	return nil, fmt.Errorf("load: the plan has none")
}

func steady(kind record.PhaseKind, rate float64, length time.Duration) Span {
	return Span{Kind: kind, Step: -1, RPS: rate, Length: int64(length)}
}

// longestRequest is how long a request can take, in ns: every attempt times out,
// after the longest pause.
func longestRequest(p *plan.Plan) int64 {
	ns := float64(p.HTTP.Timeout)
	pause := float64(p.Retries.Backoff)
	for range p.Retries.Max {
		ns += float64(p.HTTP.Timeout) + pause
		pause *= max(p.Retries.Factor, 1)
	}
	return int64(min(ns, float64(time.Hour)))
}

// warmup is the plan's warm-up, at the first rate of the load where it has no
// rate of its own. Its drain leaves an idle service.
func warmup(p *plan.Plan) Span {
	if p.Warmup == nil {
		return Span{}
	}
	s := steady(record.Warmup, p.Warmup.Rate, p.Warmup.Length)
	if s.RPS == 0 {
		s.RPS = firstRate(p.Load)
	}
	s.Drain = finalDrain(int64(p.HTTP.Timeout))
	return s
}

func firstRate(l plan.Shape) float64 {
	switch {
	case l.Step != nil && l.Step.From > 0:
		return l.Step.From
	case l.Steady != nil:
		return l.Steady.Rate
	case l.Soak != nil:
		return l.Soak.Rate
	case l.Burst != nil:
		return l.Burst.Base
	case l.Chaos != nil:
		return l.Chaos.Rate
	case l.Ramp != nil:
		return l.Ramp.From
	}
	return 1
}

// ArrivalsOf makes the arrivals of a plan's phases.
func ArrivalsOf(p *plan.Plan, seed uint64) func(Span, int) (schedule.Arrivals, error) {
	return func(s Span, phase int) (schedule.Arrivals, error) {
		spec := schedule.Spec{Process: schedule.Poisson, Shape: s.shape()}
		if c := p.Arrivals.Curve; len(c) > 0 && (s.Kind == record.Steady || s.Kind == record.Soak) {
			spec.Shape = curved(c, s)
		}
		switch p.Arrivals.Kind {
		case "constant":
			spec.Process = schedule.Constant
		case "bursty":
			spec.Dispersion = p.Arrivals.Dispersion
			if v := p.Arrivals.CV2; v > 0 { // of a profile, at this rate
				spec.Dispersion = min(1+v*s.RPS, 1e6)
			}
		case "trace":
			if s.Kind != record.Warmup { // which has a rate of its own
				spec = schedule.Spec{
					Process: schedule.Trace, Length: s.Length, Instants: p.Arrivals.Instants, Scale: p.Arrivals.TraceScale(s.RPS),
				}
			}
		}
		return schedule.New(spec, seed, phase)
	}
}

// curved is a rate that follows production's curve over the span, of the span's
// mean rate.
func curved(curve []float64, s Span) []schedule.Segment {
	var all []schedule.Segment
	n := int64(len(curve))
	for i, c := range curve {
		from, to := s.Length*int64(i)/n, s.Length*(int64(i)+1)/n
		rate := s.RPS * c
		if rate < 1e-6 { // less than a schedule takes
			rate = 0
		}
		if to > from {
			all = append(all, schedule.Segment{Length: to - from, From: rate, To: rate})
		}
	}
	return all
}

// Schedule is what a plan is about to do, as far as it is known beforehand.
type Schedule struct {
	Phases   []Planned
	Length   time.Duration // without drains; of a step load: of the whole ladder
	Requests float64       // expected
	Open     string        // what is decided during the run, in words
}

// Planned is a phase of the schedule.
type Planned struct {
	Kind   record.PhaseKind
	RPS    float64
	Users  int
	Start  time.Duration
	Length time.Duration
	Count  float64 // expected requests
}

// ScheduleOf lists the phases that a plan is about to go through.
func ScheduleOf(p *plan.Plan) (Schedule, error) {
	var all Schedule
	add := func(s Span) {
		n := s.RPS * float64(s.Length) / 1e9
		if s.Users > 0 && p.Load.Closed != nil {
			n = 0
			if c := p.Load.Closed; c.Pacing > 0 {
				n = float64(s.Users) * float64(s.Length) / float64(c.Pacing)
			}
		}
		all.Phases = append(all.Phases, Planned{s.Kind, s.RPS, s.Users, all.Length, time.Duration(s.Length), n})
		all.Length += time.Duration(s.Length)
		all.Requests += n
	}
	if p.Load.Step == nil {
		script, err := ScriptOf(p)
		if err != nil {
			return all, err
		}
		for {
			s, _, ok := script.Next(nil)
			if !ok {
				return all, nil
			}
			add(s)
		}
	}
	l := p.Header().Load
	s := &stepScript{load: l}
	if w := warmup(p); w.Length > 0 {
		add(w)
	}
	if p.Load.Step.Auto {
		all.Open = fmt.Sprintf("the rate is doubled from %g/s until something gives; then a ladder of factor %g around it, %d plateaus between, and plateaus at %v times the knee found",
			firstTrial, l.Factor, l.Refine, l.Beyond)
		if p.Load.Step.Within > 0 {
			all.Length = p.Load.Step.Within
		}
		return all, nil
	}
	for ; ; s.rung++ {
		rate := s.rate()
		if stop, _ := s.stop(nil, rate); stop || rate <= 0 || math.IsInf(rate, 0) || s.rung > 10000 {
			break
		}
		add(s.span(record.Step, rate, 0))
	}
	all.Open = fmt.Sprintf("the ladder ends %d plateaus past the first that does not hold; then %d between, and plateaus at %v times the knee found", l.StopAfter, l.Refine, l.Beyond)
	return all, nil
}
