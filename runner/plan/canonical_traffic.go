package plan

import (
	"slices"
	"strconv"
	"strings"

	"headroom/store/record"
)

func (p *Plan) requestTree(f form) (all []any) {
	for i := range p.Requests {
		q := &p.Requests[i]
		b := branch{{"class", q.Class}}
		b.real("weight", q.Weight, 1)
		if q.Flow {
			var steps []any
			for j := range q.Steps {
				steps = append(steps, q.Steps[j].tree(f))
			}
			b.add("flow", steps)
		} else {
			b = append(b, q.Steps[0].tree(f)...)
		}
		all = append(all, b)
	}
	return all
}

func (s *Step) tree(f form) (b branch) {
	path := f.hidden(s.Path.plain)
	if verb := strings.ToLower(s.Method); contains(verbs, verb) {
		b.add(verb, path)
	} else {
		b.add("method", s.Method)
		b.add("path", path)
	}
	b.sub("headers", headerTree(f, s.Headers))
	if s.BodyFile != "" {
		b.add("body_file", f.hidden(s.BodyFile))
	} else {
		b.some("body", f.hidden(s.Body.plain))
	}
	var e branch
	if codes := statusWords(s.Expect.Status); len(codes) != 1 || codes[0] != "2xx" {
		e.add("status", codes)
	}
	var j branch
	for _, x := range s.Expect.JSON {
		j.add(x.Path.text, f.hidden(x.Value.plain))
	}
	slices.SortStableFunc(j, func(x, y entry) int { return strings.Compare(x.key, y.key) })
	e.sub("json", j)
	e.some("body_contains", f.hidden(s.Expect.Contains.plain))
	e.count("max_bytes", s.Expect.MaxBytes, 0)
	e.some("oracle", f.hidden(s.Expect.Oracle))
	b.sub("expect", e)
	if !slices.Equal(s.Shed, []int{429, 503}) {
		b.add("shed", statusWords(s.Shed))
	}
	var c branch
	for _, x := range s.Capture {
		arg := x.Header
		switch x.Kind {
		case "json":
			arg = x.Path.text
		case "regex":
			arg = x.Regex.String()
		}
		if f == public {
			c.add(x.Name, x.Kind)
			continue
		}
		c.add(x.Name, x.Kind+" "+arg)
	}
	b.sub("capture", c)
	b.span("think", s.Think, 0)
	return b
}

// statusWords writes runs of a whole hundred as 2xx.
func statusWords(codes []int) []any {
	all := []any{}
	for i := 0; i < len(codes); {
		if low := codes[i]; low%100 == 0 && i+99 < len(codes) && codes[i+99] == low+99 {
			all = append(all, strconv.Itoa(low/100)+"xx")
			i += 100
			continue
		}
		all = append(all, plain(strconv.Itoa(codes[i])))
		i++
	}
	return all
}

func (t *Retries) tree() (b branch) {
	b.count("max", int64(t.Max), 0)
	if !slices.Equal(t.Outcomes, []record.Outcome{record.Timeout, record.ConnectError}) || !slices.Equal(t.Status, []int{503}) {
		on := []any{}
		for _, o := range t.Outcomes {
			on = append(on, o.String())
		}
		b.add("on", append(on, statusWords(t.Status)...))
	}
	b.span("backoff", t.Backoff, 0)
	b.real("factor", t.Factor, 2)
	if t.Jitter != "full" {
		b.add("jitter", t.Jitter)
	}
	b.real("budget", t.Budget, 0)
	return b
}

func (p *Plan) worldTree(b *branch, f form) {
	var neighbours, faults, observe []any
	for _, w := range p.Neighbours {
		v := branch{{"name", w.Name}}
		v.span("every", w.Every, 0)
		if w.Every == 0 {
			v.add("at", text(w.At))
		}
		v.some("sql", f.hidden(w.SQL.plain))
		v.some("dsn", f.hidden(w.DSN.plain))
		v.list("command", texts(f, w.Command))
		neighbours = append(neighbours, v)
	}
	b.list("neighbours", neighbours)
	var dependencies branch
	for _, d := range p.Dependencies {
		dependencies.add(d.Name, branch{{"listen", f.hidden(d.Listen.plain)}, {"upstream", f.hidden(d.Upstream.plain)}})
	}
	b.sub("dependencies", dependencies)
	for _, w := range p.Faults {
		v := branch{{"name", w.Name}, {"on", w.On}, {"kind", w.Kind}}
		v.span("at", w.At, 0)
		v.span("for", w.For, 0)
		if w.Kind == "latency" {
			v.add("delay", text(w.Delay))
		}
		v.span("jitter", w.Jitter, 0)
		v.real("share", w.Share, 0)
		faults = append(faults, v)
	}
	b.list("faults", faults)
	for _, o := range p.Observe {
		from := o.From.plain
		if o.Kind == "prometheus" || o.Kind == "postgres" {
			from = f.hidden(from)
		}
		v := branch{{o.Kind, from}}
		var only []any
		for _, name := range o.Only {
			only = append(only, name)
		}
		v.list("only", only)
		observe = append(observe, v)
	}
	var limits branch
	for _, l := range p.Limits {
		limits.add(l.Series, plain(number(l.Value)))
	}
	slices.SortFunc(limits, func(x, y entry) int { return strings.Compare(x.key, y.key) })
	if len(limits) > 0 {
		observe = append(observe, branch{{"limits", limits}})
	}
	b.list("observe", observe)
}
