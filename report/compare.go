package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"text/tabwriter"

	"headroom/analyze"
	"headroom/report/plot"
	"headroom/store/record"
)

// CompareJSON writes a comparison as headroom.compare/1.
func CompareJSON(c *analyze.Comparison) ([]byte, error) { return encodeJSON("compare", c) }

// encodeJSON writes a value as JSON the way JSON does.
func encodeJSON(name string, v any) ([]byte, error) {
	if where := unprintable(reflect.ValueOf(v), ""); where != "" {
		return nil, fmt.Errorf("%s: %s is not a finite number; absent values are null", name, strings.TrimPrefix(where, "."))
	}
	return encode(name, v)
}

// metricValue writes a metric with its unit.
func (w *words) metricValue(v *float64, unit string) string {
	if v == nil {
		return absent
	}
	switch unit {
	case "us":
		return w.duration(*v)
	case "s":
		return w.seconds(*v)
	case "rps":
		return w.rate(*v)
	case "share", "ratio":
		return w.percent(*v)
	}
	return w.significant(*v)
}

// spread is the standard deviation between runs, in percent.
func (w *words) spread(m *analyze.ComparedMetric, sd *float64) string {
	if sd == nil || m.Unit == "share" {
		return ""
	}
	return " ± " + w.decimal(100*math.Expm1(*sd), 0) + " %"
}

// change is the ratio as a change in percent, "~" where nothing was shown.
func (w *words) change(m *analyze.ComparedMetric) string {
	if m.Verdict == analyze.Same || m.Verdict == analyze.Unknown && m.RunsBase >= 3 && m.RunsNew >= 3 {
		return "~"
	}
	if m.Ratio == nil {
		return absent
	}
	return w.signedPercent(*m.Ratio - 1)
}

func (w *words) signedPercent(share float64) string {
	s := w.decimal(100*share, 1) + " %"
	if share >= 0 {
		return "+" + s
	}
	return s
}

// because is what stands behind a verdict: p, and how many runs.
func (w *words) because(m *analyze.ComparedMetric) string {
	var parts []string
	if m.P != nil {
		p := "p=" + strconv.FormatFloat(*m.P, 'f', 3, 64)
		if *m.P < 0.001 {
			p = "p<0.001"
		}
		parts = append(parts, p)
	}
	parts = append(parts, fmt.Sprintf("n=%d+%d", m.RunsBase, m.RunsNew))
	if m.RunsNeeded > 0 {
		parts = append(parts, fmt.Sprintf("%d a side would decide", m.RunsNeeded))
	}
	if m.Reason != "" {
		parts = append(parts, w.code(m.Reason))
	}
	return strings.Join(parts, ", ")
}

