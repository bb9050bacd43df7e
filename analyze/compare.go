package analyze

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// CompareSchema names the layout of Comparison.
const CompareSchema = "headroom.compare/1"

// The verdicts of a compared metric.
const (
	Better  = "better"
	Worse   = "worse"
	Same    = "same"
	Unknown = "unknown"
)

// Reasons why a metric has no verdict, or a run no part in it.
const (
	whyOneRunEach   = string(stat.OneRunEach)
	whyTooFewRuns   = string(stat.TooFewRuns)
	whyUnlikePlans  = "unlike_plans"
	whyDuplicate    = "duplicate"
	whyNotComplete  = "not_complete"
	whyRunUntrusted = "untrusted"
	whyNoRuns       = "no_runs"
)

const (
	compareLevel = 0.05
	defaultRuns  = 5
)

// CompareOptions of Compare.
type CompareOptions struct {
	// Force compares runs of unlike plans; the result says so.
	Force bool
	// Metrics to compare, by name; none: all that the runs have.
	Metrics []string
}

// Comparison is headroom.compare/1: two releases, several runs a side. The
// unit is the run.
type Comparison struct {
	Schema      string           `json:"schema"`
	Sentence    Sentence         `json:"sentence"`
	Comparable  bool             `json:"comparable"`
	Forced      bool             `json:"forced"` // compared although not comparable
	Reason      string           `json:"reason"` // why not comparable
	Differences []Difference     `json:"differences"`
	Base        CompareSide      `json:"base"`
	New         CompareSide      `json:"new"`
	AtRPS       *float64         `json:"at_rps"` // step loads: the plateau of latencies and errors, the highest that held in every run
	Metrics     []ComparedMetric `json:"metrics"`
	Excluded    []ExcludedRun    `json:"excluded"`
	Notes       []string         `json:"notes"`
}

// CompareSide is what is known of one side.
type CompareSide struct {
	Runs     []string `json:"runs"`     // ids of the runs used
	Releases []string `json:"releases"` // labels, each once
}

// Difference is a fact that is not the same on both sides.
type Difference struct {
	Fact string   `json:"fact"`
	Base []string `json:"base"` // values, each once
	New  []string `json:"new"`
}

// ExcludedRun is a run that was given and not used.
type ExcludedRun struct {
	Run    string `json:"run"`
	Side   string `json:"side"` // base, new
	Reason string `json:"reason"`
}

// ComparedMetric is one metric on both sides. Base and New are geometric means
// of one number per run; for shares they are shares of all requests.
type ComparedMetric struct {
	Metric     string    `json:"metric"`
	Unit       string    `json:"unit"`
	Base       *float64  `json:"base"`
	New        *float64  `json:"new"`
	Ratio      *float64  `json:"ratio"` // new / base
	CI95       *Interval `json:"ci95"`  // of the ratio; for shares of the ratio of odds
	P          *float64  `json:"p"`     // two-sided, Welch's t on logarithms
	Adjusted   *float64  `json:"p_adjusted"`
	ExactP     *float64  `json:"p_mann_whitney"`
	Verdict    string    `json:"verdict"`   // better, worse, same, unknown
	Tolerance  float64   `json:"tolerance"` // ratio at which a change matters; for shares the difference
	Regression string    `json:"regression"`
	RunsBase   int       `json:"runs_base"`
	RunsNew    int       `json:"runs_new"`
	RunsNeeded int       `json:"runs_needed"` // a side, to decide; 0 where it is decided or no number would do
	Reason     string    `json:"reason"`
	Gated      bool      `json:"gated"` // a gate of the plan is about it
	Higher     bool      `json:"higher_is_better"`
	BaseValues []float64 `json:"base_values"`
	NewValues  []float64 `json:"new_values"`
	// Spread between runs, as the standard deviation of the logarithms, and
	// the standard error within one run.
	SpreadBase *float64 `json:"spread_base"`
	SpreadNew  *float64 `json:"spread_new"`
	WithinRun  *float64 `json:"within_run"`

	// p-values are adjusted within a family: the gated metrics, or the others.
	welch stat.Welch
	m     *measure
	share *[2]measured
}

// Compare says whether the runs of new are different from those of base, by
// how much and with what confidence. METHODS part e. The error names a metric
// that does not exist.
func Compare(base, new []*Analysis, o CompareOptions) (*Comparison, error) {
	for _, name := range o.Metrics {
		if !slices.Contains(MeasureNames(), name) {
			near := record.Nearest(name, MeasureNames())
			if near != "" {
				near = "; did you mean " + near + "?"
			}
			return nil, fmt.Errorf("there is no metric %q to compare%s", name, near)
		}
	}
	c := &Comparison{
		Schema: CompareSchema, Comparable: true, Differences: []Difference{}, Metrics: []ComparedMetric{}, Excluded: []ExcludedRun{}, Notes: []string{},
		Base: CompareSide{Runs: []string{}, Releases: []string{}}, New: CompareSide{Runs: []string{}, Releases: []string{}},
	}
	seen := map[string]bool{}
	base, new = c.take("base", base, &c.Base, seen), c.take("new", new, &c.New, seen)
	c.differ(base, new)
	switch {
	case len(base) == 0 || len(new) == 0:
		c.Comparable, c.Reason = false, whyNoRuns
	case !oneKey(base, new):
		c.Comparable, c.Reason, c.Forced = false, whyUnlikePlans, o.Force
	}
	if c.Comparable || c.Forced {
		c.measure(base, new, o)
	}
	c.tell()
	return c, nil
}

