package runner_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"headroom/analyze"
	"headroom/runner"
	"headroom/runner/plan"
	"headroom/runner/sim"
	"headroom/store/record"
)

func parse(t testing.TB, text string) *plan.Plan {
	t.Helper()
	p, err := plan.Parse("test.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const getView = `
requests: [{class: view, weight: 1, get: /view}]
`

// simulate executes a plan against the model of a service in virtual time.
func simulate(t testing.TB, p *plan.Plan, o sim.EngineOptions) *record.Memory {
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
		Arrivals: runner.ArrivalsOf(p, h.Seed),
	}
	if c := p.Load.Closed; c != nil {
		cfg.Pacing, cfg.Think = int64(c.Pacing), int64(c.Think)
	}
	m.E = cfg.Record(context.Background(), context.Background())
	if m.E.State != record.Complete {
		t.Fatalf("ended as %s: %s", m.E.State, m.E.Reason)
	}
	lawful(t, m)
	return m
}

// lawful checks what must hold on every interval of every run.
func lawful(t testing.TB, m *record.Memory) {
	t.Helper()
	var backlog int64
	for _, iv := range m.Iv {
		c := iv.Total()
		if err := c.Check(); err != nil {
			t.Fatalf("phase %d interval %d: %v", iv.Phase, iv.Index, err)
		}
		backlog += int64(c.Scheduled)
		for _, n := range iv.Moment.Done {
			backlog -= int64(n)
		}
		if got := iv.Moment.InFlight + iv.Moment.Waiting; got != backlog {
			t.Fatalf("phase %d interval %d: backlog %d, but the counts give %d", iv.Phase, iv.Index, got, backlog)
		}
	}
	if backlog != 0 {
		t.Fatalf("%d requests never ended", backlog)
	}
}

func stepPlan(seed int, http string) string {
	return fmt.Sprintf(`
name: step
seed: %d
target: {builtin: {workers: 8, service: 10ms exponential}}
http: {timeout: 2s%s}
load: {step: {from: 440, factor: 1.12, to: 2000, plateau: 70s, settle: 10s, drain: 10s, stop_after: 3, refine: 3, beyond: [1.25, 1.5]}}
%s`, seed, http, getView)
}

func service(o sim.Options) sim.Options {
	o.Workers, o.Service = 8, sim.Service{Mean: 10 * time.Millisecond, Shape: sim.Exponential}
	return o
}

// The whole of a step run, conductor, tally, decisions and analysis, against
// services whose capacity is 800 requests per second. The right answers come
// from the services' parameters.
func TestStepRunFindsTheKnee(t *testing.T) {
	const capacity = 800
	seeds := 10
	if testing.Short() {
		seeds = 3
	}
	for _, c := range []struct {
		name   string
		plan   string // further http keys
		engine sim.EngineOptions
		status string
		within float64 // of the capacity; 0: the interval must contain it
	}{
		{"admission by a queue of 100", "", sim.EngineOptions{Service: service(sim.Options{Queue: 100})}, "found", 0.02},
		{"collapse: 2 s timeout, dead work is finished", "", sim.EngineOptions{Service: service(sim.Options{KeepWorking: true})}, "found", 0},
		{"4 connections of our own", ", max_connections: 4", sim.EngineOptions{Service: service(sim.Options{}), MaxConns: 4}, "generator_limited", 0},
		{"a generator that can send 650/s", "", sim.EngineOptions{Service: service(sim.Options{}), MaxRate: 650}, "generator_limited", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			good := 0
			for seed := range seeds {
				c.engine.Service.Seed = uint64(seed + 1)
				m := simulate(t, parse(t, stepPlan(seed+1, c.plan)), c.engine)
				a, err := analyze.Run(m, analyze.Options{})
				if err != nil {
					t.Fatal(err)
				}
				k := a.Knee
				switch {
				case k.Status != c.status:
					t.Logf("seed %d: %s %s, want %s", seed+1, k.Status, k.Reason, c.status)
				case c.status != "found":
					if k.RPS != nil {
						t.Errorf("seed %d: a knee of %g is claimed", seed+1, *k.RPS)
					}
					good++
				case c.within > 0 && (*k.RPS < capacity*(1-c.within) || *k.RPS > capacity*(1+c.within)):
					t.Logf("seed %d: knee %.1f, want %d within %g", seed+1, *k.RPS, capacity, c.within)
				case c.within == 0 && (k.CI95[0] > capacity || k.CI95[1] < capacity):
					t.Logf("seed %d: interval %.1f to %.1f does not contain %d", seed+1, k.CI95[0], k.CI95[1], capacity)
				default:
					good++
				}
			}
			if good*10 < seeds*9 {
				t.Errorf("right in %d of %d seeds, want 9 of 10", good, seeds)
			}
		})
	}
}
