package analyze

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"headroom/store/record"
)

// steadyRun is one phase of n seconds with the given response times, in
// nanoseconds, one request each, spread evenly; the other outcomes are added
// to class 1 as they are.
func steadyRun(seconds int, responses []int64, others map[record.Outcome]int) *record.Memory {
	m := &record.Memory{
		H: record.Header{
			RunID: "steady", Name: "steady", Model: record.Open, Format: "steady", IntervalNS: 1e9, TimeoutNS: 2e9, DeadlineNS: 2e9,
			MaxUS: record.DefaultMaxUS, Arrivals: "poisson", Shards: 1, BuiltIn: true, Classes: simClasses, Thresholds: simThresholds,
			Started: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
		},
		E: record.End{State: record.Complete}, SealDigest: "feed",
	}
	p := record.Phase{Kind: record.Steady, Step: -1, TargetRPS: 100, EndNS: int64(seconds) * 1e9, Ended: true}
	m.P = []record.Phase{p}
	var reqs []request
	add := func(i, n int, dur int64, o record.Outcome) {
		at := int64(float64(i) / float64(n) * float64(p.EndNS-3e9))
		r := request{sched: at, sent: at, done: at + dur, outcome: o, status: 200}
		if !o.Valid() && o != record.Shed {
			r.status = 500
		}
		reqs = append(reqs, r)
	}
	for i, v := range responses {
		add(i, len(responses), v, record.OK)
	}
	for o, n := range others {
		for i := range n {
			add(i, n, 5e6, o)
		}
	}
	m.Iv = tabulate(m.H, p, record.Phase{}, reqs)
	return m
}

func times(n int, v int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func judge(t *testing.T, m *record.Memory, rules ...string) (*Analysis, []GateResult) {
	t.Helper()
	a, err := Run(m, Options{Gates: rules})
	if err != nil {
		t.Fatal(err)
	}
	return a, a.Gates
}

func TestLatencyGatesAreExact(t *testing.T) {
	for _, c := range []struct {
		name      string
		responses []int64
		others    map[record.Outcome]int
		rule      string
		want      Verdict
	}{
		{"150.2 ms never passes 150 ms", times(1000, 150_200_000), nil, "response(p50) <= 150ms", Fail},
		{"one nanosecond too much", times(1000, 150_000_001), nil, "response(p50) <= 150ms", Fail},
		{"exactly the limit", times(1000, 150_000_000), nil, "response(p50) <= 150ms", Pass},
		{"99 of 100", append(times(990, 1e6), times(10, 151e6)...), nil, "response(p99) <= 150ms", Pass},
		{"one fewer", append(times(989, 1e6), times(11, 151e6)...), nil, "response(p99) <= 150ms", Fail},
		{"what was not answered counts against it", times(989, 1e6), map[record.Outcome]int{record.HTTPError: 11}, "response(p99) <= 150ms", Fail},
		{"and may be one in a hundred", times(990, 1e6), map[record.Outcome]int{record.Timeout: 10}, "response(p99) <= 150ms", Pass},
		{"a fast error is no answer", times(900, 1e6), map[record.Outcome]int{record.HTTPError: 100}, "response(p99) <= 150ms", Fail},
		{"p99.9 of a thousand", append(times(999, 1e6), 151e6), nil, "response(p99.9) <= 150ms", Pass},
		{"p99.9 with two slow ones", append(times(998, 1e6), 151e6, 151e6), nil, "response(p99.9) <= 150ms", Fail},
		{"p100", append(times(999, 1e6), 151e6), nil, "response(p100) <= 150ms", Fail},
		{"service", times(1000, 99e6), nil, "service(p99) <= 100ms", Pass},
		{"lag", times(1000, 99e6), nil, "lag(p99) <= 1ms", Pass},
		{"at least", times(1000, 151e6), nil, "response(p50) > 150ms", Pass},
		{"not counted, far away", times(1000, 100e6), nil, "response(p99) <= 120ms", Pass},
		{"not counted, far above", times(1000, 130e6), nil, "response(p99) <= 120ms", Fail},
		{"not counted, in the limit's own bucket", times(1000, 120_010_000), nil, "response(p99) <= 120.03ms", Inconclusive},
		{"class", times(1000, 1e6), nil, "class(buy).response(p99) <= 150ms", Pass},
		{"no such class", times(1000, 1e6), nil, "class(pay).response(p99) <= 150ms", NoData},
		{"phase", times(1000, 1e6), nil, "phase(steady).response(p99) <= 150ms", Pass},
		{"no such phase", times(1000, 1e6), nil, "phase(recovery).response(p99) <= 150ms", NoData},
		{"warm-up is never judged", times(1000, 1e6), nil, "phase(warmup).response(p99) <= 150ms", NoData},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, gates := judge(t, steadyRun(20, c.responses, c.others), c.rule)
			g := gates[0]
			if g.Outcome != c.want {
				t.Fatalf("%s: %s (%s), want %s", g.Rule, g.Outcome, g.Why, c.want)
			}
			if g.Measured != nil && g.Outcome == Pass && g.Rule != "response(p50) > 150ms" && *g.Measured > g.Limit {
				t.Errorf("passes, but shows %v above the limit %v", *g.Measured, g.Limit)
			}
			if g.Measured != nil && g.Outcome == Fail && *g.Measured <= g.Limit {
				t.Errorf("fails, but shows %v within the limit %v", *g.Measured, g.Limit)
			}
		})
	}
}

