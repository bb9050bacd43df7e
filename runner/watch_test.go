package runner_test

import (
	"context"
	"math"
	"testing"

	"headroom/analyze"
	"headroom/runner"
	"headroom/store/record"
)

// seen is a watch that always sees the same.
type seen record.Generator

func (s seen) Sample() record.Generator          { return record.Generator(s) }
func (seen) Resources(int64) []record.Sample     { return nil }
func busy(cpu, of int64) seen                    { return seen{CPUNS: cpu, CapacityNS: of, MachineBusy: math.NaN()} }
func (s seen) but(change func(*seen)) (out seen) { out = s; change(&out); return out }

// What the watch sees beside a run becomes a finding, with what it makes of the
// trust in the run.
func TestTheWatchIsHeard(t *testing.T) {
	const yaml = `
name: watch
target: {url: "http://127.0.0.1:1"}
load: {steady: {rate: 100, length: 30s}}
` + getView
	calm := busy(5e7, 2e9)
	for _, c := range []struct {
		name  string
		watch seen
		facts map[string]string
		code  string // "" none
		trust string
	}{
		{"nothing", calm, nil, "", analyze.Trusted},
		{"a stop of 9 ms for garbage", calm.but(func(s *seen) { s.GCPauseNS = 9e6 }), nil, "", analyze.Trusted},
		{"a stop of 20 ms for garbage", calm.but(func(s *seen) { s.GCPauseNS = 20e6 }), nil, "gc_pause", analyze.Trusted},
		{"a sleeper 250 ms late", calm.but(func(s *seen) { s.SleeperNS = 250e6 }), nil, "sleeper_late", analyze.Trusted},
		{"85 % of the processors", busy(170e7, 2e9), nil, "generator_cpu", analyze.Suspect},
		{"all of the processors", busy(198e7, 2e9), nil, "generator_cpu", analyze.Untrusted},
		{"a thread pushed aside", calm.but(func(s *seen) { s.StolenNS = 6e8 }), nil, "generator_cpu", analyze.Untrusted},
		{"processors of the service", calm, map[string]string{"shares_cpus_with_target": "true"}, "shares_cpus", analyze.Suspect},
	} {
		m := execute(t, parse(t, yaml), constant(10_000_000), context.Background(), context.Background(), func(cfg *runner.Config) {
			cfg.Watch = c.watch
			cfg.Header.BuiltIn = false
			cfg.Facts = record.Facts{Generator: c.facts}
		})
		m.H.BuiltIn = false
		a, err := analyze.Run(m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Trust.Verdict != c.trust {
			t.Errorf("%s: %s %v, want %s", c.name, a.Trust.Verdict, a.Trust.Reasons, c.trust)
		}
		if c.code != "" && !has(a, c.code) {
			t.Errorf("%s: no finding %s in %v", c.name, c.code, a.Findings)
		}
		for _, code := range []string{"gc_pause", "sleeper_late", "generator_cpu", "shares_cpus"} {
			if code != c.code && has(a, code) {
				t.Errorf("%s: a finding %s", c.name, code)
			}
		}
		for _, f := range a.Findings {
			if f.Code == c.code && (f.Measured == nil || f.Limit == nil || f.Text == "") {
				t.Errorf("%s: %+v without its numbers", c.name, f)
			}
		}
	}
}