// take sorts out the runs that cannot be used.
func (c *Comparison) take(side string, all []*Analysis, into *CompareSide, seen map[string]bool) []*Analysis {
	var out []*Analysis
	for _, a := range all {
		if why := unusable(a); why != "" {
			c.Excluded = append(c.Excluded, ExcludedRun{Run: runID(a), Side: side, Reason: why})
			continue
		}
		if id := a.Run.ID; seen[id] {
			c.Excluded = append(c.Excluded, ExcludedRun{Run: id, Side: side, Reason: whyDuplicate})
			continue
		}
		seen[a.Run.ID] = true
		into.Runs = append(into.Runs, a.Run.ID)
		if !slices.Contains(into.Releases, a.Run.Release) {
			into.Releases = append(into.Releases, a.Run.Release)
		}
		out = append(out, a)
	}
	return out
}

// unusable says why a run can't be compared; "" where it can.
func unusable(a *Analysis) string {
	switch {
	case a.Run == nil:
		return "no_run"
	case a.Run.State != "complete":
		return whyNotComplete
	case a.Trust == nil || a.Trust.Verdict == Untrusted:
		return whyRunUntrusted
	}
	for _, f := range a.Findings {
		if f.Code == "law_broken" {
			return f.Code
		}
	}
	return ""
}

func runID(a *Analysis) string {
	if a.Run == nil {
		return ""
	}
	return a.Run.ID
}

// oneKey reports whether all runs are of one plan.
func oneKey(base, new []*Analysis) bool {
	for _, a := range slices.Concat(base, new) {
		if a.Run.ComparableKey != base[0].Run.ComparableKey {
			return false
		}
	}
	return true
}

// differ lists the facts that are not the same on both sides.
func (c *Comparison) differ(base, new []*Analysis) {
	facts := map[string][2][]string{}
	put := func(name string, side int, v string) {
		f := facts[name]
		if !slices.Contains(f[side], v) {
			f[side] = append(f[side], v)
		}
		facts[name] = f
	}
	keys := map[string]bool{}
	for _, a := range slices.Concat(base, new) {
		for k := range a.Run.Facts.Generator {
			keys["generator."+k] = true
		}
		for k := range a.Run.Facts.Target {
			keys["target."+k] = true
		}
	}
	for side, runs := range [2][]*Analysis{base, new} {
		for _, a := range runs {
			r := a.Run
			put("comparable_key", side, r.ComparableKey)
			put("name", side, r.Name)
			put("format", side, r.Format)
			put("model", side, r.Model)
			put("tool_version", side, r.ToolVersion)
			put("interval_s", side, fmt.Sprint(r.IntervalS))
			put("timeout_s", side, fmt.Sprint(r.TimeoutS))
			put("deadline_s", side, fmt.Sprint(r.DeadlineS))
			put("shards", side, fmt.Sprint(r.Shards))
			for k := range keys {
				from := r.Facts.Generator
				name := k[len("generator."):]
				if k[0] == 't' {
					from, name = r.Facts.Target, k[len("target."):]
				}
				put(k, side, from[name])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		f := facts[name]
		sort.Strings(f[0])
		sort.Strings(f[1])
		if len(f[0]) == 0 || len(f[1]) == 0 || slices.Equal(f[0], f[1]) {
			continue
		}
		c.Differences = append(c.Differences, Difference{Fact: name, Base: f[0], New: f[1]})
	}
}

// measure compares every metric that the runs have.
func (c *Comparison) measure(base, new []*Analysis, o CompareOptions) {
	all := slices.Concat(base, new)
	at := commonPlateau(all)
	if at.rps > 0 {
		c.AtRPS = number(at.rps)
	}
	gated := gatesOf(all)
	for i := range measures {
		m := &measures[i]
		if len(o.Metrics) > 0 && !slices.Contains(o.Metrics, m.name) {
			continue
		}
		x := compareMeasure(m, base, new, at)
		x.Gated = gated(m)
		if len(x.BaseValues)+len(x.NewValues) == 0 && !x.Gated && len(o.Metrics) == 0 {
			continue
		}
		c.Metrics = append(c.Metrics, x)
	}
	c.adjust()
	for i := range c.Metrics {
		c.Metrics[i].judge()
	}
}

// gatesOf tells which measures the gates of the runs are about.
func gatesOf(all []*Analysis) func(*measure) bool {
	return func(m *measure) bool {
		for _, a := range all {
			for _, g := range a.Gates {
				rule, err := record.ParseGate(g.Rule)
				if err == nil && m.gatedBy(rule.Metric, quantileName(rule.Quantile)) {
					return true
				}
			}
		}
		return false
	}
}

func quantileName(q float64) string {
	for _, n := range quantileNames {
		if n.q == q {
			return n.name
		}
	}
	return ""
}
