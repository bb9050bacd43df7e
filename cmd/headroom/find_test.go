package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"headroom/analyze"
	"headroom/runner"
	"headroom/runner/plan"
	"headroom/store/record"
)

func TestFindPrintsItsPlan(t *testing.T) {
	var out, errs bytes.Buffer
	std := IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) (string, bool) { return "", false }}
	if code := Main(context.Background(), []string{"find", "http://127.0.0.1:8080/a?b={c}", "--peak", "450", "--within", "4m", "--print-plan"}, std); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	p, err := plan.Parse("printed", out.Bytes(), std.Env)
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Load.Step; s == nil || !s.Auto || s.Within != 4*time.Minute || p.Production.Peak != 450 || p.HTTP.Timeout != 10*time.Second {
		t.Errorf("the plan is not that of find:\n%s", out.String())
	}
	for _, bad := range [][]string{
		{"find"},
		{"find", "nowhere"},
		{"find", "http://127.0.0.1/", "--within", "10s"},
		{"find", "http://127.0.0.1/", "--timeout", "-1s"},
		{"find", "http://127.0.0.1/", "--peak", "-1"},
		{"find", "http://127.0.0.1/", "http://127.0.0.2/"},
	} {
		errs.Reset()
		if code := Main(context.Background(), append(bad, "--print-plan"), std); code != exitUsage || errs.Len() == 0 {
			t.Errorf("%v: exit %d, %q", bad, code, errs.String())
		}
	}
}

// Where requests were too few, find says how long it would take.
func TestTimeNeeded(t *testing.T) {
	knee := func(status, reason string) *analyze.Analysis {
		return &analyze.Analysis{Knee: &analyze.Knee{Status: status, Reason: reason}, Steps: []analyze.StepResult{{GoodputRPS: 10}, {GoodputRPS: 9}}}
	}
	if s := timeNeeded(knee("inconclusive", "too_noisy"), 6*time.Minute); !strings.Contains(s, "--within 1h9m") {
		t.Errorf("10/s in 6 minutes: %q", s)
	}
	if s := timeNeeded(knee("inconclusive", "too_few_steps"), 2*time.Hour); !strings.Contains(s, "--within 4h") {
		t.Errorf("10/s in 2 hours: %q", s)
	}
	for _, a := range []*analyze.Analysis{knee("found", ""), knee("inconclusive", "base_errors"), knee("generator_limited", "dropped"), {}} {
		if s := timeNeeded(a, 6*time.Minute); s != "" {
			t.Errorf("%q where time is not what is missing", s)
		}
	}
}

func TestGlanceLine(t *testing.T) {
	us := func(v float64) *float64 { return &v }
	g := runner.Glance{
		Elapsed: 61*time.Second + 3*time.Millisecond, Phase: record.Phase{Kind: record.Step, Step: 3}, Offered: 800.2, Sent: 800.1, Goodput: 790, Errors: 2,
		Response: us(25300), Service: us(24100), Lag: us(61), InFlight: 12, Trust: "suspect", Reasons: []string{"late_sends"}, Knee: us(812),
	}
	want := "1m1s step 3  offered 800  sent 800  good 790/s  errors 2/s  p99 25.3 ms, service 24.1 ms, lag 61 µs  in flight 12  suspect (late_sends)  knee near 812/s"
	if got := glanceLine(g); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := glanceLine(runner.Glance{Phase: record.Phase{Kind: record.Drain, Step: 3}}); !strings.Contains(got, "0s drain ") || !strings.Contains(got, "p99 -") {
		t.Errorf("nothing yet: %s", got)
	}
}

// Nobody there, or an error for an answer: find says so at once and leaves nothing.
func TestFindAsksFirst(t *testing.T) {
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for url, want := range map[string]string{missing.URL: "status 404", gone.URL: "refused"} {
		var out, errs bytes.Buffer
		dir := filepath.Join(t.TempDir(), "find")
		std := IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) (string, bool) { return "", false }}
		if code := Main(context.Background(), []string{"find", url, "-o", dir}, std); code != exitFailed || !strings.Contains(errs.String(), want) {
			t.Errorf("exit %d: %s; want 1 and %s", code, errs.String(), want)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s was made", dir)
		}
	}
}
