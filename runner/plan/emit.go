package plan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"headroom/store/record"
)

// branch is a mapping of the canonical form, its keys in a fixed order.
type branch []entry

type entry struct {
	key   string
	value any // string, branch, []any
}

func (b *branch) add(key string, value any) { *b = append(*b, entry{key, value}) }

// some adds a text that is not empty.
func (b *branch) some(key, value string) {
	if value != "" {
		b.add(key, value)
	}
}

// flag adds a boolean that differs from its default.
func (b *branch) flag(key string, value, normal bool) {
	if value != normal {
		b.add(key, plain(strconv.FormatBool(value)))
	}
}

// count adds a whole number that differs from its default.
func (b *branch) count(key string, value, normal int64) {
	if value != normal {
		b.add(key, plain(strconv.FormatInt(value, 10)))
	}
}

// real adds a number that differs from its default.
func (b *branch) real(key string, value, normal float64) {
	if value != normal {
		b.add(key, plain(number(value)))
	}
}

// span adds a duration that differs from its default.
func (b *branch) span(key string, value, normal time.Duration) {
	if value != normal {
		b.add(key, text(value))
	}
}

// sub adds a mapping that is not empty.
func (b *branch) sub(key string, value branch) {
	if len(value) > 0 {
		b.add(key, value)
	}
}

// list adds a list that is not empty.
func (b *branch) list(key string, value []any) {
	if len(value) > 0 {
		b.add(key, value)
	}
}

// plain is a number or boolean, which stands without quotes.
type plain string

func text(d time.Duration) string { return record.FormatDuration(int64(d)) }

// emit prints a mapping as YAML. Its bytes are frozen: they make the digests.
func emit(b *strings.Builder, m branch, indent string) {
	for _, e := range m {
		b.WriteString(indent + word(e.key) + ":")
		emitValue(b, e.value, indent)
	}
}

func emitValue(b *strings.Builder, value any, indent string) {
	switch v := value.(type) {
	case string:
		b.WriteString(" " + word(v) + "\n")
	case plain:
		b.WriteString(" " + string(v) + "\n")
	case branch:
		if len(v) == 0 {
			b.WriteString(" {}\n")
			return
		}
		b.WriteString("\n")
		emit(b, v, indent+"  ")
	case []any:
		if len(v) == 0 {
			b.WriteString(" []\n")
			return
		}
		b.WriteString("\n")
		for _, item := range v {
			emitItem(b, item, indent+"  ")
		}
	}
}

func emitItem(b *strings.Builder, item any, indent string) {
	m, ok := item.(branch)
	if !ok || len(m) == 0 {
		b.WriteString(indent + "-")
		emitValue(b, item, indent)
		return
	}
	b.WriteString(indent + "- " + word(m[0].key) + ":")
	emitValue(b, m[0].value, indent+"  ")
	emit(b, m[1:], indent+"  ")
}

// safe texts stand without quotes: no YAML reader takes them for anything else.
var safe = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_/.-]*$|^[0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h|d)([0-9.]+(ns|us|ms|s|m|h))*$`)

var reserved = map[string]bool{"true": true, "false": true, "null": true, "yes": true, "no": true, "on": true, "off": true, "y": true, "n": true}

// word prints a text so that YAML reads it back as the same text.
func word(s string) string {
	if safe.MatchString(s) && !reserved[strings.ToLower(s)] && len(s) < 200 {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c > 0xffff && !unicode.IsPrint(c):
			fmt.Fprintf(&b, `\U%08X`, c)
		case c < ' ' || c > '~' && !unicode.IsPrint(c):
			fmt.Fprintf(&b, `\u%04X`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
