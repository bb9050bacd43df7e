package web

import (
	"html/template"
	"math"

	"headroom/analyze"
	"headroom/report"
)

// Unit writes a value of a metric in its unit: rps, us, s, share, ratio, factor.
func (p *pageOf) Unit(v *float64, unit string) string {
	if v == nil {
		return p.Say.Absent()
	}
	switch unit {
	case "rps":
		return p.Say.Rate(*v)
	case "us":
		return p.Say.Duration(*v)
	case "s":
		return p.Say.Seconds(*v)
	case "share", "ratio":
		return p.Say.Percent(*v)
	}
	return p.Say.Number(*v)
}

// Change writes a ratio as a change: +7.4 %.
func (p *pageOf) Change(ratio *float64) string {
	if ratio == nil {
		return p.Say.Absent()
	}
	sign := "+"
	if *ratio < 1 {
		sign = "−"
	}
	return sign + p.Say.Percent(math.Abs(*ratio-1))
}

// Range writes an interval of a ratio as changes.
func (p *pageOf) Range(i *analyze.Interval) string {
	if i == nil {
		return ""
	}
	return p.Change(&i[0]) + " … " + p.Change(&i[1])
}

// P writes a p-value.
func (p *pageOf) P(v *float64) string {
	switch {
	case v == nil:
		return p.Say.Absent()
	case *v < 0.001:
		return "< " + p.Say.Number(0.001)
	}
	return p.Say.Number(*v)
}

// CompareBadge is a verdict of a comparison or a trend.
func (p *pageOf) CompareBadge(verdict string) report.Badge {
	switch verdict {
	case analyze.Better:
		return report.Badge{Word: p.W.Better, Tone: "good", Sign: "▲"}
	case analyze.Worse:
		return report.Badge{Word: p.W.Worse, Tone: "bad", Sign: "▼"}
	case analyze.Same:
		return report.Badge{Word: p.W.Same, Tone: "none", Sign: "="}
	}
	return report.Badge{Word: p.W.Unknown, Tone: "doubt", Sign: "?"}
}

// Metric is the word for a metric.
func (p *pageOf) Metric(name string) string {
	if s := p.W.Metrics[name]; s != "" {
		return s
	}
	return name
}

// Sentence is the sentence in the page's language.
func (p *pageOf) Sentence(s analyze.Sentence) string {
	if p.L.lang == report.Portuguese {
		return s.PTBR
	}
	return s.EN
}

// trendCard is one metric of a trend.
type trendCard struct {
	M      *analyze.TrendMetric
	Name   string
	Latest string
	Slope  string
	Spark  template.HTML
	Points []trendPoint
}

type trendPoint struct {
	Run, Release, Started, Value, Range, Why string
	Spike                                    bool
}

func (p *pageOf) trendCard(m *analyze.TrendMetric) trendCard {
	c := trendCard{M: m, Name: p.Metric(m.Metric), Latest: p.Unit(m.Latest, m.Unit)}
	if m.Slope != nil {
		if m.Scale == "log" {
			ratio := 1 + *m.Slope
			c.Slope = p.Change(&ratio)
		} else {
			c.Slope = p.Unit(m.Slope, m.Unit)
		}
	}
	var values []float64
	for _, pt := range m.Points {
		v := math.NaN()
		if pt.Value != nil && pt.Used {
			v = *pt.Value
		}
		values = append(values, v)
		t := trendPoint{Run: pt.Run, Release: pt.Release, Started: pt.Started, Value: p.Unit(pt.Value, m.Unit), Why: p.Say.Code(pt.Reason), Spike: pt.Spike}
		if pt.CI95 != nil {
			t.Range = p.Unit(&pt.CI95[0], m.Unit) + " … " + p.Unit(&pt.CI95[1], m.Unit)
		}
		c.Points = append(c.Points, t)
	}
	c.Spark = sparkline(values, p.W.f(p.W.SparkName, c.Name, c.Latest))
	return c
}

// UnitOf is Unit for a value that is known.
func (p *pageOf) UnitOf(v float64, unit string) string { return p.Unit(&v, unit) }
