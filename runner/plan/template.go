package plan

import (
	"fmt"
	"regexp"
	"strings"

	"headroom/store/record"
)

// Template is a text with places for values. It prints as the plan writes it.
type Template struct {
	Segments []Segment
	plain    string
}

// Segment is either literal text or a place for a value. A literal may hold a
// secret from the environment.
type Segment struct {
	Literal string
	Data    string // name of a data source or captured value; "" for literal text
}

// String is the template as the plan writes it.
func (t Template) String() string { return t.plain }

// GoString is String.
func (t Template) GoString() string { return t.plain }

// MarshalText is String.
func (t Template) MarshalText() ([]byte, error) { return []byte(t.plain), nil }

// Empty reports whether there is no text at all.
func (t Template) Empty() bool { return len(t.Segments) == 0 }

// Names lists the values that the template needs, each once.
func (t Template) Names() []string {
	var names []string
	seen := map[string]bool{}
	for _, s := range t.Segments {
		if s.Data != "" && !seen[s.Data] {
			seen[s.Data] = true
			names = append(names, s.Data)
		}
	}
	return names
}

// Append appends the text with its values filled in as they are.
func (t Template) Append(dst []byte, value func(name string) string) []byte {
	for _, s := range t.Segments {
		if s.Data != "" {
			dst = append(dst, value(s.Data)...)
			continue
		}
		dst = append(dst, s.Literal...)
	}
	return dst
}

// AppendPath is Append for a request target: in the values every byte that is
// not unreserved in RFC 3986 is percent-encoded.
func (t Template) AppendPath(dst []byte, value func(name string) string) []byte {
	const hex = "0123456789ABCDEF"
	for _, s := range t.Segments {
		if s.Data == "" {
			dst = append(dst, s.Literal...)
			continue
		}
		for _, c := range []byte(value(s.Data)) {
			if unreserved(c) {
				dst = append(dst, c)
			} else {
				dst = append(dst, '%', hex[c>>4], hex[c&15])
			}
		}
	}
	return dst
}

func unreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// dialect says how braces are read.
type dialect int

const (
	// strictBraces: {name} is a place, {{ and }} are braces, all else is wrong.
	strictBraces dialect = iota
	// looseBraces, for bodies: {name} is a place where name is known, {{name}}
	// is the text {name}, and every other brace is itself.
	looseBraces
)

var (
	placeholder = regexp.MustCompile(`^\{([A-Za-z_][A-Za-z0-9_-]*)\}`)
	escaped     = regexp.MustCompile(`^\{\{([A-Za-z_][A-Za-z0-9_-]*)\}\}`)
)

// parseTemplate reads the literal pieces of a text; variables are looked up.
func parseTemplate(plain string, how dialect, known []string, lookup func(string) string) (Template, []error) {
	t := Template{plain: plain}
	var faults []error
	for _, p := range pieces(plain) {
		if p.variable != "" {
			t.literal(lookup(p.variable))
			continue
		}
		if how == looseBraces {
			faults = append(faults, t.loose(p.literal, known)...)
		} else {
			faults = append(faults, t.strict(p.literal, known)...)
		}
	}
	return t, faults
}

func (t *Template) literal(s string) {
	if s == "" {
		return
	}
	if n := len(t.Segments); n > 0 && t.Segments[n-1].Data == "" {
		t.Segments[n-1].Literal += s
		return
	}
	t.Segments = append(t.Segments, Segment{Literal: s})
}

func (t *Template) strict(s string, known []string) (faults []error) {
	for s != "" {
		at := strings.IndexAny(s, "{}")
		if at < 0 {
			t.literal(s)
			break
		}
		t.literal(s[:at])
		s = s[at:]
		if strings.HasPrefix(s, "{{") || strings.HasPrefix(s, "}}") {
			t.literal(s[:1])
			s = s[2:]
			continue
		}
		m := placeholder.FindStringSubmatch(s)
		if m == nil {
			faults = append(faults, fmt.Errorf("%q is no place for a value; write {name}, or %s for the brace itself", excerpt(s), strings.Repeat(s[:1], 2)))
			s = s[1:]
			continue
		}
		if err := t.place(m[1], known); err != nil {
			faults = append(faults, err)
		}
		s = s[len(m[0]):]
	}
	return faults
}

func (t *Template) loose(s string, known []string) (faults []error) {
	for s != "" {
		at := strings.IndexByte(s, '{')
		if at < 0 {
			t.literal(s)
			break
		}
		t.literal(s[:at])
		s = s[at:]
		if m := escaped.FindStringSubmatch(s); m != nil {
			t.literal("{" + m[1] + "}")
			s = s[len(m[0]):]
			continue
		}
		m := placeholder.FindStringSubmatch(s)
		if m == nil {
			t.literal("{")
			s = s[1:]
			continue
		}
		if contains(known, m[1]) {
			t.Segments = append(t.Segments, Segment{Data: m[1]})
		} else if near := record.Nearest(m[1], known); near != "" {
			faults = append(faults, fmt.Errorf("{%s} names no data source; did you mean {%s}? {{%s}} is the text itself", m[1], near, m[1]))
		} else {
			t.literal(m[0])
		}
		s = s[len(m[0]):]
	}
	return faults
}

func (t *Template) place(name string, known []string) error {
	if contains(known, name) {
		t.Segments = append(t.Segments, Segment{Data: name})
		return nil
	}
	if near := record.Nearest(name, known); near != "" {
		return fmt.Errorf("{%s} names no data source; did you mean {%s}?", name, near)
	}
	return fmt.Errorf("{%s} names no data source and no value captured by an earlier step; add %s under data, or write {{%s}} for the text itself", name, name, name)
}

func contains(all []string, s string) bool {
	for _, a := range all {
		if a == s {
			return true
		}
	}
	return false
}

// excerpt shortens a text for a message.
func excerpt(s string) string {
	r := []rune(s)
	if len(r) > 20 {
		return string(r[:20]) + "…"
	}
	return s
}
