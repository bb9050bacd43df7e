package analyze

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// runOf is an analysis of a steady run with the given numbers.
func runOf(id, release string, p50, p99, goodput float64, failed uint64) *Analysis {
	a := emptyAnalysis()
	a.Run = &RunInfo{
		ID: id, Name: "checkout", Release: release, Model: "open", Format: "steady", State: "complete", ComparableKey: "key", ToolVersion: "1",
		Started: "2026-11-01T00:00:00Z", Facts: FactsResult{Generator: map[string]string{"host": "a"}, Target: map[string]string{}},
	}
	a.Trust = &Trust{Verdict: Trusted}
	l := LatencyUS{Count: 100000, P50: &p50, P99: &p99, CI95: map[string]*Interval{}, Refused: map[string]string{}, Censored: map[string]float64{}}
	a.Latency = &Latencies{Response: l, Service: l}
	a.Judged = &JudgedPart{Scheduled: 100000, GoodputRPS: goodput, Outcomes: Outcomes{"ok": 100000 - failed, "timeout": failed}}
	return a
}

// side makes runs whose numbers scatter by sd between runs.
func side(r *rand.Rand, release string, n int, factor, sd float64) []*Analysis {
	out := make([]*Analysis, n)
	for i := range out {
		f := func() float64 { return factor * math.Exp(sd*r.NormFloat64()) }
		out[i] = runOf(fmt.Sprintf("%s-%d-%x", release, i, r.Uint64()), release, 14000*f(), 90000*f(), 400, uint64(r.IntN(20)))
	}
	return out
}

func metric(t testing.TB, c *Comparison, name string) *ComparedMetric {
	t.Helper()
	for i := range c.Metrics {
		if c.Metrics[i].Metric == name {
			return &c.Metrics[i]
		}
	}
	t.Fatalf("no metric %s among %d", name, len(c.Metrics))
	return nil
}

func compared(t testing.TB, base, new []*Analysis, o CompareOptions) *Comparison {
	t.Helper()
	c, err := Compare(base, new, o)
	if err != nil {
		t.Fatal(err)
	}
	if tt, ok := t.(*testing.T); ok {
		noNaN(tt, reflect.ValueOf(*c), "comparison")
	}
	return c
}

// METHODS E1.
func TestCompareNumbers(t *testing.T) {
	var base, new []*Analysis
	for i, v := range []float64{101, 98, 104, 100, 97} {
		base = append(base, runOf(fmt.Sprint("a", i), "v1", v, 10*v, 400, 0))
	}
	for i, v := range []float64{108, 112, 105, 110, 111} {
		new = append(new, runOf(fmt.Sprint("b", i), "v2", v, 10*v, 400, 0))
	}
	x := metric(t, compared(t, base, new, CompareOptions{}), "response_p50")
	near(t, "ratio", *x.Ratio, 1.09204075, 1e-8)
	near(t, "low", x.CI95[0], 1.05069772, 1e-8)
	near(t, "high", x.CI95[1], 1.13501055, 1e-8)
	near(t, "p", *x.P, 0.00077005, 1e-8)
	near(t, "exact p", *x.ExactP, 0.0079365079, 1e-9)
	if x.Verdict != Worse || x.Regression != "regression" || x.RunsBase != 5 || x.RunsNew != 5 || x.RunsNeeded != 0 {
		t.Errorf("%+v", x)
	}
	// The other way round it is an improvement.
	x = metric(t, compared(t, new, base, CompareOptions{}), "response_p50")
	if x.Verdict != Better || x.Regression != "no_regression" {
		t.Errorf("%+v", x)
	}
}

// METHODS E4, and the power that five runs a side must have.
func TestCompareErrorRates(t *testing.T) {
	const pairs = 200
	wrong, found := 0, 0
	for seed := range uint64(pairs) {
		r := rand.New(rand.NewPCG(seed, 77))
		c := compared(t, side(r, "v1", 5, 1, 0.03), side(r, "v1", 5, 1, 0.03), CompareOptions{})
		for _, x := range c.Metrics {
			if x.Verdict == Worse || x.Verdict == Better {
				wrong++
				break
			}
		}
		c = compared(t, side(r, "v1", 5, 1, 0.03), side(r, "v2", 5, 1.1, 0.03), CompareOptions{Metrics: []string{"response_p50"}})
		if metric(t, c, "response_p50").Verdict == Worse {
			found++
		}
	}
	if wrong > pairs/20 {
		t.Errorf("%d of %d pairs of equal releases were called different", wrong, pairs)
	}
	if found < pairs*95/100 {
		t.Errorf("a slowdown of 10 %% was found in %d of %d", found, pairs)
	}
	t.Logf("different %d, found %d of %d", wrong, found, pairs)
}

