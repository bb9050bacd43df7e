package report

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"headroom/analyze"
	"headroom/store/record"
)

// byLoad are the plateaus by rising offered load.
func byLoad(steps []analyze.StepResult) []*analyze.StepResult {
	out := make([]*analyze.StepResult, len(steps))
	for i := range steps {
		out[i] = &steps[i]
	}
	slices.SortStableFunc(out, func(a, b *analyze.StepResult) int { return cmp.Compare(a.OfferedRPS, b.OfferedRPS) })
	return out
}

func (w *words) steps(a *analyze.Analysis) block {
	t := &table{Head: slices.Concat(right("#"), left(w.Kind), right(w.Offered, w.Goodput, "95 %"), left(w.Held),
		right(w.Response+" p50", w.Response+" p99", w.Service+" p50", w.Service+" p99", w.LossRatio, w.Factor, w.Backlog), left(w.TrustOf))}
	for _, s := range byLoad(a.Steps) {
		held := toned(w.held(s))
		if s.Held == nil || !*s.Held {
			held.Note = w.code(s.Why)
		}
		trust := toned(w.badge(s.Trust))
		trust.Note = w.list(s.Reasons)
		t.add(text(strconv.Itoa(s.Index)), text(w.code(s.Kind)), text(w.number(s.OfferedRPS)), text(w.number(s.GoodputRPS)),
			text(w.span(s.GoodputCI95, w.number)), held,
			text(w.quantile(&s.Response, "p50", s.Response.P50)), text(w.quantile(&s.Response, "p99", s.Response.P99)),
			text(w.quantile(&s.Service, "p50", s.Service.P50)), text(w.quantile(&s.Service, "p99", s.Service.P99)),
			text(w.lost(s)), text(w.optional(s.OmissionFactor, "", w.significant)), text(w.backlog(s)), trust)
	}
	return block{Table: t}
}

// lost is the share of a plateau's requests that got no answer in time, from its outcomes.
func (w *words) lost(s *analyze.StepResult) string {
	var total uint64
	for _, n := range s.Outcomes {
		total += n
	}
	if total == 0 {
		return absent
	}
	return w.percent(float64(total-s.Outcomes[record.OK.String()]) / float64(total))
}

// clocks are the four summaries of a run, with their names.
func (w *words) clocks(l *analyze.Latencies) []struct {
	name string
	l    *analyze.LatencyUS
} {
	return []struct {
		name string
		l    *analyze.LatencyUS
	}{{w.Response, &l.Response}, {w.Service, &l.Service}, {w.OKResponse, &l.OKResponse}, {w.FailedResponse, &l.FailedResponse}}
}

func (w *words) latency(a *analyze.Analysis) block {
	t := &table{Head: slices.Concat(left(w.Clock), right(w.Requests, "min", w.Mean, "p50", "p90", "p95", "p99", "p99"+w.Point+"9", "max"))}
	for _, c := range w.clocks(a.Latency) {
		t.add(w.latencyRow(c.name, c.l)...)
	}
	b := block{Table: t}
	if slices.ContainsFunc(a.Steps, func(s analyze.StepResult) bool { return s.Held != nil && !*s.Held }) {
		b.Paras = []string{w.PastLatency}
	}
	return b
}

func (w *words) latencyRow(name string, l *analyze.LatencyUS) []tableCell {
	count := text(w.count(l.Count))
	if l.Clamped > 0 {
		count.Note = w.Clamped + ": " + w.count(l.Clamped)
	}
	row := []tableCell{text(name), count, text(w.optional(l.Min, "", w.duration)), text(w.optional(l.Mean, "", w.duration))}
	for _, q := range []struct {
		name string
		v    *float64
	}{{"p50", l.P50}, {"p90", l.P90}, {"p95", l.P95}, {"p99", l.P99}, {"p99_9", l.P999}} {
		c := text(w.quantile(l, q.name, q.v))
		if ci := l.CI95[q.name]; ci != nil && q.v != nil {
			c.Note = w.span(ci, w.duration)
		}
		row = append(row, c)
	}
	return append(row, text(w.optional(l.Max, "", w.duration)))
}

