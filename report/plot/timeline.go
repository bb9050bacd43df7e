package plot

import (
	"image/color"
	"math"
	"slices"
	"strings"

	"headroom/store/record"
)

// Slice is one interval of a run. Times are seconds since the run's origin,
// rates requests per second of the interval, durations microseconds.
type Slice struct {
	StartS, WidthS                 float64
	Quiet                          bool // part of a drain: nothing was scheduled
	Offered, Goodput, Errors, Shed float64
	InFlight, Waiting              float64 // at the interval's end
	LagP50, LagP99, LagMax         float64
}

// Phase is a labelled span of a run, in seconds since its origin.
type Phase struct {
	Kind         record.PhaseKind
	StartS, EndS float64
	TargetRPS    float64
}

// Event is an instant worth a line: a fault that was acknowledged or lifted.
type Event struct {
	AtS  float64
	Name string
}

// Course is a run over time.
type Course struct {
	Slices []Slice
	Phases []Phase
	Events []Event
	// Limits of the lag in microseconds; NaN where there is none to draw.
	LagSuspectUS, LagUntrustedUS float64
}

func (c Course) span() (from, to float64) {
	from, to = math.Inf(1), math.Inf(-1)
	for _, s := range c.Slices {
		from, to = min(from, s.StartS), max(to, s.StartS+s.WidthS)
	}
	for _, p := range c.Phases {
		if p.EndS > p.StartS {
			from, to = min(from, p.StartS), max(to, p.EndS)
		}
	}
	if !(to > from) {
		return 0, 1
	}
	return from, to
}

// column is one value of every interval. With quiet, intervals in which nothing
// was scheduled on purpose (drains) are gaps.
func (c Course) column(quiet bool, value func(Slice) float64) points {
	var pts points
	last := math.Inf(-1)
	for _, s := range c.Slices {
		if s.Quiet && quiet {
			continue
		}
		if last < s.StartS-0.1*s.WidthS { // a gap in the evidence is a gap in the line
			pts.x, pts.y = append(pts.x, s.StartS), append(pts.y, math.NaN())
		}
		pts.x, pts.y = append(pts.x, s.StartS+s.WidthS/2), append(pts.y, value(s))
		last = s.StartS + s.WidthS
	}
	return pts
}

// Shades of the phases: what is not judged is grey, what comes after the sweep is tinted.
var (
	warmupShade = color.NRGBA{0xec, 0xec, 0xec, 0xff}
	stepShade   = color.NRGBA{0xee, 0xf5, 0xfb, 0xff}
	stepShade2  = color.NRGBA{0xdd, 0xeb, 0xf6, 0xff}
	refineShade = color.NRGBA{0xfb, 0xf6, 0xd4, 0xff}
	beyondShade = color.NRGBA{0xfb, 0xe6, 0xd9, 0xff}
)

// shades returns the shaded stretches, the names above them and their keys.
func (c Course) shades(w words) (areas []plotter, names []span, keys []key) {
	seen := map[record.PhaseKind]bool{}
	plateaus := 0
	for _, p := range c.Phases {
		var shade color.Color
		var name, kind string
		switch p.Kind {
		case record.Warmup:
			shade, name, kind = warmupShade, w.warmup, w.warmup
		case record.Refine:
			shade, name, kind = refineShade, w.bare(p.TargetRPS), w.refine
		case record.Beyond, record.Burst, record.FaultOn:
			shade, name, kind = beyondShade, w.bare(p.TargetRPS), w.beyond
		case record.Drain:
			continue
		default:
			shade, name, kind = stepShade, w.bare(p.TargetRPS), w.step
			if plateaus++; plateaus%2 == 0 {
				shade = stepShade2
			}
		}
		if p.Kind != record.Warmup && !p.Kind.Judged() {
			kind = ""
		}
		areas = append(areas, band(p.StartS, p.EndS, shade))
		names = append(names, span{p.StartS, p.EndS, name})
		if kind != "" && !seen[p.Kind] {
			seen[p.Kind] = true
			keys = append(keys, key{name: kind, fill: shade})
		}
	}
	return areas, names, keys
}

// bare writes a rate for a place where the unit is understood.
func (w words) bare(v float64) string {
	if v == 0 {
		return ""
	}
	return strings.TrimSuffix(w.rate(v), "/s")
}

func (c Course) marks(x axis) []mark {
	var marks []mark
	for _, e := range c.Events {
		marks = append(marks, mark{e.AtS, clean(e.Name), line(vermillion, 1, dashDot)})
	}
	return sortMarks(marks, x)
}