func TestCountingGates(t *testing.T) {
	mixed := map[record.Outcome]int{record.Shed: 50, record.Wrong: 2, record.HTTPError: 8}
	for _, c := range []struct {
		rule string
		want Verdict
	}{
		{"error_ratio <= 0.01", Pass},
		{"error_ratio < 0.01", Fail},
		{"error_ratio <= 0.009", Fail}, // 10 of 1000
		{"shed_ratio <= 0.05", Pass},
		{"shed_ratio <= 4%", Fail},
		{"wrong == 0", Fail},
		{"wrong == 2", Pass},
		{"unexpected <= 10", Pass},
		{"unexpected < 10", Fail},
		{"samples >= 1000", Pass},
		{"samples > 1000", Fail},
		{"goodput_ratio >= 0.94", Pass},
		{"goodput_ratio >= 0.941", Fail},
		{"goodput >= 45", Pass},
		{"goodput >= 50", Fail}, // 940 in 20 s
		{"amplification <= 1", Pass},
		{"omission <= 2", Pass},
		{"knee >= 100", NoData},
		{"margin >= 2", NoData},
		{"post_saturation(1.5) >= 0.7", NoData},
		{"recovery <= 30s", NoData},
		{"leaks == 0", NoData},
		{"users_lost == 0", NoData},
	} {
		t.Run(c.rule, func(t *testing.T) {
			a, gates := judge(t, steadyRun(20, times(940, 1e6), mixed), c.rule)
			if gates[0].Outcome != c.want {
				t.Errorf("%s: %s (measured %v, %s), want %s", c.rule, gates[0].Outcome, gates[0].Measured, gates[0].Why, c.want)
			}
			want := map[Verdict]Verdict{Pass: Pass, Fail: Fail, NoData: Inconclusive}[c.want]
			if a.Verdict != want {
				t.Errorf("%s: the run is %s, want %s", c.rule, a.Verdict, want)
			}
		})
	}
}

func TestUntrustedPassesNoGate(t *testing.T) {
	for _, rule := range []string{"wrong == 0", "response(p99) <= 150ms", "wrong == 1"} {
		m := steadyRun(20, times(1000, 1e6), nil)
		for _, iv := range m.Iv {
			iv.Moment.LimitedNS = iv.WidthNS / 2
		}
		a, gates := judge(t, m, rule)
		if gates[0].Outcome != Inconclusive || a.Verdict != Inconclusive || len(gates[0].Findings) == 0 {
			t.Errorf("%s on an untrusted run: %s %v, run %s", rule, gates[0].Outcome, gates[0].Findings, a.Verdict)
		}
	}
}

func TestBoundsDecideOnlyWhatIsCertain(t *testing.T) {
	for _, c := range []struct {
		lo, hi, limit float64
		op            string
		want          Verdict
	}{
		{3, math.Inf(1), 2, ">=", Pass},
		{1.5, math.Inf(1), 2, ">=", Inconclusive},
		{1.5, math.Inf(1), 1, "<=", Fail},
		{0, 1.5, 2, ">=", Fail},
		{0, 3, 2, ">=", Inconclusive},
		{0, 1.5, 2, "<", Pass},
		{0, 0, 0, "==", Pass},
		{0, 1, 0, "==", Inconclusive},
		{1, 2, 0, "==", Fail},
		{2, 2, 2, ">=", Pass},
		{2, 2, 2, ">", Fail},
		{2, 2, 2, "<", Fail},
		{2, 2, 2, "<=", Pass},
	} {
		got := compareTo(reading{lo: c.lo, hi: c.hi}, record.Gate{Op: c.op, Limit: c.limit})
		if got != c.want {
			t.Errorf("[%v, %v] %s %v: %s, want %s", c.lo, c.hi, c.op, c.limit, got, c.want)
		}
	}
}

func TestEnoughIsExact(t *testing.T) {
	for _, c := range []struct {
		k, n uint64
		q    float64
		want bool
	}{
		{99, 100, 0.99, true},
		{98, 100, 0.99, false},
		{999, 1000, 0.999, true},
		{998, 1000, 0.999, false},
		{9_900_000_000, 10_000_000_000, 0.99, true},
		{9_899_999_999, 10_000_000_000, 0.99, false},
		{1, 1, 1, true},
		{0, 1, 0.5, false},
		{math.MaxUint64 / 2, math.MaxUint64, 0.5, false},
		{math.MaxUint64/2 + 1, math.MaxUint64, 0.5, true},
	} {
		if got := enough(c.k, c.n, c.q); got != c.want {
			t.Errorf("%d of %d for %v: %v", c.k, c.n, c.q, got)
		}
		if n := need(c.n, c.q); c.n < 1e12 && (!enough(n, c.n, c.q) || n > 0 && enough(n-1, c.n, c.q)) {
			t.Errorf("need(%d, %v) = %d", c.n, c.q, n)
		}
	}
}

func TestUnreadableGate(t *testing.T) {
	var gate *GateError
	if _, err := Run(steadyRun(5, times(10, 1e6), nil), Options{Gates: []string{"respons(p99) <= 1s"}}); !errors.As(err, &gate) {
		t.Errorf("got %v, want a GateError", err)
	}
}

func ExampleRun() {
	m := steadyRun(20, times(1000, 20e6), nil)
	a, err := Run(m, Options{Gates: []string{"response(p99) <= 150ms"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a.Verdict, a.Gates[0].Outcome, a.Gates[0].Why)
	fmt.Println(a.Sentence.EN)
	// Output:
	// pass pass 1000 of 1000 within the limit, 990 needed
	// 50 requests per second were offered and 100 % got a good answer, 99 % of the answers within 20 ms
}
