package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// Reasons why a series of a soak cannot be judged, beside those of package
// stat.
const (
	whyRestarted = "restarted"
	whyGaps      = "gaps"
	whyNoSamples = "no_samples"
)

const (
	leakLevel    = 0.01 // one-sided, over all series together
	maxGap       = 0.1  // of the length, without a sample
	soakValues   = 600  // about how many values a series of shares is cut into
	tailRequests = 10   // requests beyond a percentile that each block takes
	driftBlocks  = 30
	goodSoakH    = 2
)

// driftOf is what a series is like, and how it was judged.
type driftOf struct {
	name    string
	unit    string
	res     stat.DriftResult
	refused string
	latency bool
	rate    bool // no resource that could run out: a rise is a drift
	limit   *float64
	startS  float64 // of the series, since the run's origin
	stepS   float64 // between values
}

// soak looks for what drifts: response time, the share of slow requests, and
// every resource series. METHODS part d.
func (r *analysis) soak(series []observed) {
	if r.header.Format != "soak" || len(r.course) == 0 {
		return
	}
	course := r.ofKind(record.Soak)
	if len(course) == 0 {
		return
	}
	from, to := course[0].startNS, course[len(course)-1].endNS()
	s := &SoakResult{Hours: float64(to-from) / 3.6e12, Drift: map[string]Drift{}, Leaks: []string{}}
	r.out.Soak = s
	load := column(course, func(i *instant) float64 { return float64(i.counts.Scheduled) })
	all := r.latencyDrift(course, load)
	fresh := map[string]bool{}
	for i := range series {
		if w := series[i].within(from, to); w.restarted() {
			fresh[w.Source] = true
		}
	}
	for i := range series {
		w := series[i].within(from, to)
		d := seriesDrift(&w, limitOf(r.header.Limits, w.Name), load)
		if fresh[w.Source] && !isStartTime(w.Name) {
			d.refused, d.res = whyRestarted, stat.DriftResult{}
		}
		if !isStartTime(w.Name) {
			all = append(all, d)
		}
	}
	r.tellDrift(s, all)
	if s.Hours < goodSoakH {
		r.note("short_soak", "note", s.Hours, goodSoakH, fmt.Sprintf("the soak lasted %s h; leaks that matter in a month want 2 h at least", short(s.Hours)))
	}
}

func limitOf(limits map[string]float64, name string) *float64 {
	bare, _, _ := strings.Cut(name, "{")
	for _, n := range []string{name, bare} {
		if v, ok := limits[n]; ok {
			return &v
		}
	}
	return nil
}

// latencyDrift judges p50, p99 where there are enough requests, and the exact
// share of requests over each limit that the run counted.
func (r *analysis) latencyDrift(course []instant, load []float64) []driftOf {
	h := float64(course[0].widthNS) / 3.6e12
	one := func(name, unit string, latency bool, values []float64, hours float64) driftOf {
		d := driftOf{name: name, unit: unit, latency: latency, rate: true, startS: float64(course[0].startNS) / 1e9, stepS: hours * 3600}
		kept := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
		if float64(len(values)-len(kept)) > maxGap*float64(len(values)) {
			d.refused = whyGaps
			return d
		}
		d.res = stat.Drift(kept, stat.DriftOpts{SpacingH: hours, Latency: latency, Load: load})
		return d
	}
	all := []driftOf{one("response_p50", "share", true, column(course, func(i *instant) float64 { return i.p50US }), h)}
	p99 := column(course, func(i *instant) float64 { return i.p99US })
	var answers uint64
	for i := range course {
		answers += course[i].answers
	}
	if float64(answers)*0.9/driftBlocks >= tailRequests/(1-0.99) {
		all = append(all, one("response_p99", "share", true, p99, h))
	} else {
		all = append(all, driftOf{name: "response_p99", unit: "share", latency: true, rate: true, refused: string(stat.TailTooThin)})
	}
	group := max(1, len(course)/soakValues)
	shares := func(k func(*instant) uint64) []float64 {
		var out []float64
		for i := 0; i+group <= len(course); i += group {
			var slow, n uint64
			for _, in := range course[i : i+group] {
				slow += k(&in)
				n += in.counts.Scheduled
			}
			out = append(out, share(slow, n))
		}
		return out
	}
	for k, t := range r.header.Thresholds {
		if t.Clock == record.Response {
			all = append(all, one("slow_ratio("+t.Name+")", "share", false, shares(func(i *instant) uint64 {
				return i.counts.Scheduled - min(i.within[k], i.counts.Scheduled)
			}), h*float64(group)))
		}
	}
	return append(all, one("not_ok_ratio", "share", false, shares(func(i *instant) uint64 {
		return i.counts.Scheduled - min(i.counts.By[record.OK], i.counts.Scheduled)
	}), h*float64(group)))
}

