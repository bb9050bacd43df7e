package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"headroom/store/record"
)

// TrendSchema names the layout of TrendResult.
const TrendSchema = "headroom.trend/1"

// Reasons why a run is drawn in a trend and not used, or a metric has no
// verdict.
const (
	whyOtherPlan = "other_plan"
	whyTooFew    = "too_few_runs"
)

const (
	minTrend        = 8 // runs with a value before a metric has a verdict
	changeP         = 0.001
	changeLeast     = 0.03 // relative
	spikeFactor     = 5.0  // times the spread around it
	spikeNeighbours = 5    // values on each side
	commonShare     = 0.9
	hoursPerWeek    = 7 * 24
)

// TrendOptions of Trend.
type TrendOptions struct {
	Metrics []string // by name, as in Compare, or slope(SERIES) of a soak; none: all that the runs have
	Gates   []string // metrics, or gate rules, that must not get worse, besides those of the latest run's gates
}

// TrendResult is headroom.trend/1: the history of one plan, oldest run first.
type TrendResult struct {
	Schema      string        `json:"schema"`
	Sentence    Sentence      `json:"sentence"`
	Verdict     Verdict       `json:"verdict"` // fail: a gated metric got worse
	Name        string        `json:"name"`
	Plan        string        `json:"comparable_key"` // of the latest run; runs of others are not used
	Runs        int           `json:"runs"`
	Used        int           `json:"used"`
	From        string        `json:"from"` // RFC 3339
	To          string        `json:"to"`
	SpacingDays *float64      `json:"spacing_days"` // usual time between runs
	Missing     []TrendGap    `json:"missing"`
	AtRPS       *float64      `json:"at_rps"`
	Metrics     []TrendMetric `json:"metrics"`
	Unused      []ExcludedRun `json:"unused"`
	Notes       []string      `json:"notes"`
}

// TrendGap is where runs should have been.
type TrendGap struct {
	From    string `json:"from"` // the run before
	To      string `json:"to"`   // the run after
	Missing int    `json:"missing"`
}

// TrendMetric is the history of one metric.
type TrendMetric struct {
	Metric  string        `json:"metric"`
	Unit    string        `json:"unit"`
	Higher  bool          `json:"higher_is_better"`
	Gated   bool          `json:"gated"`
	Scale   string        `json:"scale"` // log: changes are relative; linear
	Points  []TrendPoint  `json:"points"`
	Used    int           `json:"used"`
	Slope   *float64      `json:"slope_per_week"` // log: share per week; linear: unit per week
	CI95    *Interval     `json:"ci95"`
	P       *float64      `json:"p"` // two-sided, that there is no trend
	Changes []TrendChange `json:"changes"`
	Verdict string        `json:"verdict"` // better, worse, same, unknown
	Reason  string        `json:"reason"`
	Latest  *float64      `json:"latest"`
}

// TrendPoint is one run.
type TrendPoint struct {
	Run     string    `json:"run"`
	Release string    `json:"release"`
	Started string    `json:"started"`
	Value   *float64  `json:"value"`
	CI95    *Interval `json:"ci95"` // of the run itself
	Used    bool      `json:"used"`
	Reason  string    `json:"reason"` // why not used, or why there is no value
	Spike   bool      `json:"spike"`  // far from its neighbours, and alone
}

// TrendChange is a place where a metric's level changed.
type TrendChange struct {
	Run        string   `json:"run"` // first after the change
	Release    string   `json:"release"`
	Started    string   `json:"started"`
	LastBefore string   `json:"last_before"` // run
	RunsBefore int      `json:"runs_before"` // of the level before
	RunsAfter  int      `json:"runs_after"`
	Before     float64  `json:"before"` // level
	After      float64  `json:"after"`
	Ratio      *float64 `json:"ratio"` // after / before; log scale only
	P          float64  `json:"p"`
	Direction  string   `json:"direction"` // better, worse
}

// Trend tells the history of one plan from the analyses of its runs, in any
// order. The error names a metric that does not exist.
func Trend(runs []*Analysis, o TrendOptions) (*TrendResult, error) {
	if err := checkTrendMetrics(o); err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(slices.Clone(runs), func(a *Analysis) bool { return a == nil || a.Run == nil })
	slices.SortStableFunc(runs, func(a, b *Analysis) int {
		return cmp.Or(started(a).Compare(started(b)), strings.Compare(a.Run.ID, b.Run.ID))
	})
	t := &TrendResult{Schema: TrendSchema, Verdict: Inconclusive, Missing: []TrendGap{}, Metrics: []TrendMetric{}, Unused: []ExcludedRun{}, Notes: []string{}, Runs: len(runs)}
	if len(runs) == 0 {
		t.tell()
		return t, nil
	}
	last := runs[len(runs)-1]
	t.Name, t.Plan, t.From, t.To = last.Run.Name, last.Run.ComparableKey, runs[0].Run.Started, last.Run.Started
	why := make([]string, len(runs))
	var used []*Analysis
	for i, a := range runs {
		why[i] = unusable(a)
		if why[i] == "" && a.Run.ComparableKey != t.Plan {
			why[i] = whyOtherPlan
		}
		if why[i] == "" {
			used = append(used, a)
		} else {
			t.Unused = append(t.Unused, ExcludedRun{Run: a.Run.ID, Reason: why[i]})
		}
	}
	t.Used = len(used)
	t.gaps(runs)
	at := usualPlateau(used)
	if at.rps > 0 {
		t.AtRPS = number(at.rps)
	}
	gated := t.gated(last, o)
	for _, m := range trendMeasures(used) {
		wanted := slices.Contains(o.Metrics, m.name)
		if len(o.Metrics) > 0 && !wanted {
			continue
		}
		x := history(&m, runs, why, at)
		x.Gated = gated(&m)
		if x.Used == 0 && !x.Gated && !wanted {
			continue
		}
		x.judge(&m, runs)
		t.Metrics = append(t.Metrics, x)
	}
	t.verdict()
	t.tell()
	return t, nil
}

