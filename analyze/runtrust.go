package analyze

import (
	"fmt"
	"slices"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// judgeRun judges the run as a whole: the same clauses as for a plateau, over
// all judged windows together. Plateaus past the knee on which the generator
// gave out are left out, since the answer does not rest on them; they leave a
// caution.
func (r *analysis) judgeRun(ev record.Evidence) error {
	e := trustEvidence{
		lag: record.NewHistogram(r.header.MaxUS), response: record.NewHistogram(r.header.MaxUS),
		service: record.NewHistogram(r.header.MaxUS), model: clockModel(&r.header),
		shares: sharesCPUs(r.facts) && !r.header.BuiltIn,
	}
	spared := r.pastKnee()
	var bad []int
	for i := range r.plateaus {
		p := &r.plateaus[i]
		if p.Trust.Verdict == Untrusted {
			bad = append(bad, p.Index)
			if spared[p.Phase] {
				continue
			}
		}
		pe := p.evidence(&r.header, false)
		if err := e.merge(&pe); err != nil {
			return err
		}
	}
	t := judgeTrust(e, "run")
	if len(r.plateaus) == 0 {
		t = PlateauTrust{Verdict: Untrusted, Reasons: []string{"no_arrivals"}, Findings: []Finding{{
			Code: "no_arrivals", Severity: "invalidates", Scope: "run", Measured: number(0), Limit: number(1),
			Text: "the run has no judged phase: nothing can be said",
		}}}
	}
	if len(r.knee.sweep.all) > 0 && len(bad) > 0 && t.Verdict == Trusted {
		t.Verdict = Suspect
	}
	for _, p := range bad {
		for i := range r.plateaus {
			if r.plateaus[i].Index == p {
				t.Reasons = append(t.Reasons, invalidating(r.plateaus[i].Trust.Findings)...)
			}
		}
	}
	slices.Sort(t.Reasons)
	t.Reasons = slices.Compact(t.Reasons)
	estimate := r.imported(&t)
	r.trust = t
	r.findings = append(r.findings, t.Findings...)
	out := &Trust{
		Verdict: t.Verdict, Reasons: append([]string{}, t.Reasons...), OmissionFactor: t.Factor, OmissionEstimate: estimate,
		LateSends:         LateSends{e.late[0], e.late[1], e.late[2], e.late[3]},
		CPU:               GeneratorCPU{GeneratorShareMax: t.CPUMax},
		UntrustedPlateaus: append([]int{}, bad...),
	}
	if t.Lag.P50 != nil {
		lag := t.Lag
		out.LagUS = &lag
	}
	if v, known := r.facts.Generator["shares_cpus_with_target"]; known && v != "" {
		shares := sharesCPUs(r.facts)
		out.CPU.SharesWithTarget = &shares
	}
	if e.widthNS > 0 {
		out.PeakSentRPS100ms, out.LimitedShare = number(t.PeakSent), number(t.Limited)
		out.GCPauseMaxMS, out.SleeperLateMaxMS = number(t.GCMaxMS), number(t.SleepMS)
	}
	r.out.Trust = out
	r.watch(&t)
	r.plainTimer()
	r.littlesLaw(out)
	r.conservation()
	return r.arrivals(ev, out, spared)
}

func invalidating(fs []Finding) []string {
	var codes []string
	for _, f := range fs {
		if f.Severity == "invalidates" {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// pastKnee are the phases of the untrusted plateaus that lie above the lowest
// plateau that failed.
func (r *analysis) pastKnee() map[int]bool {
	out := map[int]bool{}
	if r.knee.LowestFailed == nil {
		return out
	}
	for i := range r.knee.sweep.all {
		if p := &r.knee.sweep.all[i]; p.OfferedRPS > *r.knee.LowestFailed {
			out[p.Phase] = true
		}
	}
	return out
}

const (
	gcPauseLimitMS = 10
	sleeperLimitMS = 100
)

// watch tells what the generator's watch on itself found that trust does not
// depend on.
func (r *analysis) watch(t *PlateauTrust) {
	if t.GCMaxMS > gcPauseLimitMS {
		r.note("gc_pause", "note", t.GCMaxMS, gcPauseLimitMS, fmt.Sprintf("the generator's longest stop for garbage collection was %s ms", short(t.GCMaxMS)))
	}
	if t.SleepMS > sleeperLimitMS {
		r.note("sleeper_late", "note", t.SleepMS, sleeperLimitMS, fmt.Sprintf("a sleeper that should wake every 50 ms woke up to %s ms late: the machine was busy or stopped", short(t.SleepMS)))
	}
}

// plainTimer tells of an engine that sleeps on an ordinary timer, for want of a
// better one on its system. Response time counts from the scheduled instant, so
// what the timer is late is in it.
func (r *analysis) plainTimer() {
	if r.facts.Target["timer"] != "plain" {
		return
	}
	r.findings = append(r.findings, Finding{
		Code: "plain_timer", Severity: "note", Scope: "run",
		Text: "the sender had only a plain timer here, which may wake it a millisecond late: lag, and response times of few milliseconds, contain that",
	})
}

func (r *analysis) note(code, severity string, measured, limit float64, text string) {
	r.findings = append(r.findings, Finding{Code: code, Severity: severity, Scope: "run", Measured: number(measured), Limit: number(limit), Text: text})
}

// littlesLaw compares the requests seen in flight with arrivals times response
// time, over the windows that the service kept up with.
func (r *analysis) littlesLaw(out *Trust) {
	held := map[int]bool{}
	for i := range r.knee.sweep.all {
		if p := &r.knee.sweep.all[i]; p.Held != nil && *p.Held {
			held[p.Phase] = true
		}
	}
	var seen, expected float64 // request-nanoseconds
	var width int64
	n := 0
	for i := range r.plateaus {
		p := &r.plateaus[i]
		if len(r.knee.sweep.all) > 0 && !held[p.Phase] {
			continue
		}
		for k := range p.rows {
			seen += float64(p.rows[k].backlog) * float64(p.rows[k].widthNS)
			width += p.rows[k].widthNS
			n++
		}
		expected += float64(p.hist.ok.SumNS()) + float64(p.hist.other.SumNS())
	}
	if n < 10 || expected <= 0 || width == 0 {
		return
	}
	out.LittlesLawRatio = number(seen / expected)
	if mean := expected / float64(width); n >= 30 && mean >= 5 && (seen/expected > 1.25 || seen/expected < 0.8) {
		r.note("littles_law", "caution", seen/expected, 1, fmt.Sprintf(
			"%s requests were seen in flight on average, but arrivals times response time say %s: one of the two is not what it seems", short(seen/float64(width)), short(mean)))
	}
}

// conservation compares what came, what ended and what was left, by the clock,
// in every judged window.
func (r *analysis) conservation() {
	for i := range r.plateaus {
		p := &r.plateaus[i]
		if len(p.rows) == 0 {
			continue
		}
		var came, ended float64
		for k := range p.rows {
			came += float64(p.rows[k].scheduled)
			ended += float64(p.rows[k].total())
		}
		left := float64(p.rows[len(p.rows)-1].backlog - p.before)
		if gap := came - ended - left; gap > 10+0.01*came || gap < -10-0.01*came {
			r.findings = append(r.findings, Finding{
				Code: "conservation", Severity: "caution", Scope: fmt.Sprintf("step %d", p.Index),
				Measured: number(gap), Limit: number(0),
				Text: fmt.Sprintf("%.0f requests came, %.0f ended and the backlog grew by %.0f: the counts by the clock do not add up", came, ended, left),
			})
		}
	}
}

// arrivalCodes are the finding codes of the reasons to reject arrivals.
var arrivalCodes = map[string]string{
	stat.ArrivalsStalled: "arrivals_stalled", stat.ArrivalsRounded: "arrivals_rounded",
	stat.ArrivalsBursty: "arrivals_bursty", stat.ArrivalsDependent: "arrivals_dependent",
	stat.ArrivalsTooRegular: "arrivals_too_regular", stat.ArrivalsDrifting: "arrivals_rate_drift",
	stat.ArrivalsWrongRate: "arrivals_wrong_rate",
}

// arrivals tests whether the send instants are those of the process that the
// plan asked for.
func (r *analysis) arrivals(ev record.Evidence, out *Trust, spared map[int]bool) error {
	fit := &ArrivalFit{Model: r.header.Arrivals, Verdict: stat.ArrivalsNotTested}
	out.Arrivals = fit
	if r.opt.Brief {
		fit.Reason = "left_out"
		return nil
	}
	rates := map[int]float64{}
	for i := range r.plateaus {
		if p := &r.plateaus[i]; !spared[p.Phase] || p.Trust.Verdict != Untrusted {
			rates[p.Phase] = p.TargetRPS
		}
	}
	var windows []stat.ArrivalWindow
	for s, err := range ev.SendSamples() {
		if err != nil {
			return fmt.Errorf("reading send samples: %w", err)
		}
		if target, ok := rates[s.Phase]; ok {
			windows = append(windows, stat.ArrivalWindow{ScheduledNS: s.Scheduled, SentNS: s.Sent, Rate: target})
		}
	}
	if len(windows) == 0 {
		fit.Reason = "no_samples"
		return nil
	}
	opts := stat.ArrivalOpts{Seed: r.bootstrapSeed(), Dropped: r.total.By[record.Dropped]}
	if p := r.out.Latency.Response.P50; p != nil {
		opts.ResponseP50NS = *p * 1000
	}
	v := stat.ArrivalVerdict(windows, opts)
	fit.Windows = v.Windows
	if v.Windows > 0 {
		fit.Dispersion, fit.GapCV, fit.GapKSP = number(v.Dispersion), number(v.GapCV), number(v.GapKSP)
	}
	if r.header.Arrivals != "poisson" || r.header.Model != record.Open {
		fit.Reason, fit.GapKSP = "not_poisson_by_plan", nil
		return nil
	}
	fit.Verdict, fit.Reason = v.Verdict, v.Reason
	if v.Verdict == stat.ArrivalsRejected {
		code := arrivalCodes[v.Reason]
		if code == "" {
			code = "arrivals_" + v.Reason
		}
		r.note(code, "caution", v.LewisD, 0.02, fmt.Sprintf(
			"the requests did not leave as a Poisson process (%s): index of dispersion %s, variation of the gaps %s, both 1 for a Poisson process", v.Reason, short(v.Dispersion), short(v.GapCV)))
	}
	return nil
}