// outcomes lists an accounting in storage order.
func outcomes(c *analyze.Accounting) []struct {
	Name string
	N    uint64
} {
	values := [record.NumOutcomes]uint64{c.OK, c.Late, c.Shed, c.Wrong, c.HTTPError, c.Timeout, c.ConnectError, c.GeneratorError, c.Dropped, c.Unfinished}
	var out []struct {
		Name string
		N    uint64
	}
	for _, o := range record.Outcomes() {
		out = append(out, struct {
			Name string
			N    uint64
		}{o.String(), values[o]})
	}
	return out
}

func (w *words) share(n, of uint64) string {
	if of == 0 {
		return absent
	}
	return w.percent(float64(n) / float64(of))
}

func (w *words) accounting(c *analyze.Accounting) []block {
	t := &table{Head: slices.Concat(left(w.Outcome), right(w.Requests, w.Share), left(w.What))}
	for _, o := range outcomes(c) {
		t.add(text(w.Outcomes[o.Name]), text(w.count(o.N)), text(w.share(o.N, c.Scheduled)), text(w.Meaning[o.Name]))
	}
	more := &table{Head: slices.Concat(left(w.Name), right(w.Value))}
	more.add(text(w.Attempts), text(w.count(c.Attempts)))
	more.add(text(w.Amplification), text(w.optional(c.Amplification, "", w.significant)))
	more.add(text(w.Connections+", "+w.Opened), text(w.count(c.Connections.Opened)))
	more.add(text(w.Connections+", "+w.Reused), text(w.count(c.Connections.Reused)))
	more.add(text(w.FullHS), text(w.count(c.Connections.FullHandshakes)))
	more.add(text(w.ResumedHS), text(w.count(c.Connections.ResumedHandshakes)))
	more.add(text(w.Bytes), text(w.count(c.BytesIn)+" / "+w.count(c.BytesOut)))
	blocks := []block{{Table: t}}
	for _, m := range []struct {
		title string
		m     map[string]uint64
	}{{w.Status, c.ByStatus}, {w.Error, c.ByError}} {
		if len(m.m) == 0 {
			continue
		}
		t := &table{Head: slices.Concat(left(m.title), right(w.Requests))}
		for _, k := range slices.Sorted(maps.Keys(m.m)) {
			t.add(code(k), text(w.count(m.m[k])))
		}
		blocks = append(blocks, block{Table: t})
	}
	return append(blocks, block{Table: more})
}

