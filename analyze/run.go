package analyze

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"time"

	"headroom/store/record"
)

// Options of an analysis, from the command line.
type Options struct {
	Gates   []string // besides those of the plan
	PeakRPS float64  // production peak, in place of the plan's; 0: the plan's
	KneeRPS float64  // the service's knee, for what a burst is compared with; 0: not known
	// Brief leaves out the tests of the arrival process, on which no verdict
	// rests and which take a third of the time.
	Brief bool
}

// Run analyses a run. It depends on nothing but the evidence and the options:
// the same evidence gives the same answer to the last digit. An error means
// that there is no answer at all: evidence that cannot be read or that
// contradicts its own header, or a gate that cannot be read.
func Run(ev record.Evidence, opt Options) (*Analysis, error) {
	gates, err := parseGates(ev.Header().Gates, opt.Gates)
	if err != nil {
		return nil, err
	}
	f, err := foldEvidence(ev)
	if err != nil {
		return nil, err
	}
	r := &analysis{fold: f, opt: opt, end: ev.End(), digest: ev.Digest()}
	r.out = emptyAnalysis()
	if err := r.do(ev, gates); err != nil {
		return nil, err
	}
	return r.out, nil
}

// emptyAnalysis has every list that JSON shows as a list.
func emptyAnalysis() *Analysis {
	return &Analysis{
		Schema: Schema, Thresholds: []ThresholdCount{}, Classes: []ClassResult{}, Steps: []StepResult{},
		PostSaturation: []PostSaturation{}, Chaos: []ChaosResult{}, Resources: []Resource{}, Gates: []GateResult{}, Findings: []Finding{},
	}
}

// analysis is one analysis under way.
type analysis struct {
	*fold
	opt      Options
	end      record.End
	digest   string
	out      *Analysis
	knee     found
	trust    PlateauTrust
	peak     *record.Production
	broke    *breakdown
	findings []Finding
}

func (r *analysis) do(ev record.Evidence, gates []record.Gate) error {
	o := r.out
	o.Run = r.runInfo()
	o.Accounting = r.accounting(r.end.Conns)
	var err error
	if o.Classes, err = r.classes(); err != nil {
		return err
	}
	if o.Latency, err = r.latencies(); err != nil {
		return err
	}
	o.Thresholds = r.thresholds()
	o.Judged = r.judgedPart()
	r.findKnee()
	if err := r.judgeRun(ev); err != nil {
		return err
	}
	r.limitKnee()
	r.steps()
	r.margin()
	r.postSaturation(gates)
	series, err := observe(ev)
	if err != nil {
		return err
	}
	o.Resources = r.resources(series)
	r.burst()
	r.chaos(ev)
	r.soak(series)
	r.breakdowns()
	r.notes(ev)
	o.Gates = r.judgeGates(gates)
	r.verdict()
	r.finish()
	return nil
}

func (r *analysis) runInfo() *RunInfo {
	h := &r.header
	state := r.end.State
	if state == record.Recording || state == "" {
		state = record.Interrupted
	}
	duration := r.end.AtNS
	if duration == 0 {
		duration = r.endNS
	}
	shards := max(h.Shards, 1)
	return &RunInfo{
		ID: h.RunID, Name: h.Name, Release: h.Release, Model: string(h.Model), Format: h.Format,
		Started: h.Started.UTC().Format(time.RFC3339), State: string(state), StateReason: r.end.Reason, Seed: h.Seed,
		IntervalS: float64(h.IntervalNS) / 1e9, DurationS: float64(duration) / 1e9,
		TimeoutS: float64(h.TimeoutNS) / 1e9, DeadlineS: float64(h.DeadlineNS) / 1e9,
		PlanDigest: h.PlanDigest, EvidenceDigest: r.digest, ComparableKey: h.Comparable, ToolVersion: h.ToolVersion, Shards: shards,
		Facts: FactsResult{Generator: orEmpty(r.facts.Generator), Target: orEmpty(r.facts.Target), Changed: append([]string{}, r.facts.Changed...)},
	}
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return maps.Clone(m)
}

// bootstrapSeed depends on the evidence alone.
func (r *analysis) bootstrapSeed() uint64 {
	sum := sha256.Sum256([]byte(r.digest + "\x00" + r.header.RunID))
	return binary.LittleEndian.Uint64(sum[:])
}

// latencies are over all judged windows. Where there is one phase, its
// percentiles have intervals.
func (r *analysis) latencies() (*Latencies, error) {
	limit := float64(r.header.TimeoutNS) / 1000
	var oks, others, services []*record.Histogram
	var cut uint64
	for i := range r.plateaus {
		p := &r.plateaus[i]
		oks, others, services = append(oks, p.hist.ok), append(others, p.hist.other), append(services, p.hist.service)
		cut += p.Counts.By[record.Timeout] + p.Counts.By[record.Unfinished]
	}
	var l Latencies
	var err error
	for _, m := range []struct {
		into *LatencyUS
		cut  uint64
		hs   []*record.Histogram
	}{
		{&l.Response, cut, slices.Concat(oks, others)},
		{&l.Service, cut, services},
		{&l.OKResponse, 0, oks},
		{&l.FailedResponse, cut, others},
	} {
		if *m.into, err = merged(r.header.MaxUS, m.cut, limit, mixedRates, m.hs...); err != nil {
			return nil, err
		}
	}
	if len(r.plateaus) == 1 {
		l.Response, l.Service = r.plateaus[0].Resp, r.plateaus[0].Serv
	}
	return &l, nil
}

