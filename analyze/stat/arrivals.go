package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

// ArrivalWindow is a window of consecutive requests at one constant rate.
type ArrivalWindow struct {
	// ScheduledNS and SentNS are the instants at which each request was due
	// and was sent, in nanoseconds from any one origin; ScheduledNS may be
	// nil, and then nothing is said of lateness.
	ScheduledNS, SentNS []int64
	// Rate is the planned number of arrivals per second; 0 where it is not
	// known, and then it is not tested.
	Rate float64
}

// ArrivalOpts is what the verdict on arrivals depends on beside the windows.
type ArrivalOpts struct {
	ResponseP50NS float64 // median response time; 0 where not known
	Dropped       uint64  // requests that were due and never sent
	Seed          uint64  // of the random choices: the start within a long window, the un-rounding
}

// The verdicts on arrivals.
const (
	ArrivalsAccepted  = "accepted"
	ArrivalsRejected  = "rejected"
	ArrivalsNotTested = "not_tested"
)

// The reasons for rejecting arrivals as those of a Poisson process, or for
// not testing them.
const (
	ArrivalsStalled    = "stalled"          // sent late or not at all
	ArrivalsRounded    = "rounded_clock"    // Poisson but for the steps of the sender's clock
	ArrivalsBursty     = "bursty"           // more variable than a Poisson process
	ArrivalsDependent  = "dependent"        // gaps are correlated, as with interleaved periodic streams
	ArrivalsTooRegular = "too_regular"      // less variable than a Poisson process
	ArrivalsDrifting   = "rate_drift"       // the rate changes within a window
	ArrivalsWrongRate  = "wrong_rate"       // Poisson, but not at the planned rate
	ArrivalsTooFew     = "too_few_arrivals" // fewer than two windows of 500
)

const (
	arrivalMinimum = 500   // gaps in a window
	arrivalMaximum = 10000 // gaps tested in a window
	arrivalAlpha   = 0.001
	arrivalMaxD    = 0.02
	arrivalMaxR    = 0.03
	arrivalLags    = 20
	idcLow         = 0.8
	idcHigh        = 1.25
)

// ArrivalResult is the verdict on arrivals and the numbers behind it.
type ArrivalResult struct {
	Verdict string // accepted, rejected, not_tested
	Reason  string // "" where accepted
	Windows int    // windows tested

	LagP99NS   float64 // 0 where nothing was scheduled
	LateShare  float64 // share sent more than 10 ms late
	Dispersion float64 // index over windows of 100 mean gaps, pooled
	GapCV      float64 // standard deviation over mean of the gaps, pooled
	// GapKSP is the smallest p of the exponential test on the gaps over the
	// windows, times the number of windows, at most 1.
	GapKSP float64
	LewisD float64 // largest over the windows
	MaxR   float64 // largest autocorrelation of gaps over the windows and 20 lags
	TickNS int64   // step of the clock that the sends keep to; 0 where none was found
}

// ArrivalVerdict judges whether requests were sent as a Poisson process at
// the planned rate. Lateness comes first, exactly: the 99th percentile of
// sent − scheduled must not exceed max(1 ms, 5 % of the median response), at
// most 0.1 % may leave over 10 ms late, none may be dropped. Then the send
// instants are tested; a test counts against them when it fails in two
// windows at p < 0.001 and its effect is large enough to matter (D > 0.02,
// |r| > 0.03, index of dispersion outside [0.8, 1.25]), so that millions of
// requests do not reject a good generator.
//
// A single window is cut in two. Windows of fewer than 500 gaps are left
// out; with fewer than two the verdict is not_tested, as it is with the reason
// bad_shape where the slices of a window differ in length. A window's order does
// not matter, nor does that of the windows, except that the seed picks where
// in a window longer than 10,000 gaps the test starts.
//
// Method: METHODS part g.
func ArrivalVerdict(windows []ArrivalWindow, o ArrivalOpts) ArrivalResult {
	var res ArrivalResult
	for _, w := range windows {
		if w.ScheduledNS != nil && len(w.ScheduledNS) != len(w.SentNS) {
			return ArrivalResult{Verdict: ArrivalsNotTested, Reason: string(BadShape)}
		}
	}
	late := lateness(windows, o, &res)
	if late {
		res.Verdict, res.Reason = ArrivalsRejected, ArrivalsStalled
	}
	rng := rand.New(rand.NewPCG(o.Seed, 0x6172726976616c73))
	var all []windowTests
	for _, w := range halve(windows) {
		if t, ok := testWindow(w, rng); ok {
			all = append(all, t)
		}
	}
	res.Windows = len(all)
	summarise(all, &res)
	if late {
		return res
	}
	if len(all) < 2 {
		res.Verdict, res.Reason = ArrivalsNotTested, ArrivalsTooFew
		return res
	}
	res.Verdict = ArrivalsAccepted
	if why := reason(all, res); why != "" {
		res.Verdict, res.Reason = ArrivalsRejected, why
	}
	return res
}

