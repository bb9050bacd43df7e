package analyze

import (
	"fmt"
	"slices"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// Reasons why a fault cannot be judged, beside those of package stat.
const (
	whyFaultFailed     = "fault_failed"
	whyNotAcknowledged = "not_acknowledged"
	whyNoBaseline      = "no_baseline"
	whyNeverLifted     = "never_lifted"
	whyNothingDuring   = "no_arrivals"
)

// The degraded modes: what is left of goodput while a fault lasts.
const (
	DegradedYes     = "yes"
	DegradedPartial = "partial"
	DegradedNo      = "no"
)

const (
	degradedYes     = 0.9
	degradedNo      = 0.1
	minFaultBase    = 10 // intervals before a fault for its ratios
	afterwardsNS    = 20_000_000_000
	detectionWindow = 3 // following intervals, most of which must be outside too
)

// outage is when a fault was there.
type outage struct {
	on, off        int64
	known, lifted  bool
	failed, always bool
}

func (r *analysis) outages(events []record.FaultEvent) []outage {
	out := make([]outage, len(r.header.Faults))
	for _, e := range events {
		if e.Fault < 0 || e.Fault >= len(out) {
			continue
		}
		o := &out[e.Fault]
		switch e.Event {
		case "acknowledged":
			if !o.known {
				o.on, o.known = e.AtNS, true
			}
		case "lifted":
			if !o.lifted && o.known {
				o.off, o.lifted = e.AtNS, true
			}
		case "failed":
			o.failed = true
		}
	}
	for i, f := range r.header.Faults {
		out[i].always = f.AtNS == 0 && f.ForNS == 0
		if !out[i].lifted {
			out[i].off = max(r.endNS, r.end.AtNS)
		}
	}
	return out
}

// chaos judges every fault by the instants at which it was acknowledged and
// lifted.
func (r *analysis) chaos(ev record.Evidence) {
	if len(r.header.Faults) == 0 {
		return
	}
	course := slices.DeleteFunc(slices.Clone(r.course), func(i instant) bool { return i.widthNS < r.header.IntervalNS*9/10 })
	outages := r.outages(ev.FaultEvents())
	for i := range r.header.Faults {
		r.out.Chaos = append(r.out.Chaos, r.fault(i, outages, course))
	}
}

func (r *analysis) fault(i int, outages []outage, course []instant) ChaosResult {
	f, o := r.header.Faults[i], outages[i]
	c := ChaosResult{Fault: faultName(f, i), AtS: float64(f.AtNS) / 1e9, ForS: float64(f.ForNS) / 1e9, OutcomesDuring: Outcomes{}}
	switch {
	case o.known:
		c.AcknowledgedAtS = number(float64(o.on) / 1e9)
		if o.lifted {
			c.ForS = float64(o.off-o.on) / 1e9
		}
	case o.failed:
		return r.refuseFault(c, whyFaultFailed, "the fault could not be brought about")
	default:
		return r.refuseFault(c, whyNotAcknowledged, "nothing acknowledged the fault, so it is not known to have happened")
	}
	during := between(course, o.on, o.off)
	if len(during) == 0 {
		during = touching(course, o.on, o.off)
	}
	counts := sum(during)
	c.OutcomesDuring = outcomes(counts.By)
	if counts.Scheduled == 0 {
		return r.refuseFault(c, whyNothingDuring, "no request was due while the fault lasted")
	}
	base := r.beforeFault(i, outages, course)
	if len(base) < minFaultBase {
		c.Refused = whyNoBaseline
		return c
	}
	before := sum(base)
	if before.By[record.OK] > 0 {
		ratio := min(1, goodOf(&counts)/goodOf(&before))
		c.GoodputRatioDuring, c.DegradedMode = number(ratio), degradedMode(ratio, &counts)
	}
	c.DetectedAfterS = detected(base, course, o.on)
	r.faultRecovery(&c, i, outages, base, course)
	return c
}

func faultName(f record.Fault, i int) string {
	switch {
	case f.Name != "":
		return f.Name
	case f.On != "":
		return f.On + " " + f.Kind
	}
	return fmt.Sprintf("%s %d", f.Kind, i)
}

func (r *analysis) refuseFault(c ChaosResult, code, text string) ChaosResult {
	c.Refused = code
	r.findings = append(r.findings, Finding{Code: code, Severity: "caution", Scope: "fault " + c.Fault, Text: text})
	return c
}

func goodOf(c *record.Counts) float64 { return share(c.By[record.OK], c.Scheduled) }

// between are the intervals that lie within [from, to].
func between(course []instant, from, to int64) []instant {
	var out []instant
	for _, i := range course {
		if i.startNS >= from && i.endNS() <= to {
			out = append(out, i)
		}
	}
	return out
}

// touching are the intervals that overlap [from, to].
func touching(course []instant, from, to int64) []instant {
	var out []instant
	for _, i := range course {
		if i.startNS < to && i.endNS() > from {
			out = append(out, i)
		}
	}
	return out
}

// beforeFault are the intervals before a fault that no other fault touches,
// nor the 20 s after one. Faults that last the whole run are part of the
// baseline.
func (r *analysis) beforeFault(i int, outages []outage, course []instant) []instant {
	return slices.DeleteFunc(between(course, 0, outages[i].on), func(in instant) bool {
		for k, o := range outages {
			if k != i && o.known && !o.always && in.startNS < o.off+afterwardsNS && in.endNS() > o.on {
				return true
			}
		}
		return false
	})
}

// degradedMode says whether the service has one. One that refuses on purpose
// has half a mode: it fails fast and says so.
func degradedMode(ratio float64, during *record.Counts) string {
	switch {
	case ratio >= degradedYes:
		return DegradedYes
	case ratio >= degradedNo, share(during.By[record.Shed], during.Scheduled) >= degradedYes:
		return DegradedPartial
	}
	return DegradedNo
}

// detected is the time, in seconds, from the fault to the first interval
// outside a band that most of the next ones are outside of as well; nil where
// the fault was not felt.
func detected(base, course []instant, onNS int64) *float64 {
	after := touching(course, onNS, course[len(course)-1].endNS())
	var outside [][]bool
	for _, s := range disturbance(base, after) {
		band, why := stat.Band(s, stat.RecoveryOpts{Baseline: minFaultBase})
		if why != "" {
			continue
		}
		out := make([]bool, len(s.After))
		for i, v := range s.After {
			out[i] = !(v <= band)
			if s.Lower {
				out[i] = !(v >= band)
			}
		}
		outside = append(outside, out)
	}
	for i := range after {
		for _, out := range outside {
			n := 0
			for k := i + 1; k <= i+detectionWindow && k < len(out); k++ {
				if out[k] {
					n++
				}
			}
			if out[i] && (2*n > detectionWindow || i+1 == len(out)) {
				return number(max(0, float64(after[i].startNS-onNS)/1e9))
			}
		}
	}
	return nil
}

// faultRecovery judges what came after the fault, up to the next one.
func (r *analysis) faultRecovery(c *ChaosResult, i int, outages []outage, base, course []instant) {
	o := outages[i]
	if !o.lifted {
		c.Refused = whyNeverLifted
		return
	}
	until := course[len(course)-1].endNS()
	for k, other := range outages {
		if k != i && other.known && !other.always && other.on >= o.off {
			until = min(until, other.on)
		}
	}
	after := between(course, o.off, until)
	if len(after) == 0 {
		c.Refused = whyNoRecoveryPhase
		return
	}
	spacing := float64(after[0].widthNS) / 1e9
	got := stat.Recovery(disturbance(base, after), stat.RecoveryOpts{SpacingS: spacing, Baseline: minBaseline / 2})
	yes, no := true, false
	switch {
	case got.Recovered:
		c.Recovered, c.RecoveryS = &yes, number(nanos(got.TimeS))
		if got.TimeS > 0 {
			c.RecoveryS = number(nanos(got.TimeS + float64(after[0].startNS-o.off)/1e9))
		}
	case got.Refused == stat.NotRecovered && len(after) > recoveryWindow:
		c.Recovered, c.CensoredAtS = &no, number(nanos(got.CensoredAtS))
		r.findings = append(r.findings, Finding{
			Code: "not_recovered", Severity: "caution", Scope: "fault " + c.Fault, Measured: number(got.CensoredAtS),
			Text: fmt.Sprintf("the service was not back to what it was before when the record, or the time to the next fault, ended %s s after the fault; last outside: %s", short(got.CensoredAtS), signalWords[got.Last]),
		})
		if s := r.spiral(base, after, 0); s.known {
			c.Spiral = &s.yes
		}
	case got.Refused == stat.NotRecovered:
		c.Refused = string(stat.TooShort)
	default:
		c.Refused = string(got.Refused)
	}
}
