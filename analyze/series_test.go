package analyze

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// seriesOf makes a table of n rows, a second apart.
func seriesOf(n int, value func(i int) float64) [][]string {
	rows := [][]string{{"elapsed_s", "v"}}
	for i := range n {
		rows = append(rows, []string{fmt.Sprint(i), fmt.Sprint(value(i))})
	}
	return rows
}

func TestSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	limit := 2000.0
	for _, c := range []struct {
		name    string
		n       int
		value   func(i int) float64
		kind    string
		reason  string
		slope   float64 // per hour
		hoursTo float64 // the limit, 0: never
	}{
		{"constant", 600, func(int) float64 { return 8 }, "none", "", 0, 0},
		{"noise", 600, func(int) float64 { return 100 + r.NormFloat64() }, "none", "", 0, 0},
		{"line", 600, func(i int) float64 { return 100 + float64(i)/10 + r.NormFloat64() }, "leak", "", 360, (2000 - 160) / 360.0},
		{"staircase", 600, func(i int) float64 { return 100 + float64(i/30) }, "leak", "", 120, (2000 - 120) / 120.0},
		{"saw-tooth", 3000, func(i int) float64 { return 100 + float64(i%20) + r.NormFloat64() }, "saw_tooth", "", 0, 0},
		{"saw-tooth that leaks", 3000, func(i int) float64 { return 100 + float64(i%20) + float64(i)/20 + r.NormFloat64() }, "leak", "", 180, 0},
		{"step", 600, func(i int) float64 { return 100 + 50*math.Floor(float64(i)/350) + r.NormFloat64() }, "step", "step_or_warmup", 0, 0},
		{"falling", 600, func(i int) float64 { return 100 - float64(i)/10 + r.NormFloat64() }, "none", "", -360, 0},
		{"short", 200, func(i int) float64 { return float64(i) }, "", "too_short", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Series(seriesOf(c.n, c.value), SeriesOptions{Limits: map[string]float64{"v": limit}})
			if err != nil {
				t.Fatal(err)
			}
			s := got.Series[0]
			if s.Kind != c.kind || s.Reason != c.reason || s.Leak != (c.kind == "leak") || s.Leak != slices.Contains(got.Leaks, "v") {
				t.Fatalf("%q, %q, leak %v; want %q, %q", s.Kind, s.Reason, s.Leak, c.kind, c.reason)
			}
			if c.slope != 0 && (s.SlopePerHour == nil || math.Abs(*s.SlopePerHour/c.slope-1) > 0.05) {
				t.Errorf("slope %v, want %g", *s.SlopePerHour, c.slope)
			}
			if c.hoursTo > 0 && (s.ExhaustionH == nil || math.Abs(*s.ExhaustionH/c.hoursTo-1) > 0.05) {
				t.Errorf("limit in %v h, want %g", s.ExhaustionH, c.hoursTo)
			}
			if c.kind == "step" && (s.StepAtS == nil || math.Abs(*s.StepAtS-350) > 25) {
				t.Errorf("step at %v, want 350", s.StepAtS)
			}
		})
	}
}