// CompareText tells a comparison for a terminal, in the habit of benchstat: "~"
// stands where no difference was shown.
func CompareText(c *analyze.Comparison) string {
	w := &english
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", plainText(c.Sentence.EN))
	if !c.Comparable {
		fmt.Fprintf(&b, "not comparable: %s\n", w.code(c.Reason))
	}
	for _, d := range c.Differences {
		fmt.Fprintf(&b, "  differs: %s: %s | %s\n", plainText(d.Fact), plainText(strings.Join(d.Base, ", ")), plainText(strings.Join(d.New, ", ")))
	}
	if len(c.Metrics) > 0 {
		b.WriteByte('\n')
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(t, "\t%s\t%s\tvs base\t\t\n", sideName(&c.Base), sideName(&c.New))
		for i := range c.Metrics {
			m := &c.Metrics[i]
			name := m.Metric
			if m.Gated {
				name += " *"
			}
			verdict := m.Verdict
			if verdict == analyze.Unknown {
				verdict = "?"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t(%s)\n", name, w.metricValue(m.Base, m.Unit)+w.spread(m, m.SpreadBase), w.metricValue(m.New, m.Unit)+w.spread(m, m.SpreadNew), w.change(m), verdict, w.because(m))
		}
		_ = t.Flush() // a strings.Builder takes everything
	}
	if c.AtRPS != nil {
		fmt.Fprintf(&b, "\nlatency and errors at the plateau of %s, the highest that held in every run\n", w.rate(*c.AtRPS))
	}
	for i := range c.Metrics {
		if c.Metrics[i].Gated {
			b.WriteString("* a gate of the plan is about it\n")
			break
		}
	}
	for _, n := range c.Notes {
		fmt.Fprintf(&b, "note: %s\n", plainText(n))
	}
	return b.String()
}

func sideName(s *analyze.CompareSide) string {
	name := plainText(strings.Join(s.Releases, ", "))
	if name == "" {
		name = "–"
	}
	return name
}

// compareDocument is a comparison before it is Markdown or HTML.
func compareDocument(c *analyze.Comparison, figures []figure, lang Lang) *shortDocument {
	w := wordsOf(lang)
	sentence, t := c.Sentence.EN, [...]string{"Comparison", "metric", "change", "verdict", "because", "Facts that differ", "fact", "not comparable", "Metrics", "Notes"}
	if lang == Portuguese {
		sentence, t = c.Sentence.PTBR, [...]string{"Comparação", "métrica", "mudança", "veredito", "porque", "Fatos que diferem", "fato", "não comparável", "Métricas", "Observações"}
	}
	d := &shortDocument{w: w, Lang: w.Lang, Kind: t[0], Title: sideName(&c.New) + " / " + sideName(&c.Base), Sentence: sentence}
	if !c.Comparable {
		d.Badge = &badge{Word: t[7] + ": " + w.code(c.Reason), Tone: "doubt", Sign: "?"}
	}
	if len(c.Metrics) > 0 {
		tb := &table{Head: append(append(left(t[1]), right(sideName(&c.Base), sideName(&c.New), t[2], "95 %")...), left(t[3], t[4])...)}
		for i := range c.Metrics {
			m := &c.Metrics[i]
			verdict := tableCell{Text: w.code(m.Verdict)}
			switch m.Verdict {
			case analyze.Better:
				verdict.Tone = "good"
			case analyze.Worse:
				verdict.Tone = "bad"
			}
			tb.add(text(m.Metric), text(w.metricValue(m.Base, m.Unit)+w.spread(m, m.SpreadBase)), text(w.metricValue(m.New, m.Unit)+w.spread(m, m.SpreadNew)),
				text(w.change(m)), text(w.span(m.CI95, func(v float64) string { return w.decimal(v, 3) })), verdict, text(w.because(m)))
		}
		d.Sections = append(d.Sections, section{ID: "metrics", Title: t[8], Blocks: []block{{Table: tb}}})
	}
	if len(figures) > 0 {
		d.Sections = append(d.Sections, section{ID: "pictures", Title: w.Pictures, Blocks: []block{{Figures: figures}}})
	}
	if len(c.Differences) > 0 {
		tb := &table{Head: left(t[6], sideName(&c.Base), sideName(&c.New))}
		for _, f := range c.Differences {
			tb.add(text(f.Fact), text(strings.Join(f.Base, ", ")), text(strings.Join(f.New, ", ")))
		}
		d.Sections = append(d.Sections, section{ID: "facts", Title: t[5], Blocks: []block{{Table: tb}}})
	}
	if len(c.Notes) > 0 {
		d.Sections = append(d.Sections, section{ID: "notes", Title: t[9], Blocks: []block{{Paras: c.Notes}}})
	}
	return d
}

// CompareMarkdown tells a comparison in GitHub's Markdown.
func CompareMarkdown(c *analyze.Comparison, lang Lang) []byte {
	return compareDocument(c, nil, lang).markdown()
}

// CompareHTML tells a comparison as one page that needs nothing else.
func CompareHTML(c *analyze.Comparison, base, new []*analyze.Analysis, lang Lang) ([]byte, error) {
	figures, err := drawn(ComparePictures(c, base, new, lang))
	if err != nil {
		return nil, err
	}
	return compareDocument(c, figures, lang).html()
}

// CompareCSV writes one row per metric.
func CompareCSV(c *analyze.Comparison) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write([]string{
		"metric", "unit", "base", "new", "ratio", "ci95_low", "ci95_high", "p", "p_adjusted", "p_mann_whitney", "verdict", "regression", "gated",
		"runs_base", "runs_new", "runs_needed", "spread_base", "spread_new", "within_run", "reason",
	})
	for i := range c.Metrics {
		m := &c.Metrics[i]
		low, high := endCells(m.CI95)
		_ = w.Write([]string{
			record.Defuse(m.Metric), m.Unit, optionalCell(m.Base), optionalCell(m.New), optionalCell(m.Ratio), low, high, optionalCell(m.P), optionalCell(m.Adjusted),
			optionalCell(m.ExactP), m.Verdict, m.Regression, strconv.FormatBool(m.Gated), strconv.Itoa(m.RunsBase), strconv.Itoa(m.RunsNew), strconv.Itoa(m.RunsNeeded),
			optionalCell(m.SpreadBase), optionalCell(m.SpreadNew), optionalCell(m.WithinRun), record.Defuse(m.Reason),
		})
	}
	w.Flush()
	return out.Bytes(), w.Error() // which keeps the first error of any Write
}

