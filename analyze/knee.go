package analyze

import (
	"math"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// The statuses of a knee.
const (
	KneeFound        = "found"
	NotReached       = "not_reached"
	AlreadySaturated = "already_saturated"
	GeneratorLimited = "generator_limited"
	Soft             = "soft"
	KneeInconclusive = "inconclusive"
)

// Reasons of an inconclusive knee.
const (
	reasonBaseErrors  = "base_errors"
	reasonTooFewSteps = "too_few_steps"
	reasonTooNoisy    = "too_noisy"
	reasonUnstable    = "unstable"
	reasonUntrusted   = "untrusted"
	reasonNoPlateaus  = "no_plateaus"
	reasonClosed      = "closed_model"
)

const (
	minPlateaus = 5
	maxWidth    = 0.20 // of the knee: a wider interval is no answer
	softGap     = 0.85 // goodput this far above the first losses is still growing
	// inversion is how far above the lowest plateau that failed the highest
	// that held may lie: both are then within the tolerance of the knee.
	inversion = 1.05
	calmRise  = 1.2 // of the median response time, at which a limit costs nobody time
	explains  = 0.8 // of the deficit, by one kind of outcome
)

const criterion = "a plateau holds when the good answers that came during it fall short of the requests offered by less than 2 % with 95 % confidence, the failure ratio far below saturation left out"

// found is a knee with what margin and post-saturation need besides.
type found struct {
	Knee
	p      float64 // 1 - base failure ratio
	points []int   // indexes into sweep.valid of the hinge's plateaus
	draws  []draw  // the bootstrap; nil for a bracket
	sweep  sweep
	held   *judgedPlateau // the highest that held
	// noHinge leaves the bracket, where nothing is known of the noise.
	noHinge bool
}

// FindKnee looks for the arrival rate above which goodput stops growing, in
// plateaus that may come in any order. The seed, of the run, makes the
// interval repeatable to the last digit.
//
// Method: METHODS.md part "The knee".
func FindKnee(plateaus []Plateau, seed uint64) Knee { return findKnee(plateaus, seed).Knee }

func findKnee(plateaus []Plateau, seed uint64) found {
	f := found{sweep: judgeSweep(plateaus)}
	s := &f.sweep
	f.Knee = Knee{Status: KneeInconclusive, Criterion: criterion}
	f.p = 1 - s.base
	if len(s.valid) > 0 {
		f.BaseErrorRatio = number(s.base)
	}
	f.decide(seed)
	f.NextRun = f.nextRun()
	return f
}

func (f *found) decide(seed uint64) {
	s := &f.sweep
	untrusted := 0
	for i := range s.all {
		if s.all[i].Why == whyUntrusted {
			untrusted++
		}
	}
	switch {
	case len(s.all) == 0:
		f.Reason = reasonNoPlateaus
		return
	case len(s.valid) == 0 && untrusted > 0:
		f.Status, f.Reason = GeneratorLimited, s.limit(-1)
		return
	case len(s.valid) == 0:
		f.Reason = reasonTooFewSteps
		return
	case s.base > maxBaseErrors:
		f.Reason = reasonBaseErrors
		return
	}
	low, up, unstable := s.bracket()
	f.describe(low, up)
	switch {
	case unstable:
		f.Reason = reasonUnstable
		return
	case up < 0 && s.limitedAbove(low):
		f.Status, f.Reason = GeneratorLimited, s.limit(low)
		f.atLeast()
		return
	case len(s.valid) < minPlateaus:
		f.Reason = reasonTooFewSteps
		return
	case up < 0:
		if top := s.valid[len(s.valid)-1]; top.Held != nil && *top.Held {
			f.Status, f.Reason = NotReached, "held_throughout"
			f.atLeast()
			return
		}
		f.Reason = reasonTooNoisy
		return
	case low < 0 && up > 0:
		f.Reason = reasonTooNoisy
		return
	case low < 0:
		f.Status, f.Reason = AlreadySaturated, "lowest_failed"
		return
	}
	f.locate(low, up, seed)
}

// atLeast is the lower bound of a knee that was not reached: the rate of the
// highest plateau that held, less the upper end of its deficit.
func (f *found) atLeast() {
	if f.held != nil {
		f.AtLeast = number(f.held.OfferedRPS * (1 - max(0, f.held.Hi)))
	}
}

// limitedAbove reports whether the generator gave out on a plateau above the
// highest that held.
func (s *sweep) limitedAbove(low int) bool { return s.limit(low) != "" }

// limit is the first reason why the lowest such plateau is untrusted.
func (s *sweep) limit(low int) string {
	for i := range s.all {
		p := &s.all[i]
		if p.Why != whyUntrusted || low >= 0 && p.TargetRPS <= s.valid[low].TargetRPS && p.OfferedRPS <= s.valid[low].OfferedRPS {
			continue
		}
		for _, f := range p.Trust.Findings {
			if f.Severity == "invalidates" {
				return f.Code
			}
		}
	}
	return ""
}

// describe fills in what is known of the two sides of the knee.
func (f *found) describe(low, up int) {
	s := &f.sweep
	if low >= 0 {
		f.HighestHeld = number(s.valid[low].OfferedRPS)
		f.held = &s.valid[low]
		f.DwellS = number(s.valid[low].LengthS)
		if base := s.baseLatency(); base > 0 && s.valid[low].OKp50 != nil {
			f.LatencyRiseHeld = number(*s.valid[low].OKp50 / base)
		}
	}
	if up >= 0 && up < len(s.valid) {
		f.LowestFailed = number(s.valid[up].OfferedRPS)
		f.DwellS = number(s.valid[up].LengthS)
		if low >= 0 && s.valid[low].OKp50 != nil && s.valid[up].OKp50 != nil && *s.valid[low].OKp50 > 0 {
			f.LatencyRiseFailed = number(*s.valid[up].OKp50 / *s.valid[low].OKp50)
		}
		f.Kind = s.kind(low, up)
	}
}

// baseLatency is the median response far below saturation: the lowest among
// the lower half of the valid plateaus, since the very lowest rate may be
// slower than the next by idle processors.
func (s *sweep) baseLatency() float64 {
	best := 0.0
	for i := 0; i <= len(s.valid)/2 && i < len(s.valid); i++ {
		if v := s.valid[i].OKp50; v != nil && (best == 0 || *v < best) {
			best = *v
		}
	}
	return best
}

// kind names what gave way on the lowest plateau that failed.
func (s *sweep) kind(low, up int) string {
	p := &s.valid[up]
	missing := float64(p.Arrivals) - float64(p.Done[record.OK])
	if missing <= 0 {
		return "queueing"
	}
	shed := float64(p.Done[record.Shed]) / missing
	slow := float64(p.Done[record.Timeout]+p.Done[record.Late]) / missing
	switch {
	case shed >= explains && low >= 0 && s.calm(p, &s.valid[low]):
		return "policy"
	case shed >= explains:
		return "shedding"
	case slow >= explains:
		return "timing_out"
	case p.BacklogGrows:
		return "queueing"
	case shed > 0.5:
		return "shedding"
	case slow > 0.5:
		return "timing_out"
	}
	return "queueing"
}

// calm reports whether the good answers on a plateau that failed were as fast
// as on the one that held and as far below saturation: then no resource was
// short, something only counted.
func (s *sweep) calm(failed, held *judgedPlateau) bool {
	base := s.baseLatency()
	return failed.OKp50 != nil && held.OKp50 != nil && base > 0 &&
		*failed.OKp50 < calmRise**held.OKp50 && *failed.OKp50 < calmRise*base
}

// demonstrated is the lower bound of the highest goodput that was shown, and
// the best goodput itself, both as rates of arrival.
func (f *found) demonstrated() (lo, best float64) {
	for i := range f.sweep.valid {
		p := &f.sweep.valid[i]
		t := stat.StudentQuantile(1-0.025/float64(len(f.sweep.valid)), p.df())
		best = max(best, p.GoodputRPS/f.p)
		lo = max(lo, (p.GoodputRPS-t*p.GoodputSE)/f.p)
		if p.Held != nil && *p.Held {
			lo = max(lo, p.OfferedRPS*(1-max(0, p.Deficit+t*p.SE)))
		}
	}
	return lo, best
}

func (f *found) locate(low, up int, seed uint64) {
	s := &f.sweep
	u := s.valid[up].OfferedRPS
	lo, best := f.demonstrated()
	if lo > u/softGap {
		f.Status, f.Reason = Soft, "still_growing"
		return
	}
	var pts []hingePoint
	for i := up; i < len(s.valid); i++ {
		p := &s.valid[i]
		if p.Held != nil && !*p.Held && p.OfferedRPS >= hingeGap*best {
			pts = append(pts, hingePoint{p.OfferedRPS, p.GoodputRPS, p.GoodputSE, p.df()})
			f.points = append(f.points, i)
		}
	}
	if len(pts) >= 2 && !f.noHinge {
		fit := fitHinge(pts, f.p)
		if fit.b > steepest && fit.knee > demonstrate*lo && fit.knee < pts[0].lambda && fit.inflate < maxInflate {
			f.hinge(pts, fit, seed)
			return
		}
	}
	if lo > u {
		f.Status, f.Reason = Soft, "still_growing"
		return
	}
	if f.noHinge {
		lo = min(lo, s.valid[low].OfferedRPS)
	}
	f.Method = "bracket"
	f.settleOn(math.Sqrt(lo*u), lo, u)
	if f.Reason == reasonTooNoisy && len(pts) < 2 {
		f.Reason = reasonTooFewSteps
	}
}

func (f *found) hinge(pts []hingePoint, fit hingeFit, seed uint64) {
	f.Method = "hinge"
	f.draws = bootstrapHinge(pts, f.p, fit, seed)
	knees := make([]float64, len(f.draws))
	for i, d := range f.draws {
		knees[i] = d.knee
	}
	lo, hi, ok := percentileInterval(knees)
	if !ok {
		f.Reason = reasonTooNoisy
		return
	}
	f.settleOn(fit.knee, min(lo, fit.knee*(1-hingeFloor)), max(hi, fit.knee*(1+hingeFloor)))
}

// settleOn accepts a knee unless its interval is too wide.
func (f *found) settleOn(k, lo, hi float64) {
	if (hi-lo)/k > maxWidth {
		f.Reason = reasonTooNoisy
		f.Method = ""
		return
	}
	f.Status, f.Reason = KneeFound, ""
	f.RPS, f.CI95 = number(k), interval(lo, hi)
}
