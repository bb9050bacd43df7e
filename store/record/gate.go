package record

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Gate is a rule that a run must meet: METRIC OP NUMBER, the metric possibly
// narrowed to a class or a kind of phase.
type Gate struct {
	Rule     string  // as written
	Metric   string  // one of GateMetrics
	Arg      float64 // post_saturation(X): the multiple of the knee
	Quantile float64 // response, service, lag: p99.9 is 0.999
	Fault    string  // degraded(FAULT)
	Class    string  // class(x), "" for all
	Phase    string  // phase(x), a PhaseKind, "" for all
	Op       string  // <=, <, >=, >, ==
	Limit    float64 // in Unit
	Unit     string  // s, rps, or "" for ratios, factors and counts
	LimitNS  int64   // durations only: the limit in nanoseconds, exact
}

type metricKind struct {
	name string
	arg  string // what stands in parentheses: "", p, x, fault
	unit string // s, rps, ratio, factor, count
}

var metrics = []metricKind{
	{"knee", "", "rps"},
	{"margin", "", "factor"},
	{"margin_point", "", "factor"},
	{"post_saturation", "x", "ratio"},
	{"omission", "", "factor"},
	{"recovery", "", "s"},
	{"response", "p", "s"},
	{"service", "p", "s"},
	{"lag", "p", "s"},
	{"goodput", "", "rps"},
	{"goodput_ratio", "", "ratio"},
	{"error_ratio", "", "ratio"},
	{"shed_ratio", "", "ratio"},
	{"wrong", "", "count"},
	{"unexpected", "", "count"},
	{"samples", "", "count"},
	{"leaks", "", "count"},
	{"degraded", "fault", "ratio"},
	{"amplification", "", "factor"},
	{"users_lost", "", "count"},
}

// GateMetrics are the metrics that a gate may name.
func GateMetrics() []string {
	names := make([]string, len(metrics))
	for i, m := range metrics {
		names[i] = m.name
	}
	return names
}

// gateOps, those of two characters first.
var gateOps = []string{"<=", ">=", "==", "<", ">"}

// maxRule bounds a rule's length in bytes.
const maxRule = 512

// ParseGate reads a gate such as "class(view).response(p99) <= 150ms". Errors
// say what is wrong with which part and, for a metric, which one is nearest.
func ParseGate(rule string) (Gate, error) {
	g := Gate{Rule: strings.TrimSpace(rule)}
	if len(g.Rule) > maxRule {
		return Gate{}, fmt.Errorf("gate of %d bytes; a rule has at most %d", len(g.Rule), maxRule)
	}
	left, right, err := g.split()
	if err != nil {
		return Gate{}, err
	}
	metric, err := g.narrow(left)
	if err != nil {
		return Gate{}, err
	}
	kind, err := g.parseMetric(metric)
	if err != nil {
		return Gate{}, err
	}
	if err := g.parseLimit(kind, right); err != nil {
		return Gate{}, err
	}
	return g, nil
}

// split cuts the rule at its operator. Nothing but a comparison holds these
// characters, since names in parentheses may not.
func (g *Gate) split() (left, right string, err error) {
	if g.Rule == "" {
		return "", "", fmt.Errorf("empty gate; write METRIC OP NUMBER, such as margin >= 2.0")
	}
	at := strings.IndexAny(g.Rule, "<>=!≤≥")
	if at < 0 {
		return "", "", fmt.Errorf("gate %q has no comparison; write METRIC OP NUMBER, OP one of <= < >= > ==", g.Rule)
	}
	left, rest := strings.TrimSpace(g.Rule[:at]), g.Rule[at:]
	for _, op := range gateOps {
		if strings.HasPrefix(rest, op) {
			g.Op = op
			right = strings.TrimSpace(rest[len(op):])
			break
		}
	}
	if g.Op == "" {
		return "", "", fmt.Errorf("gate %q compares with %q; use one of <= < >= > ==", g.Rule, rest[:leadingOp(rest)])
	}
	if left == "" {
		return "", "", fmt.Errorf("gate %q names no metric before %s", g.Rule, g.Op)
	}
	if right == "" {
		return "", "", fmt.Errorf("gate %q has no number after %s", g.Rule, g.Op)
	}
	return left, right, nil
}

