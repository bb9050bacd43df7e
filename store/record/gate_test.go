package record

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseGate(t *testing.T) {
	for _, tt := range []struct {
		rule string
		want Gate
	}{
		{"margin >= 2.0", Gate{Metric: "margin", Op: ">=", Limit: 2}},
		{"knee>=480", Gate{Metric: "knee", Op: ">=", Limit: 480, Unit: "rps"}},
		{"knee >= 480/s", Gate{Metric: "knee", Op: ">=", Limit: 480, Unit: "rps"}},
		{"post_saturation(1.5) >= 0.70", Gate{Metric: "post_saturation", Arg: 1.5, Op: ">=", Limit: 0.7}},
		{"omission <= 2", Gate{Metric: "omission", Op: "<=", Limit: 2}},
		{"recovery <= 30s", Gate{Metric: "recovery", Op: "<=", Limit: 30, LimitNS: 30e9, Unit: "s"}},
		{"response(p99) <= 150ms", Gate{Metric: "response", Quantile: 0.99, Op: "<=", Limit: 0.15, LimitNS: 150e6, Unit: "s"}},
		{"service(p99.9) < 150.2ms", Gate{Metric: "service", Quantile: 0.999, Op: "<", Limit: 0.1502, LimitNS: 150_200_000, Unit: "s"}},
		{"lag(p50) <= 1us", Gate{Metric: "lag", Quantile: 0.5, Op: "<=", Limit: 1e-6, LimitNS: 1000, Unit: "s"}},
		{"error_ratio <= 2%", Gate{Metric: "error_ratio", Op: "<=", Limit: 0.02}},
		{"error_ratio <= 0.01", Gate{Metric: "error_ratio", Op: "<=", Limit: 0.01}},
		{"leaks == 0", Gate{Metric: "leaks", Op: "=="}},
		{"degraded(payments) >= 0.5", Gate{Metric: "degraded", Fault: "payments", Op: ">=", Limit: 0.5}},
		{"class(view).response(p99) <= 90ms", Gate{Metric: "response", Class: "view", Quantile: 0.99, Op: "<=", Limit: 0.09, LimitNS: 90e6, Unit: "s"}},
		{"class(buy/1).wrong == 0", Gate{Metric: "wrong", Class: "buy/1", Op: "=="}},
		{"phase(recovery).error_ratio <= 0.05", Gate{Metric: "error_ratio", Phase: "recovery", Op: "<=", Limit: 0.05}},
		{" phase( step ) . class(view) . samples>1e3 ", Gate{Rule: "phase( step ) . class(view) . samples>1e3", Metric: "samples", Class: "view", Phase: "step", Op: ">", Limit: 1000}},
	} {
		if tt.want.Rule == "" {
			tt.want.Rule = tt.rule
		}
		got, err := ParseGate(tt.rule)
		if err != nil {
			t.Errorf("ParseGate(%q): %v", tt.rule, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("ParseGate(%q) (-want +got):\n%s", tt.rule, diff)
		}
	}
}

func TestParseGateRefuses(t *testing.T) {
	for _, tt := range []struct{ rule, want string }{
		{"", "empty gate; write METRIC OP NUMBER, such as margin >= 2.0"},
		{"margin", `gate "margin" has no comparison; write METRIC OP NUMBER, OP one of <= < >= > ==`},
		{"margin = 2", `gate "margin = 2" compares with "="; use one of <= < >= > ==`},
		{"margin != 2", `gate "margin != 2" compares with "!="; use one of <= < >= > ==`},
		{"margin ≥ 2", `gate "margin ≥ 2" compares with "≥"; use one of <= < >= > ==`},
		{">= 2", `gate ">= 2" names no metric before >=`},
		{"margin >=", `gate "margin >=" has no number after >=`},
		{"margni >= 2", `gate "margni >= 2": unknown metric "margni"; did you mean margin?`},
		{"respons(p99) <= 1s", `gate "respons(p99) <= 1s": unknown metric "respons"; did you mean response?`},
		{"response <= 1s", `gate "response <= 1s": response wants a percentile; write response(p99)`},
		{"response(99) <= 1s", `gate "response(99) <= 1s": "99" is no percentile; write p50, p99 or p99.9, above p0 and up to p100`},
		{"response(p101) <= 1s", `gate "response(p101) <= 1s": "p101" is no percentile; write p50, p99 or p99.9, above p0 and up to p100`},
		{"response(p0) <= 1s", `gate "response(p0) <= 1s": "p0" is no percentile; write p50, p99 or p99.9, above p0 and up to p100`},
		{"response(p99) <= 150", `gate "response(p99) <= 150": "150" has no unit; write 150s, 150ms or 150m`},
		{"response(p99) == 1s", `gate "response(p99) == 1s": a percentile is never exactly a limit; use <= or >=`},
		{"response(p99) <= 1sec", `gate "response(p99) <= 1sec": "1sec" has the unknown unit "sec"; units are ns, us, ms, s, m, h and d`},
		{"margin(2) >= 2", `gate "margin(2) >= 2": margin takes nothing in parentheses`},
		{"margin >= 2s", `gate "margin >= 2s": margin is no duration; write a plain number, not "2s"`},
		{"margin >= two", `gate "margin >= two": "two" is not a number`},
		{"margin >= -1", `gate "margin >= -1": "-1" is negative; a limit is zero or more`},
		{"margin >= Inf", `gate "margin >= Inf": "Inf" is not a number`},
		{"margin >= 1e999", `gate "margin >= 1e999": "1e999" is not a number`},
		{"post_saturation >= 0.7", `gate "post_saturation >= 0.7": post_saturation wants a multiple of the knee; write post_saturation(1.5)`},
		{"post_saturation(0.5) >= 0.7", `gate "post_saturation(0.5) >= 0.7": "0.5" is no multiple of the knee; write a number from 1 to 100`},
		{"degraded >= 0.7", `gate "degraded >= 0.7": degraded wants the name of a fault; write degraded(payments)`},
		{"leaks <= 0.5", `gate "leaks <= 0.5": leaks is a count; write a whole number, not 0.5`},
		{"error_ratio <= x%", `gate "error_ratio <= x%": "x%" is not a share; write 0.01 or 1%`},
		{"class(view) <= 1s", `gate "class(view) <= 1s": class(view) narrows a metric; write class(view).METRIC`},
		{"class(a).class(b).wrong == 0", `gate "class(a).class(b).wrong == 0" names two classes; write one gate for each`},
		{"class().wrong == 0", `gate "class().wrong == 0": class() names no class`},
		{"phase(recover).wrong == 0", `gate "phase(recover).wrong == 0": unknown phase "recover"; did you mean recovery?`},
		{"response(p99)x <= 1s", `gate "response(p99)x <= 1s": nothing may stand between response(p99) and <=, but there is "x"`},
	} {
		_, err := ParseGate(tt.rule)
		if err == nil {
			t.Errorf("ParseGate(%q) succeeded, want %q", tt.rule, tt.want)
			continue
		}
		if got := err.Error(); got != tt.want {
			t.Errorf("ParseGate(%q)\n got %s\nwant %s", tt.rule, got, tt.want)
		}
	}
}

// 150.2 ms never passes a 150 ms gate: limits are exact in nanoseconds.
func TestGateThreshold(t *testing.T) {
	for _, tt := range []struct {
		rule string
		want Threshold
		ok   bool
	}{
		{"response(p99) <= 150ms", Threshold{"response<=150ms", Response, 150_000_000}, true},
		{"response(p99) > 150ms", Threshold{"response<=150ms", Response, 150_000_000}, true},
		{"service(p99) < 150ms", Threshold{"service<150ms", Service, 149_999_999}, true},
		{"lag(p99) >= 1.5s", Threshold{"lag<1.5s", Lag, 1_499_999_999}, true},
		{"recovery <= 30s", Threshold{}, false},
		{"margin >= 2", Threshold{}, false},
	} {
		g, err := ParseGate(tt.rule)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := g.Threshold()
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: Threshold() = %+v, %v; want %+v, %v", tt.rule, got, ok, tt.want, tt.ok)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for _, tt := range []struct {
		text string
		want int64
		err  string
	}{
		{"0", 0, ""},
		{"0s", 0, ""},
		{"150.2ms", 150_200_000, ""},
		{"1m30s", 90e9, ""},
		{"1.5h", 5400e9, ""},
		{"90d", 90 * 86400e9, ""},
		{"1d12h", 36 * 3600e9, ""},
		{"0.1d", 8640e9, ""},
		{"1us", 1000, ""},
		{"1µs", 1000, ""},
		{".5s", 500e6, ""},
		{"106751d", 106751 * 86400e9, ""},
		{"", 0, "empty"},
		{"5", 0, `"5" has no unit; write 5s, 5ms or 5m`},
		{"-5s", 0, "negative"},
		{"5w", 0, `unknown unit "w"`},
		{"5 s", 0, "unknown unit"},
		{"s", 0, "is not a duration"},
		{"1.2.3s", 0, "not a number"},
		{"1.s", 0, "not a number"},
		{"0.1ns", 0, "fraction of a nanosecond"},
		{"1.0000000001s", 0, "fraction of a nanosecond"},
		{"106752d", 0, "too long"},
		{"99999999999999999999s", 0, "too long"},
		{"106751d106751d", 0, "too long"},
	} {
		got, err := ParseDuration(tt.text)
		switch {
		case tt.err == "" && (err != nil || got != tt.want):
			t.Errorf("ParseDuration(%q) = %d, %v; want %d", tt.text, got, err, tt.want)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("ParseDuration(%q) = %d, %v; want an error with %q", tt.text, got, err, tt.err)
		}
	}
}

// Whatever parses prints back.
func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"0", "150.2ms", "1m30s", "90d", "1.5h", "0.000000001s", "106751d", "9223372036854775807ns"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ns, err := ParseDuration(s)
		if err != nil {
			return
		}
		if ns < 0 {
			t.Fatalf("ParseDuration(%q) = %d", s, ns)
		}
		again, err := ParseDuration(FormatDuration(ns))
		if err != nil || again != ns {
			t.Fatalf("%q is %d, printed %q, read %d, %v", s, ns, FormatDuration(ns), again, err)
		}
	})
}

