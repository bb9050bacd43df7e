package runner

import (
	"fmt"
	"math"
	"slices"

	"headroom/analyze"
	"headroom/store/record"
)

// stepScript is a step load: a ladder of plateaus, upwards until enough of them
// have not held, then plateaus between the last that held and the first that
// did not, then plateaus past the knee found so far. What has held is decided by
// the code that analyses the evidence afterwards.
type stepScript struct {
	load    record.Load
	warmup  Span
	drain   int64
	stage   stage
	rung    int // next rung of the ladder
	plateau int // next number of a plateau
	refined int
	beyond  int
	repeats int
	first   int  // plateaus before it are another ladder's
	again   bool // the last plateau was a repetition
	// lengths is how long a plateau at a rate lasts, and settles, in ns; nil:
	// as the load says.
	lengths func(rate float64) (plateau, settle int64)
	// definite means that plateaus of which nothing can be said do not end the
	// ladder: too few requests fell on them, or the machine disturbed them.
	definite bool
}

// maxRepeats bounds the plateaus of a run that are repeated.
const maxRepeats = 3

type stage int

const (
	warming stage = iota
	trying
	climbing
	refining
	overloading
	finished
)

// StepScript makes the script of a step load. A warm-up without length is none.
func StepScript(load record.Load, warmup Span) Script {
	return &stepScript{load: load, warmup: warmup, drain: max(load.DrainNS, 1)}
}

// Next implements Script.
func (s *stepScript) Next(plateaus []analyze.Plateau) (Span, *record.Note, bool) {
	for {
		switch s.stage {
		case warming:
			s.stage = climbing
			if s.warmup.Length > 0 {
				return s.warmup, nil, true
			}
		case climbing:
			if again, ok := s.repeat(plateaus); ok {
				return again, note("repeated", again.RPS, "the machine held up the generator; the plateau is repeated"), true
			}
			rate := s.rate()
			stop, why := s.stop(plateaus, rate)
			if !stop {
				s.rung++
				return s.span(record.Step, rate, 0), nil, true
			}
			s.stage = refining
			if why != "" {
				return s.then(plateaus, note("sweep_ended", float64(len(plateaus)), why))
			}
		case refining:
			rate, ok := analyze.NextRefine(plateaus)
			if s.refined == s.load.Refine || !ok {
				s.stage = overloading
				continue
			}
			s.refined++
			return s.span(record.Refine, rate, 0), nil, true
		case overloading:
			knee, ok := analyze.KneeSoFar(plateaus)
			if s.beyond == len(s.load.Beyond) || !ok {
				s.stage = finished
				continue
			}
			multiple := s.load.Beyond[s.beyond]
			s.beyond++
			return s.span(record.Beyond, knee*multiple, multiple),
				note("beyond", knee, fmt.Sprintf("plateau at %g times the knee found so far", multiple)), true
		default:
			return Span{}, nil, false
		}
	}
}

// repeat is the last plateau once more, where the machine disturbed the
// generator on it.
func (s *stepScript) repeat(plateaus []analyze.Plateau) (Span, bool) {
	n := len(plateaus)
	if n == 0 || s.again || s.repeats == maxRepeats || !analyze.Disturbed(plateaus[n-1]) {
		s.again = false
		return Span{}, false
	}
	s.again = true
	s.repeats++
	return s.span(record.Step, plateaus[n-1].TargetRPS, 0), true
}

// then goes on to the next stage with a note to be kept.
func (s *stepScript) then(plateaus []analyze.Plateau, n *record.Note) (Span, *record.Note, bool) {
	span, own, ok := s.Next(plateaus)
	if own != nil {
		n.Text += "; " + own.Text
	}
	return span, n, ok
}

func note(code string, measured float64, text string) *record.Note {
	return &record.Note{Code: code, Severity: record.NoteSeverity, Phase: -1, Measured: measured, Text: text}
}

func (s *stepScript) span(kind record.PhaseKind, rate, multiple float64) Span {
	n := s.plateau
	s.plateau++
	length, settle := s.load.PlateauNS, s.load.SettleNS
	if s.lengths != nil {
		length, settle = s.lengths(rate)
	}
	return Span{
		Kind: kind, Step: n, RPS: rate, Length: length, Settle: settle,
		Multiple: multiple, Drain: s.drain,
	}
}

// gaveOut reports whether the service, or the generator, did not hold.
func gaveOut(p analyze.Plateau) bool {
	held := analyze.Classify(&p, 0).Held
	return held != nil && !*held || atItsEnd(&p)
}

// rate is the next rung of the ladder.
func (s *stepScript) rate() float64 {
	if s.load.Factor > 1 {
		return s.load.FromRPS * math.Pow(s.load.Factor, float64(s.rung))
	}
	return s.load.FromRPS + float64(s.rung)*s.load.ByRPS
}

// stop says whether the ladder has been climbed far enough: past its top, or
// stop_after plateaus past the first that did not hold.
func (s *stepScript) stop(plateaus []analyze.Plateau, next float64) (bool, string) {
	if next > s.load.ToRPS*(1+1e-9) || s.load.ByRPS == 0 && s.load.Factor <= 1 && s.rung > 0 {
		return true, ""
	}
	if s.load.StopAfter == 0 {
		return false, ""
	}
	plateaus = plateaus[min(s.first, len(plateaus)):]
	first := analyze.FirstNotHeld(plateaus)
	if s.definite {
		first = slices.IndexFunc(plateaus, gaveOut)
	}
	if first >= 0 && len(plateaus)-first > s.load.StopAfter {
		return true, fmt.Sprintf("plateau %d did not hold, %d more followed", s.first+first, s.load.StopAfter)
	}
	return false, ""
}
