package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"headroom/runner"
	"headroom/runner/plan"
	"headroom/runner/sim"
	"headroom/runner/tally"
	"headroom/store"
	"headroom/store/record"
)

// roles are what the program does as a child of itself.
var roles = map[string]func(ctx context.Context, args []string) error{
	"exact": exactRole,
	"soak":  soakRole,
}

// stepPlan holds its plateaus for 70 s, about thirty of them.
const stepPlan = `name: forty minutes
seed: 3
target: {builtin: {workers: 8, service: 10ms exponential, queue: 200}}
http: {timeout: 2s}
load: {step: {from: 20, by: 30, to: 2000, plateau: 70s, settle: 10s, drain: 10s, stop_after: 3, refine: 3, beyond: [1.25, 1.5]}}
requests:
  - {class: view, weight: 6, get: /view}
  - {class: search, weight: 3, get: /search}
  - {class: buy, weight: 1, get: /buy}
production: {peak: 300}
gates: [margin >= 2.0, "response(p99) <= 500ms"]
`

// simulate runs a plan against the model of the service in virtual time, into a file.
func simulate(text, path string) (string, error) {
	p, err := plan.Parse("plan.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		return "", err
	}
	h := p.Header()
	h.RunID, h.BuiltIn, h.Started = "bench", true, time.Now().UTC()
	script, err := runner.ScriptOf(p)
	if err != nil {
		return "", err
	}
	traffic, err := runner.NewTraffic(p, h)
	if err != nil {
		return "", err
	}
	rec, err := store.CreateWith("", h, store.Options{Bulk: true, Path: path})
	if err != nil {
		return "", err
	}
	engine := sim.NewEngine(sim.EngineOptions{Service: p.Target.BuiltIn.Options, Lag: 30 * time.Microsecond})
	end := runner.Config{Header: h, Script: script, Traffic: traffic, Engine: engine, Sink: rec, Arrivals: runner.ArrivalsOf(p, h.Seed)}.
		Record(context.Background(), context.Background())
	if end.State != record.Complete {
		return "", errors.Join(fmt.Errorf("simulation: %s", end.Reason), rec.Abort())
	}
	return rec.Finish(end)
}

func simulatedSteps(path string) (string, error) { return simulate(stepPlan, path) }

// history fills a folder with runs of a minute and returns the id of the last.
func history(dir string, runs int) (last string, err error) {
	const text = `name: history
seed: 5
target: {builtin: {workers: 8, service: 10ms exponential, queue: 200}}
load: {step: {from: 400, factor: 1.2, to: 2000, plateau: 5s, settle: 1s, drain: 2s, stop_after: 2, refine: 1}}
requests: [{class: view, weight: 6, get: /view}, {class: buy, weight: 1, get: /buy}]
production: {peak: 300}
gates: [margin >= 2.0]
`
	path, err := simulate(text, dir+"/bench.db")
	if err != nil {
		return "", err
	}
	r, err := store.Open(path)
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := r.Header()
	started := h.Started
	for i := range runs - 1 {
		h.RunID = fmt.Sprintf("history-%04d", i)
		h.Release = fmt.Sprintf("v1.%d", i/10)
		h.Started = started.Add(-time.Duration(runs-i) * time.Hour)
		rec, err := store.CreateWith(dir, h, store.Options{Bulk: true})
		if err != nil {
			return "", err
		}
		if err := store.Copy(r, rec); err != nil {
			return "", errors.Join(err, rec.Abort())
		}
		if _, err := rec.Finish(r.End()); err != nil {
			return "", err
		}
	}
	return h.RunID, nil
}

const (
	soakHours   = 4
	soakRate    = 1000
	soakClasses = 44
	// soakPause follows each interval. The recorder is that of a run: it commits
	// each interval, and refuses when it is half a thousand behind.
	soakPause = 4 * time.Millisecond
)

// soakRole feeds a tally and a recorder with the results of a soak, as fast as
// they take them, and prints the heap after a quarter and at the end.
func soakRole(_ context.Context, args []string) error {
	if len(args) != 2 {
		return errors.New("wants the width of an interval and the file")
	}
	width, err := time.ParseDuration(args[0])
	if err != nil {
		return err
	}
	const length = int64(soakHours * time.Hour)
	h := record.Header{
		RunID: "soak", Name: "soak", Model: record.Open, Format: "soak", Started: time.Now().UTC(), IntervalNS: int64(width),
		TimeoutNS: 2 * second, DeadlineNS: 2 * second, MaxUS: record.DefaultMaxUS, Arrivals: "poisson", BuiltIn: true, Shards: 1,
		Thresholds: []record.Threshold{{Name: "response<=150ms", Clock: record.Response, LimitNS: 150e6}},
	}
	for c := range soakClasses {
		h.Classes = append(h.Classes, record.Class{Name: fmt.Sprintf("class%d", c), Weight: 1})
	}
	rec, err := store.CreateWith("", h, store.Options{Path: args[1]})
	if err != nil {
		return err
	}
	var failure error
	keep := func(err error) {
		if failure == nil {
			failure = err
		}
	}
	t := tally.New(h, func(iv *record.Interval) { keep(rec.PutInterval(iv)) }, func(s *record.SendSample) { keep(rec.PutSendSample(s)) })
	phase := record.Phase{Kind: record.Soak, Step: -1, TargetRPS: soakRate, EndNS: length, Ended: true}
	keep(rec.PutPhase(phase))
	t.Begin(phase)
	rng := rand.New(rand.NewPCG(1, 2))
	quarter := uint64(0)
	at := 0.0
	for n := int64(0); ; n++ {
		at += rng.ExpFloat64() * float64(second) / soakRate
		due := int64(at)
		if due >= length || failure != nil {
			break
		}
		for b, ok := t.Boundary(); ok && b <= due; b, ok = t.Boundary() {
			t.Tick(0, 0, 40)
			time.Sleep(soakPause)
			if quarter == 0 && b >= length/4 {
				quarter = heap()
			}
		}
		soakRequest(t, rng, n, due)
	}
	for b, ok := t.Boundary(); ok && b <= length; b, ok = t.Boundary() {
		t.Tick(0, 0, 40)
	}
	t.EndPhase(length, 0, 0, 40)
	t.Close()
	end := heap()
	if failure != nil {
		return errors.Join(failure, rec.Abort())
	}
	if _, err := rec.Finish(record.End{State: record.Complete, AtNS: length}); err != nil {
		return err
	}
	fmt.Printf("heap %d %d\n", quarter, end)
	return nil
}

// soakRequest is one request from its schedule to its end: 20 ms of work, more
// or less, and two in a hundred are refused.
func soakRequest(t *tally.Tally, rng *rand.Rand, n, due int64) {
	class := rng.IntN(soakClasses)
	o := t.Scheduled(class, due)
	sent := due + int64(40e3*math.Exp(0.5*rng.NormFloat64()))
	e := tally.End{
		Class: class, Arrival: n, Scheduled: due, FirstSent: sent, Sent: sent, Done: sent + int64(20e6*math.Exp(0.8*rng.NormFloat64())),
		Attempts: 1, Outcome: record.OK, Status: 200, BytesIn: 512,
	}
	if rng.IntN(50) == 0 {
		e.Outcome, e.Status, e.Err = record.Shed, 429, record.ErrStatus
	}
	t.Attempt(sent)
	t.Ended(o, &e)
}

// heap is what is reachable now, in bytes.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
