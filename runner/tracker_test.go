package runner_test

import (
	"context"
	"math"
	"testing"
	"time"

	"headroom/runner"
	"headroom/runner/sim"
	"headroom/store/record"
)

// glances runs a plan and looks at it whenever an interval ends.
func glances(t *testing.T, text string, o sim.EngineOptions) []runner.Glance {
	t.Helper()
	var all []runner.Glance
	execute(t, parse(t, text), o, context.Background(), context.Background(), func(cfg *runner.Config) {
		tr := runner.NewTracker(cfg.Header)
		cfg.Progress = func(s runner.Status) {
			tr.Add(s)
			all = append(all, tr.Glance(s))
		}
	})
	return all
}

func near(got, want, within float64) bool { return math.Abs(got-want) <= within }

// A glance shows the rates and percentiles of the last seconds, the trust so
// far, and the knee as soon as there is one.
func TestGlances(t *testing.T) {
	calm := glances(t, `
name: calm
target: {url: "http://127.0.0.1:1"}
load: {steady: {rate: 500, length: 30s}}
`+getView, constant(20*time.Millisecond))
	g := calm[19]
	if g.Elapsed != 20*time.Second || g.Phase.Kind != record.Steady || !near(g.Offered, 500, 45) || !near(g.Sent, 500, 45) || !near(g.Goodput, 500, 45) || g.Errors != 0 || g.Shed != 0 {
		t.Errorf("%+v", g)
	}
	if g.Response == nil || !near(*g.Response, 20_000, 20) || !near(*g.Service, 20_000, 20) || *g.Lag > 1 || !near(float64(g.InFlight), 10, 12) || g.Trust != "trusted" || g.Knee != nil {
		t.Errorf("%+v", g)
	}
	stopped := glances(t, `
name: stopped
target: {url: "http://127.0.0.1:1"}
http: {timeout: 2s}
load: {steady: {rate: 500, length: 30s}}
`+getView, constant(20*time.Millisecond, sim.Freeze{At: 10 * time.Second, For: time.Hour}))
	if g := stopped[19]; g.Goodput != 0 || !near(g.Errors, 500, 45) || *g.Response < 1.9e6 || g.Trust != "trusted" {
		t.Errorf("a service that stands still: %+v", g)
	}
	slow := glances(t, `
name: slow
target: {url: "http://127.0.0.1:1"}
load: {steady: {rate: 500, length: 30s}}
`+getView, sim.EngineOptions{Service: constant(20 * time.Millisecond).Service, MaxRate: 300})
	if g := slow[19]; g.Trust != "untrusted" || len(g.Reasons) == 0 || !near(g.Sent, 300, 5) || *g.Lag < 1e6 {
		t.Errorf("a generator that can't: %+v", g)
	}
	ladder := glances(t, stepPlan(1, ""), sim.EngineOptions{Service: service(sim.Options{Queue: 100, Seed: 1})})
	last := ladder[len(ladder)-1]
	if last.Knee == nil || !near(*last.Knee, 800, 25) || ladder[30].Knee != nil {
		t.Errorf("the knee at the end: %v", last.Knee)
	}
}
