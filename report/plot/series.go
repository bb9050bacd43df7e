package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// points is a line: y over x, NaN where there is a gap.
type points struct {
	x, y []float64
}

// column is the width within which a line is one value: what a pixel shows.
const column = vg.Length(0.75)

// lineOf draws a line. Where it has several points a column, the span from the
// lowest to the highest of each column is shaded and the line is their mean, so
// that a spike among a million points stays visible and the file stays small.
func lineOf(pts points, log bool, style draw.LineStyle) plotter {
	return crowdedLineOf(pts, log, style, meanAndSpan)
}

// crowd says what is drawn of a line that has several points a column.
type crowd uint8

const (
	meanAndSpan crowd = iota
	meanOnly
	highestOnly
)

func crowdedLineOf(pts points, log bool, style draw.LineStyle, crowd crowd) plotter {
	return func(c *draw.Canvas, tx, ty func(float64) vg.Length) {
		for _, run := range runs(pts, log) {
			at := make([]vg.Point, 0, len(run.x))
			for i := range run.x {
				at = append(at, vg.Point{X: tx(run.x[i]), Y: ty(run.y[i])})
			}
			if width := at[len(at)-1].X - at[0].X; len(at) > 8 && vg.Length(len(at)) > 2*width/column {
				mean, envelope := thin(at)
				at = mean
				switch crowd {
				case meanAndSpan:
					r, g, b, _ := style.Color.RGBA()
					c.FillPolygon(color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0x50}, c.ClipPolygonXY(envelope))
				case highestOnly:
					at = envelope[:len(mean)]
				}
			}
			if len(at) == 1 { // one point between gaps is a short stroke, not nothing
				at = []vg.Point{{X: at[0].X - 1.5, Y: at[0].Y}, {X: at[0].X + 1.5, Y: at[0].Y}}
			}
			c.StrokeLines(style, c.ClipLinesXY(at)...)
		}
	}
}

// runs cuts a line at its gaps.
func runs(pts points, log bool) []points {
	var out []points
	open := false
	for i := range min(len(pts.x), len(pts.y)) {
		x, y := pts.x[i], pts.y[i]
		if math.IsNaN(x) || math.IsInf(x, 0) || math.IsNaN(y) || math.IsInf(y, 0) || log && y <= 0 {
			open = false
			continue
		}
		if !open {
			out, open = append(out, points{}), true
		}
		last := &out[len(out)-1]
		last.x, last.y = append(last.x, x), append(last.y, y)
	}
	return out
}

// thin returns the mean of each column and the polygon around its lowest and
// highest points.
func thin(at []vg.Point) (mean, envelope []vg.Point) {
	var low []vg.Point
	for i := 0; i < len(at); {
		col := math.Floor(float64(at[i].X / column))
		lowest, highest, sum := at[i].Y, at[i].Y, vg.Length(0)
		j := i
		for ; j < len(at) && math.Floor(float64(at[j].X/column)) == col; j++ {
			lowest, highest, sum = min(lowest, at[j].Y), max(highest, at[j].Y), sum+at[j].Y
		}
		x := column * vg.Length(col+0.5)
		mean = append(mean, vg.Point{X: x, Y: sum / vg.Length(j-i)})
		envelope = append(envelope, vg.Point{X: x, Y: highest})
		low = append(low, vg.Point{X: x, Y: lowest})
		i = j
	}
	for i := len(low) - 1; i >= 0; i-- {
		envelope = append(envelope, low[i])
	}
	return mean, envelope
}

// markersOf draws a marker at each point.
func markersOf(pts points, log bool, m marker, r vg.Length, clr color.Color) plotter {
	return func(c *draw.Canvas, tx, ty func(float64) vg.Length) {
		for _, run := range runs(pts, log) {
			for i := range run.x {
				if at := (vg.Point{X: tx(run.x[i]), Y: ty(run.y[i])}); c.Contains(at) {
					m.draw(c, at, r, clr)
				}
			}
		}
	}
}

// band shades the data area between two values of the horizontal axis.
func band(from, to float64, clr color.Color) plotter {
	return func(c *draw.Canvas, tx, _ func(float64) vg.Length) {
		if math.IsNaN(from) || math.IsNaN(to) {
			return
		}
		x0, x1 := max(tx(from), c.Min.X), min(tx(to), c.Max.X)
		if x1 < c.Min.X || x0 > c.Max.X {
			return
		}
		if x1-x0 < 1 {
			x1 = x0 + 1
		}
		fillRect(c, vg.Rectangle{Min: vg.Point{X: x0, Y: c.Min.Y}, Max: vg.Point{X: x1, Y: c.Max.Y}}, clr, plain)
	}
}

// level draws a horizontal line across the data area.
func level(at float64, style draw.LineStyle) plotter {
	return func(c *draw.Canvas, _, ty func(float64) vg.Length) {
		if y := ty(at); !math.IsNaN(at) && y >= c.Min.Y && y <= c.Max.Y {
			c.StrokeLine2(style, c.Min.X, y, c.Max.X, y)
		}
	}
}

// note writes a sentence in the middle of an empty panel.
func note(text string) plotter {
	return func(c *draw.Canvas, _, _ func(float64) vg.Length) {
		style := textStyle(labelSize, grey)
		style.XAlign, style.YAlign = -0.5, -0.5
		c.FillText(style, c.Center(), text)
	}
}
