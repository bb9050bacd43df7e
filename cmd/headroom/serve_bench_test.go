package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"headroom/report/web"
	"headroom/runner"
	"headroom/runner/plan"
	"headroom/runner/sim"
	"headroom/store"
	"headroom/store/record"
)

// fortyMinutes is a step run of 2,400 intervals.
const fortyMinutes = `
name: forty-minutes
seed: 7
target: {builtin: {workers: 4, service: 20ms exponential, queue: 40}}
load: {step: {from: 60, by: 20, to: 300, plateau: 3m, settle: 10s, drain: 10s, stop_after: 3, refine: 2, beyond: [1.25, 1.5]}}
requests: [{class: view, weight: 4, get: /view}, {class: find, weight: 1, get: /find}]
production: {peak: 80, window: 90d, resolution: 1s, taken: 2026-11-20, source: edge counter}
gates: [margin >= 2.0]
`

func simulated(b *testing.B, text string) *record.Memory {
	b.Helper()
	p, err := plan.Parse("bench.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		b.Fatal(err)
	}
	h := p.Header()
	h.RunID, h.Started = "forty-minutes", time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	m := &record.Memory{H: h}
	script, err := runner.ScriptOf(p)
	if err != nil {
		b.Fatal(err)
	}
	traffic, err := runner.NewTraffic(p, h)
	if err != nil {
		b.Fatal(err)
	}
	o := sim.EngineOptions{Service: sim.Options{Workers: 4, Service: sim.Service{Mean: 20 * time.Millisecond, Shape: sim.Exponential}, Queue: 40, Seed: 7}}
	m.E = runner.Config{Header: h, Script: script, Traffic: traffic, Engine: sim.NewEngine(o), Sink: m, Arrivals: runner.ArrivalsOf(p, h.Seed)}.
		Record(context.Background(), context.Background())
	return m
}

func written(b *testing.B, dir string, m *record.Memory) {
	b.Helper()
	r, err := store.CreateWith(dir, m.H, store.Options{Bulk: true})
	if err != nil {
		b.Fatal(err)
	}
	if err := store.Copy(m, r); err != nil {
		b.Fatal(err)
	}
	if _, err := r.Finish(m.E); err != nil {
		b.Fatal(err)
	}
}

func asked(b *testing.B, s http.Handler, path string) {
	b.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil))
	if w.Code != http.StatusOK {
		b.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
}

func site(dir string) *web.Server {
	return web.New(web.Config{Library: newFolder(dir, nil), Now: time.Now, Version: "bench"})
}

// BenchmarkHistory is the history of 1,000 runs: as the first reader after the
// start sees it, and every later one. The budget is 300 ms.
func BenchmarkHistory(b *testing.B) {
	dir := b.TempDir()
	m := simulated(b, "name: small\nseed: 1\ntarget: {builtin: {workers: 2, service: 10ms exponential}}\nload: {steady: {rate: 50, length: 10s}}\nrequests: [{class: view, weight: 1, get: /view}]\n")
	for i := range 1000 {
		run := *m
		run.H.RunID, run.H.Name = fmt.Sprintf("run-%04d", i), fmt.Sprintf("plan-%d", i%7)
		run.H.Started = run.H.Started.Add(time.Duration(i) * time.Hour)
		written(b, dir, &run)
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			asked(b, site(dir), "/en/")
		}
	})
	b.Run("later", func(b *testing.B) {
		s := site(dir)
		s.WarmOnce(context.Background())
		for b.Loop() {
			asked(b, s, "/en/?sort=knee")
		}
	})
}

// BenchmarkRunPage is the page of a run of 40 minutes: as the first reader sees
// it, and every later one. The budget is 500 ms.
func BenchmarkRunPage(b *testing.B) {
	dir := b.TempDir()
	m := simulated(b, fortyMinutes)
	written(b, dir, m)
	b.Logf("%d intervals", len(m.Iv))
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			asked(b, site(dir), "/en/runs/forty-minutes")
		}
	})
	b.Run("later", func(b *testing.B) {
		s := site(dir)
		for b.Loop() {
			asked(b, s, "/en/runs/forty-minutes")
		}
	})
	b.Run("picture", func(b *testing.B) {
		s := site(dir)
		for b.Loop() {
			asked(b, s, "/en/runs/forty-minutes/pictures/timeline.svg")
		}
	})
}