func leadingOp(s string) int {
	for i, c := range s {
		if !strings.ContainsRune("<>=!≤≥", c) {
			return i
		}
	}
	return len(s)
}

// narrow takes class(x). and phase(x). off the front.
func (g *Gate) narrow(left string) (metric string, err error) {
	for {
		name, arg, rest, ok := call(left)
		if !ok || name != "class" && name != "phase" {
			return left, nil
		}
		if !strings.HasPrefix(rest, ".") {
			return "", fmt.Errorf("gate %q: %s(%s) narrows a metric; write %s(%s).METRIC", g.Rule, name, arg, name, arg)
		}
		if arg == "" {
			return "", fmt.Errorf("gate %q: %s() names no %s", g.Rule, name, name)
		}
		if name == "class" {
			if g.Class != "" {
				return "", fmt.Errorf("gate %q names two classes; write one gate for each", g.Rule)
			}
			g.Class = arg
		} else {
			if g.Phase != "" {
				return "", fmt.Errorf("gate %q names two phases; write one gate for each", g.Rule)
			}
			if !slices.Contains(PhaseKinds(), PhaseKind(arg)) {
				return "", fmt.Errorf("gate %q: unknown phase %q%s", g.Rule, arg, hint(arg, phaseNames()))
			}
			g.Phase = arg
		}
		left = strings.TrimSpace(rest[1:])
	}
}

// PhaseKinds lists the kinds of phase.
func PhaseKinds() []PhaseKind {
	return []PhaseKind{Warmup, Step, Refine, Beyond, Drain, Base, Burst, Recovery, Soak, FaultOn, Steady}
}

func phaseNames() []string {
	var names []string
	for _, k := range PhaseKinds() {
		names = append(names, string(k))
	}
	return names
}

// call takes NAME(ARG) apart; without parentheses ok is false.
func call(s string) (name, arg, rest string, ok bool) {
	open := strings.IndexByte(s, '(')
	if open < 0 {
		return "", "", "", false
	}
	closed := strings.IndexByte(s, ')')
	if closed < open {
		return "", "", "", false
	}
	return strings.TrimSpace(s[:open]), strings.TrimSpace(s[open+1 : closed]), strings.TrimSpace(s[closed+1:]), true
}

func hint(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return "; did you mean " + near + "?"
	}
	return "; known are " + strings.Join(known, ", ")
}

func (g *Gate) parseMetric(text string) (metricKind, error) {
	name, arg, rest, called := call(text)
	if !called {
		name = text
	}
	if rest != "" {
		return metricKind{}, fmt.Errorf("gate %q: nothing may stand between %s(%s) and %s, but there is %q", g.Rule, name, arg, g.Op, rest)
	}
	var kind metricKind
	for _, m := range metrics {
		if m.name == name {
			kind = m
		}
	}
	if kind.name == "" {
		return metricKind{}, fmt.Errorf("gate %q: unknown metric %q%s", g.Rule, name, hint(name, GateMetrics()))
	}
	g.Metric = name
	switch {
	case kind.arg == "" && called:
		return metricKind{}, fmt.Errorf("gate %q: %s takes nothing in parentheses", g.Rule, name)
	case kind.arg == "p" && arg == "":
		return metricKind{}, fmt.Errorf("gate %q: %s wants a percentile; write %s(p99)", g.Rule, name, name)
	case kind.arg == "x" && arg == "":
		return metricKind{}, fmt.Errorf("gate %q: %s wants a multiple of the knee; write %s(1.5)", g.Rule, name, name)
	case kind.arg == "fault" && arg == "":
		return metricKind{}, fmt.Errorf("gate %q: %s wants the name of a fault; write %s(payments)", g.Rule, name, name)
	}
	switch kind.arg {
	case "p":
		q, ok := parseQuantile(arg)
		if !ok {
			return metricKind{}, fmt.Errorf("gate %q: %q is no percentile; write p50, p99 or p99.9, above p0 and up to p100", g.Rule, arg)
		}
		g.Quantile = q
	case "x":
		x, err := parseNumber(arg)
		if err != nil || x < 1 || x > 100 {
			return metricKind{}, fmt.Errorf("gate %q: %q is no multiple of the knee; write a number from 1 to 100", g.Rule, arg)
		}
		g.Arg = x
	case "fault":
		g.Fault = arg
	}
	return kind, nil
}

