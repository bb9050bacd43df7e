package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"headroom/store"
	"headroom/store/record"
)

// sealed writes a run of one steady minute whose response times lie around the
// given one, and returns its path.
func sealed(t testing.TB, dir, id, release, key string, day int, response time.Duration) string {
	t.Helper()
	h := record.Header{
		RunID: id, Name: "shop", Release: release, Model: record.Open, Format: "steady", IntervalNS: 1e9, TimeoutNS: 2e9, DeadlineNS: 2e9,
		MaxUS: record.DefaultMaxUS, Arrivals: "poisson", Shards: 1, BuiltIn: true, Comparable: key, PlanDigest: key, ToolVersion: "test",
		Started: time.Date(2026, 1, 4, 2, 0, 0, 0, time.UTC).AddDate(0, 0, day), Classes: []record.Class{{Name: "view", Weight: 1}},
		Gates: []string{"response(p50) <= 1s"}, Thresholds: []record.Threshold{{Name: "response<=1s", Clock: record.Response, LimitNS: 1e9}},
		Load: record.Load{RateRPS: 100},
	}
	r, err := store.Create(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(uint64(day), uint64(response)))
	const seconds = 60
	put := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	p := record.Phase{Kind: record.Steady, Step: -1, TargetRPS: 100, EndNS: seconds * 1e9, Ended: true}
	put(r.PutPhase(p))
	slow := 1 + 0.01*random.NormFloat64()
	for i := range seconds {
		c := record.Cell{OKResponse: record.NewHistogram(h.MaxUS), OtherResponse: record.NewHistogram(h.MaxUS), Service: record.NewHistogram(h.MaxUS), Lag: record.NewHistogram(h.MaxUS)}
		for range 100 {
			ns := int64(float64(response) * slow * (0.5 + random.Float64()))
			c.OKResponse.Record(ns)
			c.Service.Record(ns)
			c.Lag.Record(20_000)
		}
		c.Counts = record.Counts{Scheduled: 100, Sent: 100, Attempts: 100}
		c.Counts.By[record.OK] = 100
		c.AtOrBelow = []uint64{100}
		iv := &record.Interval{Index: i, StartNS: int64(i) * 1e9, WidthNS: 1e9, Cells: []record.Cell{c}}
		iv.Moment.Sends, iv.Moment.Done[record.OK] = 100, 100
		put(r.PutInterval(iv))
	}
	path, err := r.Finish(record.End{State: record.Complete, AtNS: seconds * 1e9})
	put(err)
	return path
}

// headroom runs the program in this process.
func headroom(t testing.TB, env map[string]string, stdin string, args ...string) (code int, out, words string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = Main(context.Background(), args, IO{In: strings.NewReader(stdin), Out: &stdout, Err: &stderr, Env: func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}})
	return code, stdout.String(), stderr.String()
}

func TestCompareCommand(t *testing.T) {
	dir := t.TempDir()
	var base, new, other []string
	for i := range 3 {
		base = append(base, sealed(t, dir, fmt.Sprintf("a%d", i), "v1", "k", i, 10*time.Millisecond))
		new = append(new, sealed(t, dir, fmt.Sprintf("b%d", i), "v2", "k", i, 14*time.Millisecond))
	}
	other = append(other, sealed(t, dir, "c0", "v2", "another", 0, 10*time.Millisecond))
	call := func(a []string, b []string, more ...string) (int, string, string) {
		return headroom(t, nil, "", append(append(append(append([]string{"compare"}, a...), more...), "--"), b...)...)
	}
	for _, c := range []struct {
		name string
		a, b []string
		more []string
		code int
		want string
	}{
		{"worse", base, new, nil, exitGate, "worse in response_p50"},
		{"better", new, base, nil, exitDone, "better in response_p50"},
		{"one run each", base[:1], new[:1], nil, exitDone, "no winner"},
		{"unlike plans", base, other, nil, exitInconclusive, "comparable_key: k | another"},
		{"unlike plans, forced", base, other, []string{"--force"}, exitDone, "not of one plan"},
		{"the same run twice", base, base[:1], nil, exitInconclusive, "duplicate"},
	} {
		code, out, words := call(c.a, c.b, c.more...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit %d, want %d\n%s%s", c.name, code, c.code, out, words)
		}
	}
	for format, want := range map[string]string{"json": `"schema": "headroom.compare/1"`, "csv": "metric,unit,base,new,ratio", "markdown": "# v2 / v1"} {
		if code, out, _ := call(base, new, "--format", format); code != exitGate || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d\n%s", format, code, out)
		}
	}
	where := filepath.Join(dir, "out")
	if code, _, words := call(base, new, "-o", where, "--lang", "pt-BR"); code != exitGate || !strings.Contains(words, "compare.html") {
		t.Errorf("exit %d, %s", code, words)
	}
	for _, f := range []string{"compare.html", "compare.md", "compare.json", "compare.csv", "ratios.svg", "spectra.png"} {
		if _, err := os.Stat(filepath.Join(where, f)); err != nil {
			t.Error(err)
		}
	}
	for _, args := range [][]string{{"compare"}, {"compare", base[0], new[0]}, {"compare", base[0], "--"}, {"compare", base[0], "--metric", "speed", "--", new[0]}} {
		if code, _, words := headroom(t, nil, "", args...); code != exitUsage {
			t.Errorf("%v: exit %d, %s", args, code, words)
		}
	}
	if code, _, _ := headroom(t, nil, "", "compare", base[0], "--", filepath.Join(dir, "none.db")); code != exitFailed {
		t.Errorf("a file that is not there: exit %d", code)
	}
}

