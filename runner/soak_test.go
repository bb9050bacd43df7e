package runner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"headroom/analyze"
	"headroom/runner/sim"
	"headroom/store/record"
)

// soakOf is three hours at 20/s against a service that may get slower, with
// resource series of known course beside it.
func soakOf(t *testing.T, leak sim.Leak, gates string) *record.Memory {
	t.Helper()
	m := simulate(t, parse(t, fmt.Sprintf(`
name: soak
seed: 9
interval: 10s
target: {builtin: {workers: 8, service: 20ms exponential}}
load: {soak: {rate: 20, length: 3h}}
gates: [%s]
%s`, gates, getView)), sim.EngineOptions{Service: sim.Options{
		Workers: 8, Service: sim.Service{Mean: 20 * time.Millisecond, Shape: sim.Exponential}, Seed: 9, Leak: leak,
	}})
	r := rand.New(rand.NewPCG(9, 9))
	names := []struct {
		name, unit string
		value      func(i int) float64
	}{
		{"process.rss_bytes", "bytes", func(i int) float64 { return 300e6 + 5e5*r.NormFloat64() + 2e4*float64(i) }}, // 7.2 MB an hour
		{"process.open_fds", "count", func(i int) float64 { return 120 + float64(i/36) }},                           // 10 an hour
		{"process.cpu_seconds", "seconds", func(i int) float64 { return 3.1 * float64(i) }},
		{"heap_bytes", "bytes", func(i int) float64 { return 50e6 + 4e6*float64(i%15) + 2e5*r.NormFloat64() }},
		{"threads", "count", func(int) float64 { return 14 }},
		{"cache_bytes", "bytes", func(i int) float64 { return 80e6*(1-math.Exp(-float64(i)/30)) + 2e5*r.NormFloat64() }},
	}
	for i, n := range names {
		m.H.Observed = append(m.H.Observed, record.SeriesInfo{ID: i, Name: n.name, Source: "process", Unit: n.unit})
	}
	for i := range 1080 {
		for k, n := range names {
			m.Res = append(m.Res, record.Sample{Series: k, AtNS: int64(i) * 10e9, Value: n.value(i)})
		}
	}
	m.H.Limits = map[string]float64{"process.open_fds": 1024}
	return m
}

func TestSoakFindsWhatLeaks(t *testing.T) {
	a, err := analyze.Run(soakOf(t, sim.Leak{}, "leaks == 0"), analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := a.Soak
	if s == nil || s.Refused != "" {
		t.Fatalf("%s", text(s))
	}
	if want := []string{"process.open_fds", "process.rss_bytes"}; !slices.Equal(s.Leaks, want) {
		t.Errorf("leaks %v, want %v", s.Leaks, want)
	}
	for name, want := range map[string]string{
		"process.rss_bytes": "leak", "process.open_fds": "leak", "process.cpu_seconds": "none", "heap_bytes": "saw_tooth", "threads": "none",
		"cache_bytes": "none", "response_p50": "none", "not_ok_ratio": "none",
	} {
		if d := s.Drift[name]; d.Kind != want {
			t.Errorf("%s is %q (%s), want %s", name, d.Kind, text(d), want)
		}
	}
	fds := s.Drift["process.open_fds"]
	if fds.ExhaustionH == nil || math.Abs(*fds.ExhaustionH-87.4) > 2 || *fds.ExhaustionCI95[0] > 87.4 || *fds.ExhaustionCI95[1] < 87.4 {
		t.Errorf("descriptors run out in %s", text(fds))
	}
	if d := s.Drift["process.rss_bytes"]; *d.SlopePerHour < 7e6 || *d.SlopePerHour > 7.4e6 {
		t.Errorf("memory grows by %g an hour, 7.2e6 is right", *d.SlopePerHour)
	}
	if g := a.Gates[0]; g.Outcome != analyze.Fail {
		t.Errorf("gate: %+v", g)
	}
	t.Log(a.Sentence)
}

func TestSoakOfAServiceThatGetsSlower(t *testing.T) {
	m := soakOf(t, sim.Leak{Kind: sim.LeakLatency, PerSecond: 1e-6}, "")
	m.H.Observed, m.Res = nil, nil
	a, err := analyze.Run(m, analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := a.Soak.Drift["response_p50"]
	// 1 µs a second on a median of 14 ms: 3.6 ms an hour, which is 15 to 25 % of it.
	if d.Kind != "drift" || *d.SlopePerHour < 0.13 || *d.SlopePerHour > 0.26 || !slices.Equal(a.Soak.Leaks, []string{"response_p50"}) {
		t.Errorf("%s, leaks %v", text(d), a.Soak.Leaks)
	}
	t.Log(a.Sentence)
}

func TestSoakRefuses(t *testing.T) {
	t.Run("restarted", func(t *testing.T) {
		m := soakOf(t, sim.Leak{}, "leaks == 0")
		for i := range m.Res {
			if m.Res[i].Series == 2 && m.Res[i].AtNS > 5000e9 {
				m.Res[i].Value -= 1500
			}
		}
		a, err := analyze.Run(m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d := a.Soak.Drift["process.rss_bytes"]; d.Refused != "restarted" || d.Kind != "" || a.Gates[0].Outcome != analyze.Inconclusive {
			t.Errorf("%s, gate %+v", text(d), a.Gates[0])
		}
	})
	t.Run("too short", func(t *testing.T) {
		m := soakOf(t, sim.Leak{}, "leaks == 0")
		m.Iv = slices.DeleteFunc(m.Iv, func(iv *record.Interval) bool { return iv.Index >= 200 })
		a, err := analyze.Run(m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Soak.Refused != "too_short" || a.Gates[0].Outcome != analyze.Inconclusive {
			t.Errorf("%s, gate %+v", text(a.Soak.Refused), a.Gates[0])
		}
	})
	t.Run("load not constant", func(t *testing.T) {
		m := simulate(t, parse(t, `
name: ramp
interval: 10s
target: {builtin: {workers: 8, service: 20ms exponential}}
load: {ramp: {from: 10, to: 30, length: 3h}}
`+getView), sim.EngineOptions{Service: service(sim.Options{Seed: 3})})
		m.H.Format = "soak"
		for i := range m.P {
			if m.P[i].Kind == record.Steady {
				m.P[i].Kind = record.Soak
			}
		}
		a, err := analyze.Run(m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Soak.Refused != "load_not_constant" {
			t.Errorf("%s", text(a.Soak))
		}
	})
}