// A gate that parses is whole: its rule parses to itself and its numbers are usable.
func FuzzParseGate(f *testing.F) {
	for _, s := range []string{
		"margin >= 2.0", "post_saturation(1.5) >= 0.70", "class(view).response(p99.9) <= 90ms", "phase(recovery).error_ratio<=5%",
		"degraded(payments) >= 0.5", "knee > 1e3/s", "class(a).phase(step).lag(p50)<1us", "x(((", ")(", "class(", "response(p1e99) <= 1s",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := ParseGate(s)
		if err != nil {
			return
		}
		if g.Limit < 0 || g.Limit != g.Limit || g.LimitNS < 0 || g.Quantile < 0 || g.Quantile > 1 || g.Metric == "" || g.Op == "" {
			t.Fatalf("%q parsed to %+v", s, g)
		}
		if th, ok := g.Threshold(); ok && (th.LimitNS < 0 || th.Name == "") {
			t.Fatalf("%q: threshold %+v", s, th)
		}
		again, err := ParseGate(g.Rule)
		if err != nil || again != g {
			t.Fatalf("%q parsed to %+v, then to %+v, %v", s, g, again, err)
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"timeout", "deadline", "max_connections", "get", "put"}
	for _, tt := range []struct{ word, want string }{
		{"timout", "timeout"},
		{"tiemout", "timeout"},
		{"deadlin", "deadline"},
		{"max_conections", "max_connections"},
		{"gte", "get"},
		{"zzz", ""},
		{"", ""},
		{strings.Repeat("a", 100), ""},
	} {
		if got := Nearest(tt.word, known); got != tt.want {
			t.Errorf("Nearest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}
