package runner

import (
	"fmt"
	"math"
	"time"

	"headroom/analyze"
	"headroom/runner/plan"
	"headroom/store/record"
)

const (
	firstTrial = 5.0 // requests per second
	lowTrial   = 0.5 // below it nothing is tried
	highTrial  = 1e6
	maxTries   = 3 // of one rate, until it counts as not held

	// span of the ladder, as multiples of the rate that the doubling points at
	ladderDepth = 1.9
	ladderTop   = 2.6
	maxLadders  = 3

	second      = 1_000_000_000
	settleLeast = second / 2
	trialLeast  = 5 * second / 2 // judged
	judgedLeast = 15 * second    // of a plateau, where counts would allow less
	// wanted is how many requests on a plateau resolve a deficit of 2 % at
	// saturation: 2 t² / ε², with t(9).
	wanted = 25_600
	// reserve is what remains of the time for beginning, ending and analysis.
	reserve = 5 * second
	// few is how many a plateau must carry for a hold to be seen at half the length.
	few = 3000
)

// autoScript is a step load of which nothing is known beforehand: trials at
// doubling rates until one does not hold, a ladder around the rate that they
// point at, then what a step load does at its end. Trials are too short to be
// judged in the analysis; they are recorded as warm-up.
//
// Where the load has a time to keep to, the plateaus are as long as the time
// allows and as counts demand, and what there is no time for is left out.
type autoScript struct {
	load   record.Load
	within int64 // ns; 0: plateaus as long as the load says
	width  int64 // of an interval
	warmup Span
	spent  int64 // ns since the run began

	stage   stage
	low     float64 // highest trial that was not seen to fail
	high    float64 // lowest that failed; 0: none yet
	rate    float64 // of the trial that runs
	tries   int     // of rate
	down    bool    // the first trial failed: halving
	settle  int64
	good    float64 // best goodput of the trials
	calm    float64 // lowest median response of a trial, µs; 0: none yet
	limited bool    // the generator gave out at high

	ladder  *stepScript
	ladders int
	lowered int // ladders begun anew, lower
	centre  float64
}

func newAutoScript(l *plan.StepLoad, load record.Load, width int64, warmup Span) *autoScript {
	if load.ToRPS == 0 {
		load.ToRPS = highTrial
	}
	return &autoScript{
		load: load, within: int64(l.Within), width: width, warmup: warmup,
		rate: min(firstTrial, load.ToRPS), settle: max(settleLeast, width),
	}
}

// elapsed implements timed.
func (s *autoScript) elapsed(ns int64) { s.spent = ns }

// Next implements Script.
func (s *autoScript) Next(all []analyze.Plateau) (Span, *record.Note, bool) {
	plateaus := make([]analyze.Plateau, 0, len(all))
	for _, p := range all {
		if p.Kind.Judged() {
			plateaus = append(plateaus, p)
		}
	}
	for {
		switch s.stage {
		case warming:
			s.stage = trying
			if s.warmup.Length > 0 {
				return s.warmup, nil, true
			}
		case trying:
			if s.tries > 0 && s.decide(&all[len(all)-1]) {
				s.stage = climbing
				n := s.begin()
				return s.then(plateaus, n)
			}
			s.tries++
			return s.trial(), nil, true
		default:
			if s.again(plateaus) {
				return s.trial(), note("doubling", s.rate, "the ladder held to its end; doubling goes on"), true
			}
			if s.lower(plateaus) {
				return s.then(plateaus, s.begin())
			}
			s.fit(plateaus)
			return s.ladder.Next(plateaus)
		}
	}
}

func (s *autoScript) then(plateaus []analyze.Plateau, n *record.Note) (Span, *record.Note, bool) {
	s.fit(plateaus)
	return s.ladder.then(plateaus, n)
}

// trial is a short plateau at the rate that is being tried.
func (s *autoScript) trial() Span {
	return Span{
		Kind: record.Warmup, Trial: true, Step: -1, RPS: s.rate, Settle: s.settle,
		Length: s.settle + max(trialLeast, 6*s.width), Drain: max(s.load.DrainNS, 1),
	}
}