func TestSeriesNames(t *testing.T) {
	rows := seriesOf(600, func(i int) float64 { return 5 * float64(i) })
	rows[0][1] = "requests_total"
	got, err := Series(rows, SeriesOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Series[0]; !s.Counter || s.Leak || s.Kind != "none" {
		t.Errorf("a counter that counts is %+v", s)
	}
	rows[300][1] = "0"
	if got, err = Series(rows, SeriesOptions{}); err != nil || got.Series[0].Reason != "restarted" {
		t.Errorf("a counter that was set back is %+v, %v", got.Series[0], err)
	}
}

func TestSeriesReadsTime(t *testing.T) {
	for _, c := range []struct{ name, a, b string }{
		{"unix_ms", "1795981816087", "1795981817087"},
		{"time", "1609466400", "1609466401"},
		{"timestamp", "2014-04-01 00:00:00", "2014-04-01 00:00:01"},
		{"timestamp", "2017-11-01T00:00:00Z", "2017-11-01T00:00:01Z"},
		{"time", "2024.01.01 3:00:00 +0100", "2024.01.01 3:00:01 +0100"},
		{"t_ns", "1000000000", "2000000000"},
	} {
		got, err := Series([][]string{{c.name, "v"}, {c.a, "1"}, {c.b, "2"}}, SeriesOptions{Time: c.name})
		if err != nil || math.Abs(got.Hours*3600-1) > 1e-6 {
			t.Errorf("%s to %s is %v s, %v", c.a, c.b, got, err)
		}
	}
}

func TestSeriesThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		rows [][]string
		opt  SeriesOptions
		want string
	}{
		{nil, SeriesOptions{}, "no rows"},
		{[][]string{{"a", "b"}, {"1", "2"}}, SeriesOptions{}, "no column looks like time"},
		{[][]string{{"a", "b"}, {"1", "2"}}, SeriesOptions{Time: "c"}, `no column "c"; there are a, b`},
		{[][]string{{"time", "b"}, {"1", "2"}}, SeriesOptions{Columns: []string{"x"}}, `no column "x"`},
		{[][]string{{"time", "b"}, {"1", "2"}}, SeriesOptions{Limits: map[string]float64{"x": 1}}, `limit is given for "x"`},
		{[][]string{{"time", "b"}, {"noon", "2"}}, SeriesOptions{}, `line 2: "noon" in column time is no instant`},
		{[][]string{{"time", "b"}, {"2", "2"}, {"1", "2"}}, SeriesOptions{}, "line 3: time goes back"},
		{[][]string{{"time", "b"}, {"2", "x"}}, SeriesOptions{}, "no column holds numbers"},
	} {
		if _, err := Series(c.rows, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.rows, err, c.want)
		}
	}
}

// The published series: what is known of each.
func TestPublishedSeries(t *testing.T) {
	dir := os.Getenv("HEADROOM_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "D")); err != nil {
		t.Skip("no published series here: set HEADROOM_DATA to the folder of the shared test data")
	}
	for _, c := range []struct {
		file    string
		leaks   []string // of these there must be
		healthy []string // of these there must not be
	}{
		{"leak/proc_leak.csv", []string{"rss_kb"}, []string{"goroutines", "fds"}},
		{"leak/proc_gor.csv", []string{"goroutines"}, []string{"fds"}},
		{"leak/proc_none.csv", nil, []string{"rss_kb", "heap_alloc_kb", "goroutines", "fds"}},
		{"leak/proc_saw.csv", nil, []string{"rss_kb", "heap_alloc_kb", "goroutines", "fds"}},
		{"nab/art_flatline.csv", nil, []string{"value"}},
		{"nab/art_noisy.csv", nil, []string{"value"}},
		{"nab/art_daily_no_noise.csv", nil, []string{"value"}},
		{"nab/art_daily_flatmiddle.csv", nil, []string{"value"}},
		{"nab/art_increase_spike_density.csv", nil, []string{"value"}},
		{"nab/elb_request_count_8c0756.csv", nil, []string{"value"}},
		{"nab/ec2_cpu_utilization_825cc2.csv", nil, []string{"value"}},
		{"nab/ec2_request_latency_system_failure.csv", nil, []string{"value"}},
		{"nab/rds_cpu_utilization_cc0c53.csv", nil, []string{"value"}},
		{"mscloud/ecommerce-api-incoming-rps_api-01.csv", nil, []string{"Value"}},
		{"nginxplus_status_500_samples.csv", nil, []string{"requests_total", "conn_active", "conn_dropped"}},
	} {
		f, err := os.Open(filepath.Join(dir, "D", c.file))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(f).ReadAll()
		_ = f.Close()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Series(rows, SeriesOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		for _, name := range c.leaks {
			if !slices.Contains(got.Leaks, name) {
				t.Errorf("%s: %s leaks, but the leaks found are %v", c.file, name, got.Leaks)
			}
		}
		for _, s := range got.Series {
			if slices.Contains(c.healthy, s.Name) && s.Leak {
				t.Errorf("%s: %s is no leak, but %+v", c.file, s.Name, s)
			}
			if s.Kind == "" && s.Reason == "" {
				t.Errorf("%s: %s has neither a kind nor a reason", c.file, s.Name)
			}
		}
	}
}