// lateness applies the gate on lag.
func lateness(windows []ArrivalWindow, o ArrivalOpts, res *ArrivalResult) bool {
	var lags []float64
	over := 0
	for _, w := range windows {
		for i, due := range w.ScheduledNS {
			lag := float64(w.SentNS[i] - due)
			lags = append(lags, lag)
			if lag > 10e6 {
				over++
			}
		}
	}
	if len(lags) > 0 {
		slices.Sort(lags)
		res.LagP99NS = quantileSorted(lags, 0.99)
		res.LateShare = float64(over) / float64(len(lags))
	}
	return o.Dropped > 0 || res.LagP99NS > max(1e6, 0.05*o.ResponseP50NS) || res.LateShare > 0.001
}

// halve cuts a lone window in two, so that a failure can be seen twice.
func halve(windows []ArrivalWindow) []ArrivalWindow {
	long := slices.DeleteFunc(slices.Clone(windows), func(w ArrivalWindow) bool { return len(w.SentNS) <= arrivalMinimum })
	if len(long) != 1 {
		return long
	}
	sent := slices.Sorted(slices.Values(long[0].SentNS))
	mid := len(sent) / 2
	return []ArrivalWindow{
		{SentNS: sent[:mid+1], Rate: long[0].Rate},
		{SentNS: sent[mid:], Rate: long[0].Rate},
	}
}

// windowTests holds what the tests say of one window.
type windowTests struct {
	gaps, mean, m2                    float64 // number, mean and sum of squared deviations of gaps
	counts                            Dispersion
	lewis, uniform, exponential, rate Test
	correlation                       Portmanteau
	tick                              int64
	unroundedPasses                   bool
}

func testWindow(w ArrivalWindow, rng *rand.Rand) (t windowTests, ok bool) {
	sent := slices.Sorted(slices.Values(w.SentNS))
	if len(sent) > arrivalMaximum+1 {
		from := rng.IntN(len(sent) - arrivalMaximum)
		sent = sent[from : from+arrivalMaximum+1]
	}
	n := len(sent) - 1
	if n < arrivalMinimum || sent[n] == sent[0] {
		return t, false
	}
	at := make([]float64, n+1) // seconds
	for i, s := range sent {
		at[i] = float64(s-sent[0]) / 1e9
	}
	gaps := differences(at)
	t.gaps = float64(n)
	t.mean, t.m2 = meanM2(gaps)
	t.counts = DispersionTest(countWindows(at, 100*t.mean))
	t.lewis = LewisKS(gaps)
	t.uniform = ConditionalUniformKS(gaps)
	t.exponential = KSExponential(gaps, 1/t.mean)
	t.correlation = LjungBox(gaps, arrivalLags)
	if w.Rate > 0 {
		t.rate = KSExponential(gaps, w.Rate)
		t.exponential = t.rate
	}
	if t.tick = clockTick(sent); t.tick > 0 {
		for i := range at {
			at[i] += rng.Float64() * float64(t.tick) / 1e9
		}
		slices.Sort(at)
		t.unroundedPasses = !fails(LewisKS(differences(at)))
	}
	return t, true
}

func differences(at []float64) []float64 {
	gaps := make([]float64, len(at)-1)
	for i := range gaps {
		gaps[i] = at[i+1] - at[i]
	}
	return gaps
}

// countWindows counts the instants in the full windows of the given width
// from the first one; that one starts the clock and is not counted.
func countWindows(at []float64, width float64) []float64 {
	counts := make([]float64, int(at[len(at)-1]/width))
	for _, v := range at[1:] {
		if i := int(v / width); i < len(counts) {
			counts[i]++
		}
	}
	return counts
}

