package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"headroom/analyze"
	"headroom/runner/sim"
	"headroom/store/record"
)

func findPlan(seed int, within string) string {
	return fmt.Sprintf(`
name: find
seed: %d
target: {builtin: {workers: 8, service: 10ms exponential}}
http: {timeout: 10s}
load: {step: {from: auto, within: %s}}
interval: 250ms
%s`, seed, within, getView)
}

// Nothing is known of a service but its address: six minutes are enough for an
// interval that holds the truth, from 100 to 20,000 requests per second.
func TestAutoFindsTheKnee(t *testing.T) {
	seeds := 5
	if testing.Short() {
		seeds = 2
	}
	for _, c := range []struct {
		name     string
		capacity float64
		o        sim.Options
		seeds    int
	}{
		{"100/s", 100, sim.Options{Workers: 2, Service: sim.Service{Mean: 20 * time.Millisecond, Shape: sim.Exponential}, Queue: 100}, 0},
		{"100/s, no limit to the queue", 100, sim.Options{Workers: 2, Service: sim.Service{Mean: 20 * time.Millisecond, Shape: sim.Exponential}}, 0},
		{"100/s, slow and wide", 100, sim.Options{Workers: 30, Service: sim.Service{Mean: 300 * time.Millisecond, Shape: sim.Exponential}, Queue: 100}, 0},
		{"800/s", 800, sim.Options{Workers: 8, Service: sim.Service{Mean: 10 * time.Millisecond, Shape: sim.Exponential}, Queue: 100}, 0},
		{"800/s, constant", 800, sim.Options{Workers: 8, Service: sim.Service{Mean: 10 * time.Millisecond, Shape: sim.Constant}, Queue: 100}, 0},
		{"800/s, collapse", 800, sim.Options{Workers: 8, Service: sim.Service{Mean: 10 * time.Millisecond, Shape: sim.Exponential}, KeepWorking: true}, 0},
		{"5000/s", 5000, sim.Options{Workers: 10, Service: sim.Service{Mean: 2 * time.Millisecond, Shape: sim.Exponential}, Queue: 200}, 2},
		{"20000/s", 20000, sim.Options{Workers: 20, Service: sim.Service{Mean: time.Millisecond, Shape: sim.Exponential}, Queue: 500}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := seeds
			if c.seeds > 0 {
				n = min(n, c.seeds)
			}
			good := 0
			if testing.Short() && c.capacity > 1000 {
				t.Skip("a million requests")
			}
			for seed := 2; seed < n+2; seed++ {
				o := c.o
				o.Seed = uint64(seed)
				m := simulate(t, parse(t, findPlan(seed, "6m")), sim.EngineOptions{Service: o})
				if took := time.Duration(m.E.AtNS); took > 6*time.Minute {
					t.Errorf("seed %d: it took %v", seed, took)
				}
				a, err := analyze.Run(m, analyze.Options{})
				if err != nil {
					t.Fatal(err)
				}
				k := a.Knee
				told := outline(m, a)
				if k.Status == "found" && k.CI95[0] <= c.capacity && c.capacity <= k.CI95[1] {
					good++
					if testing.Verbose() {
						t.Log(told)
					}
					continue
				}
				t.Logf("seed %d: %s %s\n%s", seed, k.Status, k.Reason, told)
			}
			if good < n-1 {
				t.Errorf("right in %d of %d", good, n)
			}
		})
	}
}

