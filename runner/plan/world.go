package plan

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	yaml "go.yaml.in/yaml/v4"

	"headroom/store/record"
)

func (r *reader) retries(parent *object, t *Retries) {
	*t = Retries{
		Outcomes: []record.Outcome{record.Timeout, record.ConnectError}, Status: []int{503},
		Factor: 2, Jitter: "full",
	}
	n, path := parent.get("retries")
	if n == nil {
		return
	}
	o := r.object(n, path, "max", "on", "backoff", "factor", "jitter", "budget")
	o.integer("max", &t.Max, 0, 100)
	o.duration("backoff", &t.Backoff, 0, time.Hour)
	o.float("factor", &t.Factor, 1, 100)
	o.choice("jitter", &t.Jitter, "full", "none")
	o.share("budget", &t.Budget)
	n, path = o.get("on")
	if n == nil {
		return
	}
	items, _ := r.list(n, path)
	t.Outcomes, t.Status = nil, nil
	names := []string{"timeout", "connect_error", "http_error", "shed", "wrong"}
	of := map[string]record.Outcome{
		"timeout": record.Timeout, "connect_error": record.ConnectError, "http_error": record.HTTPError, "shed": record.Shed, "wrong": record.Wrong,
	}
	for i, item := range items {
		s, ok := r.fixed(item, at(path, i))
		if !ok {
			continue
		}
		if outcome, ok := of[s]; ok {
			t.Outcomes = append(t.Outcomes, outcome)
		} else if codes, ok := parseStatus(s); ok {
			t.Status = append(t.Status, codes...)
		} else {
			r.problem(item, at(path, i), "%q is neither a status nor one of %s%s", excerpt(s), strings.Join(names, ", "), meant(s, names))
		}
	}
	slices.Sort(t.Outcomes)
	t.Outcomes = slices.Compact(t.Outcomes)
	slices.Sort(t.Status)
	t.Status = slices.Compact(t.Status)
}

// objects reads a list of mappings.
func (r *reader) objects(parent *object, key string, known ...string) (all []*object) {
	n, path := parent.get(key)
	if n == nil {
		return nil
	}
	items, _ := r.list(n, path)
	for i, item := range items {
		if o := r.object(item, at(path, i), known...); !o.broken {
			all = append(all, o)
		}
	}
	return all
}

func (r *reader) neighbours(parent *object, p *Plan) {
	for _, o := range r.objects(parent, "neighbours", "name", "every", "at", "sql", "dsn", "command") {
		w := Neighbour{}
		o.require("name")
		o.label("name", &w.Name)
		if slices.ContainsFunc(p.Neighbours, func(v Neighbour) bool { return v.Name == w.Name }) {
			n, path := o.get("name")
			r.problem(n, path, "%q is the name of another neighbour already; choose another", w.Name)
		}
		o.one("every", "at")
		o.duration("every", &w.Every, 100*time.Millisecond, longest)
		o.duration("at", &w.At, 0, longest)
		if o.one("sql", "command") == "sql" {
			o.require("dsn")
		} else {
			o.conflict("dsn", "command", "a command takes its own arguments; delete it")
		}
		o.text("sql", &w.SQL)
		o.text("dsn", &w.DSN)
		w.Command = o.command("command")
		p.Neighbours = append(p.Neighbours, w)
	}
}

func (r *reader) dependencies(parent *object, p *Plan) {
	n, path := parent.get("dependencies")
	if n == nil {
		return
	}
	all := r.object(n, path)
	for _, name := range all.order {
		n, path := all.get(name)
		if !className.MatchString(name) {
			r.problem(all.keys[name], path, "%q is not a name; use up to 64 letters, digits, _ . and -", excerpt(name))
		}
		o := r.object(n, path, "listen", "upstream")
		d := Dependency{Name: name}
		o.require("listen", "upstream")
		for _, end := range []struct {
			key string
			dst *Text
		}{{"listen", &d.Listen}, {"upstream", &d.Upstream}} {
			if o.text(end.key, end.dst) && !hostPort(end.dst.Value()) {
				n, path := o.get(end.key)
				r.problem(n, path, "is not host:port; write one such as 127.0.0.1:7001")
			}
		}
		p.Dependencies = append(p.Dependencies, d)
	}
}