// seriesDrift judges one resource series; of a counter, how fast it grows.
func seriesDrift(s *observed, limit *float64, load []float64) driftOf {
	d := driftOf{name: s.Name, unit: s.Unit, limit: limit}
	use := *s
	if s.counter() {
		use, d.rate, d.limit = s.rates(), true, nil
		d.unit = use.Unit
	}
	hours, gap := spacing(use.atNS)
	switch {
	case len(use.values) == 0:
		d.refused = whyNoSamples
		return d
	case len(use.values) >= 2 && !(hours > 0), gap > maxGap && len(use.values) > 20:
		d.refused = whyGaps
		return d
	case len(use.values) < 2:
		d.refused = string(stat.TooShort)
		return d
	}
	d.startS, d.stepS = float64(use.atNS[0])/1e9, hours*3600
	opts := stat.DriftOpts{SpacingH: hours, Limit: d.limit, Load: load}
	if !falls(use.values) {
		opts.Cycle = -1
	}
	d.res = stat.Drift(use.values, opts)
	return d
}

// tellDrift takes back what does not stand once the number of series is
// allowed for, and writes the result.
func (r *analysis) tellDrift(s *SoakResult, all []driftOf) {
	adjusted := adjust(all)
	judged := 0
	for i := range all {
		d := &all[i]
		out := d.result(adjusted[i])
		s.Drift[d.name] = out
		if out.Refused == "" || out.Kind != "" {
			judged++
		}
		if out.Kind == stat.DriftLeak || out.Kind == stat.DriftDrift {
			s.Leaks = append(s.Leaks, d.name)
			r.findings = append(r.findings, Finding{Code: out.Kind, Severity: "caution", Scope: d.name, Measured: out.SlopePerHour, Limit: out.Limit, Text: d.words(&out)})
		}
		if out.Refused == string(stat.Persistent) {
			r.findings = append(r.findings, Finding{Code: out.Refused, Severity: "note", Scope: d.name, Measured: number(d.res.R), Text: d.name + " wanders: a rise cannot be told from chance; a longer soak, or a second one, can"})
		}
	}
	slices.Sort(s.Leaks)
	if judged == 0 {
		s.Refused = string(stat.TooShort)
		for i := range all {
			if w := s.Drift[all[i].name].Refused; i == 0 || w == string(stat.LoadNotConstant) {
				s.Refused = w
			}
		}
		r.note(s.Refused, "caution", s.Hours, goodSoakH, "no series of this soak could be judged")
	}
}

// adjust gives the p-values that allow for the number of series that could be
// judged; 1 for the others.
func adjust(all []driftOf) []float64 {
	out := make([]float64, len(all))
	var p []float64
	var of []int
	for i := range all {
		out[i] = 1
		if d := &all[i]; d.refused == "" && d.res.Refused == "" {
			p, of = append(p, d.res.P), append(of, i)
		}
	}
	for k, v := range stat.Holm(p) {
		out[of[k]] = v
	}
	return out
}

func (d *driftOf) result(holm float64) Drift {
	res := &d.res
	out := Drift{Kind: res.Kind, Refused: d.refused, Unit: d.unit, Limit: d.limit, Samples: res.Used}
	if out.Refused == "" {
		out.Refused = string(res.Refused)
	}
	if res.Blocks == 0 || d.refused != "" {
		return out
	}
	if res.Refused != stat.TooShort && res.Refused != stat.LoadNotConstant {
		out.SlopePerHour, out.CI95, out.P, out.Level = number(res.SlopePerH), interval(res.CI[0], res.CI[1]), number(res.P), number(res.Level)
	}
	if res.StepAt > 0 {
		out.StepAtS = number(d.startS + float64(res.StepAt)*d.stepS)
	}
	if res.Refused != "" {
		return out
	}
	out.PHolm = number(holm)
	rises := out.Kind == stat.DriftLeak || out.Kind == stat.DriftDrift
	switch {
	case rises && holm > leakLevel && res.Cycle > 0:
		out.Kind = stat.DriftSawTooth
	case rises && holm > leakLevel:
		out.Kind = stat.DriftNone
	case rises && d.rate:
		out.Kind = stat.DriftDrift
	}
	if d.limit != nil && out.Kind == stat.DriftLeak {
		out.ExhaustionH = res.Exhaustion.At
		out.ExhaustionCI95 = []*float64{res.Exhaustion.CI[0], res.Exhaustion.CI[1]}
	}
	return out
}

// words tell a rise.
func (d *driftOf) words(out *Drift) string {
	if d.latency {
		return fmt.Sprintf("%s rises by %s %% of itself an hour (95 %%: %s to %s)", d.name, short(100**out.SlopePerHour), short(100*out.CI95[0]), short(100*out.CI95[1]))
	}
	text := fmt.Sprintf("%s rises by %s %s an hour (95 %%: %s to %s)", d.name, amount(*out.SlopePerHour), d.unit, amount(out.CI95[0]), amount(out.CI95[1]))
	if out.ExhaustionH != nil {
		text += fmt.Sprintf("; it reaches its limit of %s in %s h", amount(*out.Limit), amount(*out.ExhaustionH))
	}
	return text
}

// amount writes a number of any size with three significant digits.
func amount(v float64) string {
	switch a := math.Abs(v); {
	case a >= 1e6:
		return fmt.Sprintf("%.2e", v)
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a != 0 && a < 0.01:
		return fmt.Sprintf("%.2g", v)
	}
	return trimZeros(fmt.Sprintf("%.2f", v))
}