// clockTick returns the largest clock step, in nanoseconds, such that 95 % of
// the instants lie within a tenth of it of the same phase; 0 for none.
func clockTick(sorted []int64) int64 {
	span := sorted[len(sorted)-1] - sorted[0]
	for _, tick := range []int64{
		20e6, 16e6, 15625e3, 10e6, 8e6, 5e6, 4e6, 2e6, 1e6,
		500e3, 250e3, 200e3, 100e3, 50e3, 20e3, 10e3,
	} {
		if span < 50*tick {
			continue
		}
		// A sample settles the phase and almost always the question.
		if sample := sorted[:min(len(sorted), 500)]; !keepsTo(sample, tick, phaseOf(sample, tick)) {
			continue
		}
		if keepsTo(sorted, tick, phaseOf(sorted, tick)) {
			return tick
		}
	}
	return 0
}

// phaseOf returns the circular mean of the instants within the tick, in
// ticks.
func phaseOf(at []int64, tick int64) float64 {
	var sin, cos float64
	for _, s := range at {
		a, b := math.Sincos(2 * math.Pi * float64((s-at[0])%tick) / float64(tick))
		sin += a
		cos += b
	}
	return math.Atan2(sin, cos) / (2 * math.Pi)
}

func keepsTo(at []int64, tick int64, phase float64) bool {
	near := 0
	for _, s := range at {
		d := float64((s-at[0])%tick)/float64(tick) - phase
		if math.Abs(d-math.Round(d)) <= 0.1 {
			near++
		}
	}
	return float64(near) >= 0.95*float64(len(at))
}

func fails(t Test) bool {
	return t.Refused == "" && t.P < arrivalAlpha && t.Statistic > arrivalMaxD
}

// reason names the first cause that two windows share.
func reason(all []windowTests, res ArrivalResult) string {
	twice := func(f func(windowTests) bool) bool {
		n := 0
		for _, t := range all {
			if f(t) {
				n++
			}
		}
		return n >= 2
	}
	lewis := twice(func(t windowTests) bool { return fails(t.lewis) })
	uniform := twice(func(t windowTests) bool { return fails(t.uniform) })
	rate := twice(func(t windowTests) bool { return fails(t.rate) })
	over := twice(func(t windowTests) bool {
		return t.counts.Refused == "" && t.counts.PUpper < arrivalAlpha/2 && t.counts.Index > idcHigh
	})
	under := twice(func(t windowTests) bool {
		return t.counts.Refused == "" && t.counts.PLower < arrivalAlpha/2 && t.counts.Index < idcLow
	})
	dependent := twice(func(t windowTests) bool {
		return t.correlation.Refused == "" && t.correlation.P < arrivalAlpha && t.correlation.MaxR > arrivalMaxR
	})
	rounded := twice(func(t windowTests) bool { return t.tick > 0 && t.unroundedPasses })
	switch {
	case rounded && (lewis || rate):
		return ArrivalsRounded
	case over:
		return ArrivalsBursty
	case dependent:
		return ArrivalsDependent
	case under:
		return ArrivalsTooRegular
	case lewis && res.GapCV > 1:
		return ArrivalsBursty
	case lewis:
		return ArrivalsTooRegular
	case uniform:
		return ArrivalsDrifting
	case rate:
		return ArrivalsWrongRate
	}
	return ""
}

func summarise(all []windowTests, res *ArrivalResult) {
	if len(all) == 0 {
		return
	}
	var n, m2, df, x float64
	ksP := 1.0
	for _, t := range all {
		n += t.gaps
		// Each window's gaps in units of its mean, so that windows of
		// different rates can be pooled.
		m2 += t.m2 / (t.mean * t.mean)
		if t.counts.Refused == "" {
			x += t.counts.X
			df += float64(t.counts.N - 1)
		}
		if t.exponential.Refused == "" {
			ksP = min(ksP, t.exponential.P)
		}
		res.LewisD = max(res.LewisD, t.lewis.Statistic)
		res.MaxR = max(res.MaxR, t.correlation.MaxR)
		res.TickNS = max(res.TickNS, t.tick)
	}
	res.GapCV = math.Sqrt(m2 / (n - float64(len(all))))
	res.GapKSP = min(1, ksP*float64(len(all)))
	if df > 0 {
		res.Dispersion = x / df
	}
}
