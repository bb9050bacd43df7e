package runner

import (
	"slices"
	"strconv"
	"strings"

	"headroom/prep/realism"
	"headroom/runner/plan"
)

// FactsOf are the facts of a plan that are set beside production's.
func FactsOf(p *plan.Plan) (realism.Facts, error) {
	f := realism.Facts{
		Arrivals: p.Arrivals.Kind, Dispersion: p.Arrivals.Dispersion, Highest: highestRate(p.Load),
		BuiltIn: p.Target.BuiltIn != nil, Neighbours: len(p.Neighbours), Dependencies: len(p.Dependencies), Faults: len(p.Faults),
	}
	if v := p.Arrivals.CV2; v > 0 {
		f.Dispersion = 1 + v*f.Highest
	}
	if p.Load.Closed != nil {
		f.Arrivals = "closed"
	}
	f.Postgres = slices.ContainsFunc(p.Observe, func(o plan.Observed) bool { return o.Kind == "postgres" })
	base := ""
	if p.Target.URL != nil {
		base = p.Target.URL.Base
	}
	if c := p.Arrivals.Curve; len(c) > 0 {
		f.Highest *= slices.Max(c)
	}
	sources, err := newSources(p.Data)
	if err != nil {
		return f, err
	}
	for _, d := range p.Data {
		s := sources[d.Name]
		f.Sources = append(f.Sources, realism.Source{Name: d.Name, Distinct: s.Distinct(), Probability: s.Probability, Order: d.Order})
	}
	for i := range p.Requests {
		r := &p.Requests[i]
		for k := range r.Steps {
			step := &r.Steps[k]
			path, uses := places(base, step)
			f.Mix = append(f.Mix, realism.Request{Class: step.Name, Method: step.Method, Path: path, Weight: r.Weight})
			for name, use := range uses {
				for j := range f.Sources {
					if f.Sources[j].Name == name {
						f.Sources[j].Used = append(f.Sources[j].Used, use...)
					}
				}
			}
		}
	}
	return f, nil
}

// places are the path of a step without its query, and where each data source
// is used in both.
func places(base string, s *plan.Step) (path string, uses map[string][]realism.Use) {
	var text strings.Builder
	text.WriteString(base)
	type mark struct {
		name string
		at   int
	}
	var marks []mark
	for _, seg := range s.Path.Segments {
		if seg.Data == "" {
			text.WriteString(seg.Literal)
			continue
		}
		marks = append(marks, mark{seg.Data, text.Len()})
		text.WriteString("{" + seg.Data + "}")
	}
	whole := text.String()
	path, query, _ := strings.Cut(whole, "?")
	uses = map[string][]realism.Use{}
	for _, m := range marks {
		use := realism.Use{Method: s.Method, Path: path}
		if m.at < len(path) {
			use.At = "segment " + strconv.Itoa(strings.Count(path[:m.at], "/"))
		} else {
			before := query[:m.at-len(path)-1]
			before = before[strings.LastIndexByte(before, '&')+1:]
			use.At, _, _ = strings.Cut(before, "=")
		}
		uses[m.name] = append(uses[m.name], use)
	}
	return path, uses
}

// highestRate is the highest rate that a load is known to reach, 0 where that
// is found out during the run.
func highestRate(l plan.Shape) float64 {
	switch {
	case l.Step != nil:
		return l.Step.To
	case l.Burst != nil:
		return l.Burst.Base * l.Burst.Factor
	case l.Soak != nil:
		return l.Soak.Rate
	case l.Steady != nil:
		return l.Steady.Rate
	case l.Chaos != nil:
		return l.Chaos.Rate
	case l.Ramp != nil:
		return max(l.Ramp.From, l.Ramp.To)
	}
	return 0
}