// decide takes the trial that just ended into account. It reports whether the
// trials are over; otherwise rate is the next.
func (s *autoScript) decide(p *analyze.Plateau) bool {
	j := analyze.Classify(p, 0)
	failed := j.Held != nil && !*j.Held || p.Counts.Scheduled > 0 && p.Counts.By[record.OK] == 0 || s.slowed(p)
	limited := atItsEnd(p)
	if m := p.Resp.P50; m != nil && (s.calm == 0 || *m < s.calm) {
		// What has not come back by the time that counting begins looks lost.
		s.calm = *m
		s.settle = max(settleLeast, s.width, min(int64(2000**m), 10*second))
	}
	if (failed || limited) && s.tries < maxTries && s.worthRepeating(p, limited) {
		return false
	}
	if failed || limited {
		s.high, s.limited = s.rate, limited
	} else {
		s.low = s.rate
	}
	if !limited {
		s.good = max(s.good, j.GoodputRPS)
	}
	s.tries = 0
	switch {
	case s.high > 0 && s.low > 0:
		return true
	case s.high > 0: // the very first failed
		s.down = true
		s.rate /= 2
		return s.rate < lowTrial
	case s.rate >= s.load.ToRPS:
		return true
	}
	s.rate = min(2*s.rate, s.load.ToRPS)
	return false
}

// atItsEnd reports whether the generator can't send at the plateau's rate: it
// reached a limit of its own, or was late as a rule. Late sends now and then are
// the machine's doing, at this rate as at any other.
func atItsEnd(p *analyze.Plateau) bool {
	const lateAsARule = 5000 // µs, of the median send
	if p.Trust.Verdict != analyze.Untrusted {
		return false
	}
	return !analyze.Disturbed(*p) || p.Trust.Lag.P50 != nil && *p.Trust.Lag.P50 > lateAsARule
}

// worthRepeating reports whether a trial that failed may have failed by
// accident: it is repeated, unless that has confirmed it already.
func (s *autoScript) worthRepeating(p *analyze.Plateau, limited bool) bool {
	if limited {
		return analyze.Disturbed(*p)
	}
	if s.down || s.tries > 1 {
		return false
	}
	return true
}

// slowed reports whether answers took much longer than on a calmer trial, which
// shows a queue before counts can.
func (s *autoScript) slowed(p *analyze.Plateau) bool {
	m := p.Resp.P50
	return m != nil && s.calm > 0 && p.Counts.Scheduled >= 20 && *m > 5*s.calm && *m > 200_000
}

// begin makes the ladder, and says why there.
func (s *autoScript) begin() *record.Note {
	why := fmt.Sprintf("%.4g requests per second did not hold", s.high)
	switch {
	case s.lowered > 0:
		s.centre = s.good
		why = "the lowest plateau of the ladder did not hold"
	case s.high == 0:
		s.centre = s.rate
		why = fmt.Sprintf("%.4g requests per second, the highest rate of the plan, held", s.rate)
	case s.limited:
		s.centre = math.Sqrt(max(s.low, lowTrial) * s.high)
		why = fmt.Sprintf("the generator gave out at %.4g requests per second", s.high)
	case s.low == 0 && s.good < lowTrial: // as a rule, whatever is asked is an error
		s.centre = ladderDepth * firstTrial
		why = "no rate brought good answers"
	case s.low == 0:
		s.centre = s.good
		why = "not even the lowest rate held"
	case s.good < 0.7*s.low: // fewer good answers than a lower rate promised
		s.centre = math.Sqrt(s.low * s.high)
	default:
		s.centre = min(max(s.good, s.low/2), s.high)
	}
	factor := s.load.Factor
	below := math.Ceil(math.Log(ladderDepth) / math.Log(factor))
	load := s.load
	load.FromRPS = s.centre * math.Pow(factor, 0.5-below)
	load.ToRPS = min(s.load.ToRPS, s.centre*ladderTop)
	if s.high == 0 { // all that can be shown is that they hold: five are enough
		below = max(below, 5)
		load.FromRPS, load.ToRPS = s.centre*math.Pow(factor, -below), s.centre
	}
	before := 0
	if s.ladder != nil {
		before = s.ladder.plateau
	}
	s.ladder = &stepScript{load: load, drain: max(s.load.DrainNS, 1), stage: climbing, plateau: before, first: before, definite: s.within > 0}
	s.ladders++
	if s.within > 0 {
		s.ladder.lengths = s.lengths(below)
	}
	return note("doubling_ended", s.centre, fmt.Sprintf("%s; a ladder around %.4g follows", why, s.centre))
}

