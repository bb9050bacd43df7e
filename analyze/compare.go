package analyze

import (
	"fmt"
	"maps"
	"math"
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

func compareMeasure(m *measure, base, new []*Analysis, at scope) ComparedMetric {
	x := ComparedMetric{Metric: m.name, Unit: m.unit, Tolerance: m.limit, Higher: m.higher, BaseValues: []float64{}, NewValues: []float64{}, m: m}
	var se []float64
	take := func(runs []*Analysis) (out []measured) {
		for _, a := range runs {
			v := m.value(a, at)
			if v.why != "" {
				x.Reason = v.why
				continue
			}
			if v.se > 0 {
				se = append(se, v.se)
			}
			out = append(out, v)
		}
		return out
	}
	b, n := take(base), take(new)
	x.RunsBase, x.RunsNew = len(b), len(n)
	for _, v := range b {
		x.BaseValues = append(x.BaseValues, v.v)
	}
	for _, v := range n {
		x.NewValues = append(x.NewValues, v.v)
	}
	if s, ok := stat.Median(se); ok {
		x.WithinRun = number(s)
	}
	if len(b) == 0 || len(n) == 0 {
		x.Reason = orWord(x.Reason, "no_data")
		return x
	}
	if len(b) == len(base) && len(n) == len(new) {
		x.Reason = ""
	}
	if m.unit == "share" {
		x.compareShares(b, n)
	} else {
		x.compareValues(b, n)
	}
	if p, ok := stat.MannWhitney(x.BaseValues, x.NewValues); ok {
		x.ExactP = number(p)
	}
	if x.welch.Refused == "" {
		x.P = number(x.welch.P)
		x.SpreadBase, x.SpreadNew = number(x.welch.SDA), number(x.welch.SDB)
	}
	return x
}

func (x *ComparedMetric) compareValues(b, n []measured) {
	// A recovery of 0 s has no logarithm: everything is moved by a second.
	shift := 0.0
	if x.m.name == "recovery" {
		shift = 1
	}
	logs := func(all []measured) []float64 {
		out := make([]float64, len(all))
		for i, v := range all {
			out[i] = v.v + shift
		}
		return out
	}
	x.welch = stat.LogWelch(logs(b), logs(n))
	x.Base, x.New = number(geometric(logs(b))-shift), number(geometric(logs(n))-shift)
	if x.welch.Ratio > 0 {
		x.Ratio = number(x.welch.Ratio)
	}
	if x.welch.Refused == "" {
		x.CI95 = interval(x.welch.CI[0], x.welch.CI[1])
	}
}

// compareShares compares log odds, so that 0 of n counts too.
func (x *ComparedMetric) compareShares(b, n []measured) {
	odds := func(all []measured) (out []float64, total measured) {
		for _, v := range all {
			l, _ := stat.Logit(v.k, v.n)
			out = append(out, l)
			total.k, total.n = total.k+v.k, total.n+v.n
		}
		total.v = float64(total.k) / float64(total.n)
		return out, total
	}
	lb, tb := odds(b)
	ln, tn := odds(n)
	x.share = &[2]measured{tb, tn}
	x.Base, x.New = number(tb.v), number(tn.v)
	if tb.v > 0 {
		x.Ratio = number(tn.v / tb.v)
	}
	x.welch = stat.WelchT(lb, ln)
	if x.welch.Refused == "" {
		x.CI95 = interval(math.Exp(x.welch.CI[0]), math.Exp(x.welch.CI[1]))
	}
}

func geometric(x []float64) float64 {
	var s float64
	for _, v := range x {
		if v <= 0 {
			return math.NaN()
		}
		s += math.Log(v) / float64(len(x))
	}
	return math.Exp(s)
}

// adjust allows for the number of metrics: Holm over the gated ones,
// Benjamini and Hochberg over the others, which are exploratory.
func (c *Comparison) adjust() {
	for _, family := range []struct {
		gated bool
		by    func([]float64) []float64
	}{{true, stat.Holm}, {false, stat.BenjaminiHochberg}} {
		var p []float64
		var of []int
		for i := range c.Metrics {
			if x := &c.Metrics[i]; x.Gated == family.gated && x.P != nil {
				p, of = append(p, *x.P), append(of, i)
			}
		}
		for k, v := range family.by(p) {
			c.Metrics[of[k]].Adjusted = number(v)
		}
	}
}

// judge gives the verdict: worse or better where the difference is significant
// and may be beyond the tolerance, same where it is certainly within, unknown
// otherwise.
func (x *ComparedMetric) judge() {
	x.Verdict = Unknown
	switch {
	case len(x.BaseValues) == 0 || len(x.NewValues) == 0:
		return
	case x.welch.Refused == stat.OneRunEach, x.welch.Refused == stat.TooFewRuns:
		x.Reason, x.RunsNeeded = string(x.welch.Refused), defaultRuns
		return
	case x.welch.Refused != "":
		x.Reason = orWord(x.Reason, string(x.welch.Refused))
		return
	}
	up, down, ok := x.tolerances()
	if !ok {
		x.Reason = orWord(x.Reason, "no_tolerance")
		return
	}
	w := x.welch
	threshold := up
	if x.Higher {
		threshold = down
	}
	j := w.Judge(threshold)
	x.Regression = j.Verdict
	rises, fallsBy := w.Diff > 0, w.Diff < 0
	significant := x.Adjusted != nil && *x.Adjusted < compareLevel
	bad, good := rises, fallsBy
	if x.Higher {
		bad, good = fallsBy, rises
	}
	within := w.High < up && w.Low > down
	switch {
	case within:
		x.Verdict = Same
	case significant && bad:
		x.Verdict = Worse
	case significant && good:
		x.Verdict = Better
	default:
		x.RunsNeeded = max(w.Judge(up).RunsNeeded, w.Judge(down).RunsNeeded, max(x.RunsBase, x.RunsNew)+2)
	}
}

// tolerances are the bounds, on the scale of the comparison, within which two
// releases are the same.
func (x *ComparedMetric) tolerances() (up, down float64, ok bool) {
	if x.share == nil {
		up = max(x.m.limit, 1/x.m.limit)
		return up, 1 / up, true
	}
	t := x.share[0]
	at := (float64(t.k) + 0.5) / (float64(t.n) + 1)
	if up, ok = stat.LogitThreshold(at, x.m.limit); !ok {
		return 0, 0, false
	}
	return up, -up, true
}

// Worst is the verdict over the gated metrics: worse where one is, unknown
// where the runs cannot be compared, same otherwise.
func (c *Comparison) Worst() string {
	if !c.Comparable && !c.Forced {
		return Unknown
	}
	for i := range c.Metrics {
		if c.Metrics[i].Gated && c.Metrics[i].Verdict == Worse {
			return Worse
		}
	}
	return Same
}
