package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/analyze"
	"headroom/store/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

// small is a run that is quick to make: it sheds past 60/s.
var small = synthetic{rates: []float64{20, 40, 60, 80}, beyond: []float64{90}, plateauS: 12, capacity: 60, peak: 25, sheds: true}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, d)
	}
}

func TestJSONGolden(t *testing.T) {
	a, _ := small.make()
	got, err := JSON(a)
	if err != nil {
		t.Fatal(err)
	}
	var back analyze.Analysis
	if err := json.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(*a, back); d != "" {
		t.Errorf("what is read back is not what was written:\n%s", d)
	}
	if !bytes.Contains(got, []byte(`"rule": "margin >= 2.0"`)) {
		t.Error("rules must stay readable")
	}
	golden(t, "analysis.json", got)
}

func TestJSONRefusesWhatIsNotANumber(t *testing.T) {
	for want, spoil := range map[string]func(*analyze.Analysis){
		"knee.ci95[1]":                     func(a *analyze.Analysis) { a.Knee.CI95[1] = math.NaN() },
		"steps[2].offered_rps":             func(a *analyze.Analysis) { a.Steps[2].OfferedRPS = math.Inf(1) },
		"trust.lag_us.p99":                 func(a *analyze.Analysis) { a.Trust.LagUS.P99 = num(math.Inf(-1)) },
		"latency.response_us.censored.p99": func(a *analyze.Analysis) { a.Latency.Response.Censored = map[string]float64{"p99": math.NaN()} },
	} {
		a, _ := small.make()
		spoil(a)
		if _, err := JSON(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not name %s", err, want)
		}
	}
}

func TestStepsCSVGolden(t *testing.T) {
	a, _ := small.make()
	got, err := StepsCSV(a)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(got)).ReadAll() // every row as long as the first
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+len(a.Steps) {
		t.Errorf("%d rows for %d plateaus", len(rows), len(a.Steps))
	}
	golden(t, "steps.csv", got)
}

