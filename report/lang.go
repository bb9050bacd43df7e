package report

import (
	"fmt"
	"strings"
)

// Lang is the language of a report, as in lang attributes.
type Lang = string

// The languages.
const (
	English    = "en"
	Portuguese = "pt-BR"
)

// Languages lists the languages of reports.
func Languages() []Lang { return []Lang{English, Portuguese} }

// ParseLang reads a language as people write it: en, pt, pt-BR, pt_br.
func ParseLang(s string) (Lang, error) {
	switch strings.ToLower(strings.ReplaceAll(s, "_", "-")) {
	case "", "en", "en-us", "en-gb":
		return English, nil
	case "pt", "pt-br":
		return Portuguese, nil
	}
	return "", fmt.Errorf("language %q is not known; use en or pt-BR", s)
}

func wordsOf(l Lang) *words {
	if l == Portuguese {
		return &portuguese
	}
	return &english
}

// f puts values into a sentence of the table.
func (w *words) f(format string, values ...any) string { return fmt.Sprintf(format, values...) }

// code is the word for a stable code, or the code with spaces where the table
// has none: a code of a later version must be shown, not hidden.
func (w *words) code(c string) string {
	if s, ok := w.Codes[c]; ok {
		return s
	}
	if s, ok := w.formatCode(c); ok {
		return s
	}
	if strings.Contains(c, " ") { // a sentence, not a code
		return c
	}
	return strings.ReplaceAll(c, "_", " ")
}
