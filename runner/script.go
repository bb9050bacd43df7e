package runner

import (
	"headroom/analyze"
	"headroom/runner/schedule"
	"headroom/store/record"
)

// Span is a phase that is about to happen. Durations in ns.
type Span struct {
	Kind     record.PhaseKind
	Step     int // number of the plateau; -1 where it is none
	RPS      float64
	Users    int
	Length   int64
	Settle   int64
	Multiple float64
	Shape    []schedule.Segment // the rate over time; nil: RPS throughout
	Trial    bool               // a plateau that the script decides by, though its kind is not judged
	Drain    int64              // afterwards: quiet until nothing is in flight, at most this long; 0: go on at once
}

// plateau reports whether the script wants to know how the span went.
func (s Span) plateau() bool { return s.Trial || s.Kind.Judged() }

// shape is the rate over the span.
func (s Span) shape() []schedule.Segment {
	if s.Shape != nil {
		return s.Shape
	}
	return schedule.Steady(s.RPS, s.Length)
}

// Script says which phase comes next. Next is called when the phase before has
// ended, with all plateaus so far; note is what the decision rested on, to be
// kept in the evidence, or nil. ok is false when the run is over.
type Script interface {
	Next(plateaus []analyze.Plateau) (s Span, note *record.Note, ok bool)
}

// timed is a Script that goes by the time that has passed: elapsed is called
// before each Next, with ns since the run began.
type timed interface{ elapsed(ns int64) }

// List is a script that is known in advance.
type List []Span

type listScript struct {
	spans []Span
	next  int
}

// Script makes a script of the list.
func (l List) Script() Script { return &listScript{spans: l} }

func (l *listScript) Next([]analyze.Plateau) (Span, *record.Note, bool) {
	if l.next == len(l.spans) {
		return Span{}, nil, false
	}
	l.next++
	return l.spans[l.next-1], nil, true
}

// finalDrain bounds the quiet after the last phase of a load that has no drain
// of its own: long enough for every request to time out.
func finalDrain(timeout int64) int64 { return timeout + 1_000_000_000 }