func TestStepsCSVDefusesFormulas(t *testing.T) {
	a := &analyze.Analysis{Steps: []analyze.StepResult{{Kind: "=cmd()", Why: "@x", Trust: "-1", Reasons: []string{"+y"}, TargetRPS: -2}}}
	got, err := StepsCSV(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{",'=cmd(),-2,", ",'@x,", ",'-1,'+y,"} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestTextGolden(t *testing.T) {
	a, _ := small.make()
	got := Text(a, TextOptions{Width: 100, Files: []string{"runs/x.db", "out/report.html"}})
	lines := strings.Split(got, "\n")
	if !strings.HasPrefix(lines[0], "trust  ✓ trusted") || lines[3] != a.Sentence.EN {
		t.Error("trust comes first, then the verdict and the sentence")
	}
	golden(t, "report.txt", []byte(got))
	if plain := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(Text(a, TextOptions{Color: true, Width: 100, Files: []string{"runs/x.db", "out/report.html"}}), ""); plain != got {
		t.Error("colour changes the words")
	}
}

func TestMarkdownGolden(t *testing.T) {
	a, _ := small.make()
	for _, lang := range Languages() {
		got := Markdown(a, lang)
		sentence := a.Sentence.EN
		if lang == Portuguese {
			sentence = a.Sentence.PTBR
		}
		if !bytes.Contains(got, []byte(md(sentence))) {
			t.Errorf("%s: the sentence is missing", lang)
		}
		golden(t, "report."+lang+".md", got)
	}
}

func TestHTMLWithPictures(t *testing.T) {
	a, m := small.make()
	m.H.Classes[0].Name = "<view & \"buy\">"
	a.Classes[0].Class = m.H.Classes[0].Name
	for _, lang := range Languages() {
		html, err := HTML(a, m, lang)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkPage(html); err != nil {
			t.Error(err)
		}
		for _, p := range pictureNames {
			if !bytes.Contains(html, []byte(`id="picture-`+p+`"`)) {
				t.Errorf("%s: no picture %s", lang, p)
			}
		}
		if !bytes.Contains(html, []byte("&lt;view &amp; &#34;buy&#34;&gt;")) {
			t.Error("the name of a class is not escaped")
		}
	}
}

// TestEveryFindingIsPrinted: each code of the table and one of a later version,
// in text (as far as lines go, by code), Markdown and HTML.
func TestEveryFindingIsPrinted(t *testing.T) {
	codes := []string{"of_a_later_version"}
	for c := range english.Codes {
		codes = append(codes, c)
	}
	for _, c := range codes {
		a := &analyze.Analysis{Findings: []analyze.Finding{{Code: c, Severity: "invalidates", Scope: "step 3", Text: "words"}}}
		html, err := htmlWith(a, nil, English)
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range []string{Text(a, TextOptions{}), string(Markdown(a, Portuguese)), string(html)} {
			if !strings.Contains(page, c) {
				t.Errorf("%s is not printed in\n%s", c, page)
			}
		}
	}
	a := &analyze.Analysis{}
	for _, c := range codes[:60] {
		a.Findings = append(a.Findings, analyze.Finding{Code: c, Severity: "note"})
	}
	text := Text(a, TextOptions{Width: 4000})
	for _, c := range codes[:60] {
		if !strings.Contains(text, c) {
			t.Errorf("%s got no place in the text", c)
		}
	}
}

func TestTextPutsWorstFirst(t *testing.T) {
	a := &analyze.Analysis{}
	for range 12 {
		a.Gates = append(a.Gates, analyze.GateResult{Rule: "knee >= 1", Outcome: analyze.Pass})
	}
	a.Gates = append(a.Gates, analyze.GateResult{Rule: "margin >= 2", Outcome: analyze.Fail, Measured: num(1.4)})
	a.Findings = []analyze.Finding{{Code: "old_peak", Severity: "note"}, {Code: "late_sends", Severity: "invalidates"}}
	text := Text(a, TextOptions{})
	if !strings.Contains(text, "✗ fail         margin >= 2   measured 1.40") || !strings.Contains(text, "and 7 more gates") {
		t.Errorf("the failed gate is not shown:\n%s", text)
	}
	if strings.Index(text, "late_sends") > strings.Index(text, "old_peak") {
		t.Errorf("what invalidates comes after a note:\n%s", text)
	}
}

func TestChosenPlateaus(t *testing.T) {
	yes, no := true, false
	var steps []*analyze.StepResult
	for i := range 200 {
		s := &analyze.StepResult{Index: i, Held: &yes}
		if i > 120 {
			s.Held = &no
		}
		steps = append(steps, s)
	}
	got := chosen(steps, 8)
	has := map[int]bool{}
	for _, s := range got {
		has[s.Index] = true
	}
	if len(got) != 8 || !has[0] || !has[199] || !has[120] || !has[121] {
		t.Errorf("chose %v; want 8 with both ends and the bracket 120, 121", has)
	}
}

func TestFormats(t *testing.T) {
	en, pt := &english, &portuguese
	limit := &analyze.LatencyUS{Censored: map[string]float64{"p99": 2e6}, Refused: map[string]string{"p99_9": "tail_too_thin"}, Count: 5}
	for _, c := range []struct{ got, want string }{
		{en.duration(812), "812 µs"},
		{en.duration(999.6), "1.00 ms"},
		{en.duration(18_400), "18.4 ms"},
		{en.duration(1_234_000), "1.23 s"},
		{en.duration(125e6), "2 min 5 s"},
		{en.duration(0), "0 µs"},
		{pt.duration(18_400), "18,4 ms"},
		{en.percent(0.9994), "99.94 %"},
		{en.percent(0.99999), "99.999 %"},
		{en.percent(1), "100 %"},
		{en.percent(0), "0 %"},
		{en.percent(1.0046), "100.5 %"},
		{en.percent(0.9999999), "100.0000 %"},
		{pt.percent(0.5), "50,0 %"},
		{en.number(1198.3), "1198"},
		{en.count(1234567), "1,234,567"},
		{pt.count(1234567), "1.234.567"},
		{en.count(1200), "1200"},
		{en.significant(2.6627), "2.66"},
		{en.significant(2), "2"},
		{en.significant(0.0001234), "0.00012"},
		{en.significant(-0.001), "-0.001"},
		{en.quantile(limit, "p99", nil), "> 2 s"},
		{en.quantile(limit, "p99_9", nil), "– (tail too thin)"},
		{pt.quantile(limit, "p99_9", nil), "– (cauda fina demais)"},
		{en.quantile(limit, "p50", nil), "–"},
		{en.code("some_new_code"), "some new code"},
		{en.code("see post_saturation(2)"), "see post_saturation(2)"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestLanguagesComplete: both tables have every word, and their sentences take
// the same values.
func TestLanguagesComplete(t *testing.T) {
	verbs := regexp.MustCompile(`%%|%[a-z]`)
	en, pt := reflect.ValueOf(english), reflect.ValueOf(portuguese)
	for i := range en.NumField() {
		name := en.Type().Field(i).Name
		switch a, b := en.Field(i), pt.Field(i); a.Kind() {
		case reflect.String:
			if a.String() == "" || b.String() == "" {
				t.Errorf("%s is empty", name)
			}
			if va, vb := verbs.FindAllString(a.String(), -1), verbs.FindAllString(b.String(), -1); !cmp.Equal(va, vb) {
				t.Errorf("%s takes %v and %v", name, va, vb)
			}
		case reflect.Map:
			for _, k := range append(a.MapKeys(), b.MapKeys()...) {
				for _, m := range []reflect.Value{a, b} {
					if v := m.MapIndex(k); !v.IsValid() || v.String() == "" {
						t.Errorf("%s has no %q in one language", name, k)
					}
				}
			}
		case reflect.Slice:
			if a.Len() != b.Len() {
				t.Errorf("%s: %d and %d terms", name, a.Len(), b.Len())
			}
		}
	}
	for _, o := range record.Outcomes() {
		if english.Outcomes[o.String()] == "" || english.Meaning[o.String()] == "" {
			t.Errorf("outcome %s has no word", o)
		}
	}
	for _, p := range pictureNames {
		if english.Captions[p] == "" {
			t.Errorf("picture %s has no caption", p)
		}
	}
}

func TestParseLang(t *testing.T) {
	for in, want := range map[string]Lang{"": English, "EN": English, "pt": Portuguese, "pt_BR": Portuguese} {
		if got, err := ParseLang(in); err != nil || got != want {
			t.Errorf("ParseLang(%q) = %q, %v", in, got, err)
		}
	}
	if _, err := ParseLang("fr"); err == nil {
		t.Error("fr must be refused")
	}
}
