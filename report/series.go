package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"

	"headroom/analyze"
	"headroom/store/record"
)

// SeriesJSON writes what resource series did as headroom.series/1.
func SeriesJSON(s *analyze.SeriesResult) ([]byte, error) { return encodeJSON("series", s) }

// kindOf is the kind of a series, or why there is none.
func (w *words) kindOf(s *analyze.SeriesDrift) string {
	switch {
	case s.Kind == "" && s.Reason != "":
		return "? " + w.code(s.Reason)
	case s.Leak:
		return "✗ " + w.code(s.Kind)
	}
	return w.code(s.Kind)
}

// plainNumber writes a number of any size.
func (w *words) plainNumber(v *float64) string {
	if v == nil {
		return absent
	}
	return strings.Replace(strconv.FormatFloat(*v, 'g', 4, 64), ".", w.Point, 1)
}

func (w *words) seriesRow(s *analyze.SeriesDrift) []string {
	interval := absent
	if s.CI95 != nil {
		interval = w.plainNumber(&s.CI95[0]) + " … " + w.plainNumber(&s.CI95[1])
	}
	return []string{s.Name, strconv.Itoa(s.Samples), w.kindOf(s), w.plainNumber(s.SlopePerHour), interval, w.plainNumber(s.P), w.plainNumber(s.Limit), w.plainNumber(s.ExhaustionH)}
}

func seriesHead(w *words) []string {
	return []string{w.Name, w.Samples, w.Kind, w.Slope, "95 %", "p", w.Limit, w.Exhaustion}
}

// leaks says what leaks, never that nothing does where nothing could be judged.
func (w *words) leaks(s *analyze.SeriesResult) string {
	if len(s.Leaks) > 0 {
		return w.f(w.Leaks, strings.Join(s.Leaks, ", "))
	}
	for i := range s.Series {
		if s.Series[i].Kind != "" {
			return w.NoLeaks
		}
	}
	return w.f(w.Reason, w.code("inconclusive"))
}

// SeriesText tells series for a terminal.
func SeriesText(s *analyze.SeriesResult) string {
	w := &english
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n\n", plainText(w.leaks(s)), w.f(w.Hours, w.significant(s.Hours)))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(seriesHead(w), "\t"))
	for i := range s.Series {
		row := w.seriesRow(&s.Series[i])
		row[0] = plainText(row[0])
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	_ = t.Flush() // a strings.Builder takes everything
	return b.String()
}

// SeriesMarkdown tells series in GitHub's Markdown.
func SeriesMarkdown(s *analyze.SeriesResult, lang Lang) []byte {
	w := wordsOf(lang)
	t := &table{Head: append(left(w.Name), append(right(w.Samples), append(left(w.Kind), right(w.Slope, "95 %", "p", w.Limit, w.Exhaustion)...)...)...)}
	for i := range s.Series {
		var cells []tableCell
		for _, c := range w.seriesRow(&s.Series[i]) {
			cells = append(cells, text(c))
		}
		t.add(cells...)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "> **%s** %s\n", md(w.leaks(s)), md(w.f(w.Hours, w.significant(s.Hours))))
	(&block{Table: t}).markdown(&b)
	return []byte(b.String())
}

// SeriesCSV writes one row per series.
func SeriesCSV(s *analyze.SeriesResult) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write([]string{"name", "samples", "missing", "kind", "leak", "slope_per_hour", "ci95_low", "ci95_high", "p", "p_holm", "level", "limit", "exhaustion_h", "step_at_s", "counter", "reason"})
	for i := range s.Series {
		x := &s.Series[i]
		low, high := endCells(x.CI95)
		_ = w.Write([]string{
			record.Defuse(x.Name), strconv.Itoa(x.Samples), strconv.Itoa(x.Missing), x.Kind, strconv.FormatBool(x.Leak), optionalCell(x.SlopePerHour), low, high,
			optionalCell(x.P), optionalCell(x.PHolm), optionalCell(x.Level), optionalCell(x.Limit), optionalCell(x.ExhaustionH), optionalCell(x.StepAtS), strconv.FormatBool(x.Counter), x.Reason,
		})
	}
	w.Flush()
	return out.Bytes(), w.Error() // which keeps the first error of any Write
}
