package foreign_test

import (
	"math"
	"strings"
	"testing"

	"headroom/prep/foreign"
)

func points(t testing.TB, name, from string) []foreign.Point {
	t.Helper()
	all, err := foreign.ReadPoints(strings.NewReader(file(t, name)), foreign.Options{From: from})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// same compares a number that may be missing; NaN means that it must be.
func same(got *float64, want float64) bool {
	if math.IsNaN(want) || got == nil {
		return math.IsNaN(want) && got == nil
	}
	return math.Abs(*got-want) <= 1e-6*math.Abs(want)+1e-9
}

func number(n *uint64) float64 {
	if n == nil {
		return math.NaN()
	}
	return float64(*n)
}

var none = math.NaN()

// Summaries give the numbers that they hold, in TRUTH.json's values, and say how
// each was made; what they do not hold is missing and not made up.
func TestPointTruth(t *testing.T) {
	for _, c := range []struct {
		name, from               string
		requests, rps, maxUS     float64
		q, us                    float64
		how                      string
		missing                  string
		requested, errs, seconds float64
	}{
		{"stall/fortio_c4.json", "fortio", 2000, 99.9678883049219, 1974970.574, 0.99, 6950, foreign.Interpolated, "", 100, 0, 20.006424402},
		{"nighthawk/fortio_large.json", "fortio", none, none, none, 0, 0, "", "", none, none, none},
		{"nighthawk/output_formatter.medium.fortio.gold", "fortio", 53, 27.99999399400129, none, 0, 0, "", "", 30, none, 2.000000429},
		{"nighthawk/hdr_proto_json.gold", "nighthawk", none, none, 0.01, 0.5, 0.005, foreign.BucketEdge, "latency.service.p99", none, none, none},
		{"nighthawk/output_formatter.json.gold", "nighthawk", none, none, 210.007, 0.5, 190.007, foreign.BucketEdge, "latency.foo_latency.p99", none, none, none},
		{"omb/kafka_latency_default-sync-200k.json", "omb", none, none, 94178, 0.99, 4349, foreign.BucketEdge, "requests", none, none, none},
		{"omb/rabbitmq_throughput_classic.json", "omb", none, none, 2435711, 0.99, 2255231, foreign.BucketEdge, "requests", none, none, none},
		{"stall/autocannon_R100_uncorrected.json", "autocannon", 1801, 90.05, 2005e3, 0.99, 7000, foreign.Rounded, "requested_rps", none, 0, 20.02},
		{"stall/artillery_open.json", "artillery", 1000, 48.83, 2005e3, 0.99, 1812e3, foreign.Interpolated, "", 50, 0, 20},
		{"stall/ab_c1.txt", "ab-summary", 3310, 165.5, 2003e3, 0.99, 6000, foreign.Rounded, "requested_rps", none, 0, 20},
		{"stall/ab_c1.csv", "ab-percentiles", none, none, 2003363, 0.99, 5989, foreign.Exact, "requests", none, none, none},
		{"stall/k6_open.summary.json", "k6-summary", 1001, none, 1989071.851, 0.99, 1789381.205, foreign.Interpolated, "duration_s", none, 0, none},
		{"stall/vegeta_open.report.json", "vegeta-report", 2000, 100.04694403208107, 2008704.376, 0.99, 1812122.699, foreign.Interpolated, "requested_rps", none, 0, 19.990615599},
		{"stall/vegeta_open.hdrplot.txt", "vegeta-hdrplot", 2000, none, none, 0.5, 5510.499, foreign.Interpolated, "achieved_rps", none, none, none},
		{"wrk2/polis_get_R1100.txt", "wrk", 65409, 1090.11, 232704, 0.5, 16911, "", "", 1100, 56392, 60},
		{"wrk2/polis_get_R6500_overload.txt", "wrk", none, 5830.28, 12353536, 0, 0, "", "requested_rps", none, 0, 120},
		{"wrk2/polis_put_R26000_120s.txt", "wrk", none, 25948.26, 1591296, 0.99, 1.45e6, foreign.Rounded, "", 26000, 0, 120},
		{"wrk2/polis_put_R60000_ok.txt", "wrk", none, 59977.79, 5228, 0, 0, "", "requested_rps", none, 0, 30},
		{"wrk2/readme_R2000_spectrum.txt", "wrk", none, 2000.28, 12496, 0, 0, "", "requested_rps", none, 0, none},
		{"locust/bitcoin_api_stats_history_first23.csv", "locust-stats", none, none, none, 0, 0, "", "latency.service.p99", none, none, none},
		{"locust/taurus_locust-workers.ldjson", "locust-workers", none, none, none, 0, 0, "", "latency.service.p99", none, none, none},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := points(t, c.name, c.from)[0]
			check := func(what string, got *float64, want float64) {
				if !math.IsNaN(want) && !same(got, want) {
					t.Errorf("%s: %v, want %v", what, deref(got), want)
				}
			}
			if n := number(p.Requests); !math.IsNaN(c.requests) && n != c.requests {
				t.Errorf("%v requests, want %v", n, c.requests)
			}
			if n := number(p.Errors); !math.IsNaN(c.errs) && n != c.errs {
				t.Errorf("%v errors, want %v", n, c.errs)
			}
			check("achieved rate", p.AchievedRPS, c.rps)
			check("requested rate", p.RequestedRPS, c.requested)
			d := p.Latency[0]
			check("max", d.MaxUS, c.maxUS)
			if !math.IsNaN(c.seconds) && (p.DurationS == nil || math.Abs(*p.DurationS-c.seconds) > 0.02*c.seconds) {
				t.Errorf("duration %v, want %v", deref(p.DurationS), c.seconds)
			}
			if v, ok := d.At(c.q); c.q > 0 && (!ok || math.Abs(v.US-c.us) > 1e-6*c.us+1e-9 || c.how != "" && v.How != c.how) {
				t.Errorf("quantile %v: %+v (%v), want %v µs, %s", c.q, v, ok, c.us, c.how)
			}
			found := c.missing == ""
			for _, m := range p.Missing {
				found = found || m == c.missing
			}
			if !found {
				t.Errorf("%s is not named as missing: %v", c.missing, p.Missing)
			}
			if p.Schema != foreign.PointSchema || p.Model == "" {
				t.Errorf("schema %q, model %q", p.Schema, p.Model)
			}
		})
	}
}

