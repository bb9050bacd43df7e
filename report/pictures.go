package report

import (
	"fmt"
	"math"

	"headroom/analyze"
	"headroom/report/plot"
	"headroom/store/record"
)

// Picture is a figure with the stem of its file name.
type Picture struct {
	Name   string // knee, latency, spectrum, timeline, resources, heat, lag
	Figure *plot.Figure
}

// Pictures makes the figures of an analysis. Those over time need the evidence;
// where ev is nil, or what a picture shows was not recorded, it is left out.
func Pictures(a *analyze.Analysis, ev record.Evidence, lang Lang) ([]Picture, error) {
	var out []Picture
	if len(a.Steps) > 0 {
		c := curveOf(a)
		out = append(out,
			Picture{"knee", plot.KneeCurve(c, plot.Lang(lang))},
			Picture{"latency", plot.LatencyCurve(c, plot.Lang(lang))})
	}
	if ev == nil {
		return out, nil
	}
	t, err := gather(a, ev)
	if err != nil {
		return nil, fmt.Errorf("pictures: %w", err)
	}
	if len(t.course.Slices) == 0 {
		return out, nil
	}
	if lines := t.spectrum(a, wordsOf(lang)); len(lines) > 0 {
		out = append(out, Picture{"spectrum", plot.Spectrum(lines, t.timeoutUS, plot.Lang(lang))})
	}
	out = append(out, Picture{"timeline", plot.Timeline(t.course, plot.Lang(lang))})
	series, err := gatherSeries(ev)
	if err != nil {
		return nil, fmt.Errorf("pictures: %w", err)
	}
	if len(series) > 0 {
		out = append(out, Picture{"resources", plot.Resources(t.course, series, plot.Lang(lang))})
	}
	if len(t.heat) > 0 {
		out = append(out, Picture{"heat", plot.HeatMap(t.heat, t.course, t.timeoutUS, plot.Lang(lang))})
	}
	if t.lags {
		out = append(out, Picture{"lag", plot.LagCourse(t.course, plot.Lang(lang))})
	}
	return out, nil
}

// known is the value of a number that may be absent, NaN where it is.
func known(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func ends(i *analyze.Interval) (low, high float64) {
	if i == nil {
		return math.NaN(), math.NaN()
	}
	return i[0], i[1]
}

func curveOf(a *analyze.Analysis) plot.Curve {
	nan := math.NaN()
	c := plot.Curve{Knee: nan, KneeLow: nan, KneeHigh: nan, HighestHeld: nan, LowestFailed: nan, Peak: nan, TimeoutUS: nan}
	if k := a.Knee; k != nil {
		c.Knee, c.HighestHeld, c.LowestFailed = known(k.RPS), known(k.HighestHeld), known(k.LowestFailed)
		c.KneeLow, c.KneeHigh = ends(k.CI95)
	}
	if m := a.Margin; m != nil && m.PeakRPS > 0 {
		c.Peak = m.PeakRPS
	}
	if a.Run != nil && a.Run.TimeoutS > 0 {
		c.TimeoutUS = a.Run.TimeoutS * 1e6
	}
	for i := range a.Steps {
		s := &a.Steps[i]
		p := plot.Plateau{
			Offered: s.OfferedRPS, Goodput: s.GoodputRPS,
			ResponseP50: known(s.Response.P50), ResponseP99: known(s.Response.P99),
			ServiceP50: known(s.Service.P50), ServiceP99: known(s.Service.P99),
		}
		p.GoodputLow, p.GoodputHigh = ends(s.GoodputCI95)
		if s.Held != nil {
			p.Held = plot.No
			if *s.Held {
				p.Held = plot.Yes
			}
		}
		for _, o := range record.Outcomes() {
			p.Outcomes[o] = s.Outcomes[o.String()]
		}
		_, p.ResponseP50Beyond = s.Response.Censored["p50"]
		_, p.ResponseP99Beyond = s.Response.Censored["p99"]
		_, p.ServiceP50Beyond = s.Service.Censored["p50"]
		_, p.ServiceP99Beyond = s.Service.Censored["p99"]
		c.Plateaus = append(c.Plateaus, p)
	}
	return c
}