// parseQuantile reads pN exactly: p99.9 is the number nearest to 0.999.
func parseQuantile(s string) (float64, bool) {
	digits, ok := strings.CutPrefix(s, "p")
	if !ok || digits == "" || len(digits) > 12 || leading(digits, isNumeral) != len(digits) {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(digits)
	if !ok {
		return 0, false
	}
	q, _ := r.Quo(r, big.NewRat(100, 1)).Float64()
	return q, q > 0 && q <= 1
}

// parseNumber reads a plain decimal number, finite and not negative.
func parseNumber(s string) (float64, error) {
	if s == "" || leading(s, func(c byte) bool { return isNumeral(c) || c == 'e' || c == 'E' || c == '-' || c == '+' }) != len(s) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	if f < 0 || math.Signbit(f) {
		return 0, fmt.Errorf("%q is negative; a limit is zero or more", s)
	}
	return f, nil
}

func (g *Gate) parseLimit(kind metricKind, text string) error {
	switch kind.unit {
	case "s":
		ns, err := ParseDuration(text)
		if err != nil {
			return fmt.Errorf("gate %q: %w", g.Rule, err)
		}
		if g.Quantile > 0 && g.Op == "==" {
			return fmt.Errorf("gate %q: a percentile is never exactly a limit; use <= or >=", g.Rule)
		}
		if g.Op == "<" && ns == 0 {
			return fmt.Errorf("gate %q: nothing lasts less than 0", g.Rule)
		}
		g.Unit, g.LimitNS, g.Limit = "s", ns, float64(ns)/1e9
		return nil
	case "rps":
		g.Unit = "rps"
		text = strings.TrimSpace(strings.TrimSuffix(text, "/s"))
	case "ratio":
		if percent, ok := strings.CutSuffix(text, "%"); ok {
			r, good := new(big.Rat), false
			if percent = strings.TrimSpace(percent); len(percent) <= 24 && leading(percent, isNumeral) == len(percent) {
				r, good = r.SetString(percent)
			}
			if !good {
				return fmt.Errorf("gate %q: %q is not a share; write 0.01 or 1%%", g.Rule, text)
			}
			g.Limit, _ = r.Quo(r, big.NewRat(100, 1)).Float64()
			return nil
		}
	}
	n, err := parseNumber(text)
	if err != nil {
		if _, e := ParseDuration(text); e == nil {
			return fmt.Errorf("gate %q: %s is no duration; write a plain number, not %q", g.Rule, g.Metric, text)
		}
		return fmt.Errorf("gate %q: %w", g.Rule, err)
	}
	if kind.unit == "count" && n != math.Trunc(n) {
		return fmt.Errorf("gate %q: %s is a count; write a whole number, not %s", g.Rule, g.Metric, text)
	}
	g.Limit = n
	return nil
}

// Threshold is the exact counter that the gate needs while the run goes on;
// ok is false where the gate is no percentile of a duration. A duration in
// whole nanoseconds is below a limit where it is at or below one less.
func (g *Gate) Threshold() (t Threshold, ok bool) {
	if g.Quantile == 0 {
		return Threshold{}, false
	}
	t = Threshold{Clock: Clock(g.Metric), LimitNS: g.LimitNS}
	op := "<="
	if g.Op == "<" || g.Op == ">=" {
		op = "<"
		t.LimitNS = max(0, t.LimitNS-1)
	}
	t.Name = g.Metric + op + FormatDuration(g.LimitNS)
	return t, true
}