// faultKinds: the first act on dependencies, the others on owned containers.
var faultKinds = []string{"latency", "down", "reset", "timeout", "pause", "stop", "kill", "restart", "disconnect"}

func (r *reader) faults(parent *object, p *Plan) {
	for _, o := range r.objects(parent, "faults", "name", "on", "kind", "at", "for", "delay", "jitter", "share") {
		f := Fault{}
		o.require("on", "kind")
		o.label("on", &f.On)
		o.choice("kind", &f.Kind, faultKinds...)
		o.duration("at", &f.At, 0, longest)
		o.duration("for", &f.For, time.Millisecond, longest)
		o.duration("delay", &f.Delay, 0, time.Hour)
		o.duration("jitter", &f.Jitter, 0, time.Hour)
		o.share("share", &f.Share)
		if f.Kind == "latency" {
			o.require("delay")
		} else if f.Kind != "" {
			for _, key := range []string{"delay", "jitter"} {
				if o.has(key) {
					r.problem(o.keys[key], join(o.path, key), "contradicts kind: %s; only latency has a %s", f.Kind, key)
				}
			}
		}
		proxied := slices.Index(faultKinds, f.Kind) < 4
		if n, path := o.get("on"); n != nil && proxied && f.Kind != "" && !slices.ContainsFunc(p.Dependencies, func(d Dependency) bool { return d.Name == f.On }) {
			r.problem(n, path, "%q is not under dependencies; add it there%s", f.On, meant(f.On, dependencyNames(p)))
		}
		if !o.label("name", &f.Name) {
			f.Name = freeName(p.Faults, f.On, f.Kind)
		} else if slices.ContainsFunc(p.Faults, func(v Fault) bool { return v.Name == f.Name }) {
			n, path := o.get("name")
			r.problem(n, path, "%q is the name of another fault already; choose another", f.Name)
		}
		p.Faults = append(p.Faults, f)
	}
}

func dependencyNames(p *Plan) (names []string) {
	for _, d := range p.Dependencies {
		names = append(names, d.Name)
	}
	return names
}

// freeName names a fault after what it acts on, and tells the later ones apart.
func freeName(all []Fault, on, kind string) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(all, func(f Fault) bool { return f.Name == name })
	}
	name := on
	for i := 1; taken(name); i++ {
		name = on + " " + kind
		if i > 1 {
			name = fmt.Sprintf("%s %s %d", on, kind, i)
		}
	}
	return name
}

var observeKinds = []string{"process", "docker", "prometheus", "postgres"}

func (r *reader) observe(parent *object, p *Plan) {
	n, path := parent.get("observe")
	if n == nil {
		return
	}
	if n.Kind == yaml.MappingNode {
		r.limits(r.object(n, path, "limits"), p)
		return
	}
	for _, o := range r.objects(parent, "observe", append([]string{"only", "limits"}, observeKinds...)...) {
		if o.has("limits") {
			for _, k := range append([]string{"only"}, observeKinds...) {
				o.conflict(k, "limits", "limits is an item of its own")
			}
			r.limits(o, p)
			continue
		}
		w := Observed{Kind: o.one(observeKinds...)}
		if w.Kind != "" {
			o.text(w.Kind, &w.From)
		}
		if n, path := o.get("docker"); n != nil && w.From.plain != "owned" && w.From.plain != "" {
			r.problem(n, path, "%q: only the containers that the run owns are observed; write docker: owned", excerpt(w.From.plain))
		}
		if n, path := o.get("process"); n != nil && w.From.plain != "" {
			if _, err := strconv.ParseUint(w.From.Value(), 10, 31); err != nil && w.From.Value() != "target" {
				r.problem(n, path, "is neither target nor a process id")
			}
		}
		if n, path := o.get("only"); n != nil {
			items, _ := r.list(n, path)
			for i, item := range items {
				if s, ok := r.fixed(item, at(path, i)); ok {
					w.Only = append(w.Only, s)
				}
			}
			if w.Kind != "prometheus" && w.Kind != "" {
				o.conflict("only", w.Kind, "only prometheus has names to choose from; delete it")
			}
		}
		p.Observe = append(p.Observe, w)
	}
}

