package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// axis is one axis of a panel: its name with the unit, its range and its ticks.
type axis struct {
	label    string
	min, max float64
	log      bool
	ticks    []gonum.Tick
	hidden   bool // shares the ticks of the panel below: no words
}

// logScale is a logarithmic scale that never panics: what it can't show lies on its lower end.
type logScale struct{}

func (logScale) Normalize(min, max, x float64) float64 {
	if !(min > 0) || !(max > min) || !(x > 0) {
		return 0
	}
	return math.Log(x/min) / math.Log(max/min)
}

// newPanel returns an empty plot with the two axes and a faint grid at the major ticks.
func newPanel(x, y axis) *gonum.Plot {
	p := gonum.New()
	p.BackgroundColor = nil
	for _, side := range []struct {
		a     *gonum.Axis
		given axis
	}{{&p.X, x}, {&p.Y, y}} {
		a, given := side.a, side.given
		a.Min, a.Max = given.min, given.max
		a.Label.Padding = 3
		for _, s := range []*text.Style{&a.Label.TextStyle, &a.Tick.Label} {
			ours := textStyle(tickSize, black)
			s.Font, s.Color, s.Handler = ours.Font, ours.Color, ours.Handler
		}
		a.Label.TextStyle.Font.Size = labelSize
		a.Tick.LineStyle = line(midGrey, 0.6, nil)
		a.Tick.Length = 5
		a.LineStyle = line(midGrey, 0.8, nil)
		a.Padding = 0
		ticks := given.ticks
		if given.hidden {
			ticks = unnamed(ticks)
		}
		a.Tick.Marker = gonum.ConstantTicks(ticks)
		if given.log {
			a.Scale = logScale{}
		}
	}
	if !x.hidden {
		p.X.Label.Text = x.label
	}
	// gonum keeps room for the name of a vertical axis as if every scale were
	// linear; the figure writes it instead.
	p.Add(plotter(func(c *draw.Canvas, tx, ty func(float64) vg.Length) {
		faint := line(gridGrey, 0.6, nil)
		for _, t := range x.ticks {
			if t.Label != "" && t.Value >= x.min && t.Value <= x.max {
				c.StrokeLine2(faint, tx(t.Value), c.Min.Y, tx(t.Value), c.Max.Y)
			}
		}
		for _, t := range y.ticks {
			if t.Label != "" && t.Value >= y.min && t.Value <= y.max {
				c.StrokeLine2(faint, c.Min.X, ty(t.Value), c.Max.X, ty(t.Value))
			}
		}
	}))
	return p
}

// unnamed makes every tick a minor one.
func unnamed(ticks []gonum.Tick) []gonum.Tick {
	out := make([]gonum.Tick, len(ticks))
	for i, t := range ticks {
		out[i] = gonum.Tick{Value: t.Value}
	}
	return out
}

// plotter draws into the data area of a panel.
type plotter func(c *draw.Canvas, tx, ty func(float64) vg.Length)

// Plot implements gonum's Plotter.
func (f plotter) Plot(c draw.Canvas, p *gonum.Plot) {
	tx, ty := p.Transforms(&c)
	f(&c, tx, ty)
}

// within returns the range of the values that a scale can show; ok is false
// where there is none.
func within(log bool, values ...float64) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || log && v <= 0 {
			continue
		}
		low, high = min(low, v), max(high, v)
	}
	return low, high, low <= high
}

// rateAxis is a linear axis from 0 in requests per second or in a count.
func rateAxis(w words, label string, most int, values ...float64) axis {
	_, high, ok := within(false, values...)
	if !ok || high <= 0 {
		high = 1
	}
	high *= 1.05
	return axis{label: label, min: 0, max: high, ticks: linearTicks(w, 0, high, most)}
}

// linearTicks are at most `most` round values with names.
func linearTicks(w words, low, high float64, most int) []gonum.Tick {
	step := roundStep((high - low) / float64(max(most, 1)))
	var ticks []gonum.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-12); i++ {
		v := i*step + 0 // not -0
		ticks = append(ticks, gonum.Tick{Value: v, Label: w.number(v, step)})
	}
	return ticks
}

