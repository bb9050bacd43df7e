package plan

import (
	"regexp"
	"strings"
)

var environment = regexp.MustCompile(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Text is a value that may have come, in part, from the environment. It prints
// as the plan writes it; only Value gives what was put in.
type Text struct {
	value string
	plain string
}

// Literal is a Text that has nothing from the environment.
func Literal(s string) Text {
	return Text{value: s, plain: environment.ReplaceAllString(s, "$$$0")}
}

// Value is what is used. It may be a secret.
func (t Text) Value() string { return t.value }

// String is the text as the plan writes it, with ${NAME}.
func (t Text) String() string { return t.plain }

// GoString is String.
func (t Text) GoString() string { return t.plain }

// MarshalText is String.
func (t Text) MarshalText() ([]byte, error) { return []byte(t.plain), nil }

// Secret reports whether some of it came from the environment.
func (t Text) Secret() bool { return fromEnvironment(t.plain) }

func fromEnvironment(s string) bool {
	for _, m := range environment.FindAllString(s, -1) {
		if !strings.HasPrefix(m, "$$") {
			return true
		}
	}
	return false
}

// piece is a part of a text: literal as written, or the name of a variable.
type piece struct {
	literal  string
	variable string
}

// pieces takes a text apart. $${NAME} becomes the literal ${NAME}.
func pieces(s string) []piece {
	var all []piece
	for {
		at := environment.FindStringSubmatchIndex(s)
		if at == nil {
			break
		}
		match := s[at[0]:at[1]]
		if strings.HasPrefix(match, "$$") {
			all = append(all, piece{literal: s[:at[0]] + match[1:]})
		} else {
			if at[0] > 0 {
				all = append(all, piece{literal: s[:at[0]]})
			}
			all = append(all, piece{variable: s[at[2]:at[3]]})
		}
		s = s[at[1]:]
	}
	if s != "" {
		all = append(all, piece{literal: s})
	}
	return all
}
