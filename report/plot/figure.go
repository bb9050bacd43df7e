package plot

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/color"
	"math"
	"slices"
	"strings"
	"unicode"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a picture that can be rendered as SVG or PNG.
type Figure struct {
	title  string
	about  string // one sentence for readers who can't see the picture
	keys   []key
	panels []panel
	height vg.Length
	side   vg.Length                                   // room kept at the right of the panels
	beside func(c *draw.Canvas, around []vg.Rectangle) // draws into that room, given the panels' data areas
}

// panel is one plot of a figure, as high as its weight says.
type panel struct {
	plot   *gonum.Plot
	name   string // of the vertical axis
	weight float64
	marks  []mark
	spans  []span
}

// mark is a vertical line whose name stands above the panel.
type mark struct {
	at    float64
	name  string
	style draw.LineStyle
}

// span is a stretch of the horizontal axis whose name stands above it, if it fits.
type span struct {
	from, to float64
	name     string
}

// key is one entry of the row of keys above the panels.
type key struct {
	name   string
	style  draw.LineStyle // a line, where its width is above 0
	marker marker
	fill   color.Color // an area, where not nil
	hatch  hatch
}

const (
	outerMargin = vg.Length(12)
	stripRow    = vg.Length(14)
	panelGap    = vg.Length(10)
)

// Title is the figure's title.
func (f *Figure) Title() string { return f.title }

// About is one sentence that says what the figure shows.
func (f *Figure) About() string { return f.about }

// SVG renders the figure as a complete SVG document, 1200 pixels wide at 96
// dpi, whose text stays text.
func (f *Figure) SVG() ([]byte, error) {
	svg, _, err := f.Render()
	return svg, err
}

// Area is where a panel's data lie in a picture, so that a pointer can be told
// what it points at.
type Area struct {
	// Left, Right, Top and Bottom are shares of the picture's width and height,
	// from its upper left corner.
	Left   float64 `json:"left"`
	Right  float64 `json:"right"`
	Top    float64 `json:"top"`
	Bottom float64 `json:"bottom"`
	// From and To are the values at Left and Right, on a linear scale.
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// Render is SVG with the areas of the panels, from top to bottom.
func (f *Figure) Render() (svg []byte, areas []Area, err error) {
	defer recovered(f.title, &err)
	c := vgsvg.NewWith(vgsvg.UseWH(figureWidth, f.height))
	around := f.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return nil, nil, fmt.Errorf("plot %q: %w", f.title, err)
	}
	for i, r := range around {
		w, h := float64(figureWidth), float64(f.height)
		areas = append(areas, Area{
			Left: float64(r.Min.X) / w, Right: float64(r.Max.X) / w, Top: 1 - float64(r.Max.Y)/h, Bottom: 1 - float64(r.Min.Y)/h,
			From: f.panels[i].plot.X.Min, To: f.panels[i].plot.X.Max,
		})
	}
	return f.finish(b.String()), areas, nil
}

// finish gives the document a name for screen readers, a size that scales, and
// fonts that every viewer has.
func (f *Figure) finish(svg string) []byte {
	_, body, _ := strings.Cut(svg, "xmlns:xlink=\"http://www.w3.org/1999/xlink\">")
	body = strings.ReplaceAll(body, "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	body = strings.ReplaceAll(body, "font-variant:none;", "")
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %g %g" role="img" aria-label="%s">`,
		int(figureWidth*4/3), int(f.height*4/3), float64(figureWidth), float64(f.height), html.EscapeString(f.title+". "+f.about))
	return []byte(head + "\n<title>" + html.EscapeString(f.title) + "</title>" + body)
}

// PNG renders the figure 2400 pixels wide, sharp on paper and on dense screens.
func (f *Figure) PNG() (out []byte, err error) {
	defer recovered(f.title, &err)
	c := vgimg.NewWith(vgimg.UseWH(figureWidth, f.height), vgimg.UseDPI(192))
	f.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(&b); err != nil {
		return nil, fmt.Errorf("plot %q: %w", f.title, err)
	}
	return b.Bytes(), nil
}

