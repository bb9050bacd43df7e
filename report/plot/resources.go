package plot

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Series is one resource series over a run: values in its own unit at seconds
// since the run's origin, rising.
type Series struct {
	Name, Unit string
	AtS, Value []float64
}

// MostSeries is how many series one picture of resources shows.
const MostSeries = 8

// Resources draws resource series one below the other on the time axis of the
// run, with its phases and events. Of more than MostSeries the first are shown.
func Resources(c Course, all []Series, lang Lang) *Figure {
	w := wordsOf(lang)
	all = all[:min(len(all), MostSeries)]
	f := &Figure{title: w.resourcesTitle, about: w.resourcesAbout + ".", height: 90 + 95*vg.Length(max(1, len(all)))}
	areas, names, shadeKeys := c.shades(w)
	f.keys = shadeKeys
	x := timeAxisOf(w, c)
	if len(all) == 0 {
		p := newPanel(x, rateAxis(w, "", 3))
		p.Add(note(w.noData))
		f.panels = []panel{{plot: p, weight: 1}}
		return f
	}
	for i, s := range all {
		scale, unit := 1.0, clean(s.Unit)
		switch s.Unit {
		case "bytes", "By", "B":
			scale, unit = 1e-6, "MB"
		case "1":
			unit = ""
		}
		pts := points{}
		for k := range min(len(s.AtS), len(s.Value)) {
			pts.x, pts.y = append(pts.x, s.AtS[k]), append(pts.y, s.Value[k]*scale)
		}
		across := x
		across.hidden = i < len(all)-1
		p := newPanel(across, signedAxis(w, 4, pts.y))
		for _, a := range areas {
			p.Add(a)
		}
		p.Add(lineOf(pts, false, line(blue, 1.4, nil)))
		name := clean(s.Name)
		if unit != "" {
			name += ", " + unit
		}
		p.Add(corner(name))
		row := panel{plot: p, weight: 1}
		if i == 0 {
			row.spans, row.marks = names, c.marks(x)
		}
		f.panels = append(f.panels, row)
	}
	return f
}

// corner writes a name into the upper left corner of the data area.
func corner(name string) plotter {
	return func(c *draw.Canvas, _, _ func(float64) vg.Length) {
		style := textStyle(noteSize, black)
		at := vg.Point{X: c.Min.X + 6, Y: c.Max.Y - noteSize - 4}
		fillRect(c, vg.Rectangle{Min: vg.Point{X: at.X - 3, Y: at.Y - 3}, Max: vg.Point{X: at.X + style.Width(name) + 3, Y: at.Y + noteSize}}, white, plain)
		c.FillText(style, at, name)
	}
}

// signedAxis is a linear axis from 0, or from the lowest value where that is
// below.
func signedAxis(w words, most int, values []float64) axis {
	a := rateAxis(w, "", most, values...)
	a.max *= 1.4 // room for the name
	if low, high, ok := within(false, values...); ok && low < 0 {
		a.min, a.max = low*1.05, math.Max(high, 0)+0.4*(math.Max(high, 0)-low)
		a.ticks = linearTicks(w, a.min, a.max, most)
	}
	return a
}