// Timeline draws offered load, goodput and errors over time and, below, the
// requests in flight. A drain is not shaded.
func Timeline(c Course, lang Lang) *Figure {
	w := wordsOf(lang)
	f := &Figure{title: w.timelineTitle, about: w.timelineAbout + ".", height: 460}
	areas, names, shadeKeys := c.shades(w)
	rates := []struct {
		name  string
		pts   points
		style lineStyle
	}{
		{w.outcomes[record.Shed], c.column(true, func(s Slice) float64 { return s.Shed }), line(skyBlue, 1.2, nil)},
		{w.errors, c.column(true, func(s Slice) float64 { return s.Errors }), line(vermillion, 1.2, nil)},
		{w.offeredName, c.column(true, func(s Slice) float64 { return s.Offered }), line(black, 1, dotted)},
		{w.goodputName, c.column(true, func(s Slice) float64 { return s.Goodput }), line(green, 1.6, nil)},
	}
	var ys []float64
	for _, r := range rates {
		ys = append(ys, r.pts.y...)
	}
	x := timeAxisOf(w, c)
	top := x
	top.hidden = true
	upper := newPanel(top, rateAxis(w, w.requestsPerS, 6, ys...))
	inFlight := c.column(false, func(s Slice) float64 { return s.InFlight })
	waiting := c.column(false, func(s Slice) float64 { return s.Waiting })
	lower := newPanel(x, rateAxis(w, w.requestsCount, 4, append(slices.Clone(inFlight.y), waiting.y...)...))
	for _, a := range areas {
		upper.Add(a)
		lower.Add(a)
	}
	for i, r := range rates {
		if i == 0 && !anyAbove(r.pts.y, 0) {
			continue
		}
		crowd := meanAndSpan
		if r.name == w.offeredName {
			crowd = meanOnly // its noise would hide the goodput's
		}
		upper.Add(crowdedLineOf(r.pts, false, r.style, crowd))
		f.keys = slices.Insert(f.keys, 0, key{name: r.name, style: r.style})
	}
	waitStyle := line(orange, 1.2, dashed)
	flightStyle := line(blue, 1.4, nil)
	lower.Add(lineOf(inFlight, false, flightStyle))
	f.keys = append(f.keys, key{name: w.inFlight, style: flightStyle})
	if anyAbove(waiting.y, 0) {
		lower.Add(lineOf(waiting, false, waitStyle))
		f.keys = append(f.keys, key{name: w.waiting, style: waitStyle})
	}
	f.keys = append(f.keys, shadeKeys...)
	if len(c.Slices) == 0 {
		upper.Add(note(w.noData))
	}
	f.panels = []panel{
		{plot: upper, name: w.requestsPerS, weight: 2.2, spans: names, marks: c.marks(x)},
		{plot: lower, name: w.requestsCount, weight: 1},
	}
	return f
}

func timeAxisOf(w words, c Course) axis {
	from, to := c.span()
	return timeAxis(w, from, to)
}

func anyAbove(vs []float64, limit float64) bool {
	return slices.ContainsFunc(vs, func(v float64) bool { return v > limit })
}

// LagCourse draws the generator's lag per interval: median, 99th percentile and
// maximum, with the limits above which a run is suspect or untrusted.
func LagCourse(c Course, lang Lang) *Figure {
	w := wordsOf(lang)
	f := &Figure{title: w.lagTitle, about: w.lagAbout + ".", height: 330}
	areas, names, _ := c.shades(w)
	lines := []struct {
		name  string
		pts   points
		style lineStyle
	}{
		{w.max, c.column(true, func(s Slice) float64 { return s.LagMax }), line(midGrey, 1, dotted)},
		{"p99", c.column(true, func(s Slice) float64 { return s.LagP99 }), line(blue, 1.3, nil)},
		{"p50", c.column(true, func(s Slice) float64 { return s.LagP50 }), line(green, 1.3, dashed)},
	}
	var ys []float64
	for _, l := range lines {
		for i, v := range l.pts.y {
			if v > 0 && v < 1 { // below the histogram's resolution
				l.pts.y[i] = 1
			}
		}
		ys = append(ys, l.pts.y...)
	}
	x := timeAxisOf(w, c)
	p := newPanel(x, durationAxis(w, w.lagAxis, append(ys, c.LagSuspectUS, c.LagUntrustedUS)...))
	for _, a := range areas {
		p.Add(a)
	}
	for _, l := range lines {
		crowd := meanAndSpan
		if l.name == w.max {
			crowd = highestOnly
		}
		p.Add(crowdedLineOf(l.pts, true, l.style, crowd))
		f.keys = append(f.keys, key{name: l.name, style: l.style})
	}
	suspect, untrusted := line(darkPurple, 1.2, dashDot), line(vermillion, 1.2, longDash)
	p.Add(level(c.LagSuspectUS, suspect), level(c.LagUntrustedUS, untrusted))
	if !math.IsNaN(c.LagSuspectUS) {
		f.keys = append(f.keys, key{name: "p99: " + w.suspect + " " + w.duration(c.LagSuspectUS), style: suspect})
	}
	if !math.IsNaN(c.LagUntrustedUS) {
		f.keys = append(f.keys, key{name: w.untrusted + " " + w.duration(c.LagUntrustedUS), style: untrusted})
	}
	if _, _, ok := within(true, ys...); !ok {
		p.Add(note(w.noData))
	}
	f.panels = []panel{{plot: p, name: w.lagAxis, weight: 1, spans: names}}
	return f
}