// ComparePictures draws a comparison: knees, spectra, ratios.
func ComparePictures(c *analyze.Comparison, base, new []*analyze.Analysis, lang Lang) []Picture {
	l := plot.Lang(lang)
	b, n := sideOf(&c.Base, base), sideOf(&c.New, new)
	var out []Picture
	if len(b.Curves)+len(n.Curves) > 0 {
		out = append(out, Picture{"knees", plot.KneeCurves(b, n, l)})
	}
	if len(b.Lines)+len(n.Lines) > 0 {
		timeout := math.NaN()
		for _, a := range append(append([]*analyze.Analysis{}, base...), new...) {
			if a.Run != nil && a.Run.TimeoutS > 0 {
				timeout = a.Run.TimeoutS * 1e6
			}
		}
		out = append(out, Picture{"spectra", plot.Spectra(b, n, timeout, l)})
	}
	var changes []plot.Change
	for i := range c.Metrics {
		m := &c.Metrics[i]
		x := plot.Change{Name: m.Metric, Ratio: known(m.Ratio), Verdict: m.Verdict, Tolerance: m.Tolerance}
		x.Low, x.High = ends(m.CI95)
		if m.Unit == "share" {
			x.Tolerance = math.NaN()
		}
		changes = append(changes, x)
	}
	return append(out, Picture{"ratios", plot.Ratios(changes, l)})
}

// sideOf gathers the runs that took part.
func sideOf(s *analyze.CompareSide, all []*analyze.Analysis) plot.Side {
	out := plot.Side{Name: sideName(s)}
	used := map[string]bool{}
	for _, id := range s.Runs {
		used[id] = true
	}
	for _, a := range all {
		if a.Run == nil || !used[a.Run.ID] {
			continue
		}
		if len(a.Steps) > 0 {
			out.Curves = append(out.Curves, curveOf(a))
		}
		if a.Latency != nil {
			if l := spectrumOf(&a.Latency.Response); len(l.Q) > 0 {
				out.Lines = append(out.Lines, l)
			}
		}
	}
	return out
}

// spectrumOf draws a line through the percentiles that an analysis holds.
func spectrumOf(l *analyze.LatencyUS) plot.Percentiles {
	var out plot.Percentiles
	for _, p := range []struct {
		q float64
		v *float64
	}{{0, l.Min}, {0.5, l.P50}, {0.9, l.P90}, {0.95, l.P95}, {0.99, l.P99}, {0.999, l.P999}} {
		if p.v != nil {
			out.Q, out.US = append(out.Q, p.q), append(out.US, *p.v)
		}
	}
	return out
}
