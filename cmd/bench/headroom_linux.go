package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"headroom/analyze"
	"headroom/store"
)

// ours is headroom run as its user runs it.
type ours struct{ b *bench }

func (ours) name() string { return "headroom" }
func (ours) open() bool   { return true }

func (ours) held(t task, o outcome) bool { return kept(t, o) && o.lag.p99 <= lagLimitUS }

// plan is the plan of a task.
func (t task) plan() string {
	base, path := t.url, "/"
	if i := strings.Index(t.url[len("http://"):], "/"); i >= 0 {
		base, path = t.url[:len("http://")+i], t.url[len("http://")+i:]
	}
	return fmt.Sprintf(`name: bench
seed: 1
target: {url: %q}
http: {timeout: 10s}
load: {steady: {rate: %g, length: %s}}
requests: [{class: page, weight: 1, get: %s, expect: {status: [200]}}]
`, base, t.rate, t.length, path)
}

func (g ours) run(ctx context.Context, t task) (outcome, error) {
	path, u, err := g.record(ctx, t)
	if err != nil {
		return outcome{}, err
	}
	defer os.Remove(path)
	a, err := analyzed(path)
	if err != nil {
		return outcome{}, err
	}
	// Random arrivals are not exactly as many as asked for, and the last answer
	// comes a moment after the end; neither is a fault.
	took := max(t.length.Seconds(), a.Run.DurationS-0.1)
	return outcome{
		answered: float64(a.Accounting.OK),
		failed:   float64(a.Accounting.Scheduled - a.Accounting.OK),
		achieved: t.rate * float64(a.Accounting.OK) / float64(max(1, a.Accounting.Scheduled)) * t.length.Seconds() / took,
		used:     u,
		lag:      quantiles{number(a.Trust.LagUS.P50), number(a.Trust.LagUS.P99), number(a.Trust.LagUS.P999)},
		response: quantiles{number(a.Latency.Response.P50), number(a.Latency.Response.P99), number(a.Latency.Response.P999)},
	}, nil
}

// record makes the run and returns its evidence.
func (g ours) record(ctx context.Context, t task) (path string, u used, err error) {
	plan := filepath.Join(g.b.dir, "plan.yaml")
	if err := os.WriteFile(plan, []byte(t.plan()), 0o666); err != nil {
		return "", used{}, err
	}
	out, u, err := pinned(ctx, g.b.sender, t.limit(), g.b.headroom, "run", plan, "-o", filepath.Join(g.b.dir, "runs"), "--quiet", "--no-progress")
	return strings.TrimSpace(out), u, err
}

func analyzed(path string) (*analyze.Analysis, error) {
	r, err := store.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return analyze.Run(r, analyze.Options{})
}

func number(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

const second = int64(time.Second)
