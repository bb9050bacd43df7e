package report

import (
	"fmt"
	"strings"

	"headroom/analyze"
)

// build says an analysis in a language. Figures are the rendered pictures, if any.
func build(a *analyze.Analysis, figures []figure, lang Lang) *document {
	w := wordsOf(lang)
	d := &document{w: w, Lang: w.Lang, Title: w.Report, Verdict: w.badge(string(a.Verdict))}
	d.Sentence = a.Sentence.EN
	if lang == Portuguese {
		d.Sentence = a.Sentence.PTBR
	}
	if d.Sentence == "" {
		d.Sentence = w.NoSentence
	}
	d.Trust = w.badge("inconclusive")
	if a.Trust != nil {
		d.Trust = w.badge(a.Trust.Verdict)
	}
	d.Means = w.verdictMeans(a)
	if r := a.Run; r != nil {
		d.Title = r.Name
		if r.Release != "" {
			d.Title += " · " + r.Release
		}
		parts := []string{w.f(w.StateIs, w.code(r.State))}
		if r.StateReason != "" {
			parts[0] += " (" + r.StateReason + ")"
		}
		parts = append(parts, w.f(w.StartedAt, r.Started))
		if r.DurationS > 0 {
			parts = append(parts, w.f(w.Took, w.seconds(r.DurationS)))
		}
		parts = append(parts, r.ID)
		d.Tagline = strings.Join(parts, " · ")
		d.Footer = w.f(w.Generated, r.ToolVersion, r.EvidenceDigest)
	}
	d.Cards = w.cards(a)
	add := func(id, title, intro string, blocks ...block) {
		if len(blocks) > 0 {
			d.Sections = append(d.Sections, section{id, title, intro, blocks})
		}
	}
	add("gates", w.Gates, w.GatesIntro, w.gates(a))
	add("findings", w.Findings, w.FindingsIntro, w.findings(a))
	if len(figures) > 0 {
		add("pictures", w.Pictures, w.PicturesIntro, block{Figures: figures})
	}
	if len(a.Steps) > 0 {
		add("plateaus", w.Plateaus, w.StepsIntro, w.steps(a))
	}
	if a.Latency != nil {
		add("latency", w.Latency, w.LatencyIntro, w.latency(a))
	}
	if c := a.Accounting; c != nil {
		add("accounting", w.Accounting, w.f(w.AccountingIntro, w.count(c.Scheduled), w.count(c.Sent)), w.accounting(c)...)
	}
	if a.Trust != nil {
		add("trust", w.Trust, w.f(w.TrustIntro, d.Trust.Word), w.trust(a.Trust)...)
	}
	add("refused", w.Refused, w.RefusedIntro, w.refused(a))
	if len(a.Thresholds) > 0 {
		add("thresholds", w.Thresholds, w.ThresholdsIntro, w.thresholds(a))
	}
	if len(a.Classes) > 0 {
		add("classes", w.Classes, w.ClassesIntro, w.classes(a))
	}
	if a.Burst != nil {
		add("burst", w.Burst, "", w.burst(a.Burst))
	}
	if a.Soak != nil {
		add("soak", w.Soak, w.f(w.Hours, w.significant(a.Soak.Hours)), w.soak(a.Soak)...)
	}
	if len(a.Chaos) > 0 {
		add("chaos", w.Chaos, "", w.chaos(a.Chaos))
	}
	if len(a.Resources) > 0 {
		add("resources", w.Resources, "", w.resources(a.Resources))
	}
	if a.Run != nil {
		add("facts", w.Facts, w.FactsIntro, w.facts(a.Run)...)
	}
	add("terms", w.HowToRead, "", block{Terms: w.Terms})
	return d
}

func (w *words) verdictMeans(a *analyze.Analysis) string {
	switch a.Verdict {
	case analyze.Pass:
		if len(a.Gates) == 0 {
			return w.PassNoGates
		}
		return w.PassMeans
	case analyze.Fail:
		return w.FailMeans
	}
	return w.InconclusiveMeans
}

