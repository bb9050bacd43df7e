package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"headroom/analyze"
	"headroom/runner"
	"headroom/runner/plan"
	"headroom/runner/sim"
	"headroom/store"
	"headroom/store/record"
)

// The budgets of a soak of 4 hours, 44 classes and 1,000 requests per second:
// 150 MB of memory, flat, 400 MB of evidence with intervals of 1 s, 60 MB with
// intervals of 10 s, and its analysis in 10 s. The real conductor, tally and
// store go through it in virtual time: 20 minutes of it, from which the size of
// the file follows, or all four hours with HEADROOM_SOAK=full.
func TestBudgetsOfASoak(t *testing.T) {
	length := 20 * time.Minute
	switch {
	case os.Getenv("HEADROOM_SOAK") == "full":
		length = 4 * time.Hour
	case testing.Short():
		length = 4 * time.Minute
	}
	for _, c := range []struct {
		interval string
		budget   float64
	}{{"1s", 400e6}, {"10s", 60e6}} {
		t.Run(c.interval, func(t *testing.T) { soak(t, length, c.interval, c.budget) })
	}
}

func soak(t *testing.T, length time.Duration, interval string, budget float64) {
	var requests strings.Builder
	for i := range 44 {
		fmt.Fprintf(&requests, "  - {class: c%d, weight: %d, get: '/c%d/{n}'}\n", i, 1+i%7, i)
	}
	p, err := plan.Parse("soak", []byte(fmt.Sprintf(`
name: soak
target: {url: "http://127.0.0.1:1"}
load: {soak: {rate: 1000, length: %s}}
interval: %s
data: {n: {zipf: {count: 1000000, exponent: 1}}}
gates: [response(p99) <= 150ms, error_ratio <= 0.01, leaks == 0]
requests:
%s`, length, interval, requests.String())), nil)
	if err != nil {
		t.Fatal(err)
	}
	h := p.Header()
	h.RunID = "soak"
	script, err := runner.ScriptOf(p)
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := runner.NewTraffic(p, h)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rec, err := store.CreateWith(dir, h, store.Options{Bulk: true})
	if err != nil {
		t.Fatal(err)
	}
	probe := &heapProbe{Sink: rec, length: int64(length)}
	probe.more.L = &probe.mu
	ticks := int64(0)
	end := runner.Config{
		Progress: func(runner.Status) { // virtual time must not outrun the storage
			ticks++
			probe.await(ticks - 3)
		},
		Header: h, Script: script, Traffic: traffic, Sink: probe, Arrivals: runner.ArrivalsOf(p, h.Seed),
		Engine: sim.NewEngine(sim.EngineOptions{Service: sim.Options{Workers: 16, Service: sim.Service{Mean: 10 * time.Millisecond, Shape: sim.Lognormal, Sigma: 1}}}),
	}.Record(context.Background(), context.Background())
	if end.State != record.Complete {
		t.Fatalf("%s: %s", end.State, end.Reason)
	}
	path, err := rec.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	full := float64(info.Size()) * float64(4*time.Hour) / float64(length)
	t.Logf("%s of intervals of %s: %.0f MB of evidence in 4 h; %.1f MB live after a quarter, %.1f MB near the end, %.0f MB from the system",
		length, interval, full/1e6, float64(probe.early)/1e6, float64(probe.late)/1e6, float64(probe.sys)/1e6)
	if full > budget {
		t.Errorf("evidence of %.0f MB, the budget is %.0f MB", full/1e6, budget/1e6)
	}
	// What lies between the two looks depends on where in a batch of the storage they fall.
	if probe.early == 0 || probe.late > probe.early+16<<20 {
		t.Errorf("%d bytes live near the end, %d after a quarter", probe.late, probe.early)
	}
	if probe.sys > 150e6 {
		t.Errorf("%.0f MB of memory from the system, the budget is 150 MB", float64(probe.sys)/1e6)
	}
	began := time.Now()
	a, _, err := analyzeFile(path, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("analysed in %s: %s", time.Since(began).Round(time.Millisecond), a.Sentence.EN)
}

// heapProbe is a sink that looks at the heap after a quarter of the run and
// near its end.
type heapProbe struct {
	record.Sink
	length           int64
	mu               sync.Mutex
	more             sync.Cond // on mu: put has grown
	put              int64
	early, late, sys uint64
}

// await returns when n intervals have been put.
func (p *heapProbe) await(n int64) {
	p.mu.Lock()
	for p.put < n {
		p.more.Wait()
	}
	p.mu.Unlock()
}

func (p *heapProbe) PutInterval(iv *record.Interval) error {
	first := p.early == 0 && iv.StartNS >= p.length/4
	last := p.late == 0 && iv.StartNS >= p.length*9/10
	if first || last {
		// What waits for the storage is not what the run holds: in virtual time
		// all of it could be waiting.
		if err := p.Sink.(*store.Recorder).Sync(); err != nil {
			return err
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if first {
			p.early = m.HeapAlloc
		} else {
			p.late = m.HeapAlloc
		}
		p.sys = max(p.sys, m.Sys)
	}
	p.mu.Lock()
	p.put++
	p.more.Broadcast()
	p.mu.Unlock()
	return p.Sink.PutInterval(iv)
}
