package runner_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"headroom/runner"
	"headroom/runner/plan"
	"headroom/runner/sim"
	"headroom/store/record"
)

// execute is simulate for runs that need not complete.
func execute(t testing.TB, p *plan.Plan, o sim.EngineOptions, soft, hard context.Context, also func(*runner.Config)) *record.Memory {
	t.Helper()
	h := p.Header()
	h.RunID, h.BuiltIn = fmt.Sprintf("test-%d", h.Seed), true
	m := &record.Memory{H: h}
	script, err := runner.ScriptOf(p)
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := runner.NewTraffic(p, h)
	if err != nil {
		t.Fatal(err)
	}
	cfg := runner.Config{
		Header: h, Script: script, Traffic: traffic, Engine: sim.NewEngine(o), Sink: m,
		Arrivals: runner.ArrivalsOf(p, h.Seed), Rules: p.Abort,
	}
	if c := p.Load.Closed; c != nil {
		cfg.Pacing, cfg.Think = int64(c.Pacing), int64(c.Think)
	}
	if also != nil {
		also(&cfg)
	}
	m.E = cfg.Record(soft, hard)
	lawful(t, m)
	return m
}

// Each rule ends the run when it has held for as long as it says, with the rule
// as the reason, and not before.
func TestAbortRules(t *testing.T) {
	freeze := func(at, length time.Duration) sim.Options {
		return sim.Options{Workers: 8, Service: sim.Service{Mean: 10 * time.Millisecond}, KeepWorking: true, Seed: 1, Freezes: []sim.Freeze{{At: at, For: length}}}
	}
	for _, c := range []struct {
		rule     string
		load     string
		http     string
		o        sim.Options
		from, to float64 // when it ends, s; 0, 0: it does not
	}{
		{"response(p99) > 1s for 10s", "steady: {rate: 400, length: 120s}", "", freeze(30*time.Second, time.Hour), 41, 46},
		{"response(p99) > 1s for 10s", "steady: {rate: 400, length: 60s}", "", freeze(30*time.Second, 4*time.Second), 0, 0},
		{"response(p50) <= 1s for 20s", "steady: {rate: 400, length: 60s}", "", freeze(time.Hour, 0), 20, 20.1},
		{"class(view).response(p99) > 1s for 10s", "steady: {rate: 400, length: 120s}", "", freeze(30*time.Second, time.Hour), 41, 46},
		{"service(p90) >= 2s for 3s", "steady: {rate: 400, length: 120s}", "", freeze(30*time.Second, time.Hour), 34, 37},
		{"lag(p99) > 100ms for 5s", "steady: {rate: 400, length: 60s}", "", freeze(30*time.Second, 10*time.Second), 0, 0},
		{"error_ratio > 0.5 for 5s", "steady: {rate: 400, length: 120s}", "", freeze(30*time.Second, time.Hour), 36, 39},
		{"error_ratio > 0.5 for 5s", "steady: {rate: 1200, length: 60s}", "", sim.Options{Workers: 8, Service: sim.Service{Mean: 10 * time.Millisecond}, Queue: 10}, 0, 0}, // shed is no error
		{"shed_ratio > 0.3 for 5s", "steady: {rate: 1200, length: 60s}", "", sim.Options{Workers: 8, Service: sim.Service{Mean: 10 * time.Millisecond}, Queue: 10}, 5, 7},
		{"goodput < 100 for 5s", "steady: {rate: 400, length: 120s}", "", freeze(30*time.Second, time.Hour), 34, 37},
		{"goodput_ratio < 0.5 for 5s", "steady: {rate: 400, length: 120s}", "", freeze(30*time.Second, time.Hour), 36, 39},
		{"unexpected > 100 for 2s", "steady: {rate: 400, length: 120s}", "", freeze(30*time.Second, time.Hour), 34, 36},
		{"amplification > 1.5 for 5s", "steady: {rate: 100, length: 120s}", "\nretries: {max: 3, on: [timeout]}", freeze(30*time.Second, time.Hour), 35, 45},
		{"target dead", "steady: {rate: 400, length: 120s}", "", freeze(30*time.Second, time.Hour), 35, 39},
		{"target dead", "steady: {rate: 400, length: 60s}", "", freeze(30*time.Second, 2*time.Second), 0, 0},
		{"target dead", "step: {from: 100, by: 100, to: 400, plateau: 20s, settle: 2s}", "", freeze(time.Hour, 0), 0, 0},
		{"phase(warmup).goodput > 1 for 5s", "steady: {rate: 400, length: 60s}", "\nwarmup: {length: 3s, rate: 10}", freeze(time.Hour, 0), 0, 0},
		{"phase(warmup).goodput > 1 for 5s", "steady: {rate: 400, length: 60s}", "\nwarmup: {length: 20s, rate: 10}", freeze(time.Hour, 0), 5, 6},
	} {
		p := parse(t, fmt.Sprintf(`
name: abort
target: {builtin: {workers: 8, service: 10ms}}
http: {timeout: 2s}
load: {%s}
abort: [%q]%s
%s`, c.load, c.rule, c.http, getView))
		m := execute(t, p, sim.EngineOptions{Service: c.o}, context.Background(), context.Background(), nil)
		if c.to == 0 {
			if m.E.State != record.Complete {
				t.Errorf("%s: %s %s", c.rule, m.E.State, m.E.Reason)
			}
			continue
		}
		if m.E.State != record.Interrupted || m.E.Reason != "abort: "+c.rule {
			t.Errorf("%s with %s: %s %q", c.rule, c.load, m.E.State, m.E.Reason)
			continue
		}
		last := 0.0
		for _, p := range m.P {
			if p.Kind != record.Drain {
				last = math.Max(last, float64(p.EndNS)/1e9)
			}
		}
		if last < c.from || last > c.to {
			t.Errorf("%s with %s: ended at %.2f s, want %g to %g", c.rule, c.load, last, c.from, c.to)
		}
	}
}
