package plot

import (
	"image/color"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The palette of Okabe and Ito, and greys.
var (
	black      = color.NRGBA{0x1a, 0x1a, 0x1a, 0xff}
	orange     = color.NRGBA{0xe6, 0x9f, 0x00, 0xff}
	skyBlue    = color.NRGBA{0x56, 0xb4, 0xe9, 0xff}
	green      = color.NRGBA{0x00, 0x9e, 0x73, 0xff}
	yellow     = color.NRGBA{0xf0, 0xe4, 0x42, 0xff}
	blue       = color.NRGBA{0x00, 0x72, 0xb2, 0xff}
	vermillion = color.NRGBA{0xd5, 0x5e, 0x00, 0xff}
	purple     = color.NRGBA{0xcc, 0x79, 0xa7, 0xff}
	darkPurple = color.NRGBA{0x9b, 0x3f, 0x75, 0xff} // purple, dark enough for text and thin lines
	grey       = color.NRGBA{0x6b, 0x6b, 0x6b, 0xff}
	midGrey    = color.NRGBA{0x9e, 0x9e, 0x9e, 0xff}
	lightGrey  = color.NRGBA{0xd4, 0xd4, 0xd4, 0xff}
	gridGrey   = color.NRGBA{0xe6, 0xe6, 0xe6, 0xff}
	white      = color.NRGBA{0xff, 0xff, 0xff, 0xff}
)

// Sizes in points. A figure is 900 points wide, which is 1200 pixels at 96 dpi.
const (
	figureWidth = vg.Length(900)
	titleSize   = vg.Length(13)
	labelSize   = vg.Length(11)
	tickSize    = vg.Length(10)
	noteSize    = vg.Length(10)
)

// Dash patterns; solid is nil.
var (
	dashed   = []vg.Length{6, 4}
	dotted   = []vg.Length{1.5, 2.5}
	dashDot  = []vg.Length{8, 3, 2, 3}
	longDash = []vg.Length{12, 4}
)

type lineStyle = draw.LineStyle

func line(c color.Color, width vg.Length, dashes []vg.Length) lineStyle {
	return draw.LineStyle{Color: c, Width: width, Dashes: dashes}
}

// textStyle is Liberation Sans, whose widths are those of Arial and Helvetica,
// so that a viewer without it lays the text out alike.
func textStyle(size vg.Length, c color.Color) text.Style {
	return text.Style{
		Color:   c,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: text.Plain{Fonts: font.DefaultCache},
	}
}

func boldStyle(size vg.Length, c color.Color) text.Style {
	s := textStyle(size, c)
	s.Font.Weight = 3 // bold, in the scale of golang.org/x/image/font
	return s
}

// marker is a shape that is drawn at a point.
type marker uint8

const (
	noMarker marker = iota
	disc
	ring
	square
	openSquare
	triangle
	openTriangle
	diamond
	cross
)

func (m marker) draw(c *draw.Canvas, at vg.Point, r vg.Length, clr color.Color) {
	polygon := func(filled bool, pts ...vg.Point) {
		if filled {
			c.FillPolygon(clr, pts)
			return
		}
		c.FillPolygon(white, pts)
		c.StrokeLines(line(clr, 1.5, nil), append(pts, pts[0]))
	}
	pt := func(dx, dy vg.Length) vg.Point { return vg.Point{X: at.X + dx, Y: at.Y + dy} }
	box := func(h vg.Length) []vg.Point { return []vg.Point{pt(-h, -h), pt(h, -h), pt(h, h), pt(-h, h)} }
	tri := func(h vg.Length) []vg.Point { return []vg.Point{pt(-h, -0.7*h), pt(h, -0.7*h), pt(0, h)} }
	switch m {
	case disc, ring:
		var p vg.Path
		p.Move(pt(r, 0))
		p.Arc(at, r, 0, 6.283185307179586)
		p.Close()
		if m == disc {
			c.SetColor(clr)
			c.Fill(p)
			return
		}
		c.SetColor(white)
		c.Fill(p)
		c.SetLineStyle(line(clr, 1.5, nil))
		c.Stroke(p)
	case square, openSquare:
		polygon(m == square, box(0.9*r)...)
	case triangle, openTriangle:
		polygon(m == triangle, tri(1.15*r)...)
	case diamond:
		polygon(true, pt(-1.2*r, 0), pt(0, -1.2*r), pt(1.2*r, 0), pt(0, 1.2*r))
	case cross:
		s := line(clr, 2, nil)
		c.StrokeLine2(s, at.X-r, at.Y-r, at.X+r, at.Y+r)
		c.StrokeLine2(s, at.X-r, at.Y+r, at.X+r, at.Y-r)
	}
}

// hatch is the pattern of a filled area.
type hatch uint8

const (
	plain hatch = iota
	risingLines
	fallingLines
	levelLines
	uprightLines
	crossed
)

// fillRect fills a rectangle and hatches it with lines every few points.
func fillRect(c *draw.Canvas, r vg.Rectangle, clr color.Color, h hatch) {
	if r.Max.X <= r.Min.X || r.Max.Y <= r.Min.Y {
		return
	}
	c.FillPolygon(clr, []vg.Point{r.Min, {X: r.Max.X, Y: r.Min.Y}, r.Max, {X: r.Min.X, Y: r.Max.Y}})
	const gap = vg.Length(5)
	s := line(color.NRGBA{0, 0, 0, 0x80}, 0.6, nil)
	switch h {
	case levelLines:
		for y := r.Min.Y + gap/2; y < r.Max.Y; y += gap {
			c.StrokeLine2(s, r.Min.X, y, r.Max.X, y)
		}
	case uprightLines:
		for x := r.Min.X + gap/2; x < r.Max.X; x += gap {
			c.StrokeLine2(s, x, r.Min.Y, x, r.Max.Y)
		}
	case risingLines, fallingLines, crossed:
		w, height := r.Max.X-r.Min.X, r.Max.Y-r.Min.Y
		for d := gap / 2; d < w+height; d += gap {
			// The line x + y = d within the rectangle, from its lower left corner.
			x0, y0 := min(d, w), max(0, d-w)
			x1, y1 := max(0, d-height), min(d, height)
			if h != risingLines {
				c.StrokeLine2(s, r.Min.X+x0, r.Min.Y+y0, r.Min.X+x1, r.Min.Y+y1)
			}
			if h != fallingLines {
				c.StrokeLine2(s, r.Max.X-x0, r.Min.Y+y0, r.Max.X-x1, r.Min.Y+y1)
			}
		}
	}
}
