package analyze

import (
	"fmt"
	"slices"

	"headroom/store/record"
)

// The verdicts of trust, from good to bad.
const (
	Trusted   = "trusted"
	Suspect   = "suspect"
	Untrusted = "untrusted"
)

// The limits of SPEC section 4, in its order. Above the first value of a pair
// a plateau is untrusted, above the second suspect.
const (
	maxFactorP99    = 2.0
	cautionFactor99 = 1.2
	cautionFactor   = 2.0   // at p99.9
	maxLateShare    = 0.01  // of the sends, later than max(10 ms, half the median service time)
	cautionLate     = 0.001 // of the sends, later than 10 ms
	maxOwnFaults    = 0.001 // of the scheduled, dropped or ended by our own fault
	minSentShare    = 0.99
	maxLimitedShare = 0.01 // of the time, at a limit of our own
	maxStarvedShare = 0.1  // of the time, without processor time left
	cautionCPU      = 0.8  // of the processors that the generator may use
	starvedCPU      = 0.98 // of them during an interval: nothing was left
	starvedStolen   = 0.5  // of an interval, runnable but not running
	lateFloorUS     = 10_000
	lagFloorUS      = 1000
	lagShare        = 0.05 // of the median response time
	factorFloorUS   = 1000
)

// PlateauTrust says whether the generator did its part during a plateau or a
// run. Findings hold one entry for each clause that was violated.
type PlateauTrust struct {
	Verdict  string
	Reasons  []string
	Factor   *Quantiles // omission factor; nil in a closed model or without both clocks
	Lag      LagUS
	Limited  float64 // share of the time at a limit of our own
	Starved  float64 // share of the time without processor time
	CPU      *float64
	CPUMax   *float64
	PeakSent float64 // requests per second in the busiest 100 ms
	GCMaxMS  float64
	SleepMS  float64
	Findings []Finding
}

// trustEvidence is what the clauses are judged on.
type trustEvidence struct {
	counts            record.Counts
	late              [4]uint64
	lag               *record.Histogram
	response, service *record.Histogram
	widthNS           int64
	limitedNS         int64
	starvedNS         int64
	cpuNS, capNS      int64
	cpuMax            float64
	cpuKnown          bool
	peakSent100ms     uint64
	gcNS, sleeperNS   int64
	model             record.Model
	shares            bool
}

func (p *Plateau) evidence(h *record.Header, shares bool) trustEvidence {
	e := trustEvidence{
		counts: p.Counts, late: p.Late, lag: p.hist.lag, service: p.hist.service,
		response: record.NewHistogram(h.MaxUS), model: clockModel(h), shares: shares,
	}
	// The geometry was checked as the plateau was built.
	_ = e.response.Merge(p.hist.ok)
	_ = e.response.Merge(p.hist.other)
	for i := range p.rows {
		e.addRow(&p.rows[i])
	}
	return e
}

func (e *trustEvidence) addRow(r *row) {
	e.widthNS += r.widthNS
	e.limitedNS += min(r.limitedNS, r.widthNS)
	starved := float64(r.stolenNS) >= starvedStolen*float64(r.widthNS)
	if r.capNS > 0 {
		share := float64(r.cpuNS) / float64(r.capNS)
		e.cpuKnown = true
		e.cpuNS, e.capNS = e.cpuNS+r.cpuNS, e.capNS+r.capNS
		e.cpuMax = max(e.cpuMax, share)
		starved = starved || share >= starvedCPU
	}
	if starved {
		e.starvedNS += r.widthNS
	}
	e.peakSent100ms = max(e.peakSent100ms, r.peakSent100ms)
	e.gcNS, e.sleeperNS = max(e.gcNS, r.gcNS), max(e.sleeperNS, r.sleeperNS)
}

// merge adds what another plateau showed.
func (e *trustEvidence) merge(o *trustEvidence) error {
	e.counts.Add(&o.counts)
	for i := range e.late {
		e.late[i] += o.late[i]
	}
	for _, m := range []struct{ into, from *record.Histogram }{{e.lag, o.lag}, {e.response, o.response}, {e.service, o.service}} {
		if err := m.into.Merge(m.from); err != nil {
			return err
		}
	}
	e.widthNS += o.widthNS
	e.limitedNS += o.limitedNS
	e.starvedNS += o.starvedNS
	e.cpuNS, e.capNS = e.cpuNS+o.cpuNS, e.capNS+o.capNS
	e.cpuMax, e.cpuKnown = max(e.cpuMax, o.cpuMax), e.cpuKnown || o.cpuKnown
	e.peakSent100ms = max(e.peakSent100ms, o.peakSent100ms)
	e.gcNS, e.sleeperNS = max(e.gcNS, o.gcNS), max(e.sleeperNS, o.sleeperNS)
	return nil
}

