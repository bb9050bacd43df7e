package plan

import (
	"slices"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"headroom/store/record"
)

func (r *reader) gates(parent *object, p *Plan) {
	n, path := parent.get("gates")
	if n == nil {
		return
	}
	items, _ := r.list(n, path)
	for i, item := range items {
		s, ok := r.fixed(item, at(path, i))
		if !ok {
			continue
		}
		g, err := record.ParseGate(s)
		if err != nil {
			r.problem(item, at(path, i), "%s", bare(err, s))
			continue
		}
		if slices.ContainsFunc(p.Gates, func(other record.Gate) bool { return other.Rule == g.Rule }) {
			r.problem(item, at(path, i), "is given twice; keep one")
			continue
		}
		r.checkGate(item, at(path, i), &g, p)
		p.Gates = append(p.Gates, g)
	}
}

// bare is an error of ParseGate without the rule, whose place is known.
func bare(err error, rule string) string {
	s := err.Error()
	for _, prefix := range []string{"gate \"" + rule + "\": ", "gate "} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			return rest
		}
	}
	return s
}

// checkGate compares a gate with the rest of the plan.
func (r *reader) checkGate(n *yaml.Node, path string, g *record.Gate, p *Plan) {
	if g.Class != "" && len(p.Requests) > 0 {
		if names := p.classNames(); !contains(names, g.Class) {
			known := meant(g.Class, names)
			if known == "" {
				known = "; known are " + excerpts(names)
			}
			r.problem(n, path, "no class is named %q%s", g.Class, known)
		}
	}
	if g.Fault != "" && !slices.ContainsFunc(p.Faults, func(f Fault) bool { return f.Name == g.Fault }) {
		r.problem(n, path, "no fault is named %q", g.Fault)
	}
	if strings.HasPrefix(g.Metric, "margin") && p.Production == nil {
		r.problem(n, path, "%s needs the production peak; add production: {peak: …}", g.Metric)
	}
}

// excerpts lists the first few names.
func excerpts(names []string) string {
	if len(names) > 10 {
		return strings.Join(names[:10], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func (p *Plan) classNames() (names []string) {
	for i := range p.Requests {
		q := &p.Requests[i]
		names = append(names, q.Class)
		if q.Flow {
			for j := range q.Steps {
				names = append(names, q.Steps[j].Name)
			}
		}
	}
	return names
}

// liveMetrics can be judged while the run goes on.
var liveMetrics = []string{"response", "service", "lag", "goodput", "goodput_ratio", "error_ratio", "shed_ratio", "wrong", "unexpected", "omission", "amplification"}

func (r *reader) abort(parent *object, p *Plan) {
	n, path := parent.get("abort")
	if n == nil {
		return
	}
	items, _ := r.list(n, path)
	for i, item := range items {
		s, ok := r.fixed(item, at(path, i))
		if !ok {
			continue
		}
		a := Abort{Rule: strings.TrimSpace(s)}
		if a.Rule == "target dead" {
			a.TargetDead = true
			p.Abort = append(p.Abort, a)
			continue
		}
		rule, length, found := strings.Cut(a.Rule, " for ")
		if !found {
			r.problem(item, at(path, i), "%q does not say for how long; write METRIC OP NUMBER for DURATION, or target dead", excerpt(s))
			continue
		}
		g, err := record.ParseGate(rule)
		if err != nil {
			r.problem(item, at(path, i), "%s", bare(err, strings.TrimSpace(rule)))
			continue
		}
		d, ok := r.parseDuration(item, at(path, i), strings.TrimSpace(length), time.Second, day)
		if !contains(liveMetrics, g.Metric) {
			r.problem(item, at(path, i), "%s is not known while a run goes on; use one of %s", g.Metric, strings.Join(liveMetrics, ", "))
			continue
		}
		r.checkGate(item, at(path, i), &g, p)
		if ok {
			a.Gate, a.For = g, d
			p.Abort = append(p.Abort, a)
		}
	}
}
