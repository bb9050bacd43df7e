package runner_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"headroom/analyze"
	"headroom/runner/sim"
	"headroom/store/record"
)

func has(a *analyze.Analysis, code string) bool {
	for _, f := range a.Findings {
		if f.Code == code {
			return true
		}
	}
	return false
}

// text is a result for people.
func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func burstPlan(seed int, base, factor float64, timeout, more string) string {
	return fmt.Sprintf(`
name: burst
seed: %d
target: {builtin: {workers: 8, service: 8ms exponential}}
http: {timeout: %s}
load: {burst: {base: %g, factor: %g, length: 10s, before: 80s, after: 180s}}
%s%s`, seed, timeout, base, factor, more, getView)
}

// METHODS C1: 600/s, then 2000/s for 10 s, at a service of 1000/s: a backlog of
// 10,000 that drains in 25 s.
func TestBurstRecoversWhenItsBacklogHasDrained(t *testing.T) {
	m := simulate(t, parse(t, burstPlan(1, 600, 2000.0/600, "30s", "")), sim.EngineOptions{Service: sim.Options{
		Workers: 8, Service: sim.Service{Mean: 8 * time.Millisecond, Shape: sim.Exponential}, Seed: 1,
	}})
	a, err := analyze.Run(m, analyze.Options{KneeRPS: 1000, Gates: []string{"recovery <= 40s"}})
	if err != nil {
		t.Fatal(err)
	}
	b := a.Burst
	if b == nil || b.Recovered == nil || !*b.Recovered {
		t.Fatalf("not recovered: %s, %v", text(b), a.Findings)
	}
	if *b.RecoveryS < 22 || *b.RecoveryS > 29 {
		t.Errorf("recovered in %g s, draining takes 25", *b.RecoveryS)
	}
	if *b.PeakBacklog < 9700 || *b.PeakBacklog > 10300 {
		t.Errorf("backlog of %g, 10,000 expected", *b.PeakBacklog)
	}
	if *b.PredictedDrainS != 25 || *b.PredictedBacklog < 9999 || *b.PredictedBacklog > 10001 {
		t.Errorf("predicted %g s and %g requests", *b.PredictedDrainS, *b.PredictedBacklog)
	}
	if *b.AmplificationAfter != 1 || *b.Spiral || *b.Vulnerable {
		t.Errorf("amplification %g, spiral %v, vulnerable %v without retries", *b.AmplificationAfter, *b.Spiral, *b.Vulnerable)
	}
	if a.Gates[0].Outcome != analyze.Pass {
		t.Errorf("gate: %+v", a.Gates[0])
	}
	t.Log(a.Sentence)
}

