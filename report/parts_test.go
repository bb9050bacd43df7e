package report

import (
	"fmt"
	"strings"
	"testing"
)

func TestParts(t *testing.T) {
	a, _ := gallery["usual"].make()
	for _, lang := range Languages() {
		p, err := PartsOf(a, lang, func(i int) string { return fmt.Sprintf("steps/%d", i) })
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]Part{}
		for _, s := range p.Sections {
			ids[s.ID] = s
		}
		for _, id := range []string{"gates", "findings", "plateaus", "latency", "accounting", "trust", "facts", "terms"} {
			if ids[id].HTML == "" {
				t.Errorf("%s: no section %s", lang, id)
			}
		}
		if n := strings.Count(string(ids["plateaus"].HTML), `<a href="steps/`); n != len(a.Steps) {
			t.Errorf("%s: %d links for %d plateaus", lang, n, len(a.Steps))
		}
		parts, err := StepParts(a, &a.Steps[0], lang)
		if err != nil || len(parts) < 3 || !strings.Contains(string(parts[0].HTML), In(lang).Rate(a.Steps[0].GoodputRPS)) {
			t.Errorf("%s: step: %v %v", lang, err, parts)
		}
	}
}