// factor is the omission factor at a quantile. Where requests were repeated the
// response time holds earlier attempts, which are not the generator's delay, while
// the service time is that of the last one: there lag plus service time stands
// for the response time, if it is less.
func (e *trustEvidence) factor(q float64) *float64 {
	f := omissionFactor(e.response, e.service, q)
	if f == nil || e.counts.Attempts <= e.counts.Sent || e.lag.Count() == 0 {
		return f
	}
	service := e.service.QuantileUS(q)
	return number(min(*f, max(e.lag.QuantileUS(q)+service, factorFloorUS)/max(service, factorFloorUS)))
}

// omissionFactor is max(response, 1 ms) / max(service, 1 ms) at a quantile.
func omissionFactor(response, service *record.Histogram, q float64) *float64 {
	if response.Count() == 0 || service.Count() == 0 {
		return nil
	}
	return number(max(response.QuantileUS(q), factorFloorUS) / max(service.QuantileUS(q), factorFloorUS))
}

// judgeTrust applies every clause of SPEC section 4. What is violated becomes
// a finding with the measured value and the limit beside it.
func judgeTrust(e trustEvidence, scope string) PlateauTrust {
	t := PlateauTrust{Verdict: Trusted, Reasons: []string{}}
	j := trustJudge{t: &t, scope: scope}
	if e.counts.Scheduled == 0 {
		j.untrusted("no_arrivals", 0, 1, "no request was scheduled, so there is nothing to judge")
		return t
	}
	j.factor(&e)
	j.late(&e)
	j.shares(&e)
	j.processors(&e)
	t.PeakSent = float64(e.peakSent100ms) * 10
	t.GCMaxMS, t.SleepMS = float64(e.gcNS)/1e6, float64(e.sleeperNS)/1e6
	slices.Sort(t.Reasons)
	t.Reasons = slices.Compact(t.Reasons)
	return t
}

type trustJudge struct {
	t     *PlateauTrust
	scope string
}

func (j *trustJudge) untrusted(code string, measured, limit float64, format string, args ...any) {
	j.t.Verdict = Untrusted
	j.note(code, "invalidates", measured, limit, format, args...)
}

func (j *trustJudge) suspect(code string, measured, limit float64, format string, args ...any) {
	if j.t.Verdict == Trusted {
		j.t.Verdict = Suspect
	}
	j.note(code, "caution", measured, limit, format, args...)
}

func (j *trustJudge) note(code, severity string, measured, limit float64, format string, args ...any) {
	j.t.Reasons = append(j.t.Reasons, code)
	j.t.Findings = append(j.t.Findings, Finding{
		Code: code, Severity: severity, Scope: j.scope,
		Measured: number(measured), Limit: number(limit), Text: fmt.Sprintf(format, args...),
	})
}

func (j *trustJudge) factor(e *trustEvidence) {
	if e.model == record.Closed || e.response.Count() == 0 || e.service.Count() == 0 {
		return
	}
	f := &Quantiles{P50: e.factor(0.5), P90: e.factor(0.9), P99: e.factor(0.99), P999: e.factor(0.999)}
	j.t.Factor = f
	switch {
	case *f.P99 > maxFactorP99:
		j.untrusted("omission_factor", *f.P99, maxFactorP99,
			"response time is %s times the service time at p99: what users would feel was mostly waiting inside the generator", short(*f.P99))
	case *f.P99 > cautionFactor99:
		j.suspect("omission_factor", *f.P99, cautionFactor99,
			"response time is %s times the service time at p99: part of it was waiting inside the generator", short(*f.P99))
	case *f.P999 > cautionFactor:
		j.suspect("omission_factor", *f.P999, cautionFactor,
			"response time is %s times the service time at p99.9: part of it was waiting inside the generator", short(*f.P999))
	}
}