// The same with clients that give up after 2 s while the service finishes what
// nobody waits for: 28,000 requests fail, the last of them due 20 s after the
// burst, and what they left behind is worked off after 25 s.
func TestBurstOfClientsThatGiveUp(t *testing.T) {
	late := 0
	for seed := range 10 {
		m := simulate(t, parse(t, burstPlan(seed+1, 600, 2000.0/600, "2s", "")), sim.EngineOptions{Service: sim.Options{
			Workers: 8, Service: sim.Service{Mean: 8 * time.Millisecond, Shape: sim.Exponential}, Seed: uint64(seed + 1), KeepWorking: true,
		}})
		a, err := analyze.Run(m, analyze.Options{KneeRPS: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if n := a.Accounting.Timeout; n < 26000 || n > 30000 {
			t.Errorf("seed %d: %d requests failed, 28,000 expected", seed+1, n)
		}
		if b := a.Burst; b.RecoveryS == nil || *b.RecoveryS < 23 {
			t.Errorf("seed %d: recovery %s", seed+1, text(b))
		} else if *b.RecoveryS > 28 {
			late++
		}
	}
	if late > 3 {
		t.Errorf("%d of 10 recoveries took longer than 28 s", late)
	}
}

// A load that carries no burst worth the name is absorbed at once.
func TestBurstThatIsAbsorbed(t *testing.T) {
	wrong := 0
	for seed := range 10 {
		m := simulate(t, parse(t, burstPlan(seed+1, 300, 1.5, "2s", "")), sim.EngineOptions{Service: sim.Options{
			Workers: 8, Service: sim.Service{Mean: 8 * time.Millisecond, Shape: sim.Exponential}, Seed: uint64(seed),
		}})
		a, err := analyze.Run(m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if b := a.Burst; b.RecoveryS == nil || *b.RecoveryS > 2 {
			t.Logf("seed %d: %s", seed+1, text(b))
			wrong++
		}
	}
	if wrong > 1 {
		t.Errorf("%d of 10 bursts below the knee were not absorbed", wrong)
	}
}

// METHODS C3: 20/s of capacity, 256 places, 750 ms, three attempts, 8/s, and
// 40/s for 10 s: it stays down; without retries it comes back.
func TestRetriesHoldAServiceDown(t *testing.T) {
	for _, c := range []struct {
		retries int
		down    bool
	}{{2, true}, {0, false}} {
		yaml := fmt.Sprintf(`
name: spiral
seed: 3
target: {builtin: {workers: 1, service: 50ms constant}}
http: {timeout: 750ms}
load: {burst: {base: 8, factor: 5, length: 10s, before: 90s, after: 300s}}
retries: {max: %d, on: [timeout, "503"], backoff: 0s}
%s`, c.retries, getView)
		m := simulate(t, parse(t, yaml), sim.EngineOptions{Service: sim.Options{
			Workers: 1, Service: sim.Service{Mean: 50 * time.Millisecond, Shape: sim.Constant}, Queue: 256, KeepWorking: true,
		}})
		a, err := analyze.Run(m, analyze.Options{KneeRPS: 20})
		if err != nil {
			t.Fatal(err)
		}
		b := a.Burst
		if b.Recovered == nil || *b.Recovered == c.down || b.Spiral == nil || *b.Spiral != c.down || has(a, "metastable") != c.down || *b.Vulnerable != c.down {
			t.Errorf("%d retries: %s\n%v", c.retries, text(b), a.Findings)
		}
		t.Log(a.Sentence)
	}
}

// 160/s of capacity, 50/s offered, 200 ms, three immediate retries, and a
// service that stands still for 0.9 s: it stays collapsed, and the analysis says
// so; without retries it is back in under 3 s.
func TestFreezeWithAndWithoutRetries(t *testing.T) {
	for _, retries := range []int{3, 0} {
		yaml := fmt.Sprintf(`
name: freeze
seed: 5
target: {builtin: {workers: 4, service: 25ms exponential}}
http: {timeout: 200ms}
load: {steady: {rate: 50, length: 240s}}
retries: {max: %d, on: [timeout], backoff: 0s}
%s`, retries, getView)
		m := simulate(t, parse(t, yaml), sim.EngineOptions{Service: sim.Options{
			Workers: 4, Service: sim.Service{Mean: 25 * time.Millisecond, Shape: sim.Exponential}, KeepWorking: true, Seed: 5,
			Freezes: []sim.Freeze{{At: 90 * time.Second, For: 900 * time.Millisecond}},
		}})
		m.H.Faults = []record.Fault{{Name: "freeze", Kind: "pause", AtNS: 90e9, ForNS: 900e6}}
		m.Ev = []record.FaultEvent{{Fault: 0, Event: "acknowledged", AtNS: 90e9}, {Fault: 0, Event: "lifted", AtNS: 90.9e9}}
		a, err := analyze.Run(m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := a.Chaos[0]
		if retries > 0 {
			if c.Recovered == nil || *c.Recovered || !has(a, "metastable") {
				t.Errorf("with retries: %s\n%v", text(c), a.Findings)
			}
		} else if c.Recovered == nil || !*c.Recovered || *c.RecoveryS >= 3 {
			t.Errorf("without retries: %s\n%v", text(c), a.Findings)
		}
		t.Log(a.Sentence)

		// Without a fault in the plan the same is found by itself.
		m.H.Faults, m.Ev = nil, nil
		if a, err = analyze.Run(m, analyze.Options{}); err != nil {
			t.Fatal(err)
		}
		if down := retries > 0; has(a, "collapsed") != down || has(a, "metastable") != down || has(a, "breakdown") == down ||
			down && !strings.Contains(a.Sentence.EN, "keeps itself down") {
			t.Errorf("%d retries: %s\n%v", retries, a.Sentence.EN, a.Findings)
		}
		t.Log(a.Sentence)
	}
}

// Faults as the service feels them: the whole of it stands still, a third of the
// answers get wrong, and one that nobody feels.
func TestFaults(t *testing.T) {
	yaml := `
name: faults
seed: 8
target: {builtin: {workers: 8, service: 10ms exponential}}
http: {timeout: 500ms}
load: {steady: {rate: 200, length: 400s}}
` + getView
	m := simulate(t, parse(t, yaml), sim.EngineOptions{Service: service(sim.Options{Seed: 8, Freezes: []sim.Freeze{{At: 100 * time.Second, For: 30 * time.Second}}})})
	m.H.Faults = []record.Fault{
		{Name: "db", Kind: "pause", On: "db", AtNS: 100e9, ForNS: 30e9},
		{Name: "cache", Kind: "down", On: "cache", AtNS: 250e9, ForNS: 20e9},
		{Name: "late", Kind: "down", On: "x", AtNS: 300e9, ForNS: 20e9},
		{Name: "broken", Kind: "down", On: "y", AtNS: 310e9, ForNS: 20e9},
	}
	m.Ev = []record.FaultEvent{
		{Fault: 0, Event: "acknowledged", AtNS: 100.2e9},
		{Fault: 0, Event: "lifted", AtNS: 130e9},
		{Fault: 1, Event: "acknowledged", AtNS: 250e9},
		{Fault: 1, Event: "lifted", AtNS: 270e9},
		{Fault: 3, Event: "failed", AtNS: 310e9},
	}
	a, err := analyze.Run(m, analyze.Options{Gates: []string{"degraded(db) >= 0.5", "degraded(cache) >= 0.9", "degraded(gone) >= 0.5", "recovery <= 20s"}})
	if err != nil {
		t.Fatal(err)
	}
	db := a.Chaos[0]
	if db.DegradedMode != "no" || *db.GoodputRatioDuring > 0.05 || db.Recovered == nil || !*db.Recovered || *db.RecoveryS > 3 || *db.DetectedAfterS > 1 || db.ForS < 29 {
		t.Errorf("db: %s", text(db))
	}
	if db.OutcomesDuring["timeout"] < 5000 {
		t.Errorf("db: the answers became %v", db.OutcomesDuring)
	}
	cache := a.Chaos[1]
	if cache.DegradedMode != "yes" || *cache.GoodputRatioDuring < 0.99 || !*cache.Recovered || *cache.RecoveryS != 0 {
		t.Errorf("cache: %s", text(cache))
	}
	if a.Chaos[2].Refused != "not_acknowledged" || a.Chaos[3].Refused != "fault_failed" {
		t.Errorf("%s %s", text(a.Chaos[2]), text(a.Chaos[3]))
	}
	for i, want := range []analyze.Verdict{analyze.Fail, analyze.Pass, analyze.NoData, analyze.Inconclusive} {
		if g := a.Gates[i]; g.Outcome != want {
			t.Errorf("%s: %s (%s), want %s", g.Rule, g.Outcome, g.Why, want)
		}
	}
	t.Log(a.Sentence)
}

// Bursts that cannot be judged say why.
func TestBurstRefusals(t *testing.T) {
	engine := func(o sim.EngineOptions) sim.EngineOptions {
		o.Service = sim.Options{Workers: 8, Service: sim.Service{Mean: 8 * time.Millisecond, Shape: sim.Exponential}, Seed: 1}
		return o
	}
	t.Run("short baseline", func(t *testing.T) {
		yaml := strings.Replace(burstPlan(1, 300, 2, "2s", ""), "before: 80s", "before: 30s", 1)
		a := analysed(t, simulate(t, parse(t, yaml), engine(sim.EngineOptions{})))
		if b := a.Burst; b.Refused != "baseline_unstable" || b.Recovered != nil {
			t.Errorf("%s", text(b))
		}
	})
	t.Run("saturated baseline", func(t *testing.T) {
		a := analysed(t, simulate(t, parse(t, burstPlan(1, 1100, 2, "20s", "")), engine(sim.EngineOptions{})))
		if b := a.Burst; b.Refused != "baseline_unstable" {
			t.Errorf("%s", text(b))
		}
	})
	t.Run("burst not delivered", func(t *testing.T) {
		yaml := strings.Replace(burstPlan(1, 300, 6, "2s", ""), "http: {timeout: 2s}", "http: {timeout: 2s, max_in_flight: 50}", 1)
		a := analysed(t, simulate(t, parse(t, yaml), engine(sim.EngineOptions{})))
		if b := a.Burst; b.Refused != "burst_not_delivered" || !has(a, "burst_not_delivered") {
			t.Errorf("%s", text(b))
		}
	})
	t.Run("ended before it was over", func(t *testing.T) {
		m := simulate(t, parse(t, burstPlan(1, 300, 2, "2s", "")), engine(sim.EngineOptions{}))
		m.P = m.P[:2]
		m.Iv = slices.DeleteFunc(m.Iv, func(iv *record.Interval) bool { return iv.Phase > 1 })
		m.E.State = record.Interrupted
		if b := analysed(t, m).Burst; b.Refused != "no_recovery_phase" {
			t.Errorf("%s", text(b))
		}
	})
}

func analysed(t *testing.T, m *record.Memory) *analyze.Analysis {
	t.Helper()
	a, err := analyze.Run(m, analyze.Options{Gates: []string{"recovery <= 30s"}})
	if err != nil {
		t.Fatal(err)
	}
	if a.Gates[len(a.Gates)-1].Outcome == analyze.Pass {
		t.Errorf("a gate passed: %s", text(a.Gates))
	}
	return a
}

// Users of a closed load that never get an answer are lost.
func TestUsersLost(t *testing.T) {
	yaml := func(more string) string {
		return `
name: users
seed: 4
target: {builtin: {workers: 8, service: 10ms exponential}}
http: {timeout: 1s}
load: {closed: {users: 50, pacing: 400ms, length: 60s}}
gates: [users_lost == 0]
` + more + getView
	}
	healthy := simulate(t, parse(t, yaml("")), sim.EngineOptions{Service: service(sim.Options{Seed: 4})})
	down := simulate(t, parse(t, yaml("")), sim.EngineOptions{Service: service(sim.Options{Seed: 4, Freezes: []sim.Freeze{{At: 40 * time.Second, For: time.Minute}}})})
	for _, c := range []struct {
		m    *record.Memory
		lost float64
		want analyze.Verdict
	}{{healthy, 0, analyze.Pass}, {down, 50, analyze.Fail}} {
		a, err := analyze.Run(c.m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if g := a.Gates[0]; g.Outcome != c.want || g.Measured == nil || *g.Measured != c.lost {
			t.Errorf("%s, want %s and %g", text(g), c.want, c.lost)
		}
		t.Log(a.Verdict, a.Sentence)
	}
}
