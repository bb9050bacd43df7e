package runner

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"headroom/runner/plan"
	"headroom/runner/schedule"
	"headroom/runner/send"
	"headroom/store/record"
)

// traffic is the Traffic of a plan.
type traffic struct {
	seed     uint64
	deadline int64
	pick     *schedule.Alias
	classes  []int // of the header, by position in the plan's requests
	kinds    []kind
	retries  *retries
	scratch  []byte // of escape
	want     []byte // of Judge
}

// kind is one class of the header: a plain request, a step, or a flow.
type kind struct {
	steps   []step // of a flow
	method  string
	path    []piece
	fields  []send.Field // without values to fill in
	filled  []filledField
	body    []piece
	expect  send.Expect
	json    []jsonCheck
	has     []byte // the body must contain it
	max     int64
	keep    int
	capture []plan.Capture
}

type step struct {
	class int
	think int64
}

type filledField struct {
	name  string
	value []piece
}

type jsonCheck struct {
	path plan.JSONPath
	want []piece
}

// piece is literal text, a value drawn from a source, or a captured value.
type piece struct {
	literal  []byte
	source   schedule.Source
	captured string
}

// keepBody is how much of an answer is kept where its content is looked at.
const keepBody = 1 << 20

// NewTraffic makes the traffic of a plan. base is put before every path.
func NewTraffic(p *plan.Plan, h record.Header) (Traffic, error) {
	t := &traffic{seed: h.Seed, deadline: h.DeadlineNS, kinds: make([]kind, len(h.Classes)), retries: newRetries(p.Retries, h.Seed)}
	sources, err := newSources(p.Data)
	if err != nil {
		return nil, err
	}
	base := ""
	if p.Target.URL != nil {
		base = p.Target.URL.Base
	}
	var weights []float64
	for i := range p.Requests {
		r := &p.Requests[i]
		weights = append(weights, r.Weight)
		t.classes = append(t.classes, r.Index)
		for k := range r.Steps {
			s := &r.Steps[k]
			t.kinds[s.Index] = newKind(p, s, base, sources)
			if r.Flow {
				t.kinds[r.Index].steps = append(t.kinds[r.Index].steps, step{s.Index, int64(s.Think)})
			}
		}
	}
	if t.pick, err = schedule.NewAlias(weights); err != nil {
		return nil, fmt.Errorf("requests: %w", err)
	}
	return t, nil
}

func newKind(p *plan.Plan, s *plan.Step, base string, sources map[string]schedule.Source) kind {
	k := kind{
		method: s.Method, path: compile(s.Path, sources), body: compile(s.Body, sources),
		expect:  send.Expect{Status: send.Statuses(s.Expect.Status...), Shed: send.Statuses(s.Shed...), MaxBytes: s.Expect.MaxBytes},
		max:     s.Expect.MaxBytes,
		has:     []byte(s.Expect.Contains.Value()),
		capture: s.Capture,
	}
	if base != "" {
		k.path = append([]piece{{literal: []byte(base)}}, k.path...)
	}
	headers := slices.Clone(s.Headers)
	for _, h := range p.HTTP.Headers {
		if !slices.ContainsFunc(s.Headers, func(own plan.Header) bool { return strings.EqualFold(own.Name, h.Name) }) {
			headers = append(headers, h)
		}
	}
	for _, h := range headers {
		v := compile(h.Value, sources)
		if len(v) == 1 && v[0].source == nil && v[0].captured == "" {
			k.fields = append(k.fields, send.Field{Name: h.Name, Value: v[0].literal})
			continue
		}
		k.filled = append(k.filled, filledField{h.Name, v})
	}
	for _, j := range s.Expect.JSON {
		k.json = append(k.json, jsonCheck{j.Path, compile(j.Value, sources)})
	}
	if len(k.json) > 0 || len(k.has) > 0 || slices.ContainsFunc(k.capture, func(c plan.Capture) bool { return c.Kind != "header" }) {
		k.keep = keepBody
		if k.max > 0 {
			k.keep = int(min(k.max, 64<<20))
		}
	}
	return k
}

func compile(t plan.Template, sources map[string]schedule.Source) []piece {
	var all []piece
	for _, s := range t.Segments {
		switch {
		case s.Data == "":
			all = append(all, piece{literal: []byte(s.Literal)})
		case sources[s.Data] != nil:
			all = append(all, piece{source: sources[s.Data]})
		default:
			all = append(all, piece{captured: s.Data})
		}
	}
	return all
}

