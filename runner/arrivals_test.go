package runner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"headroom/analyze"
	"headroom/runner/sim"
	"headroom/store/record"
)

// What the sends looked like decides whether the arrivals were those of a
// Poisson process: those of an undisturbed run are; a generator that rounds to
// milliseconds, one that is periodic, one that interleaves two rulers and one
// that stands still are each found out for what they do.
func TestArrivalsAreFoundOut(t *testing.T) {
	const yaml = `
name: arrivals
seed: SEED
target: {builtin: {workers: 64, service: 5ms exponential}}
load: {steady: {rate: 1000, length: 60s}}
` + getView
	run := func(seed, more string, stalls ...sim.Freeze) *record.Memory {
		o := sim.EngineOptions{Service: sim.Options{Workers: 64, Service: sim.Service{Mean: 5 * time.Millisecond, Shape: sim.Exponential}}, Stalls: stalls}
		return simulate(t, parse(t, strings.Replace(yaml, "SEED", seed, 1)+more), o)
	}
	sends := func(m *record.Memory, change func(i int, at int64) int64) *record.Memory {
		for _, s := range m.Sends {
			for i := range s.Sent {
				s.Sent[i] = change(i, s.Sent[i])
			}
			s.Scheduled = slices.Clone(s.Sent) // what was asked for is not what is doubted here
		}
		return m
	}
	constant := run("1", "arrivals: constant\n")
	constant.H.Arrivals = "poisson" // what the plan promised
	for _, c := range []struct {
		name    string
		m       *record.Memory
		verdict string
		reasons []string
	}{
		{"as it should be", run("1", ""), "accepted", []string{""}},
		{"as it should be, again", run("2", ""), "accepted", []string{""}},
		{"rounded to 1 ms", sends(run("1", ""), func(_ int, at int64) int64 { return at / ms * ms }), "rejected", []string{"rounded_clock"}},
		{"periodic", constant, "rejected", []string{"too_regular", "dependent"}},
		{"two rulers", sends(run("1", ""), func(i int, _ int64) int64 { return int64(i/2)*2*ms + int64(i%2)*300_000 }), "rejected", []string{"dependent", "too_regular"}},
		{"in pairs", sends(run("1", ""), func(_ int, at int64) int64 { return at / (20 * ms) * 20 * ms }), "rejected", []string{"rounded_clock", "bursty"}},
		{"still for 200 ms, twice", run("1", "", sim.Freeze{At: 5 * time.Second, For: 200 * time.Millisecond}, sim.Freeze{At: 33 * time.Second, For: 200 * time.Millisecond}), "rejected", []string{"stalled"}},
	} {
		a, err := analyze.Run(c.m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fit := a.Trust.Arrivals
		if fit == nil || fit.Verdict != c.verdict || !slices.Contains(c.reasons, fit.Reason) {
			t.Errorf("%s: %s, want %s %v", c.name, text(fit), c.verdict, c.reasons)
			continue
		}
		if code := map[string]string{"rounded_clock": "arrivals_rounded", "too_regular": "arrivals_too_regular", "dependent": "arrivals_dependent", "stalled": "arrivals_stalled"}[fit.Reason]; code != "" && !has(a, code) {
			t.Errorf("%s: no finding %s", c.name, code)
		}
	}
}
