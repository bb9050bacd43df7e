package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"headroom/analyze"
	"headroom/store/record"
)

func (w *words) thresholds(a *analyze.Analysis) block {
	t := &table{Head: slices.Concat(left(w.Rule), right(w.Limit, w.AtOrBelow, w.Share))}
	for _, c := range a.Thresholds {
		t.add(code(c.Name), text(w.duration(c.LimitUS)), text(w.f(w.Of, w.count(c.AtOrBelow), w.count(c.Total))), text(w.share(c.AtOrBelow, c.Total)))
	}
	return block{Table: t}
}

func (w *words) classes(a *analyze.Analysis) block {
	t := &table{Head: slices.Concat(left(w.Class), right(w.Scheduled, w.Outcomes["ok"], w.Response+" p50", w.Response+" p99", w.Service+" p50", w.Service+" p99"), left(w.Outcome))}
	for i := range a.Classes {
		c := &a.Classes[i]
		var others []string
		for _, o := range record.Outcomes()[1:] {
			if n := c.Outcomes[o.String()]; n > 0 {
				others = append(others, w.Outcomes[o.String()]+" "+w.count(n))
			}
		}
		t.add(text(c.Class), text(w.count(c.Scheduled)), text(w.share(c.Outcomes["ok"], c.Scheduled)),
			text(w.quantile(&c.Response, "p50", c.Response.P50)), text(w.quantile(&c.Response, "p99", c.Response.P99)),
			text(w.quantile(&c.Service, "p50", c.Service.P50)), text(w.quantile(&c.Service, "p99", c.Service.P99)), text(strings.Join(others, ", ")))
	}
	return block{Table: t}
}

func (w *words) burst(b *analyze.BurstResult) block {
	paras := []string{w.f(w.BurstIs, w.number(b.BaseRPS), w.number(b.BurstRPS), w.seconds(b.LengthS))}
	if b.PeakBacklog != nil {
		paras = append(paras, w.f(w.Backlogs, w.significant(*b.PeakBacklog)))
	}
	switch {
	case b.Recovered == nil || *b.Recovered && b.RecoveryS == nil:
		why := ""
		if b.Refused != "" {
			why = ": " + w.code(b.Refused)
		}
		paras = append(paras, w.f(w.RecoveryUnknown, why))
	case *b.Recovered:
		s := w.f(w.RecoveredIn, w.seconds(*b.RecoveryS))
		if b.RecoveryCI95 != nil {
			s += " " + w.f(w.CI, w.span(b.RecoveryCI95, w.seconds)) + "."
		}
		paras = append(paras, s)
	default:
		paras = append(paras, w.f(w.NotRecovered, w.optional(b.CensoredAtS, "", w.seconds)))
	}
	if b.GoodputDuringRatio != nil {
		paras = append(paras, w.f(w.DuringBurst, w.percent(*b.GoodputDuringRatio)))
	}
	if b.AmplificationAfter != nil {
		paras = append(paras, w.Amplification+": "+w.significant(*b.AmplificationAfter))
	}
	if b.Spiral != nil {
		paras = append(paras, map[bool]string{true: w.Spirals, false: w.NoSpiral}[*b.Spiral])
	}
	return block{Paras: paras}
}

func (w *words) soak(s *analyze.SoakResult) []block {
	leaks := w.NoLeaks
	switch {
	case len(s.Leaks) > 0:
		leaks = w.f(w.Leaks, strings.Join(s.Leaks, ", "))
	case s.Refused != "":
		leaks = w.f(w.Reason, w.code(s.Refused))
	}
	t := &table{Head: slices.Concat(left(w.Name, w.Kind), right(w.Slope, "95 %", "p", w.Limit, w.Exhaustion))}
	for _, name := range slices.Sorted(maps.Keys(s.Drift)) {
		d := s.Drift[name]
		kind := text(w.code(orElse(d.Kind, "inconclusive")))
		if d.Refused != "" {
			kind.Note = w.code(d.Refused)
		}
		if d.Kind == "leak" {
			kind.Tone = "bad"
		}
		unit := func(v float64) string { return w.withUnit(v, d.Unit) }
		t.add(text(name), kind, text(w.optional(d.SlopePerHour, "", unit)), text(w.span(d.CI95, w.significant)),
			text(w.optional(d.P, "", w.significant)), text(w.optional(d.Limit, "", unit)), text(w.optional(d.ExhaustionH, "", w.significant)))
	}
	blocks := []block{{Paras: []string{leaks}}}
	if len(t.Rows) > 0 {
		blocks = append(blocks, block{Table: t})
	}
	return blocks
}

