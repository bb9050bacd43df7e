package plan

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"

	yaml "go.yaml.in/yaml/v4"

	"headroom/store/record"
)

// scalar is the text of a value. Values that reach evidence may not come from
// the environment.
func (r *reader) scalar(n *yaml.Node, path string) (s string, ok bool) {
	n = r.resolve(n)
	if n.Kind != yaml.ScalarNode {
		r.problem(n, path, "is %s, not a single value", what(n))
		return "", false
	}
	if n.Style&yaml.TaggedStyle != 0 {
		r.problem(n, path, "has the tag %s; plans have no tags", n.Tag)
		return "", false
	}
	return unhide(n.Value), true
}

func (r *reader) fixed(n *yaml.Node, path string) (s string, ok bool) {
	s, ok = r.scalar(n, path)
	if ok && fromEnvironment(s) {
		instead := "write it out"
		if path == "release" {
			instead = "give it with --release instead"
		}
		r.problem(n, path, "comes from the environment, but is written into evidence, where such values must not be; %s", instead)
		return "", false
	}
	return s, ok
}

// number is the text of a value that is written without quotes.
func (r *reader) number(n *yaml.Node, path, example string) (s string, ok bool) {
	s, ok = r.fixed(n, path)
	if !ok {
		return "", false
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		r.problem(n, path, "is a text, %q; write it without quotes, such as %s", excerpt(s), example)
		return "", false
	}
	return s, true
}

// CheckLabel says why a text cannot be a name or the label of a release.
func CheckLabel(s string) error {
	if s == "" || len(s) > 200 || strings.ContainsFunc(s, unicode.IsControl) || strings.TrimSpace(s) != s {
		return errors.New("is not a name; write 1 to 200 bytes on one line, without space at the ends")
	}
	return nil
}

// label reads a text that is written into evidence.
func (o *object) label(key string, dst *string) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	s, ok := o.r.fixed(n, path)
	if !ok {
		return false
	}
	if err := CheckLabel(s); err != nil {
		o.r.problem(n, path, "%v", err)
		return false
	}
	*dst = s
	return true
}

// text reads a value that may come from the environment.
func (o *object) text(key string, dst *Text) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	t, ok := o.r.text(n, path)
	if ok {
		*dst = t
	}
	return ok
}

func (r *reader) text(n *yaml.Node, path string) (Text, bool) {
	s, ok := r.scalar(n, path)
	if !ok {
		return Text{}, false
	}
	t := Text{plain: s}
	for _, p := range pieces(s) {
		if p.variable == "" {
			t.value += p.literal
			continue
		}
		v, found := r.lookup(p.variable)
		if !found {
			r.missing(n, path, p.variable)
			ok = false
		}
		t.value += v
	}
	return t, ok
}

func (r *reader) lookup(name string) (string, bool) {
	if r.env == nil {
		return "", false
	}
	return r.env(name)
}

func (r *reader) missing(n *yaml.Node, path, name string) {
	r.problem(n, path, "the environment has no %s; set it, or write $${%s} for the text itself", name, name)
}

// template reads a text with places for values.
func (r *reader) template(n *yaml.Node, path string, how dialect, known []string) (Template, bool) {
	s, ok := r.scalar(n, path)
	if !ok {
		return Template{}, false
	}
	return r.fill(n, path, s, how, known)
}

func (r *reader) fill(n *yaml.Node, path, s string, how dialect, known []string) (t Template, ok bool) {
	ok = true
	t, faults := parseTemplate(s, how, known, func(name string) string {
		v, found := r.lookup(name)
		if !found {
			r.missing(n, path, name)
			ok = false
		}
		return v
	})
	for _, err := range faults {
		r.problem(n, path, "%v", err)
		ok = false
	}
	return t, ok
}

func (o *object) boolean(key string, dst *bool) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	s, ok := o.r.number(n, path, "true")
	if !ok {
		return false
	}
	switch s {
	case "true":
		*dst = true
	case "false":
		*dst = false
	default:
		o.r.problem(n, path, "%q is neither true nor false", excerpt(s))
		return false
	}
	return true
}

// integer reads a whole number between low and high.
func (o *object) integer(key string, dst *int, low, high int) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	v, ok := o.r.whole(n, path, int64(low), int64(high))
	if ok {
		*dst = int(v)
	}
	return ok
}

// whole is integer for 64 bits on every machine.
func (o *object) whole(key string, dst *int64, low, high int64) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	v, ok := o.r.whole(n, path, low, high)
	if ok {
		*dst = v
	}
	return ok
}

func (r *reader) whole(n *yaml.Node, path string, low, high int64) (int64, bool) {
	s, ok := r.number(n, path, strconv.FormatInt(max(low, 1), 10))
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		r.problem(n, path, "%q is not a whole number; write one from %d to %d", excerpt(s), low, high)
		return 0, false
	}
	if v < low || v > high {
		r.problem(n, path, "%d is out of range; write %d to %d", v, low, high)
		return 0, false
	}
	return v, true
}

// float reads a number between low and high, both included.
func (o *object) float(key string, dst *float64, low, high float64) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	v, ok := o.r.float(n, path, low, high)
	if ok {
		*dst = v
	}
	return ok
}

func (r *reader) float(n *yaml.Node, path string, low, high float64) (float64, bool) {
	s, ok := r.number(n, path, "1.5")
	if !ok {
		return 0, false
	}
	v, ok := decimal(s)
	if !ok {
		r.problem(n, path, "%q is not a number; write one such as 1.5", excerpt(s))
		return 0, false
	}
	if v < low || v > high {
		r.problem(n, path, "%s is out of range; write %s to %s", s, number(low), number(high))
		return 0, false
	}
	return v, true
}

// decimal is a finite number in decimal digits.
func decimal(s string) (float64, bool) {
	if s == "" || strings.Trim(s, "0123456789.eE+-") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, false
	}
	return v, true
}

// number prints a number in its shortest form.
func number(f float64) string {
	if f >= 1e-6 && f < 1e15 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// choice reads one word of several.
func (o *object) choice(key string, dst *string, words ...string) bool {
	n, path := o.get(key)
	if n == nil {
		return false
	}
	s, ok := o.r.fixed(n, path)
	if !ok {
		return false
	}
	if !contains(words, s) {
		o.r.problem(n, path, "%q is none of %s%s", excerpt(s), strings.Join(words, ", "), meant(s, words))
		return false
	}
	*dst = s
	return true
}

func meant(s string, words []string) string {
	if near := record.Nearest(s, words); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}