// roundStep is the least of 1, 2, 2.5, 5 times a power of ten that is not below raw.
func roundStep(raw float64) float64 {
	if !(raw > 0) || math.IsInf(raw, 0) {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= raw*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// number writes a value with the digits that its step needs; thousands as k.
func (w words) number(v, step float64) string {
	unit := ""
	if step >= 1000 {
		v, step, unit = v/1000, step/1000, "k"
	}
	digits := 0
	if step < 1 {
		digits = int(math.Ceil(-math.Log10(step) - 1e-9))
	}
	if v == math.Trunc(v) {
		digits = 0
	} else if d := math.Pow(10, float64(digits)); math.Abs(step*d-math.Round(step*d)) > 1e-6 {
		digits++ // 2.5
	}
	if v == 0 {
		return "0"
	}
	return w.point(strconv.FormatFloat(v, 'f', digits, 64)) + unit
}

func (w words) point(s string) string {
	if w.comma {
		return strings.Replace(s, ".", ",", 1)
	}
	return s
}

// durationAxis is a logarithmic axis of durations given in microseconds.
func durationAxis(w words, label string, values ...float64) axis {
	low, high, ok := within(true, values...)
	if !ok {
		low, high = 1000, 10_000
	}
	low = max(low, 1) // the resolution of a histogram
	low, high = low/1.25, max(high, low)*1.25
	for high/low < 8 { // a flat line stands in the middle of nearly a decade
		low, high = low/1.5, high*1.5
	}
	a := axis{label: label, min: low, max: high, log: true}
	decades := math.Log10(high / low)
	for e := int(math.Floor(math.Log10(low))); ; e++ {
		base := math.Pow(10, float64(e))
		if base > high {
			return a
		}
		for m := 1; m <= 9; m++ {
			v := base * float64(m)
			if v < low || v > high {
				continue
			}
			t := gonum.Tick{Value: v}
			if m == 1 || decades < 4 && (m == 2 || m == 5) {
				t.Label = w.duration(v)
			}
			a.ticks = append(a.ticks, t)
		}
	}
}

// duration writes a round number of microseconds: 100 µs, 1 ms, 10 s.
func (w words) duration(us float64) string {
	v, unit := us, "µs"
	switch {
	case us >= 0.9999e6:
		v, unit = us/1e6, "s"
	case us >= 0.9999e3:
		v, unit = us/1e3, "ms"
	}
	return w.point(strconv.FormatFloat(v, 'g', 3, 64)) + " " + unit
}

// timeAxis is the run's time in seconds, written m:ss or h:mm.
func timeAxis(w words, from, to float64) axis {
	if !(to-from >= 0.5) {
		to = from + 1
	}
	a := axis{min: from, max: to}
	step := 0.0
	for _, s := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400} {
		step = s
		if (to-from)/s <= 12 {
			break
		}
	}
	if (to-from)/step > 12 {
		step = 86400 * math.Ceil((to-from)/86400/12)
	}
	a.label = w.timeMinutes
	switch {
	case step >= 900:
		a.label = w.timeHours
	case step < 1:
		a.label = w.timeSeconds
	}
	for i := math.Ceil(from/step - 1e-9); i*step <= to+step*1e-9; i++ {
		s := i*step + 0 // not -0
		a.ticks = append(a.ticks, gonum.Tick{Value: s, Label: w.clock(s, step)})
	}
	return a
}

func (w words) clock(s, step float64) string {
	switch whole := int64(math.Round(s)); {
	case step < 1:
		return w.point(strconv.FormatFloat(s, 'f', 1, 64))
	case step >= 900:
		return fmt.Sprintf("%d:%02d", whole/3600, whole/60%60)
	default:
		return fmt.Sprintf("%d:%02d", whole/60, whole%60)
	}
}

// percentileAxis places q at -log10(1-q).
func percentileAxis(w words, label string, most float64) axis {
	a := axis{label: label, max: max(math.Ceil(most-1e-9), 2)}
	a.ticks = []gonum.Tick{{Value: 0, Label: "0 %"}, {Value: tailDistance(0.5), Label: "50 %"}, {Value: 1, Label: "90 %"}, {Value: 2, Label: "99 %"}}
	for k := 3; k <= int(a.max); k++ {
		a.ticks = append(a.ticks, gonum.Tick{Value: float64(k), Label: w.point("99."+strings.Repeat("9", k-2)) + " %"})
	}
	return a
}

// tailDistance is where a percentile axis puts q; +Inf for 1.
func tailDistance(q float64) float64 { return -math.Log10(1 - q) }

// rate writes requests per second with the digits that matter.
func (w words) rate(v float64) string {
	digits := 0
	switch {
	case math.Abs(v) < 10:
		digits = 2
	case math.Abs(v) < 100:
		digits = 1
	}
	s := strconv.FormatFloat(v, 'f', digits, 64)
	if digits > 0 {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return w.point(s) + "/s"
}

// short writes a value with two significant digits; thousands as k.
func (w words) short(v float64) string {
	unit := ""
	if v >= 999.5 {
		v, unit = v/1000, "k"
	}
	digits := 0
	if v < 9.95 && v != math.Trunc(v) {
		digits = max(0, 1-int(math.Floor(math.Log10(v))))
	}
	t := strconv.FormatFloat(v, 'f', digits, 64)
	if digits > 0 {
		t = strings.TrimSuffix(strings.TrimRight(t, "0"), ".")
	}
	return w.point(t) + unit
}
