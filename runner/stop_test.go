package runner_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/runner/sim"
	"headroom/store/record"
)

// A first stop, in whatever phase, ends the sending and lets what is in flight
// end; a second ends the run at once. Either way the evidence is lawful, ends
// with the phase that was cut, and says that it was interrupted.
func TestStopInEveryPhase(t *testing.T) {
	const yaml = `
name: stop
seed: 2
target: {builtin: {workers: 8, service: 10ms exponential}}
http: {timeout: 2s}
load: {step: {from: 400, by: 200, to: 1200, plateau: 6s, settle: 1s, drain: 3s, stop_after: 1, refine: 1, beyond: [1.5]}}
warmup: {length: 3s, rate: 100}
interval: 500ms
` + getView
	o := sim.EngineOptions{Service: service(sim.Options{Seed: 2, KeepWorking: true})}
	whole := simulate(t, parse(t, yaml), o)
	kinds := map[record.PhaseKind]bool{}
	for _, p := range whole.P {
		kinds[p.Kind] = true
		at := (p.StartNS + p.EndNS) / 2
		for _, twice := range []bool{false, true} {
			soft, cancelSoft := context.WithCancel(context.Background())
			hard, cancelHard := context.WithCancel(context.Background())
			late, stopped := 0, int64(0)
			s := &spy{}
			s.due = func(now int64) {
				if now >= at && stopped == 0 {
					stopped = now
					cancelSoft()
					if twice {
						cancelHard()
					}
				}
			}
			s.fired = func(r *send.Request, now int64) {
				if stopped > 0 {
					late++
				}
			}
			m := execute(t, parse(t, yaml), o, soft, hard, watched(s, o))
			cancelSoft()
			cancelHard()
			name := fmt.Sprintf("%s %d at %v, twice %v", p.Kind, p.Step, time.Duration(at), twice)
			if m.E.State != record.Interrupted || m.E.Reason != "signal: stopped from outside" {
				t.Errorf("%s: ended as %s, %q", name, m.E.State, m.E.Reason)
			}
			if p.Kind != record.Drain && late > 16 { // the simulated engine looks at its context every 16 events
				t.Errorf("%s: %d requests sent after the stop", name, late)
			}
			took := time.Duration(m.E.AtNS - stopped)
			unfinished := counts(m, "view").Counts.By[record.Unfinished]
			switch {
			case twice && took > 300*time.Millisecond:
				t.Errorf("%s: it went on for %v", name, took)
			case !twice && took > 10*time.Second:
				t.Errorf("%s: draining took %v", name, took)
			case !twice && unfinished > 0:
				t.Errorf("%s: %d requests were not waited for", name, unfinished)
			}
			for _, q := range m.P {
				if q.EndNS > m.E.AtNS {
					t.Errorf("%s: %s ends at %d, after the run at %d", name, q.Kind, q.EndNS, m.E.AtNS)
				}
			}
		}
	}
	for _, k := range []record.PhaseKind{record.Warmup, record.Drain, record.Step, record.Refine, record.Beyond} {
		if !kinds[k] {
			t.Errorf("no phase of kind %s was stopped", k)
		}
	}
}
