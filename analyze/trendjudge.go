package analyze

import (
	"math"
	"slices"
	"time"

	"headroom/analyze/stat"
)

// judge looks for a slope and for changes of level, over the runs that are
// used.
func (x *TrendMetric) judge(m *measure, runs []*Analysis) {
	var at, y []float64
	var of []int
	var origin time.Time
	for i := range x.Points {
		if !x.Points[i].Used {
			continue
		}
		if len(at) == 0 {
			origin = started(runs[i])
		}
		at, y, of = append(at, started(runs[i]).Sub(origin).Hours()/hoursPerWeek), append(y, x.scaled(*x.Points[i].Value)), append(of, i)
	}
	if len(y) < minTrend {
		x.Reason = whyTooFew
		return
	}
	calm, spikes := withoutSpikes(y)
	for i, s := range spikes {
		x.Points[of[i]].Spike = s
	}
	mk := stat.MannKendall(y)
	if line := stat.TheilSenAt(at, y); line.Refused == "" && mk.Refused == "" {
		ci := line.Interval(mk.V * mk.Factor)
		x.Slope, x.CI95 = number(line.Slope), interval(ci[0], ci[1])
		x.P = number(min(1, 2*stat.NormalUpperTail(math.Abs(mk.ZAR))))
	}
	points, refused := stat.ChangePoints(calm, stat.ChangeOpts{P: changeP, MinMagnitude: x.leastChange(m, y)})
	if refused != "" {
		x.Reason = string(refused)
		return
	}
	refine(points, calm)
	x.tellChanges(points, calm, of)
	x.Verdict = x.direction(m, y, at, mk.ZAR)
}

// leastChange is how much a level must change, on the scale of the metric, to
// be a change.
func (x *TrendMetric) leastChange(m *measure, y []float64) float64 {
	if x.Scale == "log" {
		return math.Log(1 + changeLeast)
	}
	if m.unit == "share" {
		return m.limit
	}
	mid, _ := stat.Median(y)
	return max(changeLeast*math.Abs(mid), math.SmallestNonzeroFloat64)
}

// refine moves each change to where two levels explain the values between the
// changes beside it best: the divergence finds that there is a change, least
// squares say where.
func refine(points []stat.ChangePoint, y []float64) {
	const least = 3
	for i := range points {
		from, to := 0, len(y)
		if i > 0 {
			from = points[i-1].Index
		}
		if i+1 < len(points) {
			to = points[i+1].Index
		}
		best := math.Inf(1)
		for at := from + least; at <= to-least; at++ {
			before, _ := stat.Mean(y[from:at])
			after, _ := stat.Mean(y[at:to])
			var squares float64
			for k := from; k < to; k++ {
				level := before
				if k >= at {
					level = after
				}
				squares += (y[k] - level) * (y[k] - level)
			}
			if squares < best {
				best = squares
				points[i].Index, points[i].Before, points[i].After = at, before, after
			}
		}
	}
}

func (x *TrendMetric) tellChanges(points []stat.ChangePoint, calm []float64, of []int) {
	for k, p := range points {
		from, to := 0, len(calm)
		if k > 0 {
			from = points[k-1].Index
		}
		if k+1 < len(points) {
			to = points[k+1].Index
		}
		first, before := &x.Points[of[p.Index]], &x.Points[of[p.Index-1]]
		c := TrendChange{
			Run: first.Run, Release: first.Release, Started: first.Started, LastBefore: before.Run,
			RunsBefore: p.Index - from, RunsAfter: to - p.Index, Before: x.unscaled(p.Before), After: x.unscaled(p.After), P: p.P,
			Direction: Worse,
		}
		if x.Scale == "log" {
			c.Ratio = number(c.After / c.Before)
		}
		if (p.After > p.Before) == x.Higher {
			c.Direction = Better
		}
		x.Changes = append(x.Changes, c)
	}
}

// direction is that of the last change of level; without one, that of the
// slope, where it is certain and adds up to enough.
func (x *TrendMetric) direction(m *measure, y, at []float64, z float64) string {
	if n := len(x.Changes); n > 0 {
		return x.Changes[n-1].Direction
	}
	weeks := at[len(at)-1] - at[0]
	if x.Slope == nil || math.Abs(z) < 2.326 || math.Abs(*x.Slope)*weeks < x.leastChange(m, y) {
		return Same
	}
	if (*x.Slope > 0) == x.Higher {
		return Better
	}
	return Worse
}

// withoutSpikes puts the level of its neighbours in the place of values that
// lie far from them, one or two in a row: fewer than a segment, they are no
// change of level, and they hide one.
func withoutSpikes(y []float64) (calm []float64, spike []bool) {
	calm, spike = slices.Clone(y), make([]bool, len(y))
	noise := stepNoise(y)
	far := make([]float64, len(y)) // by how much, 0 where not
	for i := range y {
		from := min(max(0, i-spikeNeighbours), max(0, len(y)-1-2*spikeNeighbours))
		around := slices.Clone(y[from:min(len(y), from+2*spikeNeighbours+1)])
		around = slices.Delete(around, i-from, i-from+1)
		mid, _ := stat.Median(around)
		for k, v := range around {
			around[k] = math.Abs(v - mid)
		}
		spread, _ := stat.Median(around)
		calm[i] = mid
		if d := y[i] - mid; math.Abs(d) > spikeFactor*max(1.4826*spread, noise) {
			far[i] = d
		}
	}
	for i := 0; i < len(y); {
		end := i + 1
		for end < len(y) && far[i]*far[end] > 0 {
			end++
		}
		few := far[i] != 0 && end-i <= 2
		for k := i; k < end; k++ {
			if spike[k] = few; !few {
				calm[k] = y[k]
			}
		}
		i = end
	}
	return calm, spike
}

// stepNoise is the standard deviation of the noise, from the steps between
// neighbours, which neither a trend nor a few jumps move.
func stepNoise(y []float64) float64 {
	var steps []float64
	for i := 1; i < len(y); i++ {
		steps = append(steps, math.Abs(y[i]-y[i-1]))
	}
	m, _ := stat.Median(steps)
	return 1.4826 * m / math.Sqrt2
}

// gaps finds where runs are missing. Runs that follow each other closely are
// one occasion.
func (t *TrendResult) gaps(runs []*Analysis) {
	var when []time.Time
	var first, last []int // of an occasion
	var steps []float64
	for i := 1; i < len(runs); i++ {
		steps = append(steps, started(runs[i]).Sub(started(runs[i-1])).Hours())
	}
	wide, ok := stat.Quantile(steps, 0.9)
	for i, a := range runs {
		if i > 0 && ok && steps[i-1] <= wide/10 {
			last[len(last)-1] = i
			continue
		}
		when, first, last = append(when, started(a)), append(first, i), append(last, i)
	}
	if len(when) < 4 {
		return
	}
	between := make([]float64, len(when)-1)
	for i := range between {
		between[i] = when[i+1].Sub(when[i]).Hours()
	}
	usual, _ := stat.Median(between)
	if usual <= 0 {
		return
	}
	t.SpacingDays = number(usual / 24)
	for i, h := range between {
		if n := int(math.Round(h/usual)) - 1; n > 0 && h > 1.75*usual {
			t.Missing = append(t.Missing, TrendGap{From: runs[last[i]].Run.Started, To: runs[first[i+1]].Run.Started, Missing: n})
		}
	}
}