// recovered turns a panic of the drawing library into an error, so that one
// odd picture can't take a report or a server down.
func recovered(title string, err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("plot %q: %v", title, r)
	}
}

// draw paints the figure and returns the data areas of its panels.
func (f *Figure) draw(c draw.Canvas) []vg.Rectangle {
	c.FillPolygon(white, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	c = draw.Crop(c, outerMargin, -outerMargin, outerMargin, -outerMargin)
	title := boldStyle(titleSize, black)
	title.YAlign = -1
	c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y}, f.title)
	c.Max.Y -= titleSize + 8
	c.Max.Y -= drawKeys(&c, f.keys)
	c.Max.X -= f.side
	left := c.Min.X
	c.Min.X += labelSize + 6

	var total float64
	strips := make([]vg.Length, len(f.panels))
	room := c.Max.Y - c.Min.Y - panelGap*vg.Length(len(f.panels)-1)
	for i, p := range f.panels {
		total += p.weight
		strips[i] = p.strip(c)
		room -= strips[i]
	}
	areas := make([]draw.Canvas, len(f.panels))
	top := c.Max.Y
	for i, p := range f.panels {
		top -= strips[i]
		h := room * vg.Length(p.weight/total)
		areas[i] = c
		areas[i].Max.Y, areas[i].Min.Y = top, top-h
		top -= h + panelGap
	}
	align(f.panels, areas)
	around := make([]vg.Rectangle, len(areas))
	for i, p := range f.panels {
		p.plot.Draw(areas[i])
		dc := p.plot.DataCanvas(areas[i])
		around[i] = dc.Rectangle
		p.annotate(&dc)
		name := textStyle(labelSize, black)
		name.Rotation = math.Pi / 2
		name.XAlign, name.YAlign = -0.5, -1
		dc.FillText(name, vg.Point{X: left, Y: (dc.Min.Y + dc.Max.Y) / 2}, p.name)
	}
	if f.beside != nil {
		f.beside(&c, around)
	}
	return around
}

// align crops the panels so that their data areas share left and right edges.
func align(panels []panel, areas []draw.Canvas) {
	for range 2 {
		left, right := vg.Length(math.Inf(-1)), vg.Length(math.Inf(1))
		data := make([]vg.Rectangle, len(panels))
		for i, p := range panels {
			data[i] = p.plot.DataCanvas(areas[i]).Rectangle
			left, right = max(left, data[i].Min.X), min(right, data[i].Max.X)
		}
		for i := range panels {
			areas[i].Min.X += left - data[i].Min.X
			areas[i].Max.X -= data[i].Max.X - right
		}
	}
}

// strip is the height that the names above the panel need.
func (p *panel) strip(c draw.Canvas) vg.Length {
	rows := 0
	if len(p.spans) > 0 {
		rows = 1
	}
	if len(p.marks) > 0 {
		dc := p.plot.DataCanvas(c)
		_, n := p.rows(&dc)
		rows += n
	}
	if rows == 0 {
		return 0
	}
	return stripRow*vg.Length(rows) + 2
}

// rows puts the names of the marks into rows without overlap; it returns the
// left edge and row of each, and how many rows there are.
func (p *panel) rows(dc *draw.Canvas) (at []vg.Point, n int) {
	style := textStyle(noteSize, black)
	tx, _ := p.plot.Transforms(dc)
	var ends []vg.Length
	for _, m := range p.marks {
		w := style.Width(m.name)
		x := min(max(tx(m.at)-w/2, dc.Min.X), dc.Max.X-w)
		row := 0
		for row < len(ends) && x < ends[row]+10 {
			row++
		}
		if row == len(ends) {
			ends = append(ends, 0)
		}
		ends[row] = x + w
		at = append(at, vg.Point{X: x, Y: vg.Length(row)})
	}
	return at, len(ends)
}

