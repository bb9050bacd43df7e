package runner_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"headroom/runner/plan"
	"headroom/runner/send"
	"headroom/store/record"
)

// sentAt runs a plan on a service that answers at once, and returns the instants at
// which requests were sent, in ns since the run began.
func sentAt(t *testing.T, p *plan.Plan) ([]int64, *record.Memory) {
	t.Helper()
	o := constant(1_000_000)
	var all []int64
	s := &spy{fired: func(_ *send.Request, now int64) { all = append(all, now) }}
	m := execute(t, p, o, context.Background(), context.Background(), watched(s, o))
	if m.E.State != record.Complete {
		t.Fatalf("%s %s", m.E.State, m.E.Reason)
	}
	return all, m
}

func perSecond(all []int64, length int) []float64 {
	n := make([]float64, length)
	for _, at := range all {
		if i := int(at / 1e9); i < length {
			n[i]++
		}
	}
	return n
}

// A ramp's rate is a straight line: in each tenth of it come as many requests as
// lie below the line.
func TestRamp(t *testing.T) {
	all, _ := sentAt(t, parse(t, `
name: ramp
target: {url: "http://127.0.0.1:1"}
load: {ramp: {from: 100, to: 500, length: 100s}}
`+getView))
	n := perSecond(all, 100)
	for i := range 10 {
		got := 0.0
		for _, v := range n[10*i : 10*i+10] {
			got += v
		}
		want := 10 * (100 + 4*(10*float64(i)+5))
		if math.Abs(got-want) > 4*math.Sqrt(want) {
			t.Errorf("tenth %d: %g requests, want %g", i, got, want)
		}
	}
}

// Bursty arrivals keep the rate and have the index of dispersion that the plan
// gives, of counts of a second.
func TestBursty(t *testing.T) {
	all, _ := sentAt(t, parse(t, `
name: bursty
target: {url: "http://127.0.0.1:1"}
arrivals: {bursty: {dispersion: 5}}
load: {steady: {rate: 100, length: 1000s}}
`+getView))
	n := perSecond(all, 1000)
	mean, square := 0.0, 0.0
	for _, v := range n {
		mean += v / 1000
	}
	for _, v := range n {
		square += (v - mean) * (v - mean) / 999
	}
	if math.Abs(mean-100) > 4*math.Sqrt(5*100/1000.0) {
		t.Errorf("%.2f requests per second, want 100", mean)
	}
	if d := square / mean; d < 4 || d > 6 { // 4.5 % a standard error
		t.Errorf("index of dispersion %.2f, want 5", d)
	}
}

// A trace is sent as it was recorded, or with its time stretched to a rate.
func TestTrace(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"trace.txt": "# seconds\n0\n0.25\n0.25\n1.5\n4\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		arrivals, load string
		want           []int64 // ms
	}{
		{"{trace: trace.txt}", "steady: {length: 5s}", []int64{0, 250, 250, 1500, 4000}},
		{"{trace: trace.txt, scale: 0.5}", "steady: {length: 5s}", []int64{0, 125, 125, 750, 2000}},
		{"{trace: trace.txt}", "steady: {rate: 2, length: 5s}", []int64{0, 125, 125, 750, 2000}},
	} {
		file := filepath.Join(dir, "plan.yaml")
		text := fmt.Sprintf("name: trace\ntarget: {url: \"http://127.0.0.1:1\"}\narrivals: %s\nload: {%s}\n%s", c.arrivals, c.load, getView)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := plan.Load(file, func(string) (string, bool) { return "", false })
		if err != nil {
			t.Fatal(err)
		}
		all, _ := sentAt(t, p)
		ok := len(all) == len(c.want)
		for i := range all {
			ok = ok && all[i] == c.want[i]*ms
		}
		if !ok {
			t.Errorf("%s with %s: sent at %v, want %v ms", c.arrivals, c.load, all, c.want)
		}
	}
}

// A soak is one phase of its own kind, after a warm-up that is not judged.
func TestSoak(t *testing.T) {
	_, m := sentAt(t, parse(t, `
name: soak
target: {url: "http://127.0.0.1:1"}
load: {soak: {rate: 50, length: 10m}}
warmup: {length: 20s}
`+getView))
	var kinds []record.PhaseKind
	for _, p := range m.P {
		kinds = append(kinds, p.Kind)
		if p.Kind == record.Warmup && p.TargetRPS != 50 {
			t.Errorf("the warm-up runs at %g/s, want the soak's 50", p.TargetRPS)
		}
	}
	if fmt.Sprint(kinds) != "[warmup drain soak drain]" {
		t.Errorf("phases %v", kinds)
	}
	if n := m.H.IntervalNS; n != 10e9 {
		t.Errorf("intervals of %d ns, want 10 s", n)
	}
}
