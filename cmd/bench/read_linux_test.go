package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var near = cmp.Options{cmpopts.EquateApprox(1e-9, 1e-9), cmpopts.EquateNaNs(), cmp.AllowUnexported(outcome{}, used{}, quantiles{})}

// What the tools print, or write, and what it means.
func TestReadWrk(t *testing.T) {
	const wrk2 = `Running 10s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
  Thread calibration: mean lat.: 1.018ms, rate sampling interval: 10ms
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.02ms  537.96us   8.10ms   64.30%
    Req/Sec    21.08k     1.60k   28.11k    76.40%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    1.02ms
 75.000%    1.41ms
 99.000%    1.93ms
 99.900%    4.10ms
100.000%    8.11ms

  199934 requests in 10.00s, 62.35MB read
  Socket errors: connect 0, read 2, write 0, timeout 1
  Non-2xx or 3xx responses: 4
Requests/sec:  19993.41
Transfer/sec:      6.24MB
`
	got, err := readWrk(wrk2)
	if err != nil {
		t.Fatal(err)
	}
	want := outcome{answered: 199934, failed: 7, achieved: 19993.41, lag: unknown, response: quantiles{1020, 1930, 4100}}
	if d := cmp.Diff(want, got, near); d != "" {
		t.Errorf("wrk2 (-want +got):\n%s", d)
	}
	got, err = readWrk("  Latency Distribution\n     50%  812.00us\n     99%    2.50s\n  10 requests in 1.00s, 1KB read\nRequests/sec: 10\n")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(quantiles{812, 2.5e6, math.NaN()}, got.response, near); d != "" {
		t.Errorf("wrk (-want +got):\n%s", d)
	}
	if _, err := readWrk("unable to connect to 127.0.0.1:8080 Connection refused\n"); err == nil {
		t.Error("an output without requests was read")
	}
}

func TestReadK6(t *testing.T) {
	got, err := readK6([]byte(`{"metrics": {
		"http_reqs": {"count": 90000, "rate": 9000.5},
		"http_req_failed": {"passes": 90, "fails": 89910, "value": 0.001},
		"dropped_iterations": {"count": 110000, "rate": 11000},
		"http_req_duration": {"p(50)": 1.5, "p(99)": 80, "p(99.9)": 120.25}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := outcome{answered: 90000, failed: 110090, achieved: 9000.5, lag: unknown, response: quantiles{1500, 80000, 120250}}
	if d := cmp.Diff(want, got, near); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if _, err := readK6([]byte(`{"metrics": {}}`)); err == nil {
		t.Error("a summary without requests was read")
	}
}

// 1,000/s for 5 ms: the requests left 0, 0, 0, 2 and 0.5 ms after their turn.
func TestReadVegeta(t *testing.T) {
	const rows = `1000000000,200,300000,0,16,,aGk=,,0,GET,http://127.0.0.1/,
1002000000,200,300000,0,16,,aGk=,,2,GET,http://127.0.0.1/,
1001000000,200,400000,0,16,,aGk=,,1,GET,http://127.0.0.1/,
1005000000,200,100000,0,16,,aGk=,,3,GET,http://127.0.0.1/,
1004500000,200,100000,0,16,,aGk=,,4,GET,http://127.0.0.1/,
`
	task := task{rate: 1000, length: 5 * time.Millisecond}
	got, err := readVegeta(strings.NewReader(rows), task)
	if err != nil {
		t.Fatal(err)
	}
	want := outcome{answered: 5, achieved: 1000, lag: quantiles{0, 2000, 2000}, response: quantiles{400, 2100, 2100}}
	if d := cmp.Diff(want, got, near); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	got, err = readVegeta(strings.NewReader(rows+"1003000000,0,10,0,0,connection refused,,,5,GET,http://127.0.0.1/,\n"), task)
	if err != nil || got.failed != 1 {
		t.Errorf("%v failed, %v; want 1", got.failed, err)
	}
	for _, bad := range []string{"", "1,200,x,0,0,,,,0,GET,u,\n", "1,200\n"} {
		if _, err := readVegeta(strings.NewReader(bad), task); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// The schedule that a run's arrivals are compared with is the run's own.
func TestOurSchedule(t *testing.T) {
	all, err := ourSchedule(task{"http://127.0.0.1:1/", 5000, 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(all); n < 9600 || n > 10400 || !slices.IsSorted(all) || all[n-1] >= 2e9 {
		t.Errorf("%d arrivals, the last at %d ns", n, all[n-1])
	}
}

// A budget is judged by medians, and what is not known is no pass.
func TestBudgets(t *testing.T) {
	var b table
	b.atMost("a", "µs", []float64{9, 30, 10}, 10)
	b.atMost("b", "µs", []float64{11}, 10)
	b.atLeast("c", "/s", []float64{20}, 10)
	b.atLeast("d", "/s", []float64{20}, math.NaN())
	b.atMost("e", "µs", nil, 10)
	b.atMost("f", "µs", []float64{1, math.NaN()}, 10)
	b.atLeast("g", "/s", []float64{5}, 0)
	var words []string
	for _, l := range b.limits {
		words = append(words, l.word)
	}
	if d := cmp.Diff([]string{passed, missed, passed, notMeasured, notMeasured, notMeasured, notMeasured}, words); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := b.limits[0].measured; got != "10.0 (9.00–30.0) µs" {
		t.Errorf("measured %q", got)
	}
	if !b.missed() {
		t.Error("a missed budget does not show")
	}
}
