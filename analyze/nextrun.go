package analyze

import (
	"fmt"
	"math"
)

// nextRun says what to run to know more, with rates.
func (f *found) nextRun() string {
	s := &f.sweep
	top, bottom := 0.0, 0.0
	if n := len(s.all); n > 0 {
		top, bottom = s.all[n-1].OfferedRPS, s.all[0].OfferedRPS
	}
	between := func() string {
		l, u := bottom, top
		if f.HighestHeld != nil {
			l = *f.HighestHeld
		}
		if f.LowestFailed != nil {
			u = *f.LowestFailed
		}
		r := u / l
		return fmt.Sprintf("add plateaus at %s, %s and %s requests per second", rate(l*math.Pow(r, 0.25)), rate(l*math.Sqrt(r)), rate(l*math.Pow(r, 0.75)))
	}
	switch f.Status {
	case KneeFound:
		if f.Method == "bracket" {
			return between() + " to narrow the bracket"
		}
		return ""
	case NotReached:
		return fmt.Sprintf("go on from %s to %s requests per second", rate(*f.HighestHeld), rate(3**f.HighestHeld))
	case AlreadySaturated:
		return fmt.Sprintf("start at %s requests per second, in steps of %s up to %s", rate(bottom/8), rate(bottom/8), rate(1.5*bottom))
	case GeneratorLimited:
		return "raise the generator's own limit that the findings name, use a larger machine or more shards" + above(f.HighestHeld)
	case Soft:
		return fmt.Sprintf("decide how many losses are acceptable, and set a gate on error_ratio or shed_ratio; losses began at %s requests per second", rate(*f.LowestFailed))
	}
	switch f.Reason {
	case reasonBaseErrors:
		return fmt.Sprintf("find out why requests fail at %s requests per second, far below saturation, then run again", rate(bottom))
	case reasonTooFewSteps:
		if f.HighestHeld != nil && f.LowestFailed != nil {
			return between() + fmt.Sprintf(", and two from %s to %s, past the knee", rate(1.15**f.LowestFailed), rate(1.5**f.LowestFailed))
		}
		return fmt.Sprintf("run at least %d plateaus, of at least 10 intervals each after settling, from %s to %s requests per second", minPlateaus+2, rate(bottom/2), rate(2*top))
	case reasonTooNoisy:
		return between() + fmt.Sprintf(", each for at least %s s, so that 25,600 requests fall on each", rate(math.Ceil(25600/max(orElse(f.LowestFailed, top), 1))))
	case reasonUnstable:
		return fmt.Sprintf("repeat the plateaus from %s to %s requests per second, longer and with a longer drain: some held above one that did not", rate(orElse(f.LowestFailed, bottom)), rate(orElse(f.HighestHeld, top)))
	case reasonUntrusted:
		return "make the generator keep its schedule first; the findings name what held it up"
	case reasonNoPlateaus:
		return "run a step load"
	}
	return ""
}

func above(held *float64) string {
	if held == nil {
		return ""
	}
	return fmt.Sprintf(", and go on above %s requests per second", rate(*held))
}

func orElse(p *float64, v float64) float64 {
	if p == nil {
		return v
	}
	return *p
}