func TestCompareVerdicts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	gate := func(all []*Analysis, rules ...string) []*Analysis {
		for _, a := range all {
			for _, rule := range rules {
				a.Gates = append(a.Gates, GateResult{Rule: rule})
			}
		}
		return all
	}
	for _, c := range []struct {
		name      string
		base, new []*Analysis
		metric    string
		verdict   string
		reason    string
		gated     bool
	}{
		{"alike", side(r, "v1", 6, 1, 0.005), side(r, "v2", 6, 1.001, 0.005), "response_p99", Same, "", false},
		{"a third slower", side(r, "v1", 5, 1, 0.02), side(r, "v2", 5, 1.33, 0.02), "response_p99", Worse, "", false},
		{"a third faster", gate(side(r, "v1", 5, 1, 0.02), "response(p99) <= 1s"), side(r, "v2", 5, 0.75, 0.02), "response_p99", Better, "", true},
		{"too noisy to say", side(r, "v1", 3, 1, 0.3), side(r, "v2", 3, 1.1, 0.3), "response_p99", Unknown, "", false},
		{"one run each", side(r, "v1", 1, 1, 0.02), side(r, "v2", 1, 2, 0.02), "response_p99", Unknown, "one_run_each", false},
		{"two runs each", side(r, "v1", 2, 1, 0.02), side(r, "v2", 2, 2, 0.02), "response_p99", Unknown, "too_few_runs", false},
		{"failures alike", side(r, "v1", 5, 1, 0.02), side(r, "v2", 5, 1, 0.02), "error_ratio", Same, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := compared(t, c.base, c.new, CompareOptions{})
			x := metric(t, got, c.metric)
			if x.Verdict != c.verdict || x.Reason != c.reason || x.Gated != c.gated {
				t.Errorf("%s %q gated %v, want %s %q: %+v", x.Verdict, x.Reason, x.Gated, c.verdict, c.reason, x)
			}
			if x.Ratio == nil || (c.verdict == Unknown) != (x.RunsNeeded > 0) {
				t.Errorf("ratio %v, %d runs needed", x.Ratio, x.RunsNeeded)
			}
			t.Log(got.Sentence.EN, "|", got.Sentence.PTBR)
		})
	}
}

func TestCompareFailures(t *testing.T) {
	var base, new []*Analysis
	for i := range 5 {
		base = append(base, runOf(fmt.Sprint("a", i), "v1", 100, 200, 400, uint64(10+i)))
		new = append(new, runOf(fmt.Sprint("b", i), "v2", 100, 200, 400, uint64(900+20*i)))
	}
	x := metric(t, compared(t, base, new, CompareOptions{}), "error_ratio")
	if x.Verdict != Worse || *x.Ratio < 70 || *x.Base != 12e-5 {
		t.Errorf("%+v", x)
	}
}

func TestCompareRefusesAndExcludes(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	base, new := side(r, "v1", 5, 1, 0.02), side(r, "v2", 6, 1, 0.02)
	new[0].Trust.Verdict = Untrusted
	new[1].Run.State = "interrupted"
	new = append(new, base[0])
	c := compared(t, base, new, CompareOptions{})
	var reasons []string
	for _, e := range c.Excluded {
		reasons = append(reasons, e.Reason)
	}
	if want := []string{"untrusted", "not_complete", "duplicate"}; !slices.Equal(reasons, want) || len(c.New.Runs) != 4 || len(c.Notes) < 3 {
		t.Errorf("left out %v, want %v; %v", reasons, want, c.Notes)
	}
	new[2].Run.ComparableKey, new[2].Run.Facts.Generator = "other", map[string]string{"host": "b", "cpu": "x"}
	c = compared(t, base, new, CompareOptions{})
	if c.Comparable || c.Reason != "unlike_plans" || len(c.Metrics) != 0 || c.Worst() != Unknown {
		t.Errorf("unlike plans: %+v", c)
	}
	var facts []string
	for _, d := range c.Differences {
		facts = append(facts, d.Fact)
	}
	if want := []string{"comparable_key", "generator.cpu", "generator.host"}; !slices.Equal(facts, want) {
		t.Errorf("differences %v, want %v", facts, want)
	}
	c = compared(t, base, new, CompareOptions{Force: true})
	if c.Comparable || !c.Forced || len(c.Metrics) == 0 || !strings.Contains(strings.Join(c.Notes, " "), "not of one plan") {
		t.Errorf("forced: %+v", c)
	}
	if _, err := Compare(base, new, CompareOptions{Metrics: []string{"respnse_p99"}}); err == nil || !strings.Contains(err.Error(), "response_p99") {
		t.Errorf("a misspelt metric: %v", err)
	}
	if c := compared(t, nil, new, CompareOptions{}); c.Comparable || c.Reason != "no_runs" {
		t.Errorf("without a base: %+v", c)
	}
}

func TestCompareStepRunsAtTheHighestCommonPlateau(t *testing.T) {
	var base, new []*Analysis
	for i := range uint64(3) {
		base = append(base, analyse(t, stepRun(admission, 100+i), Options{}))
		new = append(new, analyse(t, stepRun(system{servers: 8, service: 8 * admission.service / 10, room: 108}, 200+i), Options{}))
		base[i].Run.ID, new[i].Run.ID = fmt.Sprint("a", i), fmt.Sprint("b", i)
	}
	c := compared(t, base, new, CompareOptions{})
	if c.AtRPS == nil || *c.AtRPS > 800 || *c.AtRPS < 600 {
		t.Fatalf("compared at %v", c.AtRPS)
	}
	if x := metric(t, c, "knee"); x.Verdict != Better || math.Abs(*x.Ratio-1.25) > 0.04 {
		t.Errorf("knee: %+v", x)
	}
	if x := metric(t, c, "response_p50"); x.Verdict != Better {
		t.Errorf("response: %+v", x)
	}
	t.Log(c.Sentence.EN)
}
