package analyze

import (
	"fmt"
	"math"
	"slices"
	"time"

	"headroom/analyze/stat"
	"headroom/store/record"
)

const (
	horizonDays  = 90
	peakQuantile = 0.95
	oldPeakDays  = 90
)

// margin sets the knee beside production's peak.
func (r *analysis) margin() {
	p := record.Production{}
	if r.header.Production != nil {
		p = *r.header.Production
	}
	if r.opt.PeakRPS > 0 {
		p = record.Production{PeakRPS: r.opt.PeakRPS, Source: "command line"}
	}
	if p.PeakRPS <= 0 {
		return
	}
	r.peak = &p
	m := marginOf(&r.knee.Knee, p)
	if age, ok := ageDays(p.Taken, r.header.Started); ok {
		m.AgeDays = number(age)
		if age > oldPeakDays {
			r.note("old_peak", "caution", age, oldPeakDays, fmt.Sprintf("the production peak was taken %.0f days before the run", age))
		}
	}
	if r.knee.Status == "" {
		m.Refused = "no_knee"
	}
	r.out.Margin = m
}

// marginOf is knee / peak. The knee's refusals are the margin's, but that a
// knee that was not reached gives a lower bound.
func marginOf(k *Knee, p record.Production) *Margin {
	m := &Margin{
		PeakRPS: p.PeakRPS, WindowDays: p.WindowDays, ResolutionS: p.ResolutionS, Taken: p.Taken, Source: p.Source,
	}
	var low *float64
	switch {
	case k.Status == KneeFound:
		m.Value = number(*k.RPS / p.PeakRPS)
		m.CI95 = interval(k.CI95[0]/p.PeakRPS, k.CI95[1]/p.PeakRPS)
		low = number(k.CI95[0])
	case k.Status == NotReached && k.AtLeast != nil:
		m.Value, m.AtLeast = number(*k.AtLeast/p.PeakRPS), true
		low = k.AtLeast
	case k.Status == KneeInconclusive:
		m.Refused = k.Reason
	default:
		m.Refused = k.Status
	}
	next := nextPeak(p.DailyPeaks)
	m.NextRefused = string(next.Refused)
	if next.Refused == "" {
		m.PeakNextP95 = number(next.Value)
		if low != nil && next.Value > 0 {
			m.ValueNext = number(*low / next.Value)
		}
	}
	return m
}

func nextPeak(daily []float64) stat.PeakPrediction {
	if len(daily) == 0 {
		return stat.PeakPrediction{Refused: stat.NoData}
	}
	return stat.PeakNext(daily, horizonDays, peakQuantile)
}

// ageDays is how old the peak was when the run began.
func ageDays(taken string, started time.Time) (float64, bool) {
	t, err := time.Parse("2006-01-02", taken)
	if err != nil || started.IsZero() {
		return 0, false
	}
	return math.Floor(started.Sub(t).Hours() / 24), true
}

const (
	nearMultiple = 0.05 // a plateau this near to a multiple of the knee stands for it
	defaultPast  = 1.5
	holdsFrom    = 0.9
	degradesFrom = 0.5
)

// postSaturation says what is left past the knee: at 1.5 times, at the
// multiples that the plan and the gates name, and on the highest plateau.
func (r *analysis) postSaturation(gates []record.Gate) {
	k := &r.knee
	if len(k.sweep.valid) > 0 {
		r.peakGoodput()
	}
	if k.Status == "" {
		return
	}
	multiples := []float64{defaultPast}
	multiples = append(multiples, r.header.Load.Beyond...)
	for _, g := range gates {
		if g.Metric == "post_saturation" {
			multiples = append(multiples, g.Arg)
		}
	}
	if k.RPS != nil {
		if n := len(k.sweep.valid); n > 0 {
			top := k.sweep.valid[n-1].OfferedRPS / *k.RPS
			covered := slices.ContainsFunc(multiples, func(m float64) bool { return math.Abs(top/m-1) <= nearMultiple })
			if top > 1 && !covered {
				multiples = append(multiples, math.Round(top*100)/100)
			}
		}
	}
	slices.Sort(multiples)
	for _, m := range slices.Compact(multiples) {
		r.out.PostSaturation = append(r.out.PostSaturation, k.past(m))
	}
}

