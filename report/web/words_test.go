package web

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// Every word is there in both languages, with the same places for
// values.
func TestWords(t *testing.T) {
	verbs := regexp.MustCompile(`%[a-z]`)
	en, pt := reflect.ValueOf(english), reflect.ValueOf(portuguese)
	for i := range en.NumField() {
		name := en.Type().Field(i).Name
		switch a := en.Field(i).Interface().(type) {
		case string:
			b := pt.Field(i).String()
			if a == "" || b == "" || strings.Join(verbs.FindAllString(a, -1), "") != strings.Join(verbs.FindAllString(b, -1), "") {
				t.Errorf("%s: %q and %q", name, a, b)
			}
		case map[string]string:
			b := pt.Field(i).Interface().(map[string]string)
			for k := range a {
				if b[k] == "" {
					t.Errorf("%s: %s is missing in Portuguese", name, k)
				}
			}
			if len(a) != len(b) {
				t.Errorf("%s: %d and %d words", name, len(a), len(b))
			}
		}
	}
}

func TestPreferred(t *testing.T) {
	for accept, want := range map[string]string{
		"": "en", "pt-BR,pt;q=0.9,en;q=0.8": "pt", "en-US,en;q=0.5": "en", "de,pt;q=0.5": "pt", "fr": "en", "*": "en", ";;,,": "en", "PT": "pt",
	} {
		if got := preferred(accept).path; got != want {
			t.Errorf("%q: %s, want %s", accept, got, want)
		}
	}
}
