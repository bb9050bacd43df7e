package plot

import (
	"image/color"
	"math"
	"strconv"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// compareWords are the words of pictures that lay two releases over each other.
type compareWords struct {
	kneesTitle, kneesAbout, spectraTitle, spectraAbout, ratiosTitle, ratiosAbout string
	ratio, better, worse, same, unknown, tolerance                               string
}

func compareWordsOf(l Lang) compareWords {
	if l == Portuguese {
		return compareWords{
			kneesTitle: "O que voltou a tempo, antes e depois", kneesAbout: "Vazão útil em função da carga oferecida, um ponto por patamar e execução",
			spectraTitle: "Espectros de latência, antes e depois", spectraAbout: "Tempo de resposta em função da parcela das requisições, uma linha por execução",
			ratiosTitle: "Mudança de cada métrica", ratiosAbout: "Razão entre o novo e a base, com o intervalo de 95 %",
			ratio: "novo / base", better: "melhor", worse: "pior", same: "igual", unknown: "indefinido", tolerance: "tolerância",
		}
	}
	return compareWords{
		kneesTitle: "What came back in time, before and after", kneesAbout: "Goodput against offered load, one point per plateau and run",
		spectraTitle: "Latency spectra, before and after", spectraAbout: "Response time over the share of requests, one line per run",
		ratiosTitle: "Change of each metric", ratiosAbout: "Ratio of new over base with its 95 % interval",
		ratio: "new / base", better: "better", worse: "worse", same: "same", unknown: "can't be said", tolerance: "tolerance",
	}
}

// Side is one of two things that are laid over each other.
type Side struct {
	Name   string
	Curves []Curve       // of its runs
	Lines  []Percentiles // of its runs
}

var sideStyles = [2]struct {
	c      color.Color
	m      marker
	dashes []vg.Length
}{{blue, openSquare, dashed}, {orange, disc, nil}}

// KneeCurves draws the goodput of two releases against offered load, one line
// per run, with the knee of each.
func KneeCurves(base, new Side, lang Lang) *Figure {
	w, cw := wordsOf(lang), compareWordsOf(lang)
	f := &Figure{title: cw.kneesTitle, about: cw.kneesAbout + ".", height: 420}
	var xs, ys []float64
	sides := [2]Side{base, new}
	for _, s := range sides {
		for _, c := range s.Curves {
			xs = append(xs, c.Knee, c.Peak)
			for _, p := range c.Plateaus {
				xs, ys = append(xs, p.Offered), append(ys, p.Goodput)
			}
		}
	}
	x := rateAxis(w, w.offered, 12, xs...)
	p := newPanel(x, rateAxis(w, w.goodput, 8, ys...))
	ideal := line(midGrey, 1.2, dotted)
	p.Add(lineOf(points{x: []float64{0, x.max}, y: []float64{0, x.max}}, false, ideal))
	f.keys = []key{{name: w.everyAnswer, style: ideal}}
	var marks []mark
	for i, s := range sides {
		st := sideStyles[i]
		for _, c := range s.Curves {
			pts := points{}
			for _, q := range rising(c.Plateaus) {
				pts.x, pts.y = append(pts.x, q.Offered), append(pts.y, q.Goodput)
			}
			p.Add(lineOf(pts, false, line(st.c, 1.2, st.dashes)), markersOf(pts, false, st.m, 3.4, st.c))
		}
		if k, ok := middle(s.Curves); ok {
			marks = append(marks, mark{k, clean(s.Name) + ": " + w.kneeAt + " " + w.rate(k), line(st.c, 1.8, st.dashes)})
		}
		f.keys = append(f.keys, key{name: clean(s.Name), style: line(st.c, 1.2, st.dashes), marker: st.m})
	}
	if len(ys) == 0 {
		p.Add(note(w.noData))
	}
	f.panels = []panel{{plot: p, name: w.goodput, weight: 1, marks: sortMarks(marks, x)}}
	return f
}

// middle is the geometric mean of the knees that were found.
func middle(curves []Curve) (float64, bool) {
	var sum float64
	n := 0
	for _, c := range curves {
		if c.Knee > 0 && !math.IsInf(c.Knee, 0) {
			sum += math.Log(c.Knee)
			n++
		}
	}
	return math.Exp(sum / float64(max(n, 1))), n > 0
}

// Spectra draws the response times of two releases, one line per run.
func Spectra(base, new Side, timeoutUS float64, lang Lang) *Figure {
	w, cw := wordsOf(lang), compareWordsOf(lang)
	f := &Figure{title: cw.spectraTitle, about: cw.spectraAbout + ".", height: 380}
	var ys []float64
	deepest := 0.0
	sides := [2]Side{base, new}
	for _, s := range sides {
		for _, l := range s.Lines {
			ys = append(ys, l.US...)
			for _, q := range l.Q {
				if d := tailDistance(q); !math.IsInf(d, 0) && !math.IsNaN(d) {
					deepest = max(deepest, d)
				}
			}
		}
	}
	y := durationAxis(w, w.latency, ys...)
	p := newPanel(percentileAxis(w, w.percentile, min(deepest, 7)), y)
	p.Add(level(timeoutUS, timeoutStyle))
	for i, s := range sides {
		st := sideStyles[i]
		for _, l := range s.Lines {
			pts := points{}
			for k := range min(len(l.Q), len(l.US)) {
				pts.x, pts.y = append(pts.x, tailDistance(l.Q[k])), append(pts.y, l.US[k])
			}
			p.Add(lineOf(pts, true, line(st.c, 1.4, st.dashes)), markersOf(pts, true, st.m, 3, st.c))
		}
		f.keys = append(f.keys, key{name: clean(s.Name), style: line(st.c, 1.4, st.dashes), marker: st.m})
	}
	if _, _, ok := within(true, ys...); !ok {
		p.Add(note(w.noData))
	}
	f.keys = append(f.keys, timeoutKey(w, timeoutUS, y)...)
	f.panels = []panel{{plot: p, name: w.latency, weight: 1}}
	return f
}

// Change is one metric's ratio of new over base; NaN is not known.
type Change struct {
	Name             string
	Ratio, Low, High float64
	Verdict          string  // better, worse, same, unknown
	Tolerance        float64 // ratio at which a change matters; NaN where it is no ratio
}

var changeStyles = map[string]struct {
	m marker
	c color.Color
}{"better": {triangle, green}, "worse": {cross, vermillion}, "same": {disc, blue}, "unknown": {ring, grey}}

// Ratios draws the interval of each metric's ratio, one row a metric.
func Ratios(changes []Change, lang Lang) *Figure {
	w, cw := wordsOf(lang), compareWordsOf(lang)
	f := &Figure{title: cw.ratiosTitle, about: cw.ratiosAbout + ".", height: vg.Length(110 + 26*max(len(changes), 2))}
	values := []float64{0.95, 1.05}
	for _, c := range changes {
		values = append(values, c.Ratio, clip(c.Low), clip(c.High))
	}
	low, high, _ := within(true, values...)
	low, high = max(low/1.03, 0.05), min(high*1.03, 20)
	x := axis{label: cw.ratio, min: low, max: high, log: true, ticks: ratioTicks(w, low, high)}
	n := float64(len(changes))
	y := axis{min: 0, max: max(n, 1)}
	for i, c := range changes {
		y.ticks = append(y.ticks, gonum.Tick{Value: n - float64(i) - 0.5, Label: clean(c.Name)})
	}
	p := newPanel(x, y)
	p.Add(plotter(func(dc *draw.Canvas, tx, ty func(float64) vg.Length) {
		one := line(black, 1, nil)
		dc.StrokeLine2(one, tx(1), dc.Min.Y, tx(1), dc.Max.Y)
		for i, c := range changes {
			row := ty(n - float64(i) - 0.5)
			st, ok := changeStyles[c.Verdict]
			if !ok {
				st = changeStyles["unknown"]
			}
			if c.Tolerance > 0 {
				edge := max(c.Tolerance, 1/c.Tolerance)
				fillRect(dc, vg.Rectangle{Min: vg.Point{X: max(tx(1/edge), dc.Min.X), Y: row - 8}, Max: vg.Point{X: min(tx(edge), dc.Max.X), Y: row + 8}}, gridGrey, plain)
				dc.StrokeLine2(one, tx(1), row-8, tx(1), row+8)
			}
			if c.High >= c.Low && c.Low > 0 {
				s := line(st.c, 2, nil)
				from, to := max(tx(clip(c.Low)), dc.Min.X), min(tx(clip(c.High)), dc.Max.X)
				dc.StrokeLine2(s, from, row, to, row)
				dc.StrokeLine2(s, from, row-4, from, row+4)
				dc.StrokeLine2(s, to, row-4, to, row+4)
			}
			if c.Ratio > 0 && !math.IsInf(c.Ratio, 0) {
				st.m.draw(dc, vg.Point{X: min(max(tx(c.Ratio), dc.Min.X), dc.Max.X), Y: row}, 4.5, st.c)
			}
		}
	}))
	if len(changes) == 0 {
		p.Add(note(w.noData))
	}
	for _, v := range []struct{ verdict, name string }{{"better", cw.better}, {"worse", cw.worse}, {"same", cw.same}, {"unknown", cw.unknown}} {
		st := changeStyles[v.verdict]
		f.keys = append(f.keys, key{name: v.name, marker: st.m, style: draw.LineStyle{Color: st.c}})
	}
	f.keys = append(f.keys, key{name: cw.tolerance, fill: gridGrey})
	f.panels = []panel{{plot: p, weight: 1}}
	return f
}

// clip keeps a ratio where a picture can show it.
func clip(v float64) float64 {
	if math.IsNaN(v) {
		return v
	}
	return min(max(v, 0.05), 20)
}

func ratioTicks(w words, low, high float64) []gonum.Tick {
	var ticks []gonum.Tick
	step := roundStep((high - low) / 10)
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-12); i++ {
		v := i * step
		ticks = append(ticks, gonum.Tick{Value: v, Label: w.point(strconv.FormatFloat(v, 'g', 4, 64))})
	}
	return ticks
}
