package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"headroom/analyze"
	"headroom/report/plot"
	"headroom/store/record"
)

// TrendJSON writes a history as headroom.trend/1.
func TrendJSON(t *analyze.TrendResult) ([]byte, error) { return encodeJSON("trend", t) }

// trendWords are the words of a history.
type trendWords struct {
	kind, metric, latest, slope, verdict, change, history, missing, unused, notes, changes string
	runs, since, perWeek, at, was, is, gated                                               string
}

func trendWordsOf(lang Lang) trendWords {
	if lang == Portuguese {
		return trendWords{
			kind: "Tendência", metric: "métrica", latest: "último", slope: "inclinação por semana", verdict: "veredito", change: "mudança", history: "Histórico",
			missing: "Execuções ausentes", unused: "Desenhadas, mas não usadas", notes: "Observações", changes: "Mudanças de nível",
			runs: "%d execuções, %d usadas", since: "de %s a %s", perWeek: "por semana", at: "desde", was: "antes", is: "depois", gated: "exigida",
		}
	}
	return trendWords{
		kind: "Trend", metric: "metric", latest: "latest", slope: "slope per week", verdict: "verdict", change: "change", history: "History",
		missing: "Missing runs", unused: "Drawn, not used", notes: "Notes", changes: "Changes of level",
		runs: "%d runs, %d used", since: "%s to %s", perWeek: "a week", at: "since", was: "before", is: "after", gated: "gated",
	}
}

// slope writes a slope with its interval.
func (w *words) slope(m *analyze.TrendMetric) string {
	if m.Slope == nil {
		return absent
	}
	one := func(v float64) string {
		if m.Scale == "log" {
			return w.signedPercent(v)
		}
		return w.significant(v)
	}
	s := one(*m.Slope)
	if m.CI95 != nil {
		s += " (" + one(m.CI95[0]) + " … " + one(m.CI95[1]) + ")"
	}
	return s
}

// moved tells one change of level.
func (w *words) moved(m *analyze.TrendMetric, c *analyze.TrendChange) string {
	by := w.metricValue(&c.Before, m.Unit) + " → " + w.metricValue(&c.After, m.Unit)
	if c.Ratio != nil {
		by = w.signedPercent(*c.Ratio-1) + ", " + by
	}
	return by
}

func dayOf(s string) string {
	d, _, _ := strings.Cut(s, "T")
	return d
}

// TrendText tells a history for a terminal.
func TrendText(t *analyze.TrendResult) string {
	w := &english
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", plainText(t.Sentence.EN))
	if len(t.Metrics) > 0 {
		fmt.Fprintf(&b, "verdict: %s\n\n", w.code(string(t.Verdict)))
		tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(tw, "metric\tlatest\truns\tslope per week\tverdict\tlast change of level\n")
		for i := range t.Metrics {
			m := &t.Metrics[i]
			name := plainText(m.Metric)
			if m.Gated {
				name += " *"
			}
			last := m.Reason
			if n := len(m.Changes); n > 0 {
				c := &m.Changes[n-1]
				last = fmt.Sprintf("%s %s: %s", dayOf(c.Started), plainText(orElse(c.Release, c.Run)), w.moved(m, c))
			} else if last != "" {
				last = w.code(last)
			}
			fmt.Fprintf(tw, "%s\t%s\t%d\t%s\t%s\t%s\n", name, w.metricValue(m.Latest, m.Unit), m.Used, w.slope(m), m.Verdict, last)
		}
		_ = tw.Flush() // a strings.Builder takes everything
	}
	for _, g := range t.Missing {
		fmt.Fprintf(&b, "missing: %d between %s and %s\n", g.Missing, dayOf(g.From), dayOf(g.To))
	}
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "note: %s\n", plainText(n))
	}
	return b.String()
}

// TrendCSV writes one row per metric and run.
func TrendCSV(t *analyze.TrendResult) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write([]string{"metric", "unit", "run", "release", "started", "value", "ci95_low", "ci95_high", "used", "reason", "spike", "change"})
	for i := range t.Metrics {
		m := &t.Metrics[i]
		change := map[string]string{}
		for _, c := range m.Changes {
			change[c.Run] = c.Direction
		}
		for _, p := range m.Points {
			low, high := endCells(p.CI95)
			_ = w.Write([]string{
				record.Defuse(m.Metric), m.Unit, record.Defuse(p.Run), record.Defuse(p.Release), p.Started, optionalCell(p.Value), low, high,
				strconv.FormatBool(p.Used), record.Defuse(p.Reason), strconv.FormatBool(p.Spike), change[p.Run],
			})
		}
	}
	w.Flush()
	return out.Bytes(), w.Error() // which keeps the first error of any Write
}