// fill appends the pieces with their values; escaped percent-encodes values.
func (t *traffic) fill(dst []byte, pieces []piece, arrival uint64, vars map[string]string, escaped bool) []byte {
	for i := range pieces {
		p := &pieces[i]
		switch {
		case p.source != nil:
			from := len(dst)
			dst = p.source.Append(dst, t.seed, arrival)
			if escaped {
				dst = t.escape(dst, from)
			}
		case p.captured != "":
			from := len(dst)
			dst = append(dst, vars[p.captured]...)
			if escaped {
				dst = t.escape(dst, from)
			}
		default:
			dst = append(dst, p.literal...)
		}
	}
	return dst
}

// escape percent-encodes dst[from:] where it has to be.
func (t *traffic) escape(dst []byte, from int) []byte {
	if !slices.ContainsFunc(dst[from:], reserved) {
		return dst
	}
	const hex = "0123456789ABCDEF"
	t.scratch = append(t.scratch[:0], dst[from:]...)
	dst = dst[:from]
	for _, c := range t.scratch {
		if reserved(c) {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

func reserved(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~':
		return false
	}
	return true
}

// Class implements Traffic.
func (t *traffic) Class(arrival uint64) int {
	if len(t.classes) == 1 {
		return t.classes[0]
	}
	s := schedule.Derive(t.seed, "class", arrival)
	return t.classes[t.pick.Pick(s.Uint64())]
}

// Steps implements Traffic.
func (t *traffic) Steps(class int) int { return len(t.kinds[class].steps) }

// Step implements Traffic.
func (t *traffic) Step(flow, n int) (class int, think int64) {
	s := t.kinds[flow].steps[n]
	return s.class, s.think
}

// Prepare implements Traffic.
func (t *traffic) Prepare(r *send.Request, class int, arrival uint64, vars map[string]string) record.ErrorKind {
	k := &t.kinds[class]
	r.Method = k.method
	r.Path = t.fill(r.Path[:0], k.path, arrival, vars, true)
	r.Body = t.fill(r.Body[:0], k.body, arrival, vars, false)
	r.Fields = append(r.Fields[:0], k.fields...)
	for _, f := range k.filled {
		value := t.fill(nil, f.value, arrival, vars, false)
		if bytes.ContainsAny(value, "\r\n\x00") {
			return record.ErrRequest
		}
		r.Fields = append(r.Fields, send.Field{Name: f.name, Value: value})
	}
	r.KeepBody, r.MaxBody = k.keep, k.max
	return record.ErrNone
}

// Judge implements Traffic.
func (t *traffic) Judge(class int, arrival uint64, scheduled int64, r *send.Result, vars map[string]string) (record.Outcome, record.ErrorKind) {
	k := &t.kinds[class]
	o, kind := send.Classify(&k.expect, t.deadline, scheduled, r)
	if !o.Valid() || k.keep == 0 {
		return o, kind
	}
	if len(k.has) > 0 && !bytes.Contains(r.Body, k.has) {
		return record.Wrong, record.ErrContent
	}
	for i := range k.json {
		t.want = t.fill(t.want[:0], k.json[i].want, arrival, vars, false)
		if !plan.EqualJSON(r.Body, k.json[i].path, t.want) {
			return record.Wrong, record.ErrContent
		}
	}
	return o, kind
}

// Capture implements Traffic.
func (t *traffic) Capture(class int, r *send.Result, vars map[string]string) bool {
	for i := range t.kinds[class].capture {
		c := &t.kinds[class].capture[i]
		value, ok := "", false
		switch c.Kind {
		case "json":
			value, ok = plan.MatchJSON(r.Body, c.Path)
		case "header":
			if r.HeaderValue != nil {
				value = r.HeaderValue(c.Header)
				ok = value != ""
			}
		case "regex":
			value, ok = firstMatch(c.Regex, r.Body)
		}
		if !ok {
			return false
		}
		vars[c.Name] = value
	}
	return true
}

func firstMatch(re *regexp.Regexp, body []byte) (string, bool) {
	m := re.FindSubmatch(body)
	switch len(m) {
	case 0:
		return "", false
	case 1:
		return string(m[0]), true
	}
	return string(m[1]), true
}

// Retry implements Traffic.
func (t *traffic) Retry(class int, arrival uint64, attempt int, o record.Outcome, e record.ErrorKind, status int) (int64, bool) {
	return t.retries.next(arrival, attempt, o, status)
}