func (w *words) chaos(all []analyze.ChaosResult) block {
	t := &table{Head: slices.Concat(left(w.Fault), right(w.At, w.For, w.GoodputDuring), left(w.Degraded), right(w.Detected, w.Recovery))}
	for _, c := range all {
		at := c.AtS
		if c.AcknowledgedAtS != nil {
			at = *c.AcknowledgedAtS
		}
		recovery := noted(w.optional(c.RecoveryS, c.Refused, w.seconds), "")
		if c.Recovered != nil && !*c.Recovered {
			recovery = tableCell{Text: "✗ " + w.code("not_recovered"), Tone: "bad"}
		}
		t.add(text(c.Fault), text(w.seconds(at)), text(w.seconds(c.ForS)), text(w.optional(c.GoodputRatioDuring, "", w.percent)),
			text(w.code(orElse(c.DegradedMode, "no_data"))), text(w.optional(c.DetectedAfterS, "", w.seconds)), recovery)
	}
	return block{Table: t}
}

func (w *words) resources(all []analyze.Resource) block {
	t := &table{Head: slices.Concat(left(w.Name, w.Source, w.Unit), right(w.Samples, "min", w.Mean, "max", w.AtKnee))}
	for _, r := range all {
		t.add(text(r.Name), text(r.Source), text(r.Unit), text(w.count(r.Samples)), text(w.optional(r.Min, "", w.significant)),
			text(w.optional(r.Mean, "", w.significant)), text(w.optional(r.Max, "", w.significant)), text(w.optional(r.AtKnee, "", w.significant)))
	}
	return block{Table: t}
}

func (w *words) facts(r *analyze.RunInfo) []block {
	t := &table{Head: left(w.Name, w.Value)}
	for _, f := range [][2]string{
		{w.RunID, r.ID},
		{w.State, w.code(r.State)},
		{w.Tool, r.ToolVersion},
		{w.Seed, strconv.FormatUint(r.Seed, 10)},
		{w.Interval, w.seconds(r.IntervalS)},
		{w.Timeout, w.seconds(r.TimeoutS)},
		{w.Deadline, w.seconds(r.DeadlineS)},
		{w.Shards, strconv.Itoa(r.Shards)},
		{w.PlanDigest, r.PlanDigest},
		{w.Comparable, r.ComparableKey},
		{w.Digest, r.EvidenceDigest},
	} {
		if f[1] != "" {
			t.add(text(f[0]), code(f[1]))
		}
	}
	blocks := []block{{Title: w.Run, Table: t}}
	for _, side := range []struct {
		title string
		facts map[string]string
	}{{w.Generator, r.Facts.Generator}, {w.TargetFacts, r.Facts.Target}} {
		if len(side.facts) == 0 {
			continue
		}
		t := &table{Head: left(w.Name, w.Value)}
		for _, k := range slices.Sorted(maps.Keys(side.facts)) {
			name := text(k)
			if slices.Contains(r.Facts.Changed, k) {
				name.Note, name.Tone = w.Changed, "doubt"
			}
			t.add(name, text(side.facts[k]))
		}
		blocks = append(blocks, block{Title: side.title, Table: t})
	}
	if len(r.Facts.Changed) > 0 {
		blocks = append(blocks, block{Paras: []string{w.Changed + ": " + strings.Join(r.Facts.Changed, ", ")}})
	}
	return blocks
}
