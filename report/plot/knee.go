package plot

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"headroom/store/record"
)

// Held says whether a plateau held.
type Held uint8

// A plateau held, did not, or it can't be said.
const (
	Unknown Held = iota
	Yes
	No
)

// Plateau is one plateau of a step load. Rates are requests per second over the
// judged window, durations microseconds, NaN is not known.
type Plateau struct {
	Offered, Goodput                                 float64
	GoodputLow, GoodputHigh                          float64 // 95 % interval
	Held                                             Held
	Outcomes                                         [record.NumOutcomes]uint64
	ResponseP50, ResponseP99, ServiceP50, ServiceP99 float64
	// Beyond says that the percentile above it is NaN because it lies beyond the timeout.
	ResponseP50Beyond, ResponseP99Beyond, ServiceP50Beyond, ServiceP99Beyond bool
}

// Curve is a step load as its two pictures want it: what was found is NaN where
// it is not known or refused.
type Curve struct {
	Plateaus                  []Plateau
	Knee, KneeLow, KneeHigh   float64 // requests per second, with the 95 % interval
	HighestHeld, LowestFailed float64 // the bracket
	Peak                      float64 // production peak
	TimeoutUS                 float64
}

var heldStyles = map[Held]struct {
	m marker
	c color.Color
}{Yes: {disc, green}, No: {cross, vermillion}, Unknown: {openTriangle, blue}}

// KneeCurve draws offered load against goodput, with the knee, its interval,
// its bracket and the production peak, and below it how the requests of each
// plateau ended.
func KneeCurve(c Curve, lang Lang) *Figure {
	w := wordsOf(lang)
	ps := rising(c.Plateaus)
	f := &Figure{title: w.kneeTitle, about: w.kneeAbout + ".", height: 520}
	xs := []float64{c.Knee, c.KneeHigh, c.Peak, c.HighestHeld, c.LowestFailed}
	var ys []float64
	for _, p := range ps {
		xs = append(xs, p.Offered)
		ys = append(ys, p.Goodput, p.GoodputHigh)
	}
	x := rateAxis(w, w.offered, 12, xs...)
	y := rateAxis(w, w.goodput, 7, ys...)
	top := x
	top.hidden = true
	upper := newPanel(top, y)
	bandFill := color.NRGBA{0x56, 0xb4, 0xe9, 0x55}
	upper.Add(band(c.KneeLow, c.KneeHigh, bandFill))
	ideal := line(midGrey, 1.2, dashed)
	upper.Add(lineOf(points{x: []float64{0, x.max}, y: []float64{0, x.max}}, false, ideal))
	curve := points{}
	for _, p := range ps {
		curve.x, curve.y = append(curve.x, p.Offered), append(curve.y, p.Goodput)
	}
	upper.Add(lineOf(curve, false, line(grey, 1, nil)))
	size := vg.Length(4.5)
	if len(ps) > 60 {
		size = 3
	}
	upper.Add(plotter(func(dc *draw.Canvas, tx, ty func(float64) vg.Length) {
		s := line(grey, 1, nil)
		for _, p := range ps {
			if !(p.GoodputHigh >= p.GoodputLow) || math.IsNaN(p.Offered) {
				continue
			}
			x, low, high := tx(p.Offered), max(ty(p.GoodputLow), dc.Min.Y), min(ty(p.GoodputHigh), dc.Max.Y)
			dc.StrokeLine2(s, x, low, x, high)
			dc.StrokeLine2(s, x-3, low, x+3, low)
			dc.StrokeLine2(s, x-3, high, x+3, high)
		}
	}))
	f.keys = []key{{name: w.everyAnswer, style: ideal}}
	for _, h := range []Held{Yes, No, Unknown} {
		pts := points{}
		for _, p := range ps {
			if p.Held == h {
				pts.x, pts.y = append(pts.x, p.Offered), append(pts.y, p.Goodput)
			}
		}
		if len(pts.x) == 0 {
			continue
		}
		upper.Add(markersOf(pts, false, heldStyles[h].m, size, heldStyles[h].c))
		name := map[Held]string{Yes: w.held, No: w.notHeld, Unknown: w.unknown}[h]
		f.keys = append(f.keys, key{name: name, marker: heldStyles[h].m, style: draw.LineStyle{Color: heldStyles[h].c}})
	}
	if c.KneeHigh >= c.KneeLow {
		f.keys = append(f.keys, key{name: w.interval, fill: bandFill})
	}
	rate := func(name string, v float64) string { return name + " " + w.rate(v) }
	marks := sortMarks([]mark{
		{c.Knee, rate(w.kneeAt, c.Knee), line(blue, 1.8, nil)},
		{c.HighestHeld, rate(w.highestHeld, c.HighestHeld), line(green, 1, dotted)},
		{c.LowestFailed, rate(w.lowestFailed, c.LowestFailed), line(vermillion, 1, dotted)},
		{c.Peak, rate(w.peak, c.Peak), line(darkPurple, 1.6, dashDot)},
	}, x)
	lower := newPanel(x, axis{label: w.shareOfRequests, min: 0, max: 100, ticks: linearTicks(w, 0, 100, 4)})
	bars, present := outcomeBars(ps)
	lower.Add(bars)
	if len(ps) == 0 {
		upper.Add(note(w.noData))
		marks = nil
	}
	for o, is := range present {
		if is {
			f.keys = append(f.keys, key{name: w.outcomes[o], fill: outcomeStyles[o].c, hatch: outcomeStyles[o].h})
		}
	}
	f.panels = []panel{{plot: upper, name: w.goodput, weight: 2.6, marks: marks}, {plot: lower, name: w.shareOfRequests, weight: 1}}
	return f
}

