package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// JSONPath is a place in a JSON text: names and positions from the top.
type JSONPath struct {
	text  string
	steps []jsonStep
}

type jsonStep struct {
	name  string // member of an object; "" where index counts
	index int    // element of an array, from 0; -1 where name counts
}

var jsonPart = regexp.MustCompile(`^(?:\.([A-Za-z_$][A-Za-z0-9_$-]*)|\[(\d{1,9})\]|\['([^'\\]+)'\]|\["([^"\\]+)"\])`)

// ParseJSONPath reads a path such as $.items[0].id or $['first name']. There
// are no wildcards, slices, filters or searches: one path is one place.
func ParseJSONPath(s string) (JSONPath, error) {
	rest, ok := strings.CutPrefix(s, "$")
	if !ok {
		return JSONPath{}, fmt.Errorf("%q is not a path; it begins with $, such as $.items[0].id", excerpt(s))
	}
	p := JSONPath{text: s}
	for rest != "" {
		m := jsonPart.FindStringSubmatch(rest)
		if m == nil {
			return JSONPath{}, fmt.Errorf("%q is not understood in a path; write names and positions only, such as $.items[0].id", excerpt(rest))
		}
		step := jsonStep{name: m[1] + m[3] + m[4], index: -1}
		if m[2] != "" {
			step.index, _ = strconv.Atoi(m[2])
		}
		p.steps = append(p.steps, step)
		rest = rest[len(m[0]):]
	}
	if len(p.steps) > 32 {
		return JSONPath{}, fmt.Errorf("a path of %d parts; at most 32", len(p.steps))
	}
	return p, nil
}

// String is the path as written.
func (p JSONPath) String() string { return p.text }

// FindJSON is the text of the value at a path, as it stands in the body. It
// reads no further than it needs to, allocates nothing, and does not validate
// what it passes over. Of members with the same name the first counts.
func FindJSON(body []byte, path JSONPath) (raw []byte, ok bool) {
	at := space(body, 0)
	for _, step := range path.steps {
		if at >= len(body) {
			return nil, false
		}
		if step.index >= 0 {
			at = element(body, at, step.index)
		} else {
			at = member(body, at, step.name)
		}
		if at < 0 {
			return nil, false
		}
	}
	end := skip(body, at)
	if end < 0 {
		return nil, false
	}
	return body[at:end], true
}

// MatchJSON is the value at a path as text: a string without its quotes and
// escapes, anything else as it stands in the body.
func MatchJSON(body []byte, path JSONPath) (value string, ok bool) {
	raw, ok := FindJSON(body, path)
	if !ok {
		return "", false
	}
	return unquoted(raw)
}

// EqualJSON reports whether the value at a path is want, in the text that
// MatchJSON gives. It allocates nothing unless the value has escapes.
func EqualJSON(body []byte, path JSONPath, want []byte) bool {
	raw, ok := FindJSON(body, path)
	if !ok {
		return false
	}
	if raw[0] != '"' {
		return bytes.Equal(raw, want)
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return bytes.Equal(raw[1:len(raw)-1], want)
	}
	s, ok := unquoted(raw)
	return ok && s == string(want)
}

func unquoted(raw []byte) (string, bool) {
	if raw[0] != '"' {
		return string(raw), true
	}
	if bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw) {
		return string(raw[1 : len(raw)-1]), true
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

func space(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\n' || b[at] == '\t' || b[at] == '\r') {
		at++
	}
	return at
}

// member is where the value of a member begins, -1 where there is none.
func member(b []byte, at int, name string) int {
	if b[at] != '{' {
		return -1
	}
	at = space(b, at+1)
	for at < len(b) && b[at] == '"' {
		end := quoted(b, at)
		if end < 0 {
			return -1
		}
		key := b[at:end]
		at = space(b, end)
		if at >= len(b) || b[at] != ':' {
			return -1
		}
		at = space(b, at+1)
		if named(key, name) {
			return at
		}
		if at = next(b, at); at < 0 {
			return -1
		}
	}
	return -1
}

func named(key []byte, name string) bool {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(key[1:len(key)-1]) == name
	}
	s, ok := unquoted(key)
	return ok && s == name
}

// element is where an element begins, -1 where there is none.
func element(b []byte, at, index int) int {
	if b[at] != '[' {
		return -1
	}
	at = space(b, at+1)
	for ; at < len(b) && b[at] != ']'; index-- {
		if index == 0 {
			return at
		}
		if at = next(b, at); at < 0 {
			return -1
		}
	}
	return -1
}

// next passes a value and the comma behind it; -1 where none follows.
func next(b []byte, at int) int {
	if at = skip(b, at); at < 0 {
		return -1
	}
	if at = space(b, at); at >= len(b) || b[at] != ',' {
		return -1
	}
	return space(b, at+1)
}

// skip is where a value ends, -1 where it does not.
func skip(b []byte, at int) int {
	if at >= len(b) {
		return -1
	}
	switch b[at] {
	case '"':
		return quoted(b, at)
	case '{', '[':
		depth := 0
		for at < len(b) {
			switch b[at] {
			case '"':
				if at = quoted(b, at); at < 0 {
					return -1
				}
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return at + 1
				}
			}
			at++
		}
		return -1
	}
	start := at
	for at < len(b) && strings.IndexByte(",]} \n\t\r:\"[{", b[at]) < 0 {
		at++
	}
	if at == start {
		return -1
	}
	return at
}

// quoted is where the string that begins at a quote ends, behind its quote.
func quoted(b []byte, at int) int {
	for at++; at < len(b); at++ {
		switch b[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return -1
}
