package stat

import (
	"math"
)

// The kinds of drift.
const (
	DriftNone     = "none"      // no rise that matters
	DriftLeak     = "leak"      // a resource that grows
	DriftDrift    = "drift"     // a latency that grows
	DriftStep     = "step"      // one jump
	DriftSawTooth = "saw_tooth" // cycles whose minima do not rise
	DriftWarmUp   = "warm_up"   // growth that has come to rest
)

const (
	driftMinimum    = 300 // values after the warm-up
	driftBlocks     = 30
	driftMinBlocks  = 20    // of a saw-tooth
	driftZ          = 2.326 // one-sided 1 %
	driftPersistent = 0.7
	driftThirds     = 0.15
	driftShare      = 0.1
	driftHorizonH   = 30 * 24
)

// DriftOpts says how to read a series.
type DriftOpts struct {
	SpacingH float64  // time between values, in hours
	HorizonH float64  // how far ahead growth counts, in hours; 0 means 30 days
	Limit    *float64 // upper limit in the unit of the series; nil where there is none
	// Cycle is the length of a saw-tooth in values; 0 looks for one, −1 does not.
	Cycle int
	// Latency takes logarithms, so that slopes are relative per hour, and
	// calls a rise drift and not leak.
	Latency bool
	// WarmUpRemoved says that the series starts after its warm-up. Otherwise
	// a tenth is dropped, or up to a quarter where MSER says so.
	WarmUpRemoved bool
	// Load is the load over the same time, for which the method must find no
	// trend; nil where it is not known.
	Load []float64
}

// DriftResult is what a series did. Where Refused is set, Kind is "step" or
// "warm_up" for step_or_warmup and empty otherwise; numbers that were
// computed before the refusal are filled in.
type DriftResult struct {
	Kind       string
	SlopePerH  float64 // per hour, in the unit of the series; relative (d ln x/dh) for a latency
	CI         Interval
	P          float64 // one-sided
	Z          float64
	R          float64 // autocorrelation of the blocks once the trend is out
	Level      float64 // the line at the end of the series, in its unit
	Exhaustion Exhaustion
	Blocks     int
	Cycle      int // values in a cycle; 0 where there is none
	StepAt     int // index in the series given of the first value after the jump; 0 where there is none
	Used       int // values left after the warm-up
	Refused    Refusal
}

// Drift judges whether a series, equally spaced in time, grows: 30 block
// medians (minima of blocks of at least two cycles for a saw-tooth), a
// Mann–Kendall test whose variance allows for AR(1) correlation, one-sided at
// 1 %, and a Theil–Sen line. A rise counts when it would eat more than a tenth
// of the room up to the limit within the horizon; without a limit, when it
// would add more than a tenth of the level.
//
// It refuses NotFinite; BadShape for a spacing or horizon that is not
// positive, or a latency that is not; TooShort below 300 values after the
// warm-up or 20 blocks of two cycles; LoadNotConstant; Persistent where the
// series cannot be told from a random walk; and StepOrWarmUp.
//
// Method: METHODS part d.
func Drift(x []float64, o DriftOpts) DriftResult {
	if o.HorizonH == 0 {
		o.HorizonH = driftHorizonH
	}
	values, limit, r := prepare(x, o)
	if r != "" {
		return DriftResult{Refused: r}
	}
	cut := 0
	if !o.WarmUpRemoved {
		cut = warmUp(values)
	}
	values = values[cut:]
	res := DriftResult{Used: len(values)}
	if len(values) < driftMinimum {
		res.Refused = TooShort
		return res
	}
	if o.Load != nil && loadMoves(o.Load) {
		res.Refused = LoadNotConstant
		return res
	}
	res.Cycle = max(o.Cycle, 0)
	if o.Cycle == 0 {
		res.Cycle, _ = CycleLength(values)
	}
	res.Blocks = driftBlocks
	var y []float64
	if res.Cycle > 0 {
		res.Blocks = min(driftBlocks, len(values)/(2*res.Cycle))
		if res.Blocks < driftMinBlocks {
			res.Refused = TooShort
			return res
		}
		y = MinBlocks(values, res.Blocks)
	} else {
		y = MedianBlocks(values, res.Blocks)
	}
	step := o.SpacingH * float64(len(values)) / float64(res.Blocks) // hours a block
	trend := MannKendall(y)
	line := TheilSen(y)
	if trend.Refused != "" || line.Refused != "" {
		res.Refused = NotFinite
		return res
	}
	ci := line.Interval(trend.V * trend.Factor)
	res.SlopePerH = line.Slope / step
	res.CI = Interval{ci[0] / step, ci[1] / step}
	res.Z, res.R = trend.ZAR, trend.R
	res.P = NormalUpperTail(trend.ZAR)
	level := line.Level + line.Slope/2
	res.Level = level
	if o.Latency {
		res.Level = math.Exp(level)
	}
	if !Finite([]float64{res.SlopePerH, res.CI[0], res.CI[1], res.Level}) {
		return DriftResult{Refused: NotFinite}
	}
	if limit != nil {
		res.Exhaustion = TimeToLimit(*limit, level, res.SlopePerH, res.CI)
	}
	res.judge(y, trend, level, limit, o)
	if res.StepAt > 0 {
		res.StepAt = cut + res.StepAt*len(values)/res.Blocks
	}
	return res
}

