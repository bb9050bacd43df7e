package plan

import (
	"bytes"
	"math"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"
)

// loadKinds in the order of the manual.
var loadKinds = []string{"step", "burst", "soak", "chaos", "steady", "closed", "ramp"}

// longest is the longest length of anything in a load.
const longest = 60 * day

func (r *reader) load(parent *object, p *Plan) {
	n, path := parent.get("load")
	r.warmup(parent, p)
	if n == nil {
		return
	}
	o := r.object(n, path, loadKinds...)
	o.one(loadKinds...)
	l := &p.Load
	for _, kind := range o.order {
		n, path := o.get(kind)
		if n == nil {
			continue
		}
		switch kind {
		case "step":
			l.Step = r.step(n, path)
		case "burst":
			l.Burst = r.burst(n, path)
		case "soak":
			l.Soak = r.soak(n, path)
		case "chaos":
			l.Chaos = r.steady(n, path)
		case "steady":
			l.Steady = r.steady(n, path)
		case "closed":
			l.Closed = r.closed(n, path)
		case "ramp":
			l.Ramp = r.ramp(n, path)
		}
	}
	r.loadConflicts(parent, o, p)
}

// loadConflicts compares a load with the arrivals and the warmup.
func (r *reader) loadConflicts(parent, o *object, p *Plan) {
	l, a := &p.Load, &p.Arrivals
	n, path := parent.get("arrivals")
	rate := 0.0
	switch {
	case l.Steady != nil:
		rate = l.Steady.Rate
	case l.Chaos != nil:
		rate = l.Chaos.Rate
	case l.Soak != nil:
		rate = l.Soak.Rate + l.Soak.OfKnee
	case len(o.order) == 0:
		return
	case a.Kind == "trace":
		r.problem(n, path, "contradicts load.%s: a trace has its own rate; use it with load: {steady: {length: …}}", o.order[0])
	case (a.Kind == "bursty" || a.Profile) && l.Closed != nil:
		r.problem(n, path, "contradicts load.closed: users that wait have no law of arrivals; delete it")
	}
	if a.Shaped && l.Steady == nil && l.Chaos == nil && l.Soak == nil {
		r.problem(n, path+".curve", "contradicts load.%s, which sets its own rates; use it with load: {steady: …} or {soak: …}", o.order[0])
	}
	if a.Kind == "trace" {
		if rate > 0 && a.Scale != 0 {
			r.problem(n, path, "has a scale, but the load has a rate: the rate scales the trace as well; keep one of the two")
		}
		if rate == 0 && a.Scale == 0 {
			a.Scale = 1
		}
	}
	if w := p.Warmup; w != nil && w.Rate == 0 && (l.Step != nil && l.Step.Auto || a.Kind == "trace") {
		n, path := parent.get("warmup")
		r.problem(n, path+".rate", "is missing; the load has no first rate to take, so add one")
	}
}

// TraceScale is the factor on a trace's time for a load of the given rate in
// requests per second: Scale where the plan gives it, otherwise the one that
// makes the trace's mean rate the load's.
func (a *Arrivals) TraceScale(rate float64) float64 {
	mean := a.TraceRate()
	if a.Scale > 0 || rate <= 0 || mean <= 0 {
		return max(a.Scale, 0)
	}
	return mean / rate
}

// TraceRate is the mean rate of the trace as recorded, in requests per second;
// 0 where there are fewer than two different instants.
func (a *Arrivals) TraceRate() float64 {
	n := len(a.Instants)
	if n < 2 || a.Instants[n-1] == a.Instants[0] {
		return 0
	}
	return float64(n-1) / (float64(a.Instants[n-1]-a.Instants[0]) / 1e9)
}

func (r *reader) warmup(parent *object, p *Plan) {
	n, path := parent.get("warmup")
	if n == nil {
		return
	}
	o := r.object(n, path, "length", "rate")
	o.require("length")
	w := &Warmup{}
	o.duration("length", &w.Length, 100*time.Millisecond, day)
	o.rate("rate", &w.Rate)
	p.Warmup = w
}

