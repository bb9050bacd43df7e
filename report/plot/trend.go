package plot

import (
	"math"
	"time"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// History is one metric of one plan over the calendar.
type History struct {
	Name    string // with the unit
	Points  []HistoryPoint
	Levels  []HistoryLevel // between changes
	Changes []HistoryChange
	Gaps    [][2]time.Time // without the runs that should have been there
}

// HistoryPoint is one run; NaN is not known.
type HistoryPoint struct {
	At               time.Time
	Value, Low, High float64
	Used, Spike      bool
}

// HistoryLevel is a level that lasted from one instant to another.
type HistoryLevel struct {
	From, To time.Time
	Value    float64
}

// HistoryChange is where a level changed.
type HistoryChange struct {
	At    time.Time
	Name  string // the release
	Worse bool
}

type trendWords struct{ about, used, unused, spike, level, missing string }

func trendWordsOf(l Lang) trendWords {
	if l == Portuguese {
		return trendWords{
			about: "Um ponto por execução; linhas são níveis entre mudanças", used: "execução", unused: "não usada", spike: "pico isolado", level: "nível", missing: "faltam execuções",
		}
	}
	return trendWords{about: "One point per run; lines are levels between changes", used: "run", unused: "not used", spike: "single spike", level: "level", missing: "runs are missing"}
}

// Trend draws the history of a metric.
func Trend(h History, lang Lang) *Figure {
	w, tw := wordsOf(lang), trendWordsOf(lang)
	f := &Figure{title: clean(h.Name), about: tw.about + ".", height: 300}
	var from, to time.Time
	var values []float64
	for i, p := range h.Points {
		if i == 0 || p.At.Before(from) {
			from = p.At
		}
		if i == 0 || p.At.After(to) {
			to = p.At
		}
		values = append(values, p.Value)
		if p.Used {
			values = append(values, p.Low, p.High)
		}
	}
	at := func(t time.Time) float64 { return t.Sub(from).Hours() / 24 }
	x := dateAxis(from, at(to))
	y := valueAxis(w, h, values)
	p := newPanel(x, y)
	shade := lightGrey
	for _, g := range h.Gaps {
		p.Add(band(at(g[0])+0.02*x.max, at(g[1])-0.02*x.max, shade))
	}
	p.Add(plotter(func(c *draw.Canvas, tx, ty func(float64) vg.Length) {
		for _, q := range h.Points {
			if q.Used && q.High >= q.Low && (!y.log || q.Low > 0) {
				c.StrokeLine2(line(midGrey, 1, nil), tx(at(q.At)), max(ty(q.Low), c.Min.Y), tx(at(q.At)), min(ty(q.High), c.Max.Y))
			}
		}
	}))
	for _, l := range h.Levels {
		p.Add(lineOf(points{x: []float64{at(l.From), at(l.To)}, y: []float64{l.Value, l.Value}}, y.log, line(blue, 2, nil)))
	}
	size := vg.Length(3.6)
	if len(h.Points) > 120 {
		size = 2
	}
	for _, k := range []struct {
		m    marker
		name string
		c    func(HistoryPoint) bool
	}{
		{disc, tw.used, func(q HistoryPoint) bool { return q.Used && !q.Spike }},
		{openTriangle, tw.spike, func(q HistoryPoint) bool { return q.Used && q.Spike }},
		{ring, tw.unused, func(q HistoryPoint) bool { return !q.Used }},
	} {
		clr := black
		if k.m == ring {
			clr = grey
		}
		pts := points{}
		for _, q := range h.Points {
			if k.c(q) {
				pts.x, pts.y = append(pts.x, at(q.At)), append(pts.y, q.Value)
			}
		}
		if len(pts.x) == 0 {
			continue
		}
		p.Add(markersOf(pts, y.log, k.m, size, clr))
		f.keys = append(f.keys, key{name: k.name, marker: k.m, style: draw.LineStyle{Color: clr}})
	}
	if len(h.Levels) > 0 {
		f.keys = append(f.keys, key{name: tw.level, style: line(blue, 2, nil)})
	}
	if len(h.Gaps) > 0 {
		f.keys = append(f.keys, key{name: tw.missing, fill: shade})
	}
	var marks []mark
	for _, c := range h.Changes {
		clr := green
		if c.Worse {
			clr = vermillion
		}
		marks = append(marks, mark{at(c.At), clean(c.Name), line(clr, 1.6, dashed)})
	}
	if _, _, ok := within(y.log, values...); !ok {
		p.Add(note(w.noData))
	}
	f.panels = []panel{{plot: p, name: clean(h.Name), weight: 1, marks: sortMarks(marks, x)}}
	return f
}

// valueAxis leaves room around the values, and starts at 0 where they come near it.
func valueAxis(w words, h History, values []float64) axis {
	low, high, ok := within(false, values...)
	if !ok {
		low, high = 0, 1
	}
	if low > 0 && low < 0.5*high {
		low = 0
	}
	room := 0.08 * (high - low)
	if room == 0 {
		room = max(0.05*math.Abs(high), 0.5)
	}
	if low > 0 || low < 0 {
		low -= room
	}
	high += room
	return axis{label: h.Name, min: low, max: high, ticks: linearTicks(w, low, high, 6)}
}

// dateAxis counts days from an instant and names dates.
func dateAxis(from time.Time, days float64) axis {
	if !(days > 0) {
		days = 1
	}
	a := axis{min: -0.02 * days, max: 1.02 * days}
	step := 1.0
	for _, s := range []float64{1, 2, 7, 14, 28, 56, 91, 182, 364, 728} {
		step = s
		if days/s <= 10 {
			break
		}
	}
	for d := 0.0; d <= a.max; d += step {
		a.ticks = append(a.ticks, gonum.Tick{Value: d, Label: from.Add(time.Duration(d * 24 * float64(time.Hour))).UTC().Format("2006-01-02")})
	}
	return a
}