func (w *words) trust(t *analyze.Trust) []block {
	var blocks []block
	var paras []string
	if len(t.Reasons) > 0 {
		paras = append(paras, w.f(w.Reason, w.list(t.Reasons)))
	}
	if len(t.UntrustedPlateaus) > 0 {
		var ids []string
		for _, i := range t.UntrustedPlateaus {
			ids = append(ids, strconv.Itoa(i))
		}
		paras = append(paras, w.f(w.UntrustedPlateaus, strings.Join(ids, ", ")))
	}
	if len(paras) > 0 {
		blocks = append(blocks, block{Paras: paras})
	}
	tb := &table{Head: slices.Concat(left(w.What), right(w.Value))}
	add := func(name, value string) { tb.add(text(name), text(value)) }
	if q := t.OmissionFactor; q != nil {
		add(w.OmissionFactor, w.four(q, w.significant))
	}
	if e := t.OmissionEstimate; e != nil {
		var parts []string
		for _, b := range []*analyze.Interval{e.P50, e.P90, e.P99, e.P999} {
			if b == nil {
				parts = append(parts, "–")
				continue
			}
			parts = append(parts, w.significant(b[0])+"–"+w.significant(b[1]))
		}
		add(w.OmissionEstimate, strings.Join(parts, " / "))
	}
	if l := t.LagUS; l != nil {
		add(w.Lag+" p50 / p90 / p99 / p99"+w.Point+"9 / max", w.four(&l.Quantiles, w.duration)+" / "+w.optional(l.Max, "", w.duration))
	}
	s := t.LateSends
	add(w.LateSends, w.count(s.Over1ms)+" / "+w.count(s.Over10ms)+" / "+w.count(s.Over100ms)+" / "+w.count(s.Over1s))
	add(w.PeakSent, w.optional(t.PeakSentRPS100ms, "", w.rate))
	if f := t.Arrivals; f != nil {
		v := w.code(f.Model) + ": " + w.code(f.Verdict)
		if f.Reason != "" {
			v += " (" + w.code(f.Reason) + ")"
		}
		add(w.Arrivals, v)
	}
	add(w.CPU, w.optional(t.CPU.GeneratorShareMax, "", w.percent))
	shares := w.Unknown
	if b := t.CPU.SharesWithTarget; b != nil {
		shares = map[bool]string{true: w.Yes, false: w.No}[*b]
	}
	add(w.SharesCPU, shares)
	ms := func(v float64) string { return w.duration(v * 1000) }
	add(w.GCPause, w.optional(t.GCPauseMaxMS, "", ms))
	add(w.Sleeper, w.optional(t.SleeperLateMaxMS, "", ms))
	add(w.Limited, w.optional(t.LimitedShare, "", w.percent))
	add(w.Law, w.optional(t.LittlesLawRatio, "", w.significant))
	return append(blocks, block{Table: tb})
}

func (w *words) four(q *analyze.Quantiles, one func(float64) string) string {
	var parts []string
	for _, v := range []*float64{q.P50, q.P90, q.P99, q.P999} {
		parts = append(parts, w.optional(v, "", one))
	}
	return strings.Join(parts, " / ")
}

// refused gathers every number that was withheld, with its reason.
func (w *words) refused(a *analyze.Analysis) block {
	t := &table{Head: left(w.What, w.Why)}
	add := func(what, why string) { t.add(text(what), text(why)) }
	if k := a.Knee; k != nil && k.RPS == nil {
		add(w.Knee, w.kneeRefusal(k))
	}
	if m := a.Margin; m != nil {
		if m.Value == nil {
			add(w.Margin, w.code(orElse(m.Refused, "no_knee")))
		}
		if m.ValueNext == nil && m.NextRefused != "" {
			add(w.Margin+", +90 d", w.code(m.NextRefused))
		}
	}
	for _, p := range a.PostSaturation {
		if p.Ratio == nil {
			add(w.PastKnee+", "+w.significant(p.At)+" ×", w.code(orElse(p.Refused, "no_data")))
		}
	}
	for i := range a.Gates {
		if g := &a.Gates[i]; g.Outcome != analyze.Pass && g.Outcome != analyze.Fail {
			add(g.Rule, orElse(w.gateWhy(g), w.code(string(g.Outcome))))
		}
	}
	if a.Latency != nil {
		for _, c := range w.clocks(a.Latency) {
			for _, q := range slices.Sorted(maps.Keys(c.l.Refused)) {
				add(c.name+" "+strings.Replace(q, "_", w.Point, 1), w.code(c.l.Refused[q]))
			}
		}
	}
	if a.Burst != nil && a.Burst.Refused != "" {
		add(w.Burst, w.code(a.Burst.Refused))
	}
	if a.Soak != nil {
		if a.Soak.Refused != "" {
			add(w.Soak, w.code(a.Soak.Refused))
		}
		for _, name := range slices.Sorted(maps.Keys(a.Soak.Drift)) {
			if r := a.Soak.Drift[name].Refused; r != "" {
				add(name, w.code(r))
			}
		}
	}
	for _, c := range a.Chaos {
		if c.Refused != "" {
			add(c.Fault, w.code(c.Refused))
		}
	}
	if len(t.Rows) == 0 {
		return block{Paras: []string{w.NoneRefused}}
	}
	return block{Table: t}
}