func (p *panel) annotate(dc *draw.Canvas) {
	tx, _ := p.plot.Transforms(dc)
	y := dc.Max.Y + 3
	if len(p.spans) > 0 {
		style := textStyle(noteSize, grey)
		style.XAlign = -0.5
		end := dc.Min.X - 1
		for _, s := range p.spans {
			from, to := max(tx(s.from), dc.Min.X), min(tx(s.to), dc.Max.X)
			mid, w := (from+to)/2, style.Width(s.name)
			if w > to-from || mid-w/2 < end+4 {
				continue
			}
			dc.FillText(style, vg.Point{X: mid, Y: y}, s.name)
			end = mid + w/2
		}
		y += stripRow
	}
	at, n := p.rows(dc)
	// The first row stands highest; names cover the lines that pass behind them.
	base := func(i int) vg.Length { return y + stripRow*vg.Length(n-1-int(at[i].Y)) }
	for i, m := range p.marks {
		x := tx(m.at)
		dc.StrokeLine2(m.style, x, dc.Min.Y, x, base(i)-1)
	}
	for i, m := range p.marks {
		style := textStyle(noteSize, m.style.Color)
		from := vg.Point{X: at[i].X, Y: base(i)}
		to := vg.Point{X: from.X + style.Width(m.name), Y: from.Y + noteSize}
		fillRect(dc, vg.Rectangle{Min: vg.Point{X: from.X - 3, Y: from.Y - 3}, Max: vg.Point{X: to.X + 3, Y: to.Y}}, white, plain)
		dc.FillText(style, from, m.name)
	}
}

// sortMarks drops marks without a place and sorts the others from left to right.
func sortMarks(marks []mark, ax axis) []mark {
	marks = slices.DeleteFunc(marks, func(m mark) bool {
		return math.IsNaN(m.at) || m.at < ax.min || m.at > ax.max
	})
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
	return marks
}

// drawKeys writes the keys in rows below the top of c and returns their height.
func drawKeys(c *draw.Canvas, keys []key) vg.Length {
	if len(keys) == 0 {
		return 0
	}
	const gap, rowHeight = vg.Length(16), vg.Length(16)
	style := textStyle(noteSize, black)
	style.YAlign = -0.5
	x, y := c.Min.X, c.Max.Y-rowHeight/2
	rows := vg.Length(1)
	for _, k := range keys {
		symbol := vg.Length(26)
		if k.fill == nil && k.style.Width == 0 {
			symbol = 10
		}
		w := symbol + 5 + style.Width(k.name)
		if x > c.Min.X && x+w > c.Max.X {
			x, y, rows = c.Min.X, y-rowHeight, rows+1
		}
		if k.fill != nil {
			fillRect(c, vg.Rectangle{Min: vg.Point{X: x, Y: y - 5}, Max: vg.Point{X: x + symbol, Y: y + 5}}, k.fill, k.hatch)
			c.StrokeLines(line(midGrey, 0.5, nil), []vg.Point{
				{X: x, Y: y - 5}, {X: x + symbol, Y: y - 5}, {X: x + symbol, Y: y + 5}, {X: x, Y: y + 5}, {X: x, Y: y - 5},
			})
		}
		if k.style.Width > 0 {
			c.StrokeLine2(k.style, x, y, x+symbol, y)
		}
		if k.marker != noMarker {
			k.marker.draw(c, vg.Point{X: x + symbol/2, Y: y}, 4, k.style.Color)
		}
		c.FillText(style, vg.Point{X: x + symbol + 5, Y: y}, k.name)
		x += w + gap
	}
	return rows*rowHeight + 8
}

// clean takes control characters out of a name that came from a plan, and
// shortens it: they would make the SVG ill-formed.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || r == 0xFFFE || r == 0xFFFF {
			return -1
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 64 {
		s = string(r[:63]) + "…"
	}
	return s
}
