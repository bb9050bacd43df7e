package foreign_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"headroom/prep/foreign"
	"headroom/store/record"
)

func file(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dataDir(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// truth of TRUTH.json for one file.
func truth(t testing.TB, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dataDir(t), "..", "TRUTH.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	raw, ok := all["B/"+name]
	if !ok {
		t.Fatalf("TRUTH.json has no entry B/%s", name)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// JMeter's files give what TRUTH.json says: rows, failures, names, the exact
// sum and maximum of the durations and their nearest-rank percentiles.
func TestJMeterTruth(t *testing.T) {
	for _, name := range []string{
		"jmeter/HTMLReportTestFile.csv", "jmeter/taurus_simple.kpi.jtl", "jmeter/taurus_slow-stdev.jtl", "jmeter/taurus_tabs.jtl",
		"jmeter/taurus_tranctl.jtl", "jmeter/taurus_unicode.jtl", "jmeter/sample_log1.jtl", "jmeter/sample_log1c.jtl", "jmeter/taurus_simple.error.jtl",
	} {
		t.Run(name, func(t *testing.T) {
			var w struct {
				XML                  bool `json:"xml"`
				Rows, Failed, Labels uint64
				Top                  uint64 `json:"top_level_samples"`
				FailedTop            uint64 `json:"failed_top"`
				Sum                  uint64 `json:"elapsed_sum"`
				TSum                 uint64 `json:"t_sum"`
				Max                  int64
				TMax                 int64 `json:"t_max"`
				P50, P95, P99        float64
				Codes                map[string]uint64
			}
			truth(t, name, &w)
			if w.XML {
				w.Rows, w.Failed, w.Sum, w.Max = w.Top, w.FailedTop, w.TSum, w.TMax
			}
			m, im := imported(t, file(t, name), foreign.Options{From: "jtl"})
			s := total(t, m)
			if s.counts.Scheduled != w.Rows || s.counts.Scheduled-s.counts.By[record.OK] != w.Failed || uint64(len(s.classes)) != w.Labels || im.Damage.Total() != 0 {
				t.Errorf("%d rows, %d failed, %d names, damage %s; want %d, %d, %d, none", s.counts.Scheduled, s.counts.Scheduled-s.counts.By[record.OK], len(s.classes), im.Damage, w.Rows, w.Failed, w.Labels)
			}
			if s.service.SumNS() != w.Sum*1e6 || s.service.MaxNS() != w.Max*1e6 {
				t.Errorf("sum %d ns, max %d ns; want %d and %d ms", s.service.SumNS(), s.service.MaxNS(), w.Sum, w.Max)
			}
			for q, want := range map[float64]float64{0.5: w.P50, 0.95: w.P95, 0.99: w.P99} {
				if got := s.service.QuantileUS(q); !near(got, want*1000, 0.001) {
					t.Errorf("quantile %v: %v µs, want %v ms", q, got, want)
				}
			}
			for status, n := range w.Codes {
				var k int
				if _, err := fmt.Sscan(status, &k); err == nil && s.status[k] != n {
					t.Errorf("status %s: %d, want %d", status, s.status[k], n)
				}
			}
			if m.H.Model != record.Closed || m.H.Arrivals != record.ArrivalsUnknown {
				t.Errorf("model %s, arrivals %s", m.H.Model, m.H.Arrivals)
			}
		})
	}
}

// One row per request: counts, the percentiles and the largest duration of
// TRUTH.json, in ms.
func TestRequestTruth(t *testing.T) {
	for _, c := range []struct {
		name, from string
		rows       uint64
		ms         map[float64]float64
		rel        float64
		model      record.Model
		notes      []string
	}{
		{"stall/hey_c1.csv", "hey", 1802, map[float64]float64{0.5: 5.5, 0.99: 6.9, 1: 1995.9}, 0.001, record.Closed, []string{"no_schedule", "failures_missing"}},
		{"stall/ab_c1.tsv", "ab", 3310, map[float64]float64{0.99: 6, 1: 2003}, 0.001, record.Closed, []string{"no_schedule", "coarse_clock", "rows_sorted", "outcomes_unknown"}},
		{"stall/k6_open.json.gz", "k6-json", 1001, map[float64]float64{0.5: 5.493, 0.95: 989.425, 0.99: 1789.381, 1: 1989.072}, 0.001, record.Unknown, []string{"no_schedule"}},
		{"stall/k6_open.csv.gz", "k6-csv", 1001, map[float64]float64{0.5: 5.493, 0.95: 989.425, 0.99: 1789.381, 1: 1989.072}, 0.001, record.Unknown, []string{"no_schedule", "coarse_clock"}},
		{"stall/vegeta_open.csv", "vegeta", 2000, map[float64]float64{0.5: 5.509768, 0.9: 40.217698, 0.95: 1007.389647, 0.99: 1808.619448, 1: 2008.704376}, 0.001, record.Open, []string{"no_schedule"}},
		{"stall/vegeta_open.json", "vegeta", 2000, map[float64]float64{0.5: 5.509768, 0.9: 40.217698, 0.95: 1007.389647, 0.99: 1808.619448, 1: 2008.704376}, 0.001, record.Open, []string{"no_schedule"}},
		{"stall/vegeta_open.gob", "vegeta", 2000, map[float64]float64{0.5: 5.509768, 0.9: 40.217698, 0.95: 1007.389647, 0.99: 1808.619448, 1: 2008.704376}, 0.001, record.Open, []string{"no_schedule"}},
		{"ghz/SayHello_report1.json", "ghz", 193, map[float64]float64{0.99: 75.217310, 1: 80.200129}, 0.001, record.Closed, []string{"rows_missing"}},
		{"ghz/SayHello_report2.json", "ghz", 181, map[float64]float64{0.99: 59.132132}, 0.001, record.Closed, []string{"rows_missing"}},
		{"ghz/SayHello_report3.json", "ghz", 189, map[float64]float64{0.99: 68.334685}, 0.001, record.Closed, []string{"rows_missing"}},
		{"ghz/SayHello_report4.json", "ghz", 191, map[float64]float64{0.99: 68.552186}, 0.001, record.Closed, []string{"rows_missing"}},
		{"ghz/SayHellos_stream_report1.json", "ghz", 200, map[float64]float64{0.99: 205.744052}, 0.001, record.Closed, nil},
		{"gatling/known_stats_text_simulation.log", "gatling", 8, map[float64]float64{0.5: 4000, 1: 9000}, 0.001, record.Unknown, nil},
		{"gatling/taurus_gatling-2-000_simulation.log", "gatling", 5, nil, 0, record.Unknown, nil},
		{"gatling/taurus_gatling-351-000_simulation.log", "gatling", 220, nil, 0, record.Unknown, nil},
		{"gatling/taurus_gatling-4-000_simulation.log", "gatling", 644, nil, 0, record.Unknown, nil},
		{"k6/taurus_k6_kpi.csv", "k6-csv", 4, nil, 0, record.Unknown, []string{"coarse_clock"}},
		{"locust/taurus_locust-kpi.jtl", "locust", 1, nil, 0, record.Closed, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, im := imported(t, file(t, c.name), foreign.Options{From: c.from})
			s := total(t, m)
			if s.counts.Scheduled != c.rows || im.Damage.Total() != 0 {
				t.Errorf("%d rows, damage %q; want %d and none", s.counts.Scheduled, im.Damage, c.rows)
			}
			for q, want := range c.ms {
				if got := s.service.QuantileUS(q); !near(got, want*1000, c.rel) {
					t.Errorf("quantile %v: %v µs, want %v ms", q, got, want)
				}
			}
			if m.H.Model != c.model || m.H.Arrivals != record.ArrivalsUnknown || m.E.Omission != nil {
				t.Errorf("model %s, arrivals %s, estimate %v: no file here says when requests were due", m.H.Model, m.H.Arrivals, m.E.Omission)
			}
			if !s.answer.Equal(s.service) {
				t.Errorf("without a schedule response time is service time")
			}
			for _, want := range c.notes {
				if !hasNote(m, want) {
					t.Errorf("no note %s; notes are %v", want, m.N)
				}
			}
		})
	}
}

func hasNote(m *record.Memory, code string) bool {
	for _, n := range m.N {
		if n.Code == code {
			return true
		}
	}
	return false
}

// Gatling's failed requests: a check that found nothing is a wrong answer.
func TestGatlingOutcomes(t *testing.T) {
	m, _ := imported(t, file(t, "gatling/taurus_gatling-4-000_simulation.log"), foreign.Options{From: "gatling"})
	s := total(t, m)
	if s.counts.By[record.OK] != 642 || s.counts.By[record.Wrong] != 2 {
		t.Errorf("%v, want 642 ok and 2 wrong", s.counts.By)
	}
}

// Files that cannot be imported as asked are refused for the right reason.
func TestDataRefusals(t *testing.T) {
	for _, c := range []struct {
		name string
		opt  foreign.Options
		want string
	}{
		{"gatling/taurus_gatling-6-314_simulation.log", foreign.Options{From: "gatling"}, foreign.BinaryFormat},
		{"hdr/test_tagged_invalid_histogram.txt", foreign.Options{From: "hlog"}, foreign.NotThisFormat},
		{"hdr/test_tagged_missing_histogram.txt", foreign.Options{From: "hlog"}, foreign.NotThisFormat},
		{"locust/bitcoin_api_stats_history_first23.csv", foreign.Options{From: "locust"}, foreign.AggregatesOnly},
		{"stall/vegeta_open.report.json", foreign.Options{From: "vegeta"}, foreign.AggregatesOnly},
		{"stall/vegeta_open.hdrplot.txt", foreign.Options{From: "vegeta"}, foreign.AggregatesOnly},
		{"stall/ab_c1.csv", foreign.Options{From: "ab"}, foreign.AggregatesOnly},
		{"stall/ab_c1.txt", foreign.Options{From: "ab"}, foreign.NotThisFormat},
		{"stall/fortio_c4.json", foreign.Options{From: "fortio", ExpectedIntervalNS: 10e6}, foreign.AggregatesOnly},
		{"stall/autocannon_R100_uncorrected.json", foreign.Options{From: "autocannon", ExpectedIntervalNS: 10e6}, foreign.AggregatesOnly},
		{"stall/artillery_open.json", foreign.Options{From: "artillery", ExpectedIntervalNS: 20e6}, foreign.AggregatesOnly},
		{"stall/ab_c1.tsv", foreign.Options{From: "ab", ExpectedIntervalNS: 6e6}, foreign.ClockTooCoarse},
		{"stall/k6_open.csv.gz", foreign.Options{From: "k6-csv", ExpectedIntervalNS: 20e6}, foreign.ClockTooCoarse},
		{"stall/hey_c1.csv", foreign.Options{From: "hey", ExpectedIntervalNS: 20e6}, foreign.IntervalTooLong},
		{"stall/hey_c1.csv", foreign.Options{From: "hey", ExpectedIntervalNS: 1e5}, foreign.IntervalTooShort},
		{"stall/hey_c1.csv", foreign.Options{From: "jtl"}, foreign.NotThisFormat},
		{"stall/hey_c1.csv", foreign.Options{From: "k6-json"}, foreign.NotThisFormat},
		{"stall/hey_c1.csv", foreign.Options{From: "vegeta"}, foreign.NotThisFormat},
		{"misc/siege.out", foreign.Options{From: "hey"}, foreign.NotThisFormat},
	} {
		t.Run(c.name+" as "+c.opt.From, func(t *testing.T) {
			_, _, err := tryImport(file(t, c.name), c.opt)
			if code(err) != c.want {
				t.Errorf("%q, want %q (%v)", code(err), c.want, err)
			}
		})
	}
}

// HdrHistogram logs: intervals, totals and the values of TRUTH.json's direct
// decoding, in the logs' own unit.
func TestHistogramLogTruth(t *testing.T) {
	for _, name := range []string{"hdr/jHiccup-2.0.6.logV1.hlog", "hdr/jHiccup-2.0.7S.logV2.hlog", "hdr/tagged-Log.logV2.hlog"} {
		t.Run(name, func(t *testing.T) {
			var w struct {
				Direct struct {
					Intervals int
					Total     uint64
					P999      float64 `json:"p99_9"`
					Max       int64
					Tags      map[string]int
				} `json:"direct_decode"`
			}
			truth(t, name, &w)
			m, im := imported(t, file(t, name), foreign.Options{From: "hlog", UnitNS: 1})
			s := total(t, m)
			lines := w.Direct.Intervals / max(len(w.Direct.Tags), 1)
			filled := 0
			for _, iv := range m.Iv {
				if len(iv.Cells) > 0 {
					filled++
				}
			}
			if filled != lines || s.counts.Scheduled != w.Direct.Total || im.Rows != w.Direct.Total {
				t.Errorf("%d intervals, %d values; want %d, %d", filled, s.counts.Scheduled, lines, w.Direct.Total)
			}
			if got := s.service.QuantileUS(0.999) * 1000; !near(got, w.Direct.P999, 0.001) {
				t.Errorf("p99.9 %v ns, want %v", got, w.Direct.P999)
			}
			if s.service.MaxNS() != w.Direct.Max {
				t.Errorf("max %d ns, want %d", s.service.MaxNS(), w.Direct.Max)
			}
			if len(s.classes) != max(len(w.Direct.Tags), 1) {
				t.Errorf("classes %v, want those of %v", s.classes, w.Direct.Tags)
			}
		})
	}
}