func deref(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// Files of several runs give a point for each.
func TestSeveralRuns(t *testing.T) {
	for _, name := range []string{
		"wrk2/polis_multi_get_10k_20k_40k.txt", "wrk2/polis_multi_get_50k_70k_85k.txt", "wrk2/polis_get_R1100.txt",
		"wrk2/polis_get_R6500_overload.txt", "wrk2/polis_put_R26000_120s.txt", "wrk2/polis_put_R60000_ok.txt",
		"wrk2/readme_R2000_spectrum.txt", "wrk2/readme_R2000_corrected_and_uncorrected.txt",
	} {
		t.Run(name, func(t *testing.T) {
			var w struct {
				Runs   int
				RPS    []float64 `json:"requests_per_sec"`
				Counts []float64 `json:"total_counts"`
				Max    []float64 `json:"max_ms"`
				Mean   []float64 `json:"mean_ms"`
				Errs   []float64 `json:"non2xx"`
			}
			truth(t, name, &w)
			all := points(t, name, "wrk")
			if len(all) != w.Runs {
				t.Fatalf("%d runs, want %d", len(all), w.Runs)
			}
			k, errs := 0, 0
			for i, p := range all {
				if !same(p.AchievedRPS, w.RPS[i]) {
					t.Errorf("run %d: %v per second, want %v", i, deref(p.AchievedRPS), w.RPS[i])
				}
				if *p.Errors > 0 {
					if float64(*p.Errors) != w.Errs[errs] {
						t.Errorf("run %d: %d errors, want %v", i, *p.Errors, w.Errs[errs])
					}
					errs++
				}
				for _, d := range p.Latency {
					if number(d.Count) != w.Counts[k] || !same(d.MaxUS, w.Max[k]*1e3) || !same(d.MeanUS, w.Mean[k]*1e3) {
						t.Errorf("distribution %d (%s): %v values, max %v, mean %v; want %v, %v ms, %v ms", k, d.Kind, number(d.Count), deref(d.MaxUS), deref(d.MeanUS), w.Counts[k], w.Max[k], w.Mean[k])
					}
					k++
				}
			}
			if k != len(w.Counts) || errs != len(w.Errs) {
				t.Errorf("%d distributions and %d runs with errors, want %d and %d", k, errs, len(w.Counts), len(w.Errs))
			}
		})
	}
	var w struct {
		Runs  int
		Total float64 `json:"requests_total"`
	}
	truth(t, "wrk2/nodemysql_mysql2-1.0.0-rc13_31rates.json", &w)
	all := points(t, "wrk2/nodemysql_mysql2-1.0.0-rc13_31rates.json", "wrk2-json")
	sum := 0.0
	for _, p := range all {
		sum += number(p.Requests)
		if p.Latency[0].MeanUS != nil {
			t.Error("the average in this file is a word, not a number")
		}
	}
	if len(all) != w.Runs || sum != w.Total {
		t.Errorf("%d runs of %v requests, want %d of %v", len(all), sum, w.Runs, w.Total)
	}
	if runs := points(t, "misc/weighttp_vertx_raw.txt", "weighttp"); len(runs) < 2 || len(runs[0].Latency) != 0 || number(runs[0].Requests) != 100_000 {
		t.Errorf("weighttp: %d runs, first %+v; it prints no latency", len(runs), runs[0])
	}
}

// The rate of OMB is the mean of its samples, as TRUTH.json has it, and its p99
// is the aggregate, not the mean of the samples' p99.
func TestOMBTruth(t *testing.T) {
	for _, name := range []string{"omb/kafka_latency_default-sync-200k.json", "omb/rabbitmq_throughput_classic.json"} {
		var w struct {
			Rate float64 `json:"mean_publish_rate"`
			P99  float64 `json:"agg_p99_ms"`
		}
		truth(t, name, &w)
		p := points(t, name, "omb")[0]
		if math.Abs(*p.AchievedRPS-w.Rate) > 1 {
			t.Errorf("%s: rate %v, want %v", name, *p.AchievedRPS, w.Rate)
		}
		if v, _ := p.Latency[0].At(0.99); math.Abs(v.US-1e3*w.P99) > 1 {
			t.Errorf("%s: p99 %v µs, want %v ms", name, v.US, w.P99)
		}
	}
}

// What a summary misses cannot be estimated, and the refusal says how much.
func TestNoEstimateFromAggregates(t *testing.T) {
	_, err := foreign.ReadPoints(strings.NewReader(file(t, "stall/autocannon_R100_uncorrected.json")), foreign.Options{From: "autocannon", ExpectedIntervalNS: 10e6})
	if code(err) != foreign.AggregatesOnly || !strings.Contains(err.Error(), "201 that were due are missing from its count of 1801") {
		t.Errorf("%v: 20.02 s at 100 per second are 2002 requests, 1801 are counted", err)
	}
}
