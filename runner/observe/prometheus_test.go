package observe

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const metricsText = `# HELP process_open_fds Open file descriptors.
# TYPE process_open_fds gauge
process_open_fds 17
# TYPE http_requests_total counter
http_requests_total{code="200",path="/a"} 100
http_requests_total{code="200",path="/b"} 50
http_requests_total{code="500",path="/a"} 3
# TYPE wait_seconds histogram
wait_seconds_bucket{le="0.1"} 4
wait_seconds_bucket{le="+Inf"} 5
wait_seconds_sum 2.5
wait_seconds_count 5
plain 7
# TYPE broken gauge
broken NaN
`

func server(t *testing.T, kind string, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/metrics", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/metrics"
}

func read(t *testing.T, url string, only ...string) (map[string]float64, error) {
	t.Helper()
	p, err := NewPrometheus(context.Background(), url, only)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := p.Collect(context.Background(), 3)
	got := map[string]float64{}
	for _, s := range samples {
		if s.AtNS != 3 {
			t.Errorf("sample at %d, want 3", s.AtNS)
		}
		got[p.Series()[s.Series].Name] = s.Value
	}
	return got, err
}

func TestPrometheusSelects(t *testing.T) {
	url := server(t, "text/plain; version=0.0.4", 200, metricsText)
	got, err := read(t, url, "process_open_fds", "http_requests_total", `http_requests_total{code="500"}`,
		`http_requests_total{path="/a",code="200"}`, "wait_seconds_count", "wait_seconds_sum", "plain", "broken")
	if err != nil {
		t.Error(err)
	}
	want := map[string]float64{
		"process_open_fds": 17, "http_requests_total": 153, `http_requests_total{code="500"}`: 3,
		`http_requests_total{path="/a",code="200"}`: 100, "wait_seconds_count": 5, "wait_seconds_sum": 2.5, "plain": 7,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestPrometheusTakesAllWhereNoneIsSelected(t *testing.T) {
	got, err := read(t, server(t, "text/plain", 200, metricsText))
	if err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(map[string]float64{"process_open_fds": 17, "http_requests_total": 153, "plain": 7}, got); d != "" {
		t.Error(d)
	}
}

func TestPrometheusKeepsWhatItCan(t *testing.T) {
	for _, c := range []struct {
		name, kind, body string
		status           int
		want             map[string]float64
		err              string
	}{
		{"windows line ends, no last one", "text/plain", "a 1\r\nb 2", 200, map[string]float64{"a": 1, "b": 2}, ""},
		{"a bad line", "text/plain", "a 1\nb two\n", 200, map[string]float64{"a": 1}, "a line"},
		{"one is missing", "text/plain", "a 1\n", 200, map[string]float64{"a": 1}, "no metric b"},
		{"a page", "text/html; charset=utf-8", "<html>", 200, nil, "not metrics"},
		{"an error", "text/plain", "a 1\n", 500, nil, "status 500"},
		{"open metrics", "application/openmetrics-text; version=1.0.0", "a 1\nb 2\n# EOF\n", 200, map[string]float64{"a": 1, "b": 2}, ""},
		{"too long", "text/plain", strings.Repeat("#", maxMetricsBytes+1), 200, nil, "longer than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := read(t, server(t, c.kind, c.status, c.body), "a", "b")
			if c.want == nil {
				c.want = map[string]float64{}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("error %v, want %q", err, c.err)
			}
		})
	}
}

func TestPrometheusErrorsHideTheAddress(t *testing.T) {
	for _, url := range []string{"http://user:secret@127.0.0.1:1/metrics", "http://secret\x7f/"} {
		_, err := read(t, url, "a")
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v; want one without the address", err)
		}
	}
	moved := strings.Replace(server(t, "text/plain", 200, "a 1\n"), "/metrics", "/moved", 1)
	if _, err := read(t, moved, "a"); err == nil || !strings.Contains(err.Error(), "302") {
		t.Errorf("a redirect: error %v, want status 302", err)
	}
}

func TestPrometheusRefusesBadSelectors(t *testing.T) {
	for _, s := range []string{"", "a b", "1a", "a{", `a{b}`, `a{b="c"`, `a{b="c"} x`, `{b="c"}`} {
		if _, err := NewPrometheus(context.Background(), "http://127.0.0.1:1", []string{s}); err == nil {
			t.Errorf("%q accepted", s)
		}
	}
}

func FuzzParseMetrics(f *testing.F) {
	f.Add([]byte(metricsText))
	f.Add([]byte("a{b=\"c\\\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		families, _ := parseMetrics(body)
		for name := range families {
			sel, err := parseSelector(name)
			if err == nil {
				sel.sum(families)
			}
		}
	})
}
