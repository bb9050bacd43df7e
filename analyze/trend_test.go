package analyze

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// weekly makes a history of runs, one a week, whose response times are those
// of value, with noise between runs.
func weekly(r *rand.Rand, weeks int, sd float64, value func(week int) float64) []*Analysis {
	out := make([]*Analysis, weeks)
	for i := range out {
		f := func() float64 { return value(i) * math.Exp(sd*r.NormFloat64()) }
		out[i] = runOf(fmt.Sprintf("r%03d", i), fmt.Sprintf("v1.%d", i), 14000*f(), 90000*f(), 400, 0)
		out[i].Run.Started = time.Date(2026, 1, 4, 2, 0, 0, 0, time.UTC).AddDate(0, 0, 7*i).Format(time.RFC3339)
		out[i].Gates = []GateResult{{Rule: "response(p50) <= 1s"}}
	}
	return out
}

func trend(t testing.TB, runs []*Analysis, o TrendOptions) *TrendResult {
	t.Helper()
	got, err := Trend(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	if tt, ok := t.(*testing.T); ok {
		noNaN(tt, reflect.ValueOf(*got), "trend")
	}
	return got
}

func history1(t testing.TB, r *TrendResult, name string) *TrendMetric {
	t.Helper()
	for i := range r.Metrics {
		if r.Metrics[i].Metric == name {
			return &r.Metrics[i]
		}
	}
	t.Fatalf("no metric %s", name)
	return nil
}

// A year of weekly soaks with one regression of 6 % and two spikes: the
// regression is found within a week of where it was put, the spikes are not.
func TestTrendOfAYear(t *testing.T) {
	good, calm := 0, 0
	const seeds = 100
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 5))
		at := 8 + r.IntN(36)
		spikes := []int{r.IntN(52), r.IntN(52)}
		runs := weekly(r, 52, 0.015, func(week int) float64 {
			v := 1.0
			if week >= at {
				v *= 1.06
			}
			if slices.Contains(spikes, week) {
				v *= 1.35
			}
			return v
		})
		got := trend(t, runs, TrendOptions{Metrics: []string{"response_p50"}})
		x := history1(t, got, "response_p50")
		if len(x.Changes) == 1 && x.Changes[0].Direction == Worse && x.Verdict == Worse && got.Verdict == Fail {
			var week int
			if _, err := fmt.Sscanf(x.Changes[0].Run, "r%d", &week); err != nil {
				t.Fatal(err)
			}
			if week >= at-1 && week <= at+1 {
				good++
				continue
			}
		}
		t.Logf("seed %d, change at %d, spikes %v: %+v", seed, at, spikes, x.Changes)
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 6))
		spike := r.IntN(52)
		x := history1(t, trend(t, weekly(r, 52, 0.015, func(week int) float64 {
			if week == spike {
				return 1.5
			}
			return 1
		}), TrendOptions{}), "response_p50")
		if len(x.Changes) == 0 && x.Verdict == Same {
			calm++
		} else {
			t.Logf("seed %d without a regression: %s %+v", seed, x.Verdict, x.Changes)
		}
	}
	if good < 95 || calm < 95 {
		t.Errorf("right in %d of 100 years with a regression, and in %d of 100 without", good, calm)
	}
	t.Logf("right in %d of 100 years with a regression, and in %d of 100 without", good, calm)
}

func TestTrendSlope(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	runs := weekly(r, 30, 0.01, func(week int) float64 { return math.Exp(0.004 * float64(week)) })
	x := history1(t, trend(t, runs, TrendOptions{}), "response_p99")
	if x.Slope == nil || math.Abs(*x.Slope-0.004) > 0.001 || x.CI95[0] > 0.004 || x.CI95[1] < 0.004 || x.Verdict != Worse {
		t.Errorf("slope %v %v, %s", *x.Slope, *x.CI95, x.Verdict)
	}
}

func TestTrendUsesOnlyWhatCanBeTrusted(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	runs := weekly(r, 20, 0.01, func(int) float64 { return 1 })
	runs[5].Trust.Verdict = Untrusted
	*runs[5].Latency.Response.P50 *= 10
	runs[6].Run.State = "failed"
	runs[7].Run.ComparableKey = "other"
	runs = slices.Delete(runs, 10, 12)
	r.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
	got := trend(t, runs, TrendOptions{})
	x := history1(t, got, "response_p50")
	if got.Runs != 18 || got.Used != 15 || x.Used != 15 || len(x.Points) != 18 || len(got.Unused) != 3 {
		t.Errorf("%d runs, %d used, %d points", got.Runs, got.Used, len(x.Points))
	}
	if p := x.Points[5]; p.Used || p.Reason != "untrusted" || p.Value == nil {
		t.Errorf("untrusted: %+v", p)
	}
	if len(got.Missing) != 1 || got.Missing[0].Missing != 2 || *got.SpacingDays != 7 {
		t.Errorf("missing %+v, every %v days", got.Missing, got.SpacingDays)
	}
	if got.Verdict != Pass || x.Verdict != Same || !x.Gated {
		t.Errorf("%s, %s", got.Verdict, x.Verdict)
	}
	t.Log(got.Sentence, got.Notes)
}

func TestTrendRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	got := trend(t, weekly(r, 5, 0.01, func(int) float64 { return 1 }), TrendOptions{})
	if x := history1(t, got, "response_p50"); x.Verdict != Unknown || x.Reason != "too_few_runs" || got.Verdict != Inconclusive {
		t.Errorf("five runs: %s %s, %s", x.Verdict, x.Reason, got.Verdict)
	}
	if got := trend(t, nil, TrendOptions{}); got.Verdict != Inconclusive || got.Sentence.EN == "" {
		t.Errorf("no runs: %+v", got)
	}
	for _, o := range []TrendOptions{{Metrics: []string{"response_p98"}}, {Gates: []string{"kne"}}} {
		if _, err := Trend(nil, o); err == nil || !strings.Contains(err.Error(), "no metric") {
			t.Errorf("%v: %v", o, err)
		}
	}
	got = trend(t, weekly(r, 12, 0.001, func(i int) float64 { return 1 + 0.2*float64(i/6) }), TrendOptions{Gates: []string{"response_p99"}})
	if x := history1(t, got, "response_p99"); !x.Gated || x.Verdict != Worse || got.Verdict != Fail {
		t.Errorf("gated by name: %+v, %s", x.Verdict, got.Verdict)
	}
}

// Five runs every Sunday are one occasion, and a Sunday without any is a gap.
func TestTrendOfSeveralRunsAnOccasion(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	var runs []*Analysis
	for week := range 10 {
		if week == 4 {
			continue
		}
		for k := range 3 {
			a := runOf(fmt.Sprintf("r%d-%d", week, k), "v1", 100*math.Exp(0.01*r.NormFloat64()), 200, 400, 0)
			a.Run.Started = time.Date(2026, 1, 4, 2+k, 0, 0, 0, time.UTC).AddDate(0, 0, 7*week).Format(time.RFC3339)
			runs = append(runs, a)
		}
	}
	got := trend(t, runs, TrendOptions{})
	if len(got.Missing) != 1 || got.Missing[0].Missing != 1 || got.SpacingDays == nil || *got.SpacingDays != 7 {
		t.Errorf("missing %+v, every %v days", got.Missing, got.SpacingDays)
	}
}

func BenchmarkTrend1000(b *testing.B) {
	r := rand.New(rand.NewPCG(11, 11))
	runs := weekly(r, 1000, 0.02, func(i int) float64 { return 1 + 0.1*float64(i/300) })
	for b.Loop() {
		trend(b, runs, TrendOptions{})
	}
}
