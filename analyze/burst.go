package analyze

import (
	"fmt"
	"math"
	"slices"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// Reasons why a burst has no recovery time, beside those of package stat.
const (
	whyBurstNotDelivered = "burst_not_delivered"
	whyNoRecoveryPhase   = "no_recovery_phase"
)

const (
	recoveryWindow = 20 // intervals that must be inside the bands, but for three
	minBaseline    = 60 // intervals before the disturbance
	// slowDrain is how many times the fluid model's drain a recovery may last
	// before something else than draining must explain it.
	slowDrain = 2.0
)

// burst judges a burst: whether and when the service came back to what it was
// before, and whether it keeps itself down. METHODS part c.
func (r *analysis) burst() {
	if r.header.Format != "burst" || len(r.course) == 0 {
		return
	}
	base, during, after := r.ofKind(record.Base), r.ofKind(record.Burst), r.ofKind(record.Recovery)
	b := &BurstResult{BaseRPS: r.header.Load.RateRPS, BurstRPS: r.header.Load.BurstRPS, LengthS: float64(r.header.Load.LengthNS) / 1e9}
	for _, p := range r.phases {
		switch p.Kind {
		case record.Base:
			b.BaseRPS = p.TargetRPS
		case record.Burst:
			b.BurstRPS, b.LengthS = p.TargetRPS, float64(p.EndNS-p.StartNS)/1e9
		}
	}
	r.out.Burst = b
	var peak int64
	for _, i := range r.course {
		if i.kind != record.Base {
			peak = max(peak, i.backlog)
		}
	}
	if all := sum(slices.Concat(during, after)); all.Scheduled > 0 {
		b.PeakBacklog = number(float64(peak))
	}
	if c := sum(during); c.Scheduled > 0 {
		b.GoodputDuringRatio = number(share(c.By[record.OK], c.Scheduled))
		if sent := share(c.Sent, c.Scheduled); sent < minSentShare {
			r.refuseBurst(b, whyBurstNotDelivered, fmt.Sprintf("only %s %% of the burst's requests were sent, so the service did not see the burst", short(100*sent)))
		}
	}
	if c := sum(after); c.Sent > 0 {
		b.AmplificationAfter = number(float64(c.Attempts) / float64(c.Sent))
	}
	r.vulnerable(b)
	if b.Refused == "" {
		r.recovery(b, base, after)
	}
}

func (r *analysis) refuseBurst(b *BurstResult, code, text string) {
	b.Refused = code
	r.note(code, "caution", 0, 0, text)
}

// vulnerable says, where the knee is known, what a queue of that capacity and
// clients with these retries would do.
func (r *analysis) vulnerable(b *BurstResult) {
	if r.opt.KneeRPS <= 0 {
		return
	}
	b.KneeRPS = number(r.opt.KneeRPS)
	if d := (stat.Fluid{Base: b.BaseRPS, Burst: b.BurstRPS, Capacity: r.opt.KneeRPS, LengthS: b.LengthS}).Drain(); d.Refused == "" {
		b.PredictedDrainS, b.PredictedBacklog = number(d.DrainS), number(d.Backlog)
	}
	v := stat.Vulnerable(b.BaseRPS, r.header.Retries, r.opt.KneeRPS)
	b.Vulnerable = &v
	if v && r.header.Retries > 0 {
		r.note("vulnerable", "caution", b.BaseRPS*float64(r.header.Retries+1), r.opt.KneeRPS, fmt.Sprintf(
			"with %d retries the base load can become %s requests per second once every request fails, more than the knee: clients alone can hold the service down",
			r.header.Retries, rate(b.BaseRPS*float64(r.header.Retries+1))))
	}
}

func (r *analysis) recovery(b *BurstResult, base, after []instant) {
	if len(after) == 0 {
		r.refuseBurst(b, whyNoRecoveryPhase, "the run ended before the load was back at its base, so recovery was not seen")
		return
	}
	base, why := r.baseline(base)
	if why != "" {
		r.refuseBurst(b, string(stat.BaselineUnstable), "the load before the burst gives no baseline: "+why)
		return
	}
	spacing := float64(after[0].widthNS) / 1e9
	got := stat.Recovery(disturbance(base, after), stat.RecoveryOpts{SpacingS: spacing, Baseline: minBaseline / 2})
	yes, no := true, false
	switch {
	case got.Recovered:
		b.Recovered, b.RecoveryS, b.Spiral = &yes, number(nanos(got.TimeS)), &no
		b.RecoveryCI95 = interval(nanos(got.CI[0]), nanos(got.CI[1]))
	case got.Refused == stat.NotRecovered:
		b.Recovered, b.CensoredAtS = &no, number(nanos(got.CensoredAtS))
		r.note("not_recovered", "caution", got.CensoredAtS, 0, fmt.Sprintf("the service was not back to what it was before when the record ended %s s after the burst; last outside: %s", short(got.CensoredAtS), signalWords[got.Last]))
	default:
		r.refuseBurst(b, string(got.Refused), "recovery cannot be judged")
		return
	}
	b.LastSignal = got.Last
	if b.RecoveryS != nil && b.PredictedDrainS != nil && *b.RecoveryS > slowDrain**b.PredictedDrainS+2*spacing {
		r.note("slower_than_drain", "caution", *b.RecoveryS, *b.PredictedDrainS, fmt.Sprintf(
			"recovery took %s s, but draining the backlog at the knee explains only %s s: look for retries, cold caches or garbage collection",
			short(*b.RecoveryS), short(*b.PredictedDrainS)))
	}
	if !got.Recovered {
		var drain float64
		if b.PredictedDrainS != nil {
			drain = *b.PredictedDrainS
		}
		state := r.spiral(base, after, drain)
		if state.known {
			b.Spiral = &state.yes
		}
	}
}

// nanos rounds seconds to whole nanoseconds, as all durations are.
func nanos(s float64) float64 { return math.Round(s*1e9) / 1e9 }

// signalWords are the signals in words, for findings.
var signalWords = map[string]string{
	"response_mean": "mean response time", "response_p99": "response time at p99", "in_flight": "requests in flight",
	"failure_ratio": "share of failures", "goodput_ratio": "share of good answers", "": "none",
}

// disturbance are the signals around something that disturbed the service.
// An interval in which nothing was due says nothing, for or against.
func disturbance(before, after []instant) []stat.Signal {
	signal := func(name string, lower bool, least float64, value func(*instant) float64) stat.Signal {
		quiet := 0.0
		if lower {
			quiet = math.Inf(1)
		}
		return stat.Signal{Name: name, Lower: lower, Least: least, Before: column(before, value), After: column(after, func(i *instant) float64 {
			if i.counts.Scheduled == 0 && name != "in_flight" {
				return quiet
			}
			return value(i)
		})}
	}
	return []stat.Signal{
		signal("response_mean", false, 0, func(i *instant) float64 { return i.meanUS }),
		signal("response_p99", false, 0, func(i *instant) float64 { return i.p99US }),
		signal("in_flight", false, 0, func(i *instant) float64 { return float64(i.backlog) }),
		signal("failure_ratio", false, 0.001, failShare),
		signal("goodput_ratio", true, 0, goodShare),
	}
}

// baseline is the settled part of the base load; why says what is wrong with
// it where there is none.
func (r *analysis) baseline(base []instant) (settled []instant, why string) {
	if len(base) < minBaseline {
		return nil, fmt.Sprintf("%d intervals, %d needed", len(base), minBaseline)
	}
	for i := range r.plateaus {
		p := &r.plateaus[i]
		if p.Phase != base[0].phase {
			continue
		}
		if j := Classify(p, p.errorRatio()); j.class != stable && j.Why != whyUntrusted {
			return nil, "the service did not keep up with it (" + j.Why + ")"
		}
	}
	backlog := column(base, func(i *instant) float64 { return float64(i.backlog) })
	cut := stat.MSER(backlog, stat.MSERSize(len(backlog)))
	if cut.Refused == "" && cut.Settled {
		base = base[min(cut.Discard, len(base)-minBaseline/2):]
	}
	return base, ""
}

// spiralState is whether a service keeps itself down.
type spiralState struct{ known, yes bool }

// spiral judges a service that has not come back, and leaves a finding.
func (r *analysis) spiral(base, after []instant, drainS float64) spiralState {
	good := func(i *instant) float64 { return float64(i.counts.By[record.OK]) }
	late := after[len(after)/2:]
	baseGood, ok := stat.Mean(column(base, good))
	if !ok {
		return spiralState{}
	}
	c := sum(late)
	in := stat.SpiralInput{
		AfterS:          float64(after[len(after)-1].endNS()-after[0].startNS) / 1e9,
		PredictedDrainS: drainS, BaselineGoodput: baseGood,
		Goodput:      stat.MeanBlocks(column(late, good), min(10, len(late))),
		FailureRatio: stat.MeanBlocks(column(after, lostShare), min(20, len(after))),
	}
	if c.Sent > 0 {
		in.Amplification = float64(c.Attempts) / float64(c.Sent)
	}
	for _, i := range late {
		in.AtBound = in.AtBound || i.limited || r.header.MaxInFlight > 0 && i.backlog >= int64(r.header.MaxInFlight)
	}
	state, refused := stat.Spiral(in)
	if refused != "" {
		return spiralState{}
	}
	mean, _ := stat.Mean(in.Goodput)
	if state == stat.SpiralYes {
		r.note("metastable", "caution", in.Amplification, 1.1, fmt.Sprintf(
			"the service keeps itself down: %s s after the disturbance, at the load that it carried before, goodput is %s %% of what it was and does not rise, with %s attempts for each request",
			short(in.AfterS), short(100*mean/baseGood), short(in.Amplification)))
	}
	return spiralState{known: true, yes: state == stat.SpiralYes}
}

// lostShare is failShare with 0 where nothing was due.
func lostShare(i *instant) float64 {
	if i.counts.Scheduled == 0 {
		return 0
	}
	return failShare(i)
}