// again goes back to doubling where a ladder held to its end, though there is
// no end to the rates yet.
func (s *autoScript) again(plateaus []analyze.Plateau) bool {
	l := s.ladder
	over := l.stage == climbing && l.rate() > l.load.ToRPS*(1+1e-9)
	if !over || l.load.ToRPS >= s.load.ToRPS || s.limited || s.ladders == maxLadders || analyze.FirstNotHeld(plateaus) >= 0 {
		return false
	}
	if s.within > 0 && s.spent > s.within/2 {
		return false
	}
	s.stage = trying
	s.low, s.high, s.good = l.load.ToRPS, 0, 0
	s.rate = min(2*l.load.ToRPS, s.load.ToRPS)
	s.tries = 1
	return true
}

// lower reports whether the ladder stands too high: its first plateau did not
// hold. The next stands around what that plateau gave.
func (s *autoScript) lower(plateaus []analyze.Plateau) bool {
	n := len(plateaus)
	if s.ladder.stage != climbing || s.ladder.rung != 1 || s.limited || s.lowered == maxLadders || n == 0 {
		return false
	}
	p := &plateaus[n-1]
	j := analyze.Classify(p, 0)
	if j.Held == nil || *j.Held || j.GoodputRPS < lowTrial {
		return false
	}
	s.lowered++
	s.good = max(j.GoodputRPS, p.TargetRPS/2)
	return true
}

// lengths shares the time that is left among the plateaus to come: below of
// them below the knee, where half the length does unless requests are few, and
// above it as many as the load asks for, with time to recover after each.
func (s *autoScript) lengths(below float64) func(rate float64) (plateau, settle int64) {
	const drained, recovered = 1.05, 1.4 // a plateau and the quiet after it, as multiples of the plateau
	left := float64(s.within - s.spent - reserve)
	above := 1 + float64(s.load.StopAfter)
	settle := max(2*s.settle, second)
	full := int64(judgedLeast)
	if counted := wanted / s.centre * second; counted > judgedLeast {
		full = int64(min(counted, float64(s.within)))
	}
	full += settle
	share := 0.5
	unit := left / (share*drained*below + recovered*(above+float64(len(s.load.Beyond))) + drained*float64(s.load.Refine))
	if s.centre*unit/second < few {
		share = 1
		unit = left / (drained*below + recovered*(above+float64(len(s.load.Beyond))))
	}
	least := settle + 10*s.width
	full = max(min(full, int64(unit)), least)
	settle = min(settle, full/4)
	full -= full % s.width
	low := max(least, int64(share*float64(full)))
	low -= low % s.width
	centre := s.centre
	return func(rate float64) (int64, int64) {
		if rate < 0.95*centre {
			return low, settle
		}
		return full, settle
	}
}

// fit leaves out what there is no time for any more.
func (s *autoScript) fit(plateaus []analyze.Plateau) {
	l := s.ladder
	if s.within == 0 {
		return
	}
	fits := func(rate float64) bool {
		length, _ := l.lengths(rate)
		if rate > s.centre {
			length += min(l.drain, length*2/5)
		}
		return s.spent+length+reserve < s.within
	}
	switch {
	case l.stage == climbing && !fits(l.rate()):
		l.load.ToRPS = min(l.load.ToRPS, l.rate()*0.99) // no further rung
		fallthrough
	case l.stage != climbing && !fits(1.5*s.centre):
		l.load.Refine, l.load.Beyond = l.refined, l.load.Beyond[:l.beyond]
	case l.stage == refining && s.spent+2*s.longest()*int64(1+len(l.load.Beyond)) > s.within:
		l.load.Refine = l.refined // the plateau past the knee comes first
	}
}

func (s *autoScript) longest() int64 {
	n, _ := s.ladder.lengths(2 * s.centre)
	return n
}

// FindTime is about how long a step load from auto takes for a service of the
// given capacity, in requests per second, if each plateau is to carry as many
// requests as resolve a deficit of 5 % at saturation.
func FindTime(capacity float64) time.Duration {
	const resolved, plateaus, doubling = 4094, 10, time.Minute
	if capacity <= 0 {
		return 0
	}
	return doubling + time.Duration(math.Min(plateaus*resolved/capacity, 1e6)*second)
}