func (j *trustJudge) late(e *trustEvidence) {
	sends := e.lag.Count()
	if sends == 0 {
		return
	}
	j.t.Lag = LagUS{Quantiles: Quantiles{
		P50: quantile(e.lag, 0.5), P90: quantile(e.lag, 0.9), P99: quantile(e.lag, 0.99), P999: quantile(e.lag, 0.999),
	}, Max: number(float64(e.lag.MaxNS()) / 1000)}

	limitUS, late := float64(lateFloorUS), e.late[1]
	if m := quantile(e.service, 0.5); m != nil && *m/2 > limitUS {
		limitUS = *m / 2
		late = e.lag.CountAbove(limitUS)
	}
	share := float64(late) / float64(sends)
	over10 := float64(e.late[1]) / float64(sends)
	switch {
	case share > maxLateShare:
		j.untrusted("late_sends", share, maxLateShare,
			"%s %% of the requests left more than %s late: the generator did not keep its schedule", short(100*share), millis(limitUS))
	case over10 > cautionLate:
		j.suspect("late_sends", over10, cautionLate, "%s %% of the requests left more than 10 ms late", short(100*over10))
	case e.late[2] > 0:
		j.suspect("late_sends", float64(e.late[2]), 0, "%d requests left more than 100 ms late", e.late[2])
	}
	lagLimit := float64(lagFloorUS)
	if m := quantile(e.response, 0.5); m != nil {
		lagLimit = max(lagLimit, lagShare**m)
	}
	if p99 := *j.t.Lag.P99; p99 > lagLimit {
		j.suspect("lag_p99", p99, lagLimit, "one request in a hundred left %s late or more; up to %s would be harmless beside this response time", millis(p99), millis(lagLimit))
	}
}

func (j *trustJudge) shares(e *trustEvidence) {
	n := float64(e.counts.Scheduled)
	dropped, own := e.counts.By[record.Dropped], e.counts.By[record.GeneratorError]
	if share := float64(dropped+own) / n; share > maxOwnFaults {
		if dropped > 0 {
			j.untrusted("dropped", float64(dropped)/n, maxOwnFaults,
				"%d of %d requests were never sent, as the generator's limit of requests in flight was reached", dropped, e.counts.Scheduled)
		}
		if own > 0 {
			j.untrusted("generator_errors", float64(own)/n, maxOwnFaults,
				"%d of %d requests failed by the generator's own fault (descriptors, ports, memory, connections)", own, e.counts.Scheduled)
		}
	}
	if sent := float64(e.counts.Sent) / n; sent < minSentShare {
		j.untrusted("sent_below_scheduled", sent, minSentShare,
			"only %s %% of the scheduled requests were sent", short(100*sent))
	}
	if e.widthNS > 0 {
		j.t.Limited = float64(e.limitedNS) / float64(e.widthNS)
		j.t.Starved = float64(e.starvedNS) / float64(e.widthNS)
	}
	if j.t.Limited > maxLimitedShare {
		j.untrusted("own_limit_reached", j.t.Limited, maxLimitedShare,
			"a limit of our own (connections or requests in flight) was reached for %s %% of the time", short(100*j.t.Limited))
	}
}

func (j *trustJudge) processors(e *trustEvidence) {
	if e.cpuKnown {
		j.t.CPU, j.t.CPUMax = number(float64(e.cpuNS)/float64(e.capNS)), number(e.cpuMax)
	}
	switch {
	case j.t.Starved >= maxStarvedShare:
		j.untrusted("generator_cpu", j.t.Starved, maxStarvedShare,
			"for %s %% of the time the generator had no processor time left", short(100*j.t.Starved))
	case e.cpuKnown && *j.t.CPU > cautionCPU:
		j.suspect("generator_cpu", *j.t.CPU, cautionCPU, "the generator used %s %% of the processors it may run on", short(100**j.t.CPU))
	}
	if e.shares {
		j.suspect("shares_cpus", 1, 0, "the generator shares processors with the service, so each slows the other down")
	}
}

// millis writes microseconds for people.
func millis(us float64) string {
	switch {
	case us >= 1e6:
		return short(us/1e6) + " s"
	case us >= 1000:
		return short(us/1000) + " ms"
	}
	return short(us) + " µs"
}