// judgedPart sums the judged windows.
func (r *analysis) judgedPart() *JudgedPart {
	var c record.Counts
	var width int64
	for i := range r.plateaus {
		c.Add(&r.plateaus[i].Counts)
		width += r.plateaus[i].widthNS()
	}
	return &JudgedPart{
		Seconds: float64(width) / 1e9, Scheduled: c.Scheduled, OfferedRPS: perSecond(c.Scheduled, width),
		GoodputRPS: perSecond(c.By[record.OK], width), Outcomes: outcomes(c.By),
	}
}

// thresholds are the exact counters over all judged windows, against all
// requests that were scheduled in them.
func (r *analysis) thresholds() []ThresholdCount {
	out := make([]ThresholdCount, len(r.header.Thresholds))
	for i, t := range r.header.Thresholds {
		out[i] = ThresholdCount{Name: t.Name, LimitUS: float64(t.LimitNS) / 1000}
		for k := range r.plateaus {
			out[i].Total += r.plateaus[k].Counts.Scheduled
			for c := range r.plateaus[k].Cells {
				out[i].AtOrBelow += at(r.plateaus[k].Cells[c].AtOrBelow, i)
			}
		}
	}
	return out
}

func at(x []uint64, i int) uint64 {
	if i < len(x) {
		return x[i]
	}
	return 0
}

// findKnee looks for a knee where the load was a sweep in an open loop.
func (r *analysis) findKnee() {
	plateaus := r.fold.steps()
	switch {
	case r.header.Model == record.Closed && (r.header.Format == "step" || len(plateaus) > 0):
		r.knee = found{Knee: Knee{Status: KneeInconclusive, Reason: reasonClosed, Criterion: criterion, NextRun: "run a step load in an open loop: users who wait hide the knee"}}
		if len(plateaus) > 0 {
			r.knee.sweep = judgeSweep(plateaus)
		}
	case r.header.Format != "step" && len(plateaus) == 0:
		r.knee = found{}
		return
	default:
		r.knee = findKnee(plateaus, r.bootstrapSeed())
	}
	r.out.Knee = &r.knee.Knee
}

// limitKnee takes the knee back where the run cannot be trusted.
func (r *analysis) limitKnee() {
	k := &r.knee
	if k.Status == "" || len(r.law) == 0 && r.trust.Verdict != Untrusted {
		return
	}
	switch {
	case k.Status == GeneratorLimited && len(r.law) == 0:
		return
	case len(r.law) > 0:
		k.Reason = "law_broken"
	default:
		k.Reason = reasonUntrusted
	}
	k.Status, k.RPS, k.CI95, k.Kind, k.Method, k.draws = KneeInconclusive, nil, nil, "", "", nil
	k.NextRun = k.nextRun()
}

// steps tells every plateau, in the order of time.
func (r *analysis) steps() {
	by := map[int]*judgedPlateau{}
	for i := range r.knee.sweep.all {
		by[r.knee.sweep.all[i].Phase] = &r.knee.sweep.all[i]
	}
	for i := range r.plateaus {
		p, ok := by[r.plateaus[i].Phase]
		if !ok {
			continue
		}
		r.out.Steps = append(r.out.Steps, p.result())
		r.findings = append(r.findings, p.Trust.Findings...)
	}
}

func (p *judgedPlateau) result() StepResult {
	s := StepResult{
		Index: p.Index, Phase: p.Phase, Kind: string(p.Kind), TargetRPS: p.TargetRPS,
		OfferedRPS: p.OfferedRPS, GoodputRPS: p.GoodputRPS, CompletionsRPS: p.DoneRPS,
		Held: p.Held, Why: p.Why, Trust: p.Trust.Verdict, Reasons: append([]string{}, p.Trust.Reasons...),
		WindowS:  Interval{float64(p.FromNS) / 1e9, float64(p.ToNS) / 1e9},
		Response: p.Resp, Service: p.Serv, LagP99US: p.Trust.Lag.P99, Outcomes: outcomes(p.Counts.By),
	}
	if p.Trust.Factor != nil {
		s.OmissionFactor = p.Trust.Factor.P99
	}
	if p.WidthS > 0 {
		s.BacklogStart, s.BacklogEnd, s.BacklogSlope = number(p.BacklogStart), number(p.BacklogEnd), number(p.BacklogSlope)
	}
	if p.Blocks > 0 {
		half := p.t() * p.GoodputSE
		s.GoodputCI95 = interval(max(0, p.GoodputRPS-half), p.GoodputRPS+half)
		s.Deficit, s.DeficitCI95 = number(p.Deficit), interval(p.Lo, p.Hi)
	}
	return s
}

// notes repeats what the run itself wanted remembered.
func (r *analysis) notes(ev record.Evidence) {
	for _, n := range ev.Notes() {
		scope := "run"
		if n.Phase >= 0 {
			scope = fmt.Sprintf("phase %d", n.Phase)
		}
		f := Finding{Code: n.Code, Severity: string(n.Severity), Scope: scope, Text: n.Text}
		if n.Measured != 0 || n.Limit != 0 {
			f.Measured, f.Limit = number(n.Measured), number(n.Limit)
		}
		r.findings = append(r.findings, f)
	}
	if len(r.facts.Changed) > 0 {
		r.findings = append(r.findings, Finding{
			Code: "facts_changed", Severity: "caution", Scope: "run", Measured: number(float64(len(r.facts.Changed))), Limit: number(0),
			Text: fmt.Sprintf("facts were different at the end of the run: %v", r.facts.Changed),
		})
	}
}
