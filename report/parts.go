package report

import (
	"bytes"
	"fmt"
	"html/template"
	"slices"
	"strconv"

	"headroom/analyze"
	"headroom/store/record"
)

// Parts is what a report says of an analysis, in pieces for a page of another
// kind. The HTML is complete and escaped, and styled by Stylesheet.
type Parts struct {
	Lang, Title, Tagline, Sentence, Means string
	Verdict, Trust                        Badge
	Cards                                 template.HTML
	Sections                              []Part // gates, findings, plateaus, latency, accounting, trust, …
	Footer                                string
}

// Part is one section, without its heading.
type Part struct {
	ID, Title, Intro string
	HTML             template.HTML
}

// Badge is a word with a tone (good, bad, doubt, none) and a sign for those who
// don't see the tone.
type Badge struct {
	Word, Tone, Sign string
}

// Stylesheet is the style of reports and of Parts.
func Stylesheet() string { return styleText }

// PartsOf says an analysis in pieces, without pictures. Where step is not nil,
// the number of each plateau leads to the address that it returns.
func PartsOf(a *analyze.Analysis, lang Lang, step func(index int) string) (*Parts, error) {
	d := build(a, nil, lang)
	p := &Parts{
		Lang: d.Lang, Title: d.Title, Tagline: d.Tagline, Sentence: d.Sentence, Means: d.Means,
		Verdict: Badge(d.Verdict), Trust: Badge(d.Trust), Footer: d.Footer,
	}
	var err error
	if p.Cards, err = fragment("cards", d.Cards); err != nil {
		return nil, err
	}
	for _, s := range d.Sections {
		if s.ID == "plateaus" && step != nil {
			linkSteps(&s, step)
		}
		part, err := partOf(s)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, part)
	}
	return p, nil
}

func partOf(s section) (Part, error) {
	html, err := fragment("blocks", s)
	return Part{ID: s.ID, Title: s.Title, Intro: s.Intro, HTML: html}, err
}

func fragment(name string, data any) (template.HTML, error) {
	var b bytes.Buffer
	if err := page.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("report: %w", err)
	}
	return template.HTML(b.String()), nil // escaped by the template
}

// linkSteps makes links of the first column of the table of plateaus.
func linkSteps(s *section, step func(int) string) {
	for _, b := range s.Blocks {
		if b.Table == nil {
			continue
		}
		for _, row := range b.Table.Rows {
			if i, err := strconv.Atoi(row[0].Text); err == nil {
				row[0].Href = step(i)
			}
		}
	}
}

// StepParts says one plateau: its values, both clocks, and how its requests
// ended.
func StepParts(a *analyze.Analysis, s *analyze.StepResult, lang Lang) ([]Part, error) {
	w := wordsOf(lang)
	values := &table{Head: slices.Concat(left(w.What), right(w.Value))}
	add := func(name string, c tableCell) { values.add(text(name), c) }
	held := toned(w.held(s))
	held.Note = w.code(s.Why)
	trust := toned(w.badge(s.Trust))
	trust.Note = w.list(s.Reasons)
	good := text(w.rate(s.GoodputRPS))
	if s.GoodputCI95 != nil {
		good.Note = w.f(w.CI, w.span(s.GoodputCI95, w.number))
	}
	add(w.Kind, text(w.code(s.Kind)))
	add(w.Target, text(w.rate(s.TargetRPS)))
	add(w.Offered, text(w.rate(s.OfferedRPS)))
	add(w.Goodput, good)
	add(w.Completions, text(w.rate(s.CompletionsRPS)))
	add(w.Held, held)
	add(w.LossRatio, text(w.lost(s)))
	add(w.Factor, text(w.optional(s.OmissionFactor, "", w.significant)))
	add(w.Lag+" p99", text(w.optional(s.LagP99US, "", w.duration)))
	add(w.Backlog, text(w.backlog(s)))
	add(w.Window, text(w.span(&s.WindowS, w.seconds)))
	add(w.TrustOf, trust)

	clocks := &table{Head: slices.Concat(left(w.Clock), right(w.Requests, "min", w.Mean, "p50", "p90", "p95", "p99", "p99"+w.Point+"9", "max"))}
	clocks.add(w.latencyRow(w.Response, &s.Response)...)
	clocks.add(w.latencyRow(w.Service, &s.Service)...)

	var total uint64
	for _, n := range s.Outcomes {
		total += n
	}
	ended := &table{Head: slices.Concat(left(w.Outcome), right(w.Requests, w.Share), left(w.What))}
	for _, o := range record.Outcomes() {
		n := s.Outcomes[o.String()]
		ended.add(text(w.Outcomes[o.String()]), text(w.count(n)), text(w.share(n, total)), text(w.Meaning[o.String()]))
	}
	sections := []section{
		{ID: "step", Title: w.Step + " " + strconv.Itoa(s.Index), Blocks: []block{{Table: values}}},
		{ID: "latency", Title: w.Latency, Intro: w.LatencyIntro, Blocks: []block{{Table: clocks}}},
		{ID: "accounting", Title: w.Accounting, Blocks: []block{{Table: ended}}},
	}
	scope := "step " + strconv.Itoa(s.Index)
	var here analyze.Analysis
	for _, f := range a.Findings {
		if f.Scope == scope {
			here.Findings = append(here.Findings, f)
		}
	}
	if len(here.Findings) > 0 {
		sections = slices.Insert(sections, 1, section{ID: "findings", Title: w.Findings, Blocks: []block{w.findings(&here)}})
	}
	out := make([]Part, len(sections))
	for i, s := range sections {
		var err error
		if out[i], err = partOf(s); err != nil {
			return nil, err
		}
	}
	return out, nil
}
