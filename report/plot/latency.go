package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// LatencyCurve draws the median and the 99th percentile of both clocks against
// offered load.
func LatencyCurve(c Curve, lang Lang) *Figure {
	w := wordsOf(lang)
	ps := rising(c.Plateaus)
	f := &Figure{title: w.latencyTitle, about: w.latencyAbout + ".", height: 380}
	kinds := []struct {
		name   string
		value  func(p Plateau) (float64, bool)
		color  color.Color
		marker marker
		dashes []vg.Length
	}{
		{w.response + " p99", func(p Plateau) (float64, bool) { return p.ResponseP99, p.ResponseP99Beyond }, blue, square, nil},
		{w.response + " p50", func(p Plateau) (float64, bool) { return p.ResponseP50, p.ResponseP50Beyond }, blue, openSquare, dashed},
		{w.service + " p99", func(p Plateau) (float64, bool) { return p.ServiceP99, p.ServiceP99Beyond }, orange, disc, longDash},
		{w.service + " p50", func(p Plateau) (float64, bool) { return p.ServiceP50, p.ServiceP50Beyond }, orange, ring, dotted},
	}
	xs := []float64{c.Knee, c.KneeHigh, c.Peak}
	var ys []float64
	for _, p := range ps {
		xs = append(xs, p.Offered)
		for _, k := range kinds {
			v, beyond := k.value(p)
			ys = append(ys, v)
			if beyond {
				ys = append(ys, c.TimeoutUS)
			}
		}
	}
	x := rateAxis(w, w.offered, 12, xs...)
	_, highest, _ := within(true, ys...)
	if c.TimeoutUS <= 4*highest {
		ys = append(ys, c.TimeoutUS)
	}
	y := durationAxis(w, w.latency, ys...)
	only := newPanel(x, y)
	only.Add(band(c.KneeLow, c.KneeHigh, color.NRGBA{0x56, 0xb4, 0xe9, 0x55}))
	only.Add(level(c.TimeoutUS, timeoutStyle))
	size := vg.Length(3.8)
	if len(ps) > 60 {
		size = 2.2
	}
	anyBeyond := false
	for i := len(kinds) - 1; i >= 0; i-- { // the response time lies on top
		k := kinds[i]
		pts, over := points{}, points{}
		for _, p := range ps {
			v, beyond := k.value(p)
			pts.x, pts.y = append(pts.x, p.Offered), append(pts.y, v)
			if beyond {
				over.x, over.y = append(over.x, p.Offered), append(over.y, c.TimeoutUS)
				anyBeyond = true
			}
		}
		only.Add(lineOf(pts, true, line(k.color, 1.6, k.dashes)), markersOf(pts, true, k.marker, size, k.color),
			markersOf(over, true, openTriangle, 5, k.color))
	}
	for _, k := range kinds {
		f.keys = append(f.keys, key{name: k.name, style: line(k.color, 1.6, k.dashes), marker: k.marker})
	}
	if anyBeyond {
		k := key{name: w.beyondTimeout, marker: openTriangle}
		k.style.Color = blue
		f.keys = append(f.keys, k)
	}
	marks := sortMarks([]mark{
		{c.Knee, w.kneeAt + " " + w.rate(c.Knee), line(blue, 1.8, nil)},
		{c.Peak, w.peak + " " + w.rate(c.Peak), line(darkPurple, 1.6, dashDot)},
	}, x)
	if len(ps) == 0 {
		only.Add(note(w.noData))
		marks = nil
	}
	f.keys = append(f.keys, timeoutKey(w, c.TimeoutUS, y)...)
	f.panels = []panel{{plot: only, name: w.latency, weight: 1, marks: marks}}
	return f
}

// Percentiles is one line of a latency spectrum: rising shares in [0,1) and the
// microseconds that they took at most.
type Percentiles struct {
	Name  string
	Clock Clock
	Faint bool // drawn dashed, behind the others
	Q, US []float64
}

// Clock says which clock a line is about; it chooses the colour.
type Clock uint8

// The clocks.
const (
	Response Clock = iota
	Service
)

// Spectrum draws latency over the share of requests, on an axis that stretches
// the tail: 90 %, 99 % and 99.9 % are equally far apart.
func Spectrum(lines []Percentiles, timeoutUS float64, lang Lang) *Figure {
	w := wordsOf(lang)
	f := &Figure{title: w.spectrumTitle, about: w.spectrumAbout + ".", height: 380}
	var ys []float64
	deepest := 0.0
	for _, l := range lines {
		ys = append(ys, l.US...)
		for _, q := range l.Q {
			if d := tailDistance(q); !math.IsInf(d, 0) && !math.IsNaN(d) {
				deepest = max(deepest, d)
			}
		}
	}
	_, highest, _ := within(true, ys...)
	if timeoutUS <= 4*highest {
		ys = append(ys, timeoutUS)
	}
	y := durationAxis(w, w.latency, ys...)
	p := newPanel(percentileAxis(w, w.percentile, min(deepest, 7)), y)
	p.Add(level(timeoutUS, timeoutStyle))
	for pass := range 2 {
		for _, l := range lines {
			if l.Faint != (pass == 0) {
				continue
			}
			pts := points{}
			for i := range min(len(l.Q), len(l.US)) {
				pts.x, pts.y = append(pts.x, tailDistance(l.Q[i])), append(pts.y, l.US[i])
			}
			p.Add(lineOf(pts, true, l.style()))
		}
	}
	for _, l := range lines {
		f.keys = append(f.keys, key{name: clean(l.Name), style: l.style()})
	}
	if _, _, ok := within(true, ys...); !ok || len(lines) == 0 {
		p.Add(note(w.noData))
	}
	f.keys = append(f.keys, timeoutKey(w, timeoutUS, y)...)
	f.panels = []panel{{plot: p, name: w.latency, weight: 1}}
	return f
}

func (l Percentiles) style() (s lineStyle) {
	s = line(blue, 2, nil)
	if l.Clock == Service {
		s = line(orange, 2, longDash)
	}
	if l.Faint {
		s.Width = 1.2
		s.Dashes = dotted
		if l.Clock == Service {
			s.Dashes = dashDot
		}
	}
	return s
}

var timeoutStyle = line(grey, 1, dashDot)

// timeoutKey is the key of the timeout's line, where the axis shows it.
func timeoutKey(w words, us float64, y axis) []key {
	if !(us >= y.min && us <= y.max) {
		return nil
	}
	return []key{{name: w.timeout + " " + w.duration(us), style: timeoutStyle}}
}
