package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// connections is how many wrk and wrk2 keep.
const connections = 64

// wrk is a closed loop: what it reaches is a ceiling, no rate that was asked for.
type wrk struct {
	b    *bench
	path string
}

func (wrk) name() string            { return "wrk (closed)" }
func (wrk) open() bool              { return false }
func (wrk) held(task, outcome) bool { return false }

func (g wrk) run(ctx context.Context, t task) (outcome, error) {
	out, u, err := pinned(ctx, g.b.sender, t.limit(), g.path, "-t1", "-c"+strconv.Itoa(connections), "-d"+wholeSeconds(t), "--latency", t.url)
	if err != nil {
		return outcome{}, err
	}
	o, err := readWrk(out)
	o.used = u
	return o, err
}

// wrk2 keeps a schedule per connection and corrects its response times by it.
type wrk2 struct {
	b    *bench
	path string
}

func (wrk2) name() string { return "wrk2" }
func (wrk2) open() bool   { return true }

// held allows for the millisecond by which wrk2 sends late by its construction.
func (wrk2) held(t task, o outcome) bool { return kept(t, o) && o.response.p99 <= 3*lagLimitUS }

func (g wrk2) run(ctx context.Context, t task) (outcome, error) {
	out, u, err := pinned(ctx, g.b.sender, t.limit(), g.path,
		"-t1", "-c"+strconv.Itoa(connections), "-d"+wholeSeconds(t), "-R"+strconv.FormatFloat(t.rate, 'f', 0, 64), "--latency", t.url)
	if err != nil {
		return outcome{}, err
	}
	o, err := readWrk(out)
	o.used = u
	return o, err
}

func wholeSeconds(t task) string {
	return strconv.FormatFloat(math.Ceil(t.length.Seconds()), 'f', 0, 64) + "s"
}

// readWrk reads what wrk and wrk2 print.
func readWrk(out string) (outcome, error) {
	o := outcome{lag: unknown, response: unknown}
	s := bufio.NewScanner(strings.NewReader(out))
	for s.Scan() {
		f := strings.Fields(s.Text())
		switch {
		case len(f) >= 4 && f[1] == "requests" && f[2] == "in":
			o.answered, _ = strconv.ParseFloat(f[0], 64)
		case len(f) == 2 && f[0] == "Requests/sec:":
			o.achieved, _ = strconv.ParseFloat(f[1], 64)
		case len(f) == 2 && strings.HasSuffix(f[0], "%"):
			v, ok := microseconds(f[1])
			q, err := strconv.ParseFloat(strings.TrimSuffix(f[0], "%"), 64)
			if !ok || err != nil {
				return o, fmt.Errorf("wrk's output: %q", s.Text())
			}
			switch q {
			case 50:
				o.response.p50 = v
			case 99:
				o.response.p99 = v
			case 99.9:
				o.response.p999 = v
			}
		case strings.HasPrefix(s.Text(), "  Non-2xx or 3xx responses:"):
			n, _ := strconv.ParseFloat(f[len(f)-1], 64)
			o.failed += n
		case strings.HasPrefix(s.Text(), "  Socket errors:"):
			for _, w := range f {
				n, err := strconv.ParseFloat(strings.TrimSuffix(w, ","), 64)
				if err == nil {
					o.failed += n
				}
			}
		}
	}
	if o.answered == 0 || o.achieved == 0 {
		return o, fmt.Errorf("wrk's output: no number of requests in %q", lastLines(out, 3))
	}
	return o, nil
}

// microseconds reads 812.00us, 1.02ms, 3.1s, 1.5m.
func microseconds(s string) (float64, bool) {
	for _, u := range []struct {
		unit string
		us   float64
	}{{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}} {
		if n, ok := strings.CutSuffix(s, u.unit); ok {
			v, err := strconv.ParseFloat(n, 64)
			return v * u.us, err == nil
		}
	}
	return 0, false
}

// k6 starts an iteration of a script for each arrival of an even schedule.
type k6 struct {
	b    *bench
	path string
}

func (k6) name() string { return "k6" }
func (k6) open() bool   { return true }

func (k6) held(t task, o outcome) bool { return kept(t, o) }

const k6Script = `import http from 'k6/http';
export const options = {
  discardResponseBodies: true,
  summaryTrendStats: ['p(50)', 'p(99)', 'p(99.9)'],
  scenarios: {all: {executor: 'constant-arrival-rate', rate: %.0f, timeUnit: '1s', duration: '%.0fs', preAllocatedVUs: 300, maxVUs: 2000}},
};
export default function () { http.get(%q); }
`

func (g k6) run(ctx context.Context, t task) (outcome, error) {
	script, summary := filepath.Join(g.b.dir, "k6.js"), filepath.Join(g.b.dir, "k6.json")
	text := fmt.Sprintf(k6Script, t.rate, math.Ceil(t.length.Seconds()), t.url)
	if err := os.WriteFile(script, []byte(text), 0o666); err != nil {
		return outcome{}, err
	}
	_, u, err := pinned(ctx, g.b.sender, t.limit(), g.path, "run", "--quiet", "--no-usage-report", "--summary-export", summary, script)
	if err != nil {
		return outcome{}, err
	}
	b, err := os.ReadFile(summary)
	if err != nil {
		return outcome{}, err
	}
	o, err := readK6(b)
	o.used = u
	return o, err
}

// readK6 reads a summary; times are in ms there.
func readK6(b []byte) (outcome, error) {
	var s struct {
		Metrics map[string]map[string]any `json:"metrics"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		return outcome{}, fmt.Errorf("k6's summary: %w", err)
	}
	get := func(metric, value string) float64 {
		v, ok := s.Metrics[metric][value].(float64)
		if !ok {
			return math.NaN()
		}
		return v
	}
	o := outcome{lag: unknown, answered: get("http_reqs", "count"), achieved: get("http_reqs", "rate")}
	if math.IsNaN(o.answered) || o.answered == 0 {
		return o, fmt.Errorf("k6's summary: no http_reqs")
	}
	if d := get("dropped_iterations", "count"); !math.IsNaN(d) {
		o.failed += d
	}
	if share := get("http_req_failed", "value"); !math.IsNaN(share) {
		o.failed += math.Round(share * o.answered)
	}
	const ms = 1e3
	o.response = quantiles{ms * get("http_req_duration", "p(50)"), ms * get("http_req_duration", "p(99)"), ms * get("http_req_duration", "p(99.9)")}
	return o, nil
}