// What can't be known in the time given is refused, with a reason; never is an
// interval given that does not hold the truth.
func TestAutoRefuses(t *testing.T) {
	exponential := func(workers int, mean time.Duration) sim.Options {
		return sim.Options{Workers: workers, Service: sim.Service{Mean: mean, Shape: sim.Exponential}}
	}
	for _, c := range []struct {
		name     string
		capacity float64
		engine   sim.EngineOptions
		http     string
		status   []string
	}{
		{"10/s", 10, sim.EngineOptions{Service: exponential(1, 100*time.Millisecond)}, "", []string{"found", "inconclusive"}},
		{"3/s", 3, sim.EngineOptions{Service: exponential(1, 333333*time.Microsecond)}, "", []string{"found", "inconclusive", "already_saturated"}},
		{"every answer is an error", 0, sim.EngineOptions{Service: exponential(8, 10*time.Millisecond)}, "404", []string{"inconclusive", "already_saturated"}},
		{"a generator that can send 650/s", 800, sim.EngineOptions{Service: exponential(8, 10*time.Millisecond), MaxRate: 650}, "", []string{"generator_limited"}},
		{"4 connections of our own", 800, sim.EngineOptions{Service: exponential(8, 10*time.Millisecond), MaxConns: 4}, ", max_connections: 4", []string{"generator_limited"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range 4 {
				c.engine.Service.Seed = uint64(seed + 1)
				text := strings.Replace(findPlan(seed+1, "6m"), "timeout: 10s", "timeout: 10s"+c.http, 1)
				if c.http == "404" {
					text = strings.Replace(text, "404", "", 1)
					text = strings.Replace(text, "get: /view", "get: /view, expect: {status: [404]}", 1)
				}
				m := simulate(t, parse(t, text), c.engine)
				a, err := analyze.Run(m, analyze.Options{})
				if err != nil {
					t.Fatal(err)
				}
				told := outline(m, a)
				if took := time.Duration(m.E.AtNS); took > 6*time.Minute {
					t.Errorf("seed %d: it took %v", seed+1, took)
				}
				k := a.Knee
				if !slices.Contains(c.status, k.Status) {
					t.Errorf("seed %d: %s, want one of %v\n%s", seed+1, k.Status, c.status, told)
				}
				if k.Status != "found" && k.NextRun == "" {
					t.Errorf("seed %d: %s without a word on what to run next", seed+1, k.Status)
				}
				if k.CI95 != nil && (c.capacity < k.CI95[0]*0.97 || c.capacity > k.CI95[1]*1.03) {
					t.Errorf("seed %d: the interval %.1f does not hold %g", seed+1, *k.CI95, c.capacity)
				}
				t.Log(told)
			}
		})
	}
}

// Without a time to keep to, plateaus are as long as the plan says, and a top
// of the plan's is not passed.
func TestAutoKeepsThePlansLengths(t *testing.T) {
	for _, c := range []struct {
		to     string
		status string
	}{{"", "found"}, {", to: 400", "not_reached"}} {
		m := simulate(t, parse(t, fmt.Sprintf(`
name: auto
target: {builtin: {workers: 8, service: 10ms exponential}}
load: {step: {from: auto, plateau: 40s, settle: 5s%s}}
%s`, c.to, getView)), sim.EngineOptions{Service: service(sim.Options{Queue: 100, Seed: 1})})
		a, err := analyze.Run(m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Knee.Status != c.status {
			t.Errorf("to %q: %s\n%s", c.to, a.Knee.Status, outline(m, a))
		}
		for _, p := range m.P {
			if p.Kind.Judged() && (p.EndNS-p.StartNS != 40e9 || c.to != "" && p.TargetRPS > 400) {
				t.Errorf("to %q: %s of %d ns at %g/s", c.to, p.Kind, p.EndNS-p.StartNS, p.TargetRPS)
			}
		}
	}
}

// A machine that stands still for a moment during the doubling does not end it.
func TestAutoOutlivesAStall(t *testing.T) {
	for _, at := range []time.Duration{7500 * time.Millisecond, 19 * time.Second} {
		m := simulate(t, parse(t, findPlan(3, "6m")), sim.EngineOptions{
			Service: service(sim.Options{Queue: 100, Seed: 3}), Stalls: []sim.Freeze{{At: at, For: 700 * time.Millisecond}},
		})
		a, err := analyze.Run(m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if k := a.Knee; k.Status != "found" || k.CI95[0] > 800 || k.CI95[1] < 800 {
			t.Errorf("stall at %v: %s", at, outline(m, a))
		}
	}
}

// outline is a run for people.
func outline(m *record.Memory, a *analyze.Analysis) string {
	s := fmt.Sprintf("%.0f s; knee %s %s", float64(m.E.AtNS)/1e9, a.Knee.Status, a.Knee.Reason)
	if a.Knee.RPS != nil {
		s += fmt.Sprintf(" %.1f %.1f", *a.Knee.RPS, *a.Knee.CI95)
	}
	for _, p := range m.P {
		if p.Kind != record.Drain {
			s += fmt.Sprintf("\n  %s %d %.1f/s at %.1f for %.1f s (settle %.1f)", p.Kind, p.Step, p.TargetRPS, float64(p.StartNS)/1e9, float64(p.EndNS-p.StartNS)/1e9, float64(p.SettleNS)/1e9)
			for _, st := range a.Steps {
				if st.Index == p.Step && p.Kind.Judged() {
					s += fmt.Sprintf(" good %.1f %s", st.GoodputRPS, st.Why)
				}
			}
		}
	}
	return s
}