func TestTrendCommand(t *testing.T) {
	dir := t.TempDir()
	for week := range 16 {
		response := 10 * time.Millisecond
		if week >= 9 {
			response = 11 * time.Millisecond
		}
		if week != 4 {
			sealed(t, dir, fmt.Sprintf("r%02d", week), fmt.Sprintf("v%d", week), "k", 7*week, response)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "garbage.db"), []byte("no"), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, words := headroom(t, nil, "", "trend", dir)
	if code != exitGate || !strings.Contains(out, "got worse: response_p50") || !strings.Contains(out, "2026-03-08 v9") || !strings.Contains(out, "missing: 1") {
		t.Errorf("exit %d\n%s", code, out)
	}
	if !strings.Contains(words, "garbage.db") {
		t.Errorf("a file that can't be read is not named: %s", words)
	}
	if code, out, _ := headroom(t, nil, "", "trend", dir, "--since", "2026-03-10", "--format", "json"); code != exitInconclusive || !strings.Contains(out, "too_few_runs") {
		t.Errorf("since: exit %d\n%s", code, out)
	}
	code, out, _ = headroom(t, nil, "", "trend", dir, "--format", "json", "--metric", "goodput", "--gate", "goodput >= 1")
	var got struct {
		Schema  string
		Verdict string
		Metrics []struct {
			Metric  string
			Verdict string
			Gated   bool
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitDone || got.Schema != "headroom.trend/1" || got.Verdict != "pass" || len(got.Metrics) != 1 || !got.Metrics[0].Gated {
		t.Errorf("exit %d, %v, %+v", code, err, got)
	}
	for format, want := range map[string]string{"csv": "metric,unit,run,", "markdown": "# shop", "html": "<!DOCTYPE html>"} {
		if code, out, _ := headroom(t, nil, "", "trend", dir, "--format", format); code != exitGate || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d", format, code)
		}
	}
	for _, args := range [][]string{{"trend"}, {"trend", dir, "--metric", "speed"}, {"trend", dir, "--name", "shpo"}, {"trend", dir, "--format", "pdf"}} {
		if code, _, words := headroom(t, nil, "", args...); code != exitUsage || words == "" {
			t.Errorf("%v: exit %d, %s", args, code, words)
		}
	}
	if code, _, _ := headroom(t, nil, "", "trend", filepath.Join(dir, "none")); code != exitFailed {
		t.Errorf("a folder that is not there: exit %d", code)
	}
}

func TestAnalyzeSeriesCommand(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("time;rss;fds\n")
	for i := range 600 {
		fmt.Fprintf(&rows, "%d;%d;8\n", i, 1000+i)
	}
	code, out, words := headroom(t, nil, rows.String(), "analyze", "--series", "-", "--time", "time", "--limit", "rss=5000", "--format", "json")
	var got struct {
		Schema string
		Series []struct {
			Name         string
			Kind         string
			Leak         bool
			Exhaustion   *float64 `json:"exhaustion_h"`
			SlopePerHour float64  `json:"slope_per_hour"`
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != exitDone || got.Schema != "headroom.series/1" || len(got.Series) != 2 {
		t.Fatalf("exit %d, %v, %s%s", code, err, out, words)
	}
	if s := got.Series[0]; !s.Leak || s.Exhaustion == nil || s.SlopePerHour < 3590 || s.SlopePerHour > 3610 {
		t.Errorf("%+v", s)
	}
	for _, args := range [][]string{
		{"analyze", "--series", "-", "--time", "clock"},
		{"analyze", "--series", "-", "--limit", "rss"},
		{"analyze", "--series", "-", "--column", "x"},
		{"analyze", "--series", "-", "--format", "junit"},
		{"analyze", "--series", "-", "run.db"},
		{"analyze", "--knee", "-1", "run.db"},
	} {
		if code, _, words := headroom(t, nil, rows.String(), args...); code != exitUsage {
			t.Errorf("%v: exit %d, %s", args, code, words)
		}
	}
}

func TestAnalyzeForPipelines(t *testing.T) {
	dir := t.TempDir()
	run := sealed(t, dir, "a", "v1", "k", 0, 10*time.Millisecond)
	code, out, _ := headroom(t, nil, "", "analyze", run, "--format", "junit", "--gate", "response(p99) <= 1ms")
	if code != exitGate || !strings.Contains(out, `<testsuite name="shop" tests="3" failures="1" errors="0"`) {
		t.Errorf("junit: exit %d\n%s", code, out)
	}
	summary := filepath.Join(dir, "summary.md")
	if err := os.WriteFile(summary, []byte(strings.Repeat("before\n", 10)), 0o644); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"GITHUB_STEP_SUMMARY": summary}
	code, out, _ = headroom(t, env, "", "analyze", run, "--format", "github", "--lang", "pt-BR", "--gate", "response(p99) <= 1ms")
	if code != exitGate || !strings.Contains(out, "::error title=gate") {
		t.Errorf("github: exit %d\n%s", code, out)
	}
	text, err := os.ReadFile(summary)
	if err != nil || !bytes.HasPrefix(text, []byte("before\n")) || !bytes.Contains(text, []byte("# shop")) || !bytes.Contains(text, []byte("boa resposta")) {
		t.Errorf("summary: %v\n%s", err, text)
	}
	if err := os.WriteFile(summary, bytes.Repeat([]byte("x\n"), maxJobSummary/2-50), 0o644); err != nil {
		t.Fatal(err)
	}
	headroom(t, env, "", "analyze", run, "--format", "github")
	if info, err := os.Stat(summary); err != nil || info.Size() > maxJobSummary {
		t.Errorf("the summary grew to %d bytes, %v", info.Size(), err)
	}
}
