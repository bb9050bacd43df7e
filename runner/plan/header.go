package plan

import (
	"slices"
	"time"

	"headroom/store/record"
)

// Format is the kind of load: step, burst, soak, chaos, steady, closed or ramp.
func (p *Plan) Format() string {
	l := &p.Load
	switch {
	case l.Step != nil:
		return "step"
	case l.Burst != nil:
		return "burst"
	case l.Soak != nil:
		return "soak"
	case l.Chaos != nil:
		return "chaos"
	case l.Closed != nil:
		return "closed"
	case l.Ramp != nil:
		return "ramp"
	}
	return "steady"
}

// Header is what the plan knows of a run's header. The caller adds run id,
// start, tool version and shard.
func (p *Plan) Header() record.Header {
	h := record.Header{
		Name: p.Name, Release: p.Release, Model: record.Open, Format: p.Format(), Seed: p.Seed,
		IntervalNS: int64(p.Interval), TimeoutNS: int64(p.HTTP.Timeout), DeadlineNS: int64(p.HTTP.Deadline),
		MaxUS:    max(record.DefaultMaxUS, min(record.MaxMaxUS, int64(2*p.HTTP.Timeout/time.Microsecond))),
		Arrivals: p.Arrivals.Kind, MaxInFlight: p.HTTP.MaxInFlight, MaxConns: p.HTTP.MaxConns,
		KeepAlive: p.HTTP.KeepAlive, HTTPVersion: p.HTTP.Version, Retries: p.Retries.Max,
		PlanDigest: p.Digest(), Comparable: p.ComparableKey(), Shards: 1, BuiltIn: p.Target.BuiltIn != nil,
		Classes: p.classes(), Thresholds: Thresholds(p.Gates), Load: p.Load.record(), Plan: p.Public(),
	}
	if p.Load.Closed != nil {
		h.Model, h.Arrivals = record.Closed, "closed"
	}
	if h.Load.RateRPS == 0 && p.Arrivals.Kind == "trace" && p.Arrivals.Scale > 0 {
		h.Load.RateRPS = p.Arrivals.TraceRate() / p.Arrivals.Scale
	}
	h.TargetRPS = h.Load.RateRPS
	h.Gates = make([]string, len(p.Gates))
	for i, g := range p.Gates {
		h.Gates[i] = g.Rule
	}
	if v := p.Production; v != nil {
		h.Production = &record.Production{
			PeakRPS: v.Peak, WindowDays: v.Window.Hours() / 24, ResolutionS: v.Resolution.Seconds(), Taken: v.Taken, Source: v.Source,
		}
		for _, d := range v.Peaks {
			h.Production.DailyPeaks = append(h.Production.DailyPeaks, d.Peak)
		}
	}
	for _, f := range p.Faults {
		h.Faults = append(h.Faults, record.Fault{Name: f.Name, Kind: f.Kind, On: f.On, AtNS: int64(f.At), ForNS: int64(f.For)})
	}
	if len(p.Limits) > 0 {
		h.Limits = map[string]float64{}
		for _, l := range p.Limits {
			h.Limits[l.Series] = l.Value
		}
	}
	return h
}

// classes in the order of Request.Index and Step.Index. The classes of a flow's
// steps have weight 0: they are not drawn.
func (p *Plan) classes() (all []record.Class) {
	for i := range p.Requests {
		q := &p.Requests[i]
		all = append(all, record.Class{Name: q.Class, Weight: q.Weight, Flow: q.Flow})
		if !q.Flow {
			continue
		}
		for j := range q.Steps {
			all = append(all, record.Class{Name: q.Steps[j].Name, Step: q.Class})
		}
	}
	return all
}

// Thresholds are the exact counters that gates need, each once, in the order
// of the gates.
func Thresholds(gates []record.Gate) []record.Threshold {
	var all []record.Threshold
	for i := range gates {
		t, ok := gates[i].Threshold()
		if !ok || slices.ContainsFunc(all, func(o record.Threshold) bool { return o.Clock == t.Clock && o.LimitNS == t.LimitNS }) {
			continue
		}
		all = append(all, t)
	}
	return all
}

func (l *Shape) record() record.Load {
	switch {
	case l.Step != nil:
		s := l.Step
		r := record.Load{
			FromRPS: s.From, ByRPS: s.By, Factor: s.Factor, ToRPS: s.To, PlateauNS: int64(s.Plateau), SettleNS: int64(s.Settle),
			DrainNS: int64(s.Drain), StopAfter: s.StopAfter, Refine: s.Refine, Beyond: slices.Clone(s.Beyond),
		}
		if s.Within > 0 {
			r.PlateauNS, r.SettleNS, r.LengthNS = 0, 0, int64(s.Within)
		}
		return r
	case l.Burst != nil:
		return record.Load{
			RateRPS: l.Burst.Base, Factor: l.Burst.Factor, BurstRPS: l.Burst.Base * l.Burst.Factor, LengthNS: int64(l.Burst.Length),
		}
	case l.Soak != nil:
		return record.Load{RateRPS: l.Soak.Rate, LengthNS: int64(l.Soak.Length)}
	case l.Chaos != nil:
		return record.Load{RateRPS: l.Chaos.Rate, LengthNS: int64(l.Chaos.Length)}
	case l.Steady != nil:
		return record.Load{RateRPS: l.Steady.Rate, LengthNS: int64(l.Steady.Length)}
	case l.Closed != nil:
		return record.Load{Users: l.Closed.Users, LengthNS: int64(l.Closed.Length)}
	case l.Ramp != nil:
		return record.Load{FromRPS: l.Ramp.From, ToRPS: l.Ramp.To, LengthNS: int64(l.Ramp.Length)}
	}
	return record.Load{}
}
