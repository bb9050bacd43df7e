package report

import (
	"encoding/xml"
	"strings"
	"testing"

	"headroom/analyze"
)

func gated() *analyze.Analysis {
	return &analyze.Analysis{
		Verdict: analyze.Fail, Sentence: analyze.Sentence{EN: "saturation at 500"},
		Run:   &analyze.RunInfo{Name: "a<b\x00", DurationS: 61.5, ID: "r1"},
		Trust: &analyze.Trust{Verdict: "trusted"},
		Gates: []analyze.GateResult{
			{Rule: "margin >= 2", Measured: num(1.4), Limit: 2, Outcome: analyze.Fail},
			{Rule: "response(p99) <= 150ms", Measured: num(61), Limit: 150, Unit: "ms", Outcome: analyze.Pass},
			{Rule: "recovery <= 30s", Limit: 30, Unit: "s", Outcome: analyze.NoData, Why: "no_data"},
		},
		Findings: []analyze.Finding{{Code: "late_sends", Severity: "invalidates", Text: "5 % late\n::error::x"}, {Code: "old_peak", Severity: "note"}},
	}
}

func TestJUnit(t *testing.T) {
	got, err := JUnit(gated())
	if err != nil {
		t.Fatal(err)
	}
	var back junitSuites
	if err := xml.Unmarshal(got, &back); err != nil {
		t.Fatal(err)
	}
	s := back.Suites[0]
	if s.Name != "a<b" || s.Tests != 4 || s.Failures != 1 || s.Errors != 1 || s.Time != "61.500" {
		t.Errorf("suite %+v; want 4 tests, 1 failure, 1 error (no data never passes), 61.500 s", s)
	}
	if f := s.Cases[1].Failure; f == nil || f.Message != "margin >= 2: measured 1.40, limit 2" {
		t.Errorf("failure %+v", f)
	}
	if s.Cases[2].Failure != nil || s.Cases[2].Error != nil {
		t.Error("a passed gate carries a problem")
	}
	untrusted := &analyze.Analysis{Trust: &analyze.Trust{Verdict: "untrusted", Reasons: []string{"late_sends"}}}
	if got, err := JUnit(untrusted); err != nil || !strings.Contains(string(got), `errors="1"`) {
		t.Errorf("an untrusted run must be an error: %s (%v)", got, err)
	}
}

func TestAnnotations(t *testing.T) {
	want := `::error title=gate fail%3A margin >= 2::measured 1.40, limit 2
::warning title=gate no data%3A recovery <= 30s::measured –, limit 30 s (no data)
::warning title=late_sends::5 %25 late ::error::x
::notice title=headroom%3A fail::saturation at 500
`
	if got := Annotations(gated()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSummaryHasABound(t *testing.T) {
	a := gated()
	for range 20_000 {
		a.Findings = append(a.Findings, analyze.Finding{Code: "old_peak", Text: strings.Repeat("x", 100)})
	}
	if got := Summary(a, English); len(got) > 1<<20 || !strings.HasSuffix(string(got), "\n…\n") {
		t.Errorf("%d bytes", len(got))
	}
	if got := Summary(gated(), English); string(got) != string(Markdown(gated(), English)) {
		t.Error("a short summary is the page")
	}
}