// judge sets Kind, Refused and StepAt, the latter as a block.
func (res *DriftResult) judge(y []float64, trend Trend, level float64, limit *float64, o DriftOpts) {
	rises := trend.ZAR > driftZ
	shaped := thirds(y)
	if rises && !shaped || trend.R >= driftPersistent {
		if at, ok := singleStep(y); ok {
			res.Kind, res.Refused, res.StepAt = DriftStep, StepOrWarmUp, at
			return
		}
	}
	switch {
	case trend.R >= driftPersistent && settles(y), rises && !shaped && trend.R < driftPersistent:
		res.Kind, res.Refused = DriftWarmUp, StepOrWarmUp
		return
	case trend.R >= driftPersistent:
		res.Refused = Persistent
		return
	}
	res.Kind = DriftNone
	if res.Cycle > 0 {
		res.Kind = DriftSawTooth
	}
	if !rises {
		return
	}
	growth := res.SlopePerH * o.HorizonH
	room := math.Abs(level)
	switch {
	case limit != nil:
		room = *limit - level
	case o.Latency:
		room = math.Log(1+driftShare) / driftShare
	}
	if growth > driftShare*room {
		res.Kind = DriftLeak
		if o.Latency {
			res.Kind = DriftDrift
		}
	}
}

func prepare(x []float64, o DriftOpts) (values []float64, limit *float64, r Refusal) {
	if len(x) == 0 {
		return nil, nil, NoData
	}
	if !Finite(x) {
		return nil, nil, NotFinite
	}
	if !(o.SpacingH > 0) || !(o.HorizonH > 0) || !Finite([]float64{o.SpacingH, o.HorizonH}) {
		return nil, nil, BadShape
	}
	limit = o.Limit
	if limit != nil && !Finite([]float64{*limit}) {
		return nil, nil, NotFinite
	}
	if !o.Latency {
		return x, limit, ""
	}
	values, r = logs(x)
	if r == "" && limit != nil {
		if *limit <= 0 {
			return nil, nil, BadShape
		}
		l := math.Log(*limit)
		limit = &l
	}
	return values, limit, r
}

// warmUp returns how many values to drop. A series that does not settle within
// a quarter of its length, as one that leaks does not, loses a tenth.
func warmUp(x []float64) int {
	n := len(x) / 10
	if c := MSER(x, MSERSize(len(x))); c.Refused == "" && c.Discard <= len(x)/4 {
		n = max(n, c.Discard)
	}
	return n
}

// loadMoves reports a trend in the load, up or down, of more than 2 % over
// its length.
func loadMoves(load []float64) bool {
	y := MedianBlocks(load, min(driftBlocks, len(load)))
	t := MannKendall(y)
	mid, ok := Median(y)
	return ok && t.Refused == "" && math.Abs(t.ZAR) > driftZ && math.Abs(t.Slope)*float64(len(y)) > 0.02*math.Abs(mid)
}

// thirds reports whether both halves of the way from the first third's median
// to the last's bring at least 15 % of it.
func thirds(y []float64) bool {
	m := MedianBlocks(y, 3)
	all := m[2] - m[0]
	return m[1]-m[0] > driftThirds*all && m[2]-m[1] > driftThirds*all
}

// settles reports whether the second half is level, within a tenth of the way
// from the first third's median to its own, and that way is long.
func settles(y []float64) bool {
	late := y[len(y)/2:]
	t := MannKendall(late)
	if t.Refused != "" || t.R >= driftPersistent {
		return false
	}
	sd, _ := SD(late)
	early, _ := Median(y[:len(y)/3])
	rest, _ := Median(late)
	way := math.Abs(early - rest)
	return way > 4*sd && math.Abs(t.Slope)*float64(len(late)) < driftShare*way
}

// singleStep finds the block at which two levels explain the series: they lie
// four residual standard deviations apart, and what remains is not
// persistent.
func singleStep(y []float64) (at int, ok bool) {
	const least = 3
	best := math.Inf(1)
	for c := least; c <= len(y)-least; c++ {
		_, a := meanM2(y[:c])
		_, b := meanM2(y[c:])
		if a+b < best {
			best, at = a+b, c
		}
	}
	if at == 0 {
		return 0, false
	}
	before, _ := meanM2(y[:at])
	after, _ := meanM2(y[at:])
	rest := make([]float64, len(y))
	for i, v := range y {
		rest[i] = v - before
		if i >= at {
			rest[i] = v - after
		}
	}
	if math.Abs(after-before) < 4*math.Sqrt(best/float64(len(y)-2)) {
		return 0, false
	}
	r, found := Autocorrelation(ranks(rest), 1)
	n := float64(len(y))
	return at, !found || (n*r+2)/(n-4) < driftPersistent
}