func (r *reader) step(n *yaml.Node, path string) *StepLoad {
	o := r.object(n, path, "from", "by", "factor", "to", "plateau", "settle", "drain", "stop_after", "refine", "beyond", "within")
	s := &StepLoad{Plateau: 5 * time.Minute, Drain: 10 * time.Second, StopAfter: 3, Refine: 3, Beyond: []float64{1.25, 1.5}}
	o.require("from")
	if n, _ := o.get("from"); n != nil && n.Value == "auto" {
		s.Auto, s.Factor = true, 1.25
	} else {
		o.rate("from", &s.From)
		o.require("to")
		o.one("by", "factor")
	}
	if s.Auto {
		o.conflict("by", "from", "with from: auto the ladder is geometric; write factor")
	}
	if s.Auto {
		o.conflict("plateau", "within", "the time given makes the plateaus' lengths; keep one of the two")
		o.conflict("settle", "within", "the time given makes the plateaus' lengths; keep one of the two")
	} else if n, path := o.get("within"); n != nil {
		r.problem(n, path, "needs from: auto; a ladder that is known has its own length")
	}
	o.duration("within", &s.Within, minWithin, day)
	if s.Within > 0 {
		s.Factor, s.StopAfter, s.Refine, s.Beyond = 1.2, 2, 4, []float64{1.5}
	}
	o.rate("by", &s.By)
	o.float("factor", &s.Factor, 1.001, 100)
	o.rate("to", &s.To)
	o.duration("plateau", &s.Plateau, time.Second, day)
	s.Settle = min(10*time.Second, s.Plateau/5)
	o.duration("settle", &s.Settle, 0, day)
	o.duration("drain", &s.Drain, 0, day)
	o.integer("stop_after", &s.StopAfter, 1, 100)
	o.integer("refine", &s.Refine, 0, 20)
	if n, path := o.get("beyond"); n != nil {
		s.Beyond = r.beyond(n, path)
	}
	switch {
	case o.has("to") && o.has("from") && s.From > 0 && s.To > 0 && s.To < s.From:
		n, path := o.get("to")
		r.problem(n, path, "is %s, below from: %s; a step load goes up", number(s.To), number(s.From))
	case s.plateaus() > 1000:
		r.problem(n, path, "makes %d plateaus; choose steps so that there are at most 1000", s.plateaus())
	}
	if s.Settle >= s.Plateau && (o.has("settle") || o.has("plateau")) {
		n, path := o.get("settle")
		if n != nil {
			r.problem(n, path, "leaves nothing of a plateau of %s to judge; make it shorter than that", text(s.Plateau))
		}
	}
	return s
}

// minWithin is the shortest time in which doubling and a ladder around its end
// can be done.
const minWithin = time.Minute

// plateaus counts those of the sweep, as far as they are known.
func (s *StepLoad) plateaus() int {
	switch {
	case s.Auto || s.From <= 0 || s.To <= s.From:
		return 0
	case s.By > 0:
		return int(math.Min(1e9, math.Floor((s.To-s.From)/s.By)+1))
	case s.Factor > 1:
		return int(math.Min(1e9, math.Floor(math.Log(s.To/s.From)/math.Log(s.Factor))+1))
	}
	return 0
}

func (r *reader) beyond(n *yaml.Node, path string) []float64 {
	items, _ := r.list(n, path)
	all := []float64{}
	for i, item := range items {
		v, ok := r.float(item, at(path, i), 1.01, 100)
		if !ok {
			continue
		}
		if len(all) > 0 && v <= all[len(all)-1] {
			r.problem(item, at(path, i), "does not rise; write the multiples of the knee in rising order, each once")
			continue
		}
		all = append(all, v)
	}
	if len(items) > 20 {
		r.problem(n, path, "has %d plateaus; at most 20", len(items))
	}
	return all
}

func (r *reader) burst(n *yaml.Node, path string) *BurstLoad {
	o := r.object(n, path, "base", "factor", "length", "before", "after")
	b := &BurstLoad{}
	o.require("base", "factor", "length", "before", "after")
	o.rate("base", &b.Base)
	o.float("factor", &b.Factor, 1.01, 10_000)
	o.duration("length", &b.Length, 100*time.Millisecond, longest)
	o.duration("before", &b.Before, time.Second, longest)
	o.duration("after", &b.After, time.Second, longest)
	if b.Base*b.Factor > maxRate {
		r.problem(n, path, "base × factor is above 10000000 requests per second; lower one")
	}
	return b
}

func (r *reader) soak(n *yaml.Node, path string) *SoakLoad {
	o := r.object(n, path, "rate", "of_knee", "knee_from", "length")
	s := &SoakLoad{}
	o.require("length")
	o.one("rate", "of_knee")
	o.rate("rate", &s.Rate)
	o.float("of_knee", &s.OfKnee, 0.001, 10)
	o.label("knee_from", &s.KneeFrom)
	o.duration("length", &s.Length, time.Second, longest)
	if o.has("of_knee") {
		o.require("knee_from")
	} else {
		o.conflict("knee_from", "rate", "the rate is given; keep one of the two")
	}
	return s
}

func (r *reader) steady(n *yaml.Node, path string) *SteadyLoad {
	o := r.object(n, path, "rate", "length")
	s := &SteadyLoad{}
	if r.traced {
		o.require("length")
	} else {
		o.require("rate", "length")
	}
	o.rate("rate", &s.Rate)
	o.duration("length", &s.Length, 100*time.Millisecond, longest)
	return s
}

