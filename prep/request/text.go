package request

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Texts carry places for values between runes of the private use area until
// they are written: a variable of the environment, or a data source.
const (
	variableStart, variableEnd = '\ue000', '\ue001'
	sourceStart, sourceEnd     = '\ue002', '\ue003'
)

var places = regexp.MustCompile("\ue000([^\ue001]*)\ue001|\ue002([^\ue003]*)\ue003")

func variable(name string) string { return string(variableStart) + name + string(variableEnd) }
func source(name string) string   { return string(sourceStart) + name + string(sourceEnd) }

// unmarked is input without the runes that mark places, and without those that
// can't stand in a plan.
func unmarked(s string) string {
	return strings.Map(func(c rune) rune {
		if c >= variableStart && c <= sourceEnd || c == utf8.RuneError || c == '\ufeff' || c&0xfffe == 0xfffe {
			return '?'
		}
		return c
	}, s)
}

// dialect says how braces that are no places are written in a plan.
type dialect int

const (
	inBody  dialect = iota // only {name} is written {{name}}
	inField                // each brace is doubled: paths and header values
)

var (
	environment = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
	braced      = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)\}`)
	doubled     = strings.NewReplacer("{", "{{", "}", "}}")
)

// written is a text as a plan writes it.
func written(s string, how dialect) string {
	var b strings.Builder
	literal := func(part string, beforeVariable bool) {
		if beforeVariable { // $${NAME} would be the text ${NAME}
			part = strings.TrimRight(part, "$")
		}
		if how == inBody {
			part = braced.ReplaceAllString(part, "{{$1}}") // ${NAME} is text as well then
		} else {
			part = doubled.Replace(part)
		}
		b.WriteString(part)
	}
	for {
		at := places.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		literal(s[:at[0]], at[2] >= 0)
		if at[2] >= 0 {
			b.WriteString("${" + s[at[2]:at[3]] + "}")
		} else {
			b.WriteString("{" + s[at[4]:at[5]] + "}")
		}
		s = s[at[1]:]
	}
	literal(s, false)
	return b.String()
}

// safe texts stand without quotes; reserved ones would be something else.
var (
	safe     = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_/.-]*$`)
	reserved = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
)

// quoted is a text as a YAML scalar.
func quoted(s string) string {
	ascii := !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' })
	switch {
	case safe.MatchString(s) && !slices.Contains(reserved, strings.ToLower(s)):
		return s
	case ascii && strings.ContainsAny(s, `"\`):
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
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

// identifier makes a name of letters, digits and _ of a text, or what else.
func identifier(s, otherwise string) string {
	s = strings.Trim(notName.ReplaceAllString(s, "_"), "_")
	if s == "" {
		return otherwise
	}
	if s[0] >= '0' && s[0] <= '9' {
		s = "_" + s
	}
	return s[:min(len(s), 48)]
}

var notName = regexp.MustCompile(`[^A-Za-z0-9]+`)

// percent encodes what may not stand literally in a path or query.
func percent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~!$'()*,;:@/+", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
