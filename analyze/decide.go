package analyze

import (
	"math"
	"slices"

	"headroom/store/record"
)

// What a step load decides while it runs rests on the same judgement as the
// analysis afterwards. (The runner depends on these signatures.)

// byTime judges the plateaus and gives the verdicts in the order of the slice:
// true held, false did not hold or can't be trusted, nil can't be said.
func byTime(plateaus []Plateau) []*bool {
	s := judgeSweep(plateaus)
	verdict := map[int]*bool{}
	for _, j := range s.all {
		held := j.Held
		if j.Trust.Verdict == Untrusted {
			no := false
			held = &no
		}
		verdict[j.Phase] = held
	}
	all := make([]*bool, len(plateaus))
	for i := range plateaus {
		all[i] = verdict[plateaus[i].Phase]
	}
	return all
}

// FirstNotHeld is the index of the first plateau, in the order given, that did
// not hold, with those just before it of which it can't be said. Where the
// last plateaus can't be trusted or judged, one after the other without one
// that held, the first of them counts too: the generator will not do better at
// higher rates. It is -1 where neither is so.
func FirstNotHeld(plateaus []Plateau) int {
	held := byTime(plateaus)
	first := len(held)
	for i, h := range held {
		if h != nil && !*h && plateaus[i].Trust.Verdict != Untrusted {
			first = i
			break
		}
	}
	for first > 0 && (held[first-1] == nil || !*held[first-1]) {
		first--
	}
	if first == len(held) {
		return -1
	}
	return first
}

// Disturbed reports whether the generator can't be trusted on the plateau for a
// reason that may pass: it was held up by the machine, and reached no limit of
// its own. Such a plateau is worth repeating.
func Disturbed(p Plateau) bool {
	if p.Trust.Verdict != Untrusted || p.Lacks != "" {
		return false
	}
	return !slices.ContainsFunc(p.Trust.Findings, func(f Finding) bool {
		return f.Severity == string(record.Invalidates) && (f.Code == "dropped" || f.Code == "generator_errors" || f.Code == "own_limit_reached")
	})
}

// around is the highest rate that held below the lowest that failed; rates in
// requests per second. Untrusted plateaus are neither.
func around(plateaus []Plateau) (held, failed float64) {
	failed = math.Inf(1)
	s := judgeSweep(plateaus)
	for _, j := range s.all {
		if j.Held != nil && !*j.Held && j.Trust.Verdict != Untrusted {
			failed = min(failed, j.TargetRPS)
		}
	}
	for _, j := range s.all {
		if j.Held != nil && *j.Held && j.TargetRPS < failed {
			held = max(held, j.TargetRPS)
		}
	}
	return held, failed
}

// KneeSoFar is the best estimate of the knee, in requests per second, from the
// plateaus so far: where the analysis finds one, that; else the middle, on a
// logarithmic scale, between the highest rate that held and the lowest that
// failed. ok is false where nothing failed.
func KneeSoFar(plateaus []Plateau) (rps float64, ok bool) {
	if k := FindKnee(plateaus, 1); k.RPS != nil && k.Status == KneeFound {
		return *k.RPS, true
	}
	held, failed := around(plateaus)
	switch {
	case math.IsInf(failed, 1):
		return 0, false
	case held == 0:
		return failed, true
	}
	return math.Sqrt(held * failed), true
}

// NextRefine is the rate, in requests per second, of the next plateau of the
// bisection between the highest that held and the lowest that failed. ok is
// false where there is no such pair, or it is narrower than 1 %.
func NextRefine(plateaus []Plateau) (rps float64, ok bool) {
	held, failed := around(plateaus)
	if held == 0 || math.IsInf(failed, 1) || failed/held < 1.01 {
		return 0, false
	}
	tried := func(rate float64) bool {
		return slices.ContainsFunc(plateaus, func(p Plateau) bool { return math.Abs(p.TargetRPS/rate-1) < 0.005 })
	}
	// A plateau in the middle of which nothing could be said narrows nothing:
	// try the quarters instead.
	for _, share := range []float64{0.5, 0.25, 0.75} {
		next := held * math.Pow(failed/held, share)
		if !tried(next) {
			return next, true
		}
	}
	return 0, false
}

// IdleResponseNS is the response time, in nanoseconds, above which a service
// that was just overloaded is not idle yet: twice the 99th percentile of the
// lowest plateau that held. ok is false where the last plateau held, or none did.
func IdleResponseNS(plateaus []Plateau) (ns int64, ok bool) {
	held := byTime(plateaus)
	if len(held) == 0 || held[len(held)-1] != nil && *held[len(held)-1] {
		return 0, false
	}
	lowest := -1
	for i, h := range held {
		if h != nil && *h && (lowest < 0 || plateaus[i].TargetRPS < plateaus[lowest].TargetRPS) {
			lowest = i
		}
	}
	if lowest < 0 || plateaus[lowest].Resp.P99 == nil {
		return 0, false
	}
	return int64(2 * 1000 * *plateaus[lowest].Resp.P99), true
}
