package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"headroom/analyze"
)

// releaseRun is an analysis of a steady run.
func releaseRun(i int, release string, p50, p99 float64) *analyze.Analysis {
	l := analyze.LatencyUS{Count: 1e5, P50: &p50, P99: &p99, CI95: map[string]*analyze.Interval{"p99": {p99 * 0.97, p99 * 1.03}}, Refused: map[string]string{}, Censored: map[string]float64{}}
	return &analyze.Analysis{
		Run: &analyze.RunInfo{
			ID: fmt.Sprintf("%s-%d", release, i), Name: "checkout <b>", Release: release, State: "complete", ComparableKey: "k", TimeoutS: 2,
			Started: time.Date(2026, 1, 4, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 7*i).Format(time.RFC3339),
		},
		Trust: &analyze.Trust{Verdict: "trusted"}, Latency: &analyze.Latencies{Response: l, Service: l},
		Judged: &analyze.JudgedPart{Scheduled: 1e5, GoodputRPS: 400, Outcomes: analyze.Outcomes{"ok": 99990, "timeout": 10}},
		Gates:  []analyze.GateResult{{Rule: "response(p99) <= 150ms"}},
	}
}

func releases(n int, release string, factor float64) []*analyze.Analysis {
	r := rand.New(rand.NewPCG(uint64(n), uint64(len(release))))
	out := make([]*analyze.Analysis, n)
	for i := range out {
		out[i] = releaseRun(i, release, 14000*math.Exp(0.002*r.NormFloat64()), 90000*factor*math.Exp(0.02*r.NormFloat64()))
	}
	return out
}

// wellFormedPage asserts that a page is XML all the way and holds nothing that
// would load something else.
func wellFormedPage(t *testing.T, page []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Strict, d.Entity = true, xml.HTMLEntity
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if s, ok := tok.(xml.StartElement); ok && (s.Name.Local == "script" || s.Name.Local == "link" || s.Name.Local == "img") {
			t.Errorf("the page has a %s", s.Name.Local)
		}
	}
	if bytes.Contains(page, []byte("<b>")) {
		t.Error("a name is not escaped")
	}
}

func TestCompareIsTold(t *testing.T) {
	base, new := releases(5, "v1", 1), releases(5, "v2 =cmd", 1.2)
	c, err := analyze.Compare(base, new, analyze.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	told := CompareText(c)
	for _, want := range []string{"v1", "response_p50", "~", "response_p99 *", "worse", "n=5+5", "a gate of the plan"} {
		if !strings.Contains(told, want) {
			t.Errorf("the text lacks %q:\n%s", want, told)
		}
	}
	data, err := CompareJSON(c)
	if err != nil || !json.Valid(data) || !bytes.Contains(data, []byte(`"schema": "headroom.compare/1"`)) {
		t.Errorf("JSON: %v\n%s", err, data)
	}
	rows, err := CompareCSV(c)
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(bytes.NewReader(rows)).ReadAll()
	if err != nil || len(all) != len(c.Metrics)+1 {
		t.Errorf("CSV: %d rows, %v", len(all), err)
	}
	for _, lang := range Languages() {
		if m := string(CompareMarkdown(c, lang)); !strings.Contains(m, "| response\\_p99 |") {
			t.Errorf("%s: %s", lang, m)
		}
		page, err := CompareHTML(c, base, new, lang)
		if err != nil {
			t.Fatal(err)
		}
		wellFormedPage(t, page)
		if n := bytes.Count(page, []byte("<svg")); n != 2 {
			t.Errorf("%d pictures, spectra and ratios expected", n)
		}
	}
}

func TestUnlikePlansAreTold(t *testing.T) {
	base, new := releases(3, "v1", 1), releases(3, "v2", 1)
	new[0].Run.ComparableKey = "other"
	c, err := analyze.Compare(base, new, analyze.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if told := CompareText(c); !strings.Contains(told, "not comparable") || !strings.Contains(told, "comparable_key: k | k, other") {
		t.Errorf("%s", told)
	}
	if page, err := CompareHTML(c, base, new, English); err != nil {
		t.Error(err)
	} else {
		wellFormedPage(t, page)
	}
}

func TestTrendIsTold(t *testing.T) {
	runs := append(releases(12, "v1", 1), releases(12, "v2", 1.2)...)
	for i, a := range runs {
		a.Run.Started = time.Date(2026, 1, 4, 0, 0, 0, 0, time.UTC).AddDate(0, 0, 7*i).Format(time.RFC3339)
	}
	runs[3].Trust.Verdict = "untrusted"
	runs = append(runs[:5], runs[7:]...)
	tr, err := analyze.Trend(runs, analyze.TrendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	told := TrendText(tr)
	for _, want := range []string{"got worse: response_p99", "response_p99 *", "missing: 2", "1 runs are drawn but not used", "→", "verdict: "} {
		if !strings.Contains(told, want) {
			t.Errorf("the text lacks %q:\n%s", want, told)
		}
	}
	if data, err := TrendJSON(tr); err != nil || !json.Valid(data) || !bytes.Contains(data, []byte(`"schema": "headroom.trend/1"`)) {
		t.Errorf("JSON: %v\n%s", err, data)
	}
	rows, err := TrendCSV(tr)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := csv.NewReader(bytes.NewReader(rows)).ReadAll(); err != nil || len(all) != len(tr.Metrics)*len(runs)+1 {
		t.Errorf("CSV: %d rows, %v", len(all), err)
	}
	for _, lang := range Languages() {
		if m := string(TrendMarkdown(tr, lang)); !strings.Contains(m, "response\\_p99") || !strings.Contains(m, "&lt;b&gt;") {
			t.Errorf("%s: %s", lang, m)
		}
		page, err := TrendHTML(tr, lang)
		if err != nil {
			t.Fatal(err)
		}
		wellFormedPage(t, page)
		if n := bytes.Count(page, []byte("<svg")); n != len(tr.Metrics) {
			t.Errorf("%d pictures of %d metrics", n, len(tr.Metrics))
		}
	}
}

func TestSeriesAreTold(t *testing.T) {
	rows := [][]string{{"elapsed_s", "rss|kb", "fds"}}
	for i := range 600 {
		rows = append(rows, []string{fmt.Sprint(i), fmt.Sprint(100 + i), "8"})
	}
	s, err := analyze.Series(rows, analyze.SeriesOptions{Limits: map[string]float64{"rss|kb": 5000}})
	if err != nil {
		t.Fatal(err)
	}
	if told := SeriesText(s); !strings.Contains(told, "Leaks: rss|kb.") || !strings.Contains(told, "3600") {
		t.Errorf("%s", told)
	}
	if m := string(SeriesMarkdown(s, Portuguese)); !strings.Contains(m, `rss\|kb`) {
		t.Errorf("%s", m)
	}
	if data, err := SeriesJSON(s); err != nil || !json.Valid(data) || !bytes.Contains(data, []byte(`"schema": "headroom.series/1"`)) {
		t.Errorf("JSON: %v\n%s", err, data)
	}
	if data, err := SeriesCSV(s); err != nil || bytes.Count(data, []byte("\n")) != 3 {
		t.Errorf("CSV: %v\n%s", err, data)
	}
}