// rising sorts plateaus by offered load and leaves out those without one.
func rising(ps []Plateau) []Plateau {
	ps = slices.DeleteFunc(slices.Clone(ps), func(p Plateau) bool {
		return math.IsNaN(p.Offered) || math.IsInf(p.Offered, 0)
	})
	slices.SortStableFunc(ps, func(a, b Plateau) int { return cmp.Compare(a.Offered, b.Offered) })
	return ps
}

var outcomeStyles = [record.NumOutcomes]struct {
	c color.Color
	h hatch
}{
	record.OK:             {color.NRGBA{0x7f, 0xcd, 0xb5, 0xff}, plain},
	record.Late:           {yellow, levelLines},
	record.Shed:           {skyBlue, fallingLines},
	record.Wrong:          {purple, uprightLines},
	record.HTTPError:      {vermillion, plain},
	record.Timeout:        {orange, risingLines},
	record.ConnectError:   {blue, levelLines},
	record.GeneratorError: {grey, plain},
	record.Dropped:        {black, plain},
	record.Unfinished:     {lightGrey, crossed},
}

// outcomeBars stacks the shares of the outcomes of each plateau. A bar reaches
// at most half way to the next plateau, so that bars never overlap; plateaus at
// one rate (refinement lands close) are one bar.
func outcomeBars(ps []Plateau) (plotter, [record.NumOutcomes]bool) {
	var present [record.NumOutcomes]bool
	var merged []Plateau
	for _, p := range ps {
		var total uint64
		for _, n := range p.Outcomes {
			total += n
		}
		for o, n := range p.Outcomes { // below a five-hundredth nobody sees it
			present[o] = present[o] || n > total/500
		}
		if n := len(merged); n > 0 && p.Offered <= merged[n-1].Offered*1.002 {
			for o, k := range p.Outcomes {
				merged[n-1].Outcomes[o] += k
			}
			continue
		}
		merged = append(merged, p)
	}
	return func(c *draw.Canvas, tx, ty func(float64) vg.Length) {
		inset := vg.Length(0.8)
		for i := 1; i < len(merged); i++ {
			if tx(merged[i].Offered)-tx(merged[i-1].Offered) < 6 && len(merged) > 40 {
				inset = 0 // too narrow for gaps between bars
			}
		}
		for i, p := range merged {
			x := tx(p.Offered)
			left, right := vg.Length(14), vg.Length(14)
			if i > 0 {
				left = min(left, (x-tx(merged[i-1].Offered))/2)
			}
			if i < len(merged)-1 {
				right = min(right, (tx(merged[i+1].Offered)-x)/2)
			}
			left, right = left-inset, right-inset
			var total, below float64
			for _, n := range p.Outcomes {
				total += float64(n)
			}
			if total == 0 {
				continue
			}
			for o, n := range p.Outcomes {
				share := 100 * float64(n) / total
				fillRect(c, vg.Rectangle{
					Min: vg.Point{X: max(x-left, c.Min.X), Y: ty(below)},
					Max: vg.Point{X: min(x+right, c.Max.X), Y: ty(below + share)},
				}, outcomeStyles[o].c, outcomeStyles[o].h)
				below += share
			}
		}
	}, present
}
