package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

var (
	className = regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{N}_.-]{0,63}$`)
	token     = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

// verbs are the keys that give method and path in one.
var verbs = []string{"get", "post", "put", "patch", "delete", "head"}

// stepKeys are the keys of one request.
var stepKeys = append(append([]string{}, verbs...), "method", "path", "headers", "body", "body_file", "expect", "shed")

// maxClasses bounds the classes of a plan, the steps of its flows included.
const maxClasses = 1000

func (r *reader) requests(parent *object, p *Plan) {
	n, path := parent.get("requests")
	if n == nil {
		return
	}
	if n.Kind == yaml.MappingNode {
		o := r.object(n, path, "from_profile", "methods")
		if !o.has("from_profile") {
			r.problem(n, path, "is a mapping, not a list; write one `- class: …` for each kind of request")
		}
		if items := r.requestsFromProfile(o, p); len(items) > 0 {
			r.requestList(n, path, items, true, p)
		}
		return
	}
	items, ok := r.list(n, path)
	r.requestList(n, path, items, ok, p)
}

func (r *reader) requestList(n *yaml.Node, path string, items []*yaml.Node, ok bool, p *Plan) {
	if ok && len(items) == 0 {
		r.problem(n, path, "is empty; write at least one `- class: …`")
	}
	seen := map[string]int{}
	index, total := 0, 0.0
	for i, item := range items {
		req := r.request(item, at(path, i), p.names())
		if line, twice := seen[req.Class]; twice && req.Class != "" {
			r.problem(item, join(at(path, i), "class"), "%q names a class of line %d already; give it a name of its own", req.Class, line)
		}
		seen[req.Class] = item.Line
		total += req.Weight
		req.Index = index
		index++
		for j := range req.Steps {
			s := &req.Steps[j]
			s.Name, s.Index = req.Class, req.Index
			if req.Flow {
				s.Name, s.Index = fmt.Sprintf("%s/%d", req.Class, j+1), index
				index++
			}
		}
		p.Requests = append(p.Requests, req)
	}
	if index > maxClasses {
		r.problem(n, path, "makes %d classes, steps of flows included; at most %d", index, maxClasses)
	}
	if len(items) > 0 && total == 0 {
		r.problem(n, path, "has no request with a weight above 0")
	}
}

func (r *reader) request(n *yaml.Node, path string, names []string) Request {
	o := r.object(n, path, append([]string{"class", "weight", "flow"}, stepKeys...)...)
	req := Request{Weight: 1}
	o.require("class")
	if n, path := o.get("class"); n != nil {
		if s, ok := r.fixed(n, path); ok {
			if !className.MatchString(s) {
				r.problem(n, path, "%q is not the name of a class; use up to 64 letters, digits, _ . and -", excerpt(s))
			}
			req.Class = s
		}
	}
	o.float("weight", &req.Weight, 0, 1e12)
	if !o.has("flow") {
		if s, ok := r.single(o, names); ok {
			req.Steps = []Step{s}
		}
		return req
	}
	req.Flow = true
	for _, key := range stepKeys {
		if key != "headers" && key != "shed" {
			o.conflict(key, "flow", "the steps of the flow are the requests; move it into a step")
		}
	}
	fn, fpath := o.get("flow")
	if fn == nil {
		return req
	}
	var headers []Header
	if n, path := o.get("headers"); n != nil {
		headers = r.headers(n, path, names)
	}
	shed := []int{429, 503}
	if n, path := o.get("shed"); n != nil {
		shed = r.statuses(n, path)
	}
	items, ok := r.list(fn, fpath)
	if ok && len(items) == 0 {
		r.problem(fn, fpath, "is empty; write at least one step")
	}
	known := slices.Clone(names)
	for i, item := range items {
		var s Step
		s, known = r.flowStep(item, at(fpath, i), i, known)
		if s.Shed == nil {
			s.Shed = shed
		}
		s.Headers = merged(headers, s.Headers)
		req.Steps = append(req.Steps, s)
	}
	return req
}

// merged is base with the fields of over, which replace those of the same name.
func merged(base, over []Header) []Header {
	var all []Header
	for _, h := range base {
		if !slices.ContainsFunc(over, func(o Header) bool { return strings.EqualFold(o.Name, h.Name) }) {
			all = append(all, h)
		}
	}
	return append(all, over...)
}

func (r *reader) flowStep(n *yaml.Node, path string, number int, known []string) (Step, []string) {
	o := r.object(n, path, append([]string{"capture", "think"}, stepKeys...)...)
	s := r.stepOf(o, known)
	if o.has("think") && number == 0 {
		r.problem(o.keys["think"], join(path, "think"), "the first step starts at the flow's scheduled instant; think belongs to a later step")
	}
	o.duration("think", &s.Think, 0, day)
	if n, path := o.get("capture"); n != nil {
		c := r.object(n, path)
		for _, name := range c.order {
			n, path := c.get(name)
			switch {
			case !dataName.MatchString(name):
				r.problem(c.keys[name], path, "%q is not a name for {…}; use letters, digits, _ and -, a letter first", excerpt(name))
			case contains(known, name):
				r.problem(c.keys[name], path, "is the name of a data source or an earlier capture already; choose another")
			}
			if got, ok := r.capture(n, path, name); ok {
				s.Capture = append(s.Capture, got)
			}
			known = append(known, name)
		}
	}
	return s, known
}

// single reads a request without a flow.
func (r *reader) single(o *object, names []string) (Step, bool) {
	if o.broken {
		return Step{}, false
	}
	s := r.stepOf(o, names)
	if s.Shed == nil {
		s.Shed = []int{429, 503}
	}
	return s, true
}

// stepOf reads what a plain request and a step of a flow have in common. Shed
// is nil where it is not given.
func (r *reader) stepOf(o *object, names []string) Step {
	s := Step{Expect: Expect{Status: rangeOf(200, 299)}}
	if o.broken {
		return s
	}
	way := "method"
	if !o.has("method") || slices.ContainsFunc(verbs, o.has) {
		way = o.one(append(slices.Clone(verbs), "method")...)
	}
	if way == "method" {
		o.require("path")
		if n, path := o.get("method"); n != nil {
			if m, ok := r.fixed(n, path); ok {
				if !token.MatchString(m) || m != strings.ToUpper(m) || len(m) > 20 || m == "CONNECT" {
					r.problem(n, path, "%q is not a method; write one such as GET or OPTIONS, in capitals, not CONNECT", excerpt(m))
				}
				s.Method = m
			}
		}
		if n, path := o.get("path"); n != nil {
			s.Path = r.path(n, path, names)
		}
	} else if way != "" {
		s.Method = strings.ToUpper(way)
		if n, path := o.get(way); n != nil {
			s.Path = r.path(n, path, names)
		}
		o.conflict("path", way, way+" gives the path; delete one of the two")
	}
	if n, path := o.get("headers"); n != nil {
		s.Headers = r.headers(n, path, names)
	}
	r.body(o, &s, names)
	if n, path := o.get("expect"); n != nil {
		r.expect(n, path, &s.Expect, names)
	}
	if n, path := o.get("shed"); n != nil {
		s.Shed = r.statuses(n, path)
		for _, code := range s.Shed {
			if en, _ := o.get("expect"); en != nil && slices.Contains(s.Expect.Status, code) {
				r.problem(n, path, "%d is under expect.status as well; an answer is valid or refused, not both", code)
			}
		}
	}
	return s
}

func (r *reader) body(o *object, s *Step, names []string) {
	o.conflict("body_file", "body", "keep one of the two")
	if n, path := o.get("body"); n != nil {
		s.Body, _ = r.template(n, path, looseBraces, names)
	}
	if n, path := o.get("body_file"); n != nil && o.label("body_file", &s.BodyFile) {
		if content, ok := r.file(n, path, s.BodyFile); ok {
			s.Body, _ = r.fill(n, path, string(content), looseBraces, names)
		}
	}
	if s.Method == "HEAD" && (o.has("body") || o.has("body_file")) {
		n := o.keys["body"]
		if n == nil {
			n = o.keys["body_file"]
		}
		r.problem(n, join(o.path, n.Value), "a HEAD request has no body; delete it, or use another method")
	}
}

// path reads a request target.
func (r *reader) path(n *yaml.Node, path string, names []string) Template {
	t, ok := r.template(n, path, strictBraces, names)
	if !ok {
		return t
	}
	first := ""
	if len(t.Segments) > 0 {
		first = t.Segments[0].Literal
	}
	if !strings.HasPrefix(first, "/") {
		r.problem(n, path, "does not begin with /; write the path and query only, such as /orders?limit=20")
		return t
	}
	for _, s := range t.Segments {
		if !pathBytes(s.Literal) {
			r.problem(n, path, "has a space, a # or another character that a path cannot have; write it as %%20, %%23 and so on")
			break
		}
	}
	return t
}

func pathBytes(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' || c == '#' })
}

// ownHeaders are written by the connection.
var ownHeaders = []string{"content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect", "proxy-connection"}

func (r *reader) headers(n *yaml.Node, path string, names []string) (all []Header) {
	o := r.object(n, path)
	seen := map[string]bool{}
	for _, name := range o.order {
		n, path := o.get(name)
		k := o.keys[name]
		lower := strings.ToLower(name)
		switch {
		case !token.MatchString(name):
			r.problem(k, path, "%q is not the name of a header", excerpt(name))
		case contains(ownHeaders, lower):
			r.problem(k, path, "is set by the connection itself; delete it")
		case seen[lower]:
			r.problem(k, path, "is given twice; header names ignore case")
		}
		seen[lower] = true
		t, ok := r.template(n, path, strictBraces, names)
		if ok && slices.ContainsFunc(t.Segments, func(s Segment) bool {
			return strings.ContainsFunc(s.Literal, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f })
		}) {
			r.problem(n, path, "has a line break or another control character; a header is one line")
		}
		all = append(all, Header{Name: name, Value: t})
	}
	return all
}