func (r *reader) limits(parent *object, p *Plan) {
	n, path := parent.get("limits")
	if n == nil {
		return
	}
	o := r.object(n, path)
	for _, name := range o.order {
		l := Limit{Series: name}
		if o.float(name, &l.Value, 0, 1e18) {
			p.Limits = append(p.Limits, l)
		}
	}
}

func (r *reader) production(parent *object, p *Plan) {
	n, path := parent.get("production")
	if n == nil {
		return
	}
	o := r.object(n, path, "peak", "window", "resolution", "taken", "source", "daily", "profile")
	v := &Production{Window: 90 * day, Resolution: time.Second}
	if !o.has("profile") {
		o.require("peak")
	}
	o.rate("peak", &v.Peak)
	o.duration("window", &v.Window, time.Hour, 3650*day)
	o.duration("resolution", &v.Resolution, time.Millisecond, day)
	if n, path := o.get("taken"); n != nil {
		if s, ok := r.fixed(n, path); ok {
			if _, err := time.Parse(time.DateOnly, s); err != nil {
				r.problem(n, path, "%q is not a date; write one such as 2026-11-20", excerpt(s))
			}
			v.Taken = s
		}
	}
	o.label("source", &v.Source)
	if o.has("profile") {
		r.peakFromProfile(o, v)
		p.Production = v
		return
	}
	if n, path := o.get("daily"); n != nil && o.label("daily", &v.Daily) {
		if content, ok := r.file(n, path, v.Daily); ok {
			peaks, err := parseDaily(content)
			if err != nil {
				r.problem(n, path, "%v", err)
			}
			v.Peaks = peaks
		}
	}
	p.Production = v
}

// parseDaily reads a CSV file with the columns date and peak, in whatever
// order, and returns the days by date.
func parseDaily(content []byte) ([]DailyPeak, error) {
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff"))))
	in.TrimLeadingSpace = true
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("is not a CSV file with the columns date and peak")
	}
	for i := range head {
		head[i] = strings.ToLower(strings.TrimSpace(head[i]))
	}
	date, peak := slices.Index(head, "date"), slices.Index(head, "peak")
	if date < 0 || peak < 0 {
		return nil, fmt.Errorf("has not the columns date and peak; its first line must name them")
	}
	var all []DailyPeak
	for {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		line, _ := in.FieldPos(0)
		if err != nil {
			return nil, fmt.Errorf("line %d has not as many fields as the first; correct it", len(all)+2)
		}
		d := DailyPeak{Date: strings.TrimSpace(row[date])}
		v, ok := decimal(strings.TrimSpace(row[peak]))
		if _, err := time.Parse(time.DateOnly, d.Date); err != nil || !ok || v < 0 || v > maxRate {
			return nil, fmt.Errorf("line %d is not a date such as 2026-11-20 and a peak in requests per second", line)
		}
		d.Peak = v
		all = append(all, d)
	}
	slices.SortStableFunc(all, func(a, b DailyPeak) int { return strings.Compare(a.Date, b.Date) })
	for i := 1; i < len(all); i++ {
		if all[i].Date == all[i-1].Date {
			return nil, fmt.Errorf("has %s twice; keep one line a day", all[i].Date)
		}
	}
	return all, nil
}