// past is the goodput at a multiple of the knee, as a share of what the knee
// itself would give.
func (k *found) past(multiple float64) PostSaturation {
	out := PostSaturation{At: multiple}
	if k.RPS == nil {
		out.Refused = "no_knee"
		return out
	}
	want := multiple * *k.RPS
	i, j, share, why := k.around(want)
	if why != "" {
		out.Refused = why
		return out
	}
	mix := func(a, b float64) float64 { return a + share*(b-a) }
	p, q := &k.sweep.valid[i], &k.sweep.valid[j]
	good := mix(p.GoodputRPS, q.GoodputRPS)
	out.OfferedRPS, out.GoodputRPS, out.Interpolated = number(mix(p.OfferedRPS, q.OfferedRPS)), number(good), i != j
	ratio := good / k.p / *k.RPS
	lo, hi, ok := k.pastDraws(i, j, share)
	if !ok {
		// A bracket has no draws: the extremes of the goodput over those of
		// the knee.
		half := mix(p.t()*p.GoodputSE, q.t()*q.GoodputSE)
		lo, hi = (good-half)/k.p/k.CI95[1], (good+half)/k.p/k.CI95[0]
	}
	out.Ratio = number(within01(ratio))
	out.CI95 = interval(within01(min(lo, ratio)), within01(max(hi, ratio)))
	switch {
	case ratio >= holdsFrom:
		out.Shape = "holds"
	case ratio >= degradesFrom:
		out.Shape = "degrades"
	default:
		out.Shape = "collapses"
	}
	return out
}

func within01(v float64) float64 { return min(max(v, 0), 1) }

// around finds the valid plateau within 5 % of a rate, the nearest one, else
// the two that did not hold on either side of it, with the share of the way
// from the first to the second.
func (k *found) around(want float64) (i, j int, share float64, refused string) {
	s := &k.sweep
	near := -1
	for n := range s.valid {
		off := math.Abs(s.valid[n].OfferedRPS/want - 1)
		if off <= nearMultiple && (near < 0 || off < math.Abs(s.valid[near].OfferedRPS/want-1)) {
			near = n
		}
	}
	if near >= 0 {
		return near, near, 0, ""
	}
	for n := range s.all {
		if p := &s.all[n]; p.Why == whyUntrusted && math.Abs(p.OfferedRPS/want-1) <= nearMultiple {
			return 0, 0, 0, GeneratorLimited
		}
	}
	below, above := -1, -1
	for n := range s.valid {
		p := &s.valid[n]
		if p.Held == nil || *p.Held {
			continue
		}
		if p.OfferedRPS <= want {
			below = n
		} else if above < 0 {
			above = n
		}
	}
	if below < 0 || above < 0 {
		return 0, 0, 0, "no_plateau"
	}
	a, b := s.valid[below].OfferedRPS, s.valid[above].OfferedRPS
	return below, above, (want - a) / (b - a), ""
}

// pastDraws takes the ratio's interval from the draws of the hinge, so that
// knee and goodput move together.
func (k *found) pastDraws(i, j int, share float64) (lo, hi float64, ok bool) {
	a, b := slices.Index(k.points, i), slices.Index(k.points, j)
	if a < 0 || b < 0 || len(k.draws) == 0 {
		return 0, 0, false
	}
	ratios := make([]float64, len(k.draws))
	for n, d := range k.draws {
		ratios[n] = (d.good[a] + share*(d.good[b]-d.good[a])) / k.p / d.knee
	}
	return percentileInterval(ratios)
}

// peakGoodput is the best plateau.
func (r *analysis) peakGoodput() {
	if r.trust.Verdict == Untrusted || len(r.law) > 0 {
		return
	}
	var best *judgedPlateau
	for i := range r.knee.sweep.valid {
		if p := &r.knee.sweep.valid[i]; best == nil || p.GoodputRPS > best.GoodputRPS {
			best = p
		}
	}
	half := best.t() * best.GoodputSE
	r.out.PeakGoodput = &PeakGoodput{
		RPS: number(best.GoodputRPS), CI95: interval(max(0, best.GoodputRPS-half), best.GoodputRPS+half), AtOfferedRPS: number(best.OfferedRPS),
	}
}