func checkTrendMetrics(o TrendOptions) error {
	known := func(name string) error {
		if slices.Contains(MeasureNames(), name) || strings.HasPrefix(name, "slope(") && strings.HasSuffix(name, ")") {
			return nil
		}
		if near := record.Nearest(name, MeasureNames()); near != "" {
			return fmt.Errorf("there is no metric %q in a trend; did you mean %s?", name, near)
		}
		return fmt.Errorf("there is no metric %q in a trend; known are %s", name, strings.Join(MeasureNames(), ", "))
	}
	for _, name := range o.Metrics {
		if err := known(name); err != nil {
			return err
		}
	}
	for _, g := range o.Gates {
		if _, err := record.ParseGate(g); err == nil {
			continue
		}
		if err := known(g); err != nil {
			return err
		}
	}
	return nil
}

func started(a *Analysis) time.Time {
	t, err := time.Parse(time.RFC3339, a.Run.Started)
	if err != nil {
		return time.Time{}
	}
	return t
}

// gated tells which metrics must not get worse.
func (t *TrendResult) gated(last *Analysis, o TrendOptions) func(*measure) bool {
	byPlan := gatesOf([]*Analysis{last})
	return func(m *measure) bool {
		for _, g := range o.Gates {
			if g == m.name {
				return true
			}
			if rule, err := record.ParseGate(g); err == nil && m.gatedBy(rule.Metric, quantileName(rule.Quantile)) {
				return true
			}
		}
		return byPlan(m)
	}
}

// trendMeasures are the measures of every run, and the slopes of the series
// that half of the soaks have.
func trendMeasures(used []*Analysis) []measure {
	out := slices.Clone(measures)
	count := map[string]int{}
	for _, a := range used {
		if a.Soak == nil {
			continue
		}
		for name := range a.Soak.Drift {
			count[name]++
		}
	}
	var names []string
	for name, n := range count {
		if 2*n >= len(used) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		out = append(out, measure{name: "slope(" + name + ")", unit: "per_hour", gates: []string{"leaks"}, value: func(a *Analysis, _ scope) measured {
			if a.Soak == nil {
				return none("no_soak")
			}
			d := a.Soak.Drift[name]
			return valueOf(d.SlopePerHour, orWord(d.Refused, "no_data")).withCI(d.CI95)
		}})
	}
	return out
}

// usualPlateau is the highest target rate of a plateau that held in nine of
// ten runs.
func usualPlateau(used []*Analysis) scope {
	count := map[float64]int{}
	n := 0
	for _, a := range used {
		if len(a.Steps) == 0 {
			continue
		}
		n++
		seen := map[float64]bool{}
		for i := range a.Steps {
			if p := &a.Steps[i]; p.Kind == "step" && p.Held != nil && *p.Held && !seen[p.TargetRPS] {
				seen[p.TargetRPS] = true
				count[p.TargetRPS]++
			}
		}
	}
	var best float64
	for rps, k := range count {
		if float64(k) >= commonShare*float64(n) {
			best = max(best, rps)
		}
	}
	return scope{rps: best}
}

// history reads one metric of every run.
func history(m *measure, runs []*Analysis, why []string, at scope) TrendMetric {
	x := TrendMetric{Metric: m.name, Unit: m.unit, Higher: m.higher, Scale: "log", Points: []TrendPoint{}, Changes: []TrendChange{}, Verdict: Unknown}
	if m.unit == "share" || m.unit == "per_hour" {
		x.Scale = "linear"
	}
	for i, a := range runs {
		p := TrendPoint{Run: a.Run.ID, Release: a.Run.Release, Started: a.Run.Started, Reason: why[i]}
		v := m.value(a, at)
		if v.why == "" {
			p.Value = number(v.v)
			if v.lo != nil && v.hi != nil {
				p.CI95 = &Interval{*v.lo, *v.hi}
			}
		} else if p.Reason == "" {
			p.Reason = v.why
		}
		p.Used = p.Value != nil && why[i] == "" && (x.Scale == "linear" || v.v > 0 || m.name == "recovery")
		if p.Used {
			x.Used++
			x.Latest = p.Value
		}
		x.Points = append(x.Points, p)
	}
	return x
}

// scaled is a value on the scale that changes are looked for on.
func (x *TrendMetric) scaled(v float64) float64 {
	switch {
	case x.Scale == "linear":
		return v
	case x.Metric == "recovery":
		return math.Log(v + 1)
	}
	return math.Log(v)
}

func (x *TrendMetric) unscaled(v float64) float64 {
	switch {
	case x.Scale == "linear":
		return v
	case x.Metric == "recovery":
		return math.Exp(v) - 1
	}
	return math.Exp(v)
}

// verdict over the gated metrics.
func (t *TrendResult) verdict() {
	t.Verdict = Pass
	for i := range t.Metrics {
		x := &t.Metrics[i]
		switch {
		case !x.Gated:
		case x.Verdict == Worse:
			t.Verdict = Fail
			return
		case x.Verdict == Unknown:
			t.Verdict = Inconclusive
		}
	}
}
