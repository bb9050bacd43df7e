package plan

import (
	"bytes"
	"math"
	"regexp"
	"strconv"

	yaml "go.yaml.in/yaml/v4"
)

var dataName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

func (r *reader) data(parent *object, p *Plan) {
	n, path := parent.get("data")
	if n == nil {
		return
	}
	o := r.object(n, path)
	for _, name := range o.order {
		n, path := o.get(name)
		if !dataName.MatchString(name) {
			r.problem(o.keys[name], path, "%q is not a name for {…}; use letters, digits, _ and -, a letter first", excerpt(name))
		}
		p.Data = append(p.Data, r.source(n, path, name))
	}
}

func (r *reader) source(n *yaml.Node, path, name string) Source {
	s := Source{Name: name}
	kinds := []string{"choice", "zipf", "file", "range", "profile"}
	o := r.object(n, path, append(kinds, "order", "route", "at", "first", "values")...)
	if n, path := o.get("profile"); n != nil && r.later["data.profile"] {
		r.problem(o.keys["profile"], path, "`profile` is not supported yet by this version; use zipf, file, choice or range")
		delete(o.values, "profile")
	}
	s.Kind = o.one(kinds...)
	switch s.Kind {
	case "choice":
		s.Choices = r.choices(o.get("choice"))
	case "zipf":
		if n, path := o.get("zipf"); n != nil {
			z := r.object(n, path, "count", "exponent", "first")
			z.require("count", "exponent")
			count, first := int64(0), int64(1)
			z.whole("count", &count, 1, 1<<40)
			z.whole("first", &first, 0, 1<<60)
			z.float("exponent", &s.Exponent, 0.001, 20)
			s.Count, s.First = uint64(count), uint64(first)
		}
	case "file":
		s.Order = "random"
		o.choice("order", &s.Order, "random", "sequential")
		if n, path := o.get("file"); n != nil && o.label("file", &s.File) {
			if content, ok := r.file(n, path, s.File); ok {
				if len(bytes.TrimSpace(content)) == 0 {
					r.problem(n, path, "has no values; write one on each line")
				}
				s.Content = content
			}
		}
	case "range":
		s.From, s.To = r.bounds(o.get("range"))
	case "profile":
		r.fromProfile(o, &s)
	}
	if s.Kind != "file" && s.Kind != "" {
		o.conflict("order", s.Kind, "only the lines of a file have an order; delete it")
	}
	if s.Kind != "profile" && s.Kind != "" {
		o.conflict("route", s.Kind, "only a profile has routes; delete it")
		for _, k := range []string{"at", "first", "values"} {
			o.conflict(k, s.Kind, "only a profile takes it; delete it")
		}
	}
	return s
}

func (r *reader) choices(n *yaml.Node, path string) (all []Choice) {
	if n == nil {
		return nil
	}
	before := len(r.problems)
	if n.Kind == yaml.SequenceNode {
		items, _ := r.list(n, path)
		for i, item := range items {
			if s, ok := r.fixed(item, at(path, i)); ok {
				all = append(all, Choice{Value: s, Weight: 1})
			}
		}
	} else {
		o := r.object(n, path)
		for _, value := range o.order {
			c := Choice{Value: value}
			if n, at := o.get(value); n != nil {
				if w, ok := r.float(n, at, 0, 1e12); ok {
					c.Weight = w
				}
			}
			all = append(all, c)
		}
	}
	total := 0.0
	for _, c := range all {
		total += c.Weight
	}
	if total <= 0 && len(r.problems) == before {
		r.problem(n, path, "has no value with a weight; write {\"20\": 0.9, \"100\": 0.1}, or a list of values")
	}
	return all
}

// bounds reads [1, 1000] or {from: 1, to: 1000}.
func (r *reader) bounds(n *yaml.Node, path string) (from, to int64) {
	if n == nil {
		return 0, 0
	}
	ok := false
	if n.Kind == yaml.SequenceNode {
		items, _ := r.list(n, path)
		if len(items) != 2 {
			r.problem(n, path, "wants the first and the last number, such as [1, 1000]")
			return 0, 0
		}
		var ok2 bool
		from, ok = r.whole(items[0], at(path, 0), math.MinInt64, math.MaxInt64)
		to, ok2 = r.whole(items[1], at(path, 1), math.MinInt64, math.MaxInt64)
		ok = ok && ok2
	} else {
		o := r.object(n, path, "from", "to")
		o.require("from", "to")
		ok = o.whole("from", &from, math.MinInt64, math.MaxInt64)
		ok = o.whole("to", &to, math.MinInt64, math.MaxInt64) && ok
	}
	if ok && (from > to || from < 0 && to > math.MaxInt64+from-1) {
		r.problem(n, path, "goes from %s to %s; write the lower number first, at most 9223372036854775807 numbers", strconv.FormatInt(from, 10), strconv.FormatInt(to, 10))
	}
	return from, to
}

// names are the data sources that a template may use.
func (p *Plan) names() []string {
	names := make([]string, len(p.Data))
	for i, s := range p.Data {
		names[i] = s.Name
	}
	return names
}
