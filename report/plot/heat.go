package plot

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// cellsPerDecade is how finely the heat map divides the logarithm of time.
const cellsPerDecade = 12

// HeatColumn is a slice of time of a heat map: how many requests scheduled in
// it had a response time in each cell.
type HeatColumn struct {
	StartS, WidthS float64
	Cells          map[int]uint64 // by number, see HeatCell
}

// HeatCell is the number of the cell that holds a duration in microseconds;
// cell k spans 10^(k/12) to 10^((k+1)/12) µs. Below 1 µs it is 0.
func HeatCell(us float64) int {
	if !(us > 1) {
		return 0
	}
	return int(math.Floor(cellsPerDecade*math.Log10(us) + 1e-9))
}

func cellEdge(k int) float64 { return math.Pow(10, float64(k)/cellsPerDecade) }

// heatColors run from few to many: viridis turned around, so that dark is many
// on white paper and the order survives without colour.
var heatColors = []color.NRGBA{
	{0xf4, 0xe6, 0x8c, 0xff},
	{0xc2, 0xdf, 0x5c, 0xff},
	{0x86, 0xd0, 0x5a, 0xff},
	{0x4a, 0xbd, 0x6d, 0xff},
	{0x23, 0xa4, 0x83, 0xff},
	{0x20, 0x8c, 0x8d, 0xff},
	{0x2a, 0x74, 0x8e, 0xff},
	{0x36, 0x5b, 0x8c, 0xff},
	{0x42, 0x3f, 0x85, 0xff},
	{0x47, 0x22, 0x6e, 0xff},
	{0x3b, 0x0a, 0x4c, 0xff},
}

// HeatMap draws response time over time, one cell per column and twelfth of a
// decade, coloured by the logarithm of the requests per second in it.
func HeatMap(columns []HeatColumn, c Course, timeoutUS float64, lang Lang) *Figure {
	w := wordsOf(lang)
	f := &Figure{title: w.heatTitle, about: w.heatAbout + ".", height: 420, side: 86}
	var ys []float64
	low, high := math.Inf(1), 0.0 // requests per second in a cell
	for _, col := range columns {
		for k, n := range col.Cells {
			if n == 0 || !(col.WidthS > 0) {
				continue
			}
			ys = append(ys, cellEdge(k), cellEdge(k+1))
			v := float64(n) / col.WidthS
			low, high = min(low, v), max(high, v)
		}
	}
	_, highest, ok := within(true, ys...)
	if timeoutUS <= 4*highest {
		ys = append(ys, timeoutUS)
	}
	_, names, _ := c.shades(w) // the cells are the picture: phases are named, not shaded
	x := timeAxisOf(w, c)
	y := durationAxis(w, w.latency, ys...)
	p := newPanel(x, y)
	shade := func(v float64) int {
		if !(high > low) {
			return len(heatColors) - 1
		}
		k := int(float64(len(heatColors)) * math.Log(v/low) / math.Log(high/low))
		return min(max(k, 0), len(heatColors)-1)
	}
	p.Add(heatCells(columns, shade))
	p.Add(level(timeoutUS, timeoutStyle))
	if !ok {
		p.Add(note(w.noData))
	} else {
		f.beside = func(dc *draw.Canvas, around []vg.Rectangle) { drawHeatScale(dc, around[0], w, low, high) }
	}
	f.keys = timeoutKey(w, timeoutUS, y)
	f.panels = []panel{{plot: p, name: w.latency, weight: 1, spans: names, marks: c.marks(x)}}
	return f
}

// heatCells fills the cells of one colour as one path, which keeps the SVG small.
func heatCells(columns []HeatColumn, shade func(float64) int) plotter {
	return func(c *draw.Canvas, tx, ty func(float64) vg.Length) {
		paths := make([]vg.Path, len(heatColors))
		for _, col := range columns {
			x0, x1 := max(tx(col.StartS), c.Min.X), min(tx(col.StartS+col.WidthS), c.Max.X)
			if x1 <= x0 || !(col.WidthS > 0) {
				continue
			}
			keys := make([]int, 0, len(col.Cells))
			for k, n := range col.Cells {
				if n > 0 {
					keys = append(keys, k)
				}
			}
			slices.Sort(keys)
			for i := 0; i < len(keys); { // neighbours of one colour are one rectangle
				s := shade(float64(col.Cells[keys[i]]) / col.WidthS)
				j := i + 1
				for j < len(keys) && keys[j] == keys[j-1]+1 && shade(float64(col.Cells[keys[j]])/col.WidthS) == s {
					j++
				}
				y0, y1 := max(ty(cellEdge(keys[i])), c.Min.Y), min(ty(cellEdge(keys[j-1]+1)), c.Max.Y)
				i = j
				p := &paths[s]
				p.Move(vg.Point{X: x0, Y: y0})
				p.Line(vg.Point{X: x1, Y: y0})
				p.Line(vg.Point{X: x1, Y: y1})
				p.Line(vg.Point{X: x0, Y: y1})
				p.Close()
			}
		}
		for s, p := range paths {
			if len(p) > 0 {
				c.SetColor(heatColors[s])
				c.Fill(p)
			}
		}
	}
}

// drawHeatScale draws the colours with their values at the right of the panel.
func drawHeatScale(c *draw.Canvas, around vg.Rectangle, w words, low, high float64) {
	left, width := around.Max.X+26, vg.Length(14)
	bottom, height := around.Min.Y, around.Max.Y-around.Min.Y
	n := len(heatColors)
	for i, clr := range heatColors {
		y0 := bottom + height*vg.Length(i)/vg.Length(n)
		fillRect(c, vg.Rectangle{Min: vg.Point{X: left, Y: y0}, Max: vg.Point{X: left + width, Y: y0 + height/vg.Length(n)}}, clr, plain)
	}
	style := textStyle(tickSize, black)
	style.YAlign = -0.5
	put := func(v float64, y vg.Length) {
		c.StrokeLine2(line(midGrey, 0.6, nil), left+width, y, left+width+3, y)
		c.FillText(style, vg.Point{X: left + width + 5, Y: y}, w.short(v))
	}
	if !(high > low) {
		put(high, bottom+height/2)
	} else {
		step := math.Log10(high/low) / 5
		if step > 0.7 {
			step = math.Ceil(step)
		} else {
			step = 0 // less than a few decades: even steps
		}
		if step > 0 {
			for e := math.Ceil(math.Log10(low)); math.Pow(10, e) <= high; e += step {
				put(math.Pow(10, e), bottom+height*vg.Length(math.Log(math.Pow(10, e)/low)/math.Log(high/low)))
			}
		} else {
			for i := range 5 {
				share := float64(i) / 4
				put(low*math.Pow(high/low, share), bottom+height*vg.Length(share))
			}
		}
	}
	title := textStyle(labelSize, black)
	title.Rotation = math.Pi / 2
	title.XAlign, title.YAlign = -0.5, 0
	c.FillText(title, vg.Point{X: left - 6, Y: bottom + height/2}, w.heatScale)
}