func (w *words) cards(a *analyze.Analysis) []card {
	cards := []card{w.kneeCard(a)}
	if a.Margin != nil {
		cards = append(cards, w.marginCard(a.Margin))
	}
	if len(a.PostSaturation) > 0 {
		cards = append(cards, w.pastCard(a.PostSaturation))
	} else if p := a.PeakGoodput; p != nil && p.RPS != nil {
		c := card{Title: w.PeakGoodput, Value: w.number(*p.RPS), Unit: w.PerSecond, Tone: "none"}
		if p.CI95 != nil {
			c.Range = w.f(w.CI, w.span(p.CI95, w.number))
		}
		if p.AtOfferedRPS != nil {
			c.Says = []string{w.f(w.PeakAt, w.number(*p.AtOfferedRPS))}
		}
		cards = append(cards, c)
	}
	t := card{Title: w.Trust, Value: w.code("inconclusive"), Tone: "doubt"}
	if a.Trust != nil {
		b := w.badge(a.Trust.Verdict)
		t.Value, t.Tone = b.Word, b.Tone
		t.Says = append(t.Says, map[string]string{"trusted": w.TrustedMeans, "suspect": w.SuspectMeans, "untrusted": w.UntrustedMeans}[a.Trust.Verdict])
		if len(a.Trust.Reasons) > 0 {
			t.Says = append(t.Says, w.list(a.Trust.Reasons)+".")
		}
		if a.Run != nil && a.Run.Model == "closed" {
			t.Says = append(t.Says, w.ModelClosed)
		}
	}
	return append(cards, t)
}

// list joins codes as words.
func (w *words) list(codes []string) string {
	out := make([]string, len(codes))
	for i, c := range codes {
		out[i] = w.code(c)
	}
	return strings.Join(out, "; ")
}

func (w *words) kneeCard(a *analyze.Analysis) card {
	c := card{Title: w.Knee, Value: absent, Tone: "doubt"}
	k := a.Knee
	if k == nil {
		c.Says = []string{w.f(w.KneeNone, w.code("no_data"))}
		return c
	}
	switch {
	case k.RPS != nil:
		c.Value, c.Unit, c.Tone = w.number(*k.RPS), w.PerSecond, "none"
		if k.CI95 != nil {
			c.Range = w.f(w.CI, w.span(k.CI95, w.number))
		}
		c.Says = append(c.Says, w.f(w.KneeFound, w.number(*k.RPS)))
		if p := w.Phrases[k.Kind]; p != "" {
			c.Says = append(c.Says, w.f(w.KneeKind, p))
		}
	case k.Status == "not_reached" && k.HighestHeld != nil:
		c.Value, c.Unit, c.Tone = "> "+w.number(*k.HighestHeld), w.PerSecond, "none"
		c.Says = append(c.Says, w.f(w.KneeNotReached, w.number(*k.HighestHeld)))
	default:
		c.Says = append(c.Says, w.f(w.KneeNone, w.kneeRefusal(k)))
	}
	if k.HighestHeld != nil && k.LowestFailed != nil {
		c.Says = append(c.Says, w.f(w.KneeBracket, w.rate(*k.HighestHeld), w.rate(*k.LowestFailed)))
	}
	if k.DwellS != nil {
		c.Says = append(c.Says, w.f(w.KneeDwell, w.seconds(*k.DwellS)))
	}
	if k.NextRun != "" {
		c.Says = append(c.Says, w.f(w.NextRun, k.NextRun))
	}
	return c
}

func (w *words) kneeRefusal(k *analyze.Knee) string {
	if k.Status == "inconclusive" && k.Reason != "" {
		return w.code(k.Reason)
	}
	s := w.code(k.Status)
	if k.Reason != "" && k.Reason != k.Status {
		s += ", " + w.code(k.Reason)
	}
	return s
}

func (w *words) marginCard(m *analyze.Margin) card {
	c := card{Title: w.Margin, Value: absent, Tone: "doubt"}
	if m.Value == nil {
		c.Says = append(c.Says, w.f(w.MarginNone, w.code(orElse(m.Refused, "no_knee"))))
	} else {
		c.Value, c.Unit, c.Tone = w.significant(*m.Value), "×", "none"
		if m.AtLeast {
			c.Value = "≥ " + c.Value
		}
		if m.CI95 != nil {
			c.Range = w.f(w.CI, w.span(m.CI95, w.significant))
		}
		if *m.Value < 1 && !m.AtLeast {
			c.Says, c.Tone = append(c.Says, w.MarginBelow), "bad"
		} else {
			times := w.significant(*m.Value)
			if m.AtLeast {
				times = w.f(w.AtLeast, times)
			}
			c.Says = append(c.Says, w.f(w.MarginMeans, times))
		}
		if m.AtLeast {
			c.Says = append(c.Says, w.MarginAtLeast)
		}
	}
	from := ""
	for _, s := range []string{m.Source, m.Taken} {
		if s != "" {
			from += ", " + s
		}
	}
	c.Says = append(c.Says, w.f(w.MarginPeak, w.number(m.PeakRPS), w.significant(m.WindowDays), w.seconds(m.ResolutionS), from))
	if m.ValueNext != nil && m.PeakNextP95 != nil {
		c.Says = append(c.Says, w.f(w.MarginNext, w.number(*m.PeakNextP95), w.significant(*m.ValueNext)+" ×"))
	}
	return c
}

