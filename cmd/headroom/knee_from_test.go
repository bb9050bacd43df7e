package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"headroom/runner"
	"headroom/runner/plan"
	"headroom/runner/sim"
	"headroom/store"
	"headroom/store/record"
)

// simulateTo records a plan's run against a simulated service into a folder.
func simulateTo(t *testing.T, dir, id, text string, o sim.Options) string {
	t.Helper()
	p, err := plan.Parse("test", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	h := p.Header()
	h.RunID, h.BuiltIn = id, true
	script, err := runner.ScriptOf(p)
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := runner.NewTraffic(p, h)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := store.CreateWith(dir, h, store.Options{Bulk: true})
	if err != nil {
		t.Fatal(err)
	}
	end := runner.Config{
		Header: h, Script: script, Traffic: traffic, Sink: rec, Arrivals: runner.ArrivalsOf(p, h.Seed),
		Engine: sim.NewEngine(sim.EngineOptions{Service: o}),
	}.Record(context.Background(), context.Background())
	if end.State != record.Complete {
		t.Fatalf("%s: %s", end.State, end.Reason)
	}
	path, err := rec.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A soak at a share of a knee takes the knee from the run that found it, which
// lies beside the plan; a run that found none is refused.
func TestSoakOfKnee(t *testing.T) {
	dir := t.TempDir()
	o := sim.Options{Workers: 8, Service: sim.Service{Mean: 10 * time.Millisecond, Shape: sim.Constant}, Queue: 100}
	const step = `
name: step
target: {url: "http://127.0.0.1:1"}
load: {step: {from: 400, factor: 1.16, to: %d, plateau: 20s, settle: 2s, drain: 2s, refine: 0, beyond: []}}
requests: [{class: view, weight: 1, get: /}]
`
	found := simulateTo(t, dir, "found", fmt.Sprintf(step, 2000), o)
	none := simulateTo(t, dir, "none", fmt.Sprintf(step, 600), o)
	std := IO{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Env: func(string) (string, bool) { return "", false }}
	load := func(from string) (*plan.Plan, error) {
		file := filepath.Join(dir, "soak.yaml")
		text := fmt.Sprintf("name: soak\ntarget: {url: \"http://127.0.0.1:1\"}\nload: {soak: {of_knee: 0.7, knee_from: %s, length: 1h}}\nrequests: [{class: view, weight: 1, get: /}]\n", filepath.Base(from))
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return loadPlan(file, std)
	}
	p, err := load(found)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Load.Soak.Rate; math.Abs(got-560) > 10 {
		t.Errorf("rate %.1f, want 0.7 of 800", got)
	}
	if h := p.Header(); h.Load.RateRPS != p.Load.Soak.Rate || h.TargetRPS != p.Load.Soak.Rate {
		t.Errorf("the header says %g and %g", h.Load.RateRPS, h.TargetRPS)
	}
	for _, from := range []string{none, filepath.Join(dir, "missing.db")} {
		if _, err := load(from); err == nil || codeOf(err) == exitDone || !strings.Contains(err.Error(), "knee_from") {
			t.Errorf("%s: %v", filepath.Base(from), err)
		}
	}
}