func (r *reader) closed(n *yaml.Node, path string) *ClosedLoad {
	o := r.object(n, path, "users", "pacing", "think", "length", "by", "to")
	c := &ClosedLoad{}
	o.require("users", "length")
	o.one("pacing", "think")
	o.integer("users", &c.Users, 1, 1_000_000)
	o.duration("pacing", &c.Pacing, time.Millisecond, day)
	o.duration("think", &c.Think, 0, day)
	o.duration("length", &c.Length, time.Second, longest)
	o.integer("by", &c.By, 1, 1_000_000)
	o.integer("to", &c.To, 1, 1_000_000)
	if o.has("by") != o.has("to") && !o.broken {
		key, other := "by", "to"
		if o.has("to") {
			key, other = "to", "by"
		}
		r.problem(o.keys[key], join(path, key), "needs %s as well; larger populations come by so many up to so many", other)
	}
	if c.To > 0 && c.To < c.Users {
		n, path := o.get("to")
		r.problem(n, path, "is %d, below users: %d; populations grow", c.To, c.Users)
	} else if c.By > 0 && (c.To-c.Users)/c.By > 1000 {
		r.problem(n, path, "makes more than 1000 populations; raise by")
	}
	return c
}

func (r *reader) ramp(n *yaml.Node, path string) *RampLoad {
	o := r.object(n, path, "from", "to", "length")
	s := &RampLoad{}
	o.require("from", "to", "length")
	o.rate("from", &s.From)
	o.rate("to", &s.To)
	o.duration("length", &s.Length, 100*time.Millisecond, longest)
	return s
}

func (r *reader) arrivals(parent *object, a *Arrivals) {
	a.Kind = "poisson"
	n, path := parent.get("arrivals")
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		s, ok := r.fixed(n, path)
		switch {
		case !ok:
		case s == "poisson" || s == "constant":
			a.Kind = s
		case s == "trace":
			r.problem(n, path, "trace wants a file; write arrivals: {trace: FILE}")
		case s == "bursty":
			r.problem(n, path, "bursty wants an index of dispersion; write arrivals: {bursty: {dispersion: 5}}")
		default:
			r.problem(n, path, "%q is none of poisson, constant, {trace: FILE}, {bursty: {dispersion: N}}%s", excerpt(s), meant(s, []string{"poisson", "constant", "trace", "bursty"}))
		}
		return
	}
	o := r.object(n, path, "trace", "scale", "bursty", "profile", "curve")
	o.float("scale", &a.Scale, 1e-6, 1e6)
	switch o.one("trace", "bursty", "profile") {
	case "trace":
		a.Kind, r.traced = "trace", true
		n, path := o.get("trace")
		if n != nil && o.label("trace", &a.File) {
			if content, ok := r.file(n, path, a.File); ok {
				a.Instants = r.instants(n, path, content)
			}
		}
	case "bursty":
		a.Kind = "bursty"
		if n, path := o.get("bursty"); n != nil {
			b := r.object(n, path, "dispersion")
			b.require("dispersion")
			b.float("dispersion", &a.Dispersion, 1.001, 1e6)
		}
	case "profile":
		a.Profile = true
		o.boolean("curve", &a.Shaped)
		r.burstsFromProfile(o, a)
	}
	if !a.Profile && o.has("curve") {
		r.problem(o.keys["curve"], join(path, "curve"), "only a profile has a curve; delete it")
	}
	o.conflict("scale", "bursty", "only the time of a trace is scaled; delete it")
}

// instants reads a trace: seconds from its start, a number a line, rising.
// Lines that begin with # and empty lines are skipped.
func (r *reader) instants(n *yaml.Node, path string, content []byte) []int64 {
	var all []int64
	line := 0
	for raw := range bytes.Lines(content) {
		line++
		s := strings.TrimSpace(strings.TrimPrefix(string(raw), "\ufeff"))
		if s == "" || s[0] == '#' {
			continue
		}
		v, ok := decimal(s)
		if !ok || v < 0 || v > 1e9 {
			r.problem(n, path, "line %d of the trace, %q, is not a number of seconds from its start", line, excerpt(s))
			return nil
		}
		ns := int64(math.Round(v * 1e9))
		if len(all) > 0 && ns < all[len(all)-1] {
			r.problem(n, path, "line %d of the trace is before the one that precedes it; sort it", line)
			return nil
		}
		all = append(all, ns)
	}
	if len(all) == 0 {
		r.problem(n, path, "the trace has no instants; write seconds from its start, one a line")
	}
	return all
}