func (w *words) pastCard(all []analyze.PostSaturation) card {
	c := card{Title: w.PastKnee, Value: absent, Tone: "doubt"}
	for _, p := range all {
		at := w.significant(p.At)
		if p.Ratio == nil {
			c.Says = append(c.Says, at+" ×: "+w.f(w.PastNone, w.code(orElse(p.Refused, "no_data"))))
			continue
		}
		if c.Value == absent {
			c.Value, c.Tone = w.percent(*p.Ratio), w.badge(p.Shape).Tone
			if p.CI95 != nil {
				c.Range = w.f(w.CI, w.span(p.CI95, w.percent))
			}
		}
		s := w.f(w.PastMeans, at, w.percent(*p.Ratio), orElse(w.Phrases[p.Shape], w.code(p.Shape)))
		if p.Interpolated {
			s += " (" + w.Interpolated + ")"
		}
		c.Says = append(c.Says, s)
	}
	return c
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (w *words) gates(a *analyze.Analysis) block {
	if len(a.Gates) == 0 {
		return block{Paras: []string{w.NoGates}}
	}
	t := &table{Head: append(append(left(w.Outcome, w.Rule), right(w.Measured, w.Limit)...), left(w.Why)...)}
	for _, g := range a.Gates {
		t.add(toned(w.badge(string(g.Outcome))), code(g.Rule), text(w.gateValue(&g)), text(w.withUnit(g.Limit, g.Unit)), text(w.gateWhy(&g)))
	}
	return block{Table: t}
}

func (w *words) gateValue(g *analyze.GateResult) string {
	if g.Measured == nil {
		return absent
	}
	return w.withUnit(*g.Measured, g.Unit)
}

func (w *words) gateWhy(g *analyze.GateResult) string {
	var parts []string
	if g.Why != "" {
		parts = append(parts, w.code(g.Why))
	}
	if len(g.Findings) > 0 {
		parts = append(parts, w.list(g.Findings))
	}
	return strings.Join(parts, "; ")
}

func (w *words) withUnit(v float64, unit string) string {
	switch unit {
	case "":
		return w.significant(v)
	case "s":
		return w.seconds(v)
	case "ms":
		return w.duration(v * 1e3)
	case "us", "µs":
		return w.duration(v)
	}
	return w.significant(v) + " " + unit
}

func (w *words) findings(a *analyze.Analysis) block {
	if len(a.Findings) == 0 {
		return block{Paras: []string{w.NoFindings}}
	}
	t := &table{Head: append(left(w.Severity, w.Code, w.Scope, w.Says), right(w.Measured, w.Limit)...)}
	for _, f := range a.Findings {
		t.add(toned(w.badge(f.Severity)), code(f.Code), text(f.Scope), noted(w.code(f.Code), f.Text),
			text(w.optional(f.Measured, "", w.significant)), text(w.optional(f.Limit, "", w.significant)))
	}
	return block{Table: t}
}

// held is what is said of a plateau.
func (w *words) held(s *analyze.StepResult) badge {
	switch {
	case s.Held == nil:
		return badge{w.Unknown, "doubt", "?"}
	case *s.Held:
		return badge{w.Yes, "good", "✓"}
	}
	return badge{w.No, "bad", "✗"}
}

// backlog is the requests in flight at the start and the end of a plateau.
func (w *words) backlog(s *analyze.StepResult) string {
	if s.BacklogStart == nil || s.BacklogEnd == nil {
		return absent
	}
	return fmt.Sprintf("%s → %s", w.significant(*s.BacklogStart), w.significant(*s.BacklogEnd))
}