func trendDocument(t *analyze.TrendResult, figures []figure, lang Lang) *shortDocument {
	w, tw := wordsOf(lang), trendWordsOf(lang)
	sentence := t.Sentence.EN
	if lang == Portuguese {
		sentence = t.Sentence.PTBR
	}
	verdict := w.badge(string(t.Verdict))
	d := &shortDocument{
		w: w, Lang: w.Lang, Kind: tw.kind, Title: orElse(t.Name, tw.kind), Sentence: sentence, Badge: &verdict,
		Tagline: fmt.Sprintf(tw.runs, t.Runs, t.Used) + ", " + fmt.Sprintf(tw.since, dayOf(t.From), dayOf(t.To)),
	}
	if len(t.Metrics) > 0 {
		tb := &table{Head: append(append(left(tw.metric), right(tw.latest, tw.slope)...), left(tw.verdict)...)}
		changes := &table{Head: left(tw.metric, tw.at, w.Run, tw.change)}
		for i := range t.Metrics {
			m := &t.Metrics[i]
			v := tableCell{Text: w.code(m.Verdict), Note: w.codeOrNone(m.Reason)}
			switch m.Verdict {
			case analyze.Better:
				v.Tone = "good"
			case analyze.Worse:
				v.Tone = "bad"
			}
			name := text(m.Metric)
			if m.Gated {
				name.Note = tw.gated
			}
			tb.add(name, text(w.metricValue(m.Latest, m.Unit)), text(w.slope(m)), v)
			for k := range m.Changes {
				c := &m.Changes[k]
				changes.add(text(m.Metric), text(dayOf(c.Started)), text(strings.TrimSpace(c.Release+" "+c.Run)), text(w.moved(m, c)))
			}
		}
		d.Sections = append(d.Sections, section{ID: "history", Title: tw.history, Blocks: []block{{Table: tb}}})
		if len(changes.Rows) > 0 {
			d.Sections = append(d.Sections, section{ID: "changes", Title: tw.changes, Blocks: []block{{Table: changes}}})
		}
	}
	if len(figures) > 0 {
		d.Sections = append(d.Sections, section{ID: "pictures", Title: w.Pictures, Blocks: []block{{Figures: figures}}})
	}
	if len(t.Missing) > 0 {
		tb := &table{Head: left(tw.was, tw.is, tw.missing)}
		for _, g := range t.Missing {
			tb.add(text(dayOf(g.From)), text(dayOf(g.To)), text(strconv.Itoa(g.Missing)))
		}
		d.Sections = append(d.Sections, section{ID: "missing", Title: tw.missing, Blocks: []block{{Table: tb}}})
	}
	if len(t.Unused) > 0 {
		tb := &table{Head: left(w.Run, w.Why)}
		for i, u := range t.Unused {
			if i == 50 {
				tb.add(text("…"), text(strconv.Itoa(len(t.Unused)-i)))
				break
			}
			tb.add(text(u.Run), text(w.code(u.Reason)))
		}
		d.Sections = append(d.Sections, section{ID: "unused", Title: tw.unused, Blocks: []block{{Table: tb}}})
	}
	if len(t.Notes) > 0 {
		d.Sections = append(d.Sections, section{ID: "notes", Title: tw.notes, Blocks: []block{{Paras: t.Notes}}})
	}
	return d
}

func (w *words) codeOrNone(c string) string {
	if c == "" {
		return ""
	}
	return w.code(c)
}

// TrendMarkdown tells a history in GitHub's Markdown, for a weekly mail.
func TrendMarkdown(t *analyze.TrendResult, lang Lang) []byte {
	return trendDocument(t, nil, lang).markdown()
}

// TrendHTML tells a history as one page that needs nothing else.
func TrendHTML(t *analyze.TrendResult, lang Lang) ([]byte, error) {
	figures, err := drawn(TrendPictures(t, lang))
	if err != nil {
		return nil, err
	}
	return trendDocument(t, figures, lang).html()
}

// TrendPictures draws one picture per metric that has values.
func TrendPictures(t *analyze.TrendResult, lang Lang) []Picture {
	var out []Picture
	for i := range t.Metrics {
		m := &t.Metrics[i]
		if m.Latest == nil {
			continue
		}
		out = append(out, Picture{"trend-" + fileStem(m.Metric), plot.Trend(historyOf(t, m), plot.Lang(lang))})
	}
	return out
}

// fileStem keeps what may stand in a file's name.
func fileStem(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, name), "-.")
}

func instantOf(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

func historyOf(t *analyze.TrendResult, m *analyze.TrendMetric) plot.History {
	h := plot.History{Name: m.Metric}
	scale := 1.0
	switch m.Unit {
	case "us":
		unit := "µs"
		switch v := *m.Latest; {
		case v >= 1e6:
			scale, unit = 1e-6, "s"
		case v >= 1e3:
			scale, unit = 1e-3, "ms"
		}
		h.Name += " (" + unit + ")"
	case "factor", "ratio", "share":
	default:
		h.Name += " (" + m.Unit + ")"
	}
	index := map[string]int{}
	for i, p := range m.Points {
		index[p.Run] = i
		q := plot.HistoryPoint{At: instantOf(p.Started), Value: scale * known(p.Value), Used: p.Used, Spike: p.Spike}
		q.Low, q.High = ends(p.CI95)
		q.Low, q.High = scale*q.Low, scale*q.High
		h.Points = append(h.Points, q)
	}
	if n := len(m.Changes); n > 0 {
		from := instantOf(m.Points[0].Started)
		for k, c := range m.Changes {
			h.Changes = append(h.Changes, plot.HistoryChange{At: instantOf(c.Started), Name: orElse(c.Release, dayOf(c.Started)), Worse: c.Direction == analyze.Worse})
			h.Levels = append(h.Levels, plot.HistoryLevel{From: from, To: instantOf(m.Points[index[c.LastBefore]].Started), Value: scale * c.Before})
			from = instantOf(c.Started)
			if k == n-1 {
				h.Levels = append(h.Levels, plot.HistoryLevel{From: from, To: instantOf(m.Points[len(m.Points)-1].Started), Value: scale * c.After})
			}
		}
	}
	for _, g := range t.Missing {
		h.Gaps = append(h.Gaps, [2]time.Time{instantOf(g.From), instantOf(g.To)})
	}
	return h
}
