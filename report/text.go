package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"headroom/analyze"
	"headroom/store/record"
)

// maxLines is how long a text report is at most, files included.
const maxLines = 40

// TextOptions of Text.
type TextOptions struct {
	Width int      // columns; 100 where 0, at least 40
	Color bool     // SGR sequences; signs and words say the same without
	Files []string // where the evidence and the report are
}

// Text tells an analysis for a terminal in at most 40 lines: trust first, then
// the sentence, gates, plateaus, latency of both clocks, outcomes, findings and
// where the files are. What does not fit is counted, never dropped in silence.
func Text(a *analyze.Analysis, o TextOptions) string {
	if o.Width <= 0 {
		o.Width = 100
	}
	t := &terminal{w: &english, width: max(o.Width, 40), color: o.Color}
	t.trust(a)
	t.sentence(a)
	// Every part below has a share of the lines; what one leaves, later ones get.
	t.gates(a, 7)
	t.steps(a, 9)
	t.latency(a)
	t.outcomes(a)
	t.files(o.Files)
	t.findings(a, maxLines-len(t.lines)-len(t.last))
	return strings.Join(append(t.lines, t.last...), "\n") + "\n"
}

type terminal struct {
	w     *words
	width int
	color bool
	lines []string
	last  []string // the files, printed after everything else
}

var sgr = map[string]string{"good": "\x1b[32m", "bad": "\x1b[31m", "doubt": "\x1b[33m", "bold": "\x1b[1m", "none": ""}

// paint colours a part; it must be applied after cutting.
func (t *terminal) paint(s, tone string) string {
	if !t.color || sgr[tone] == "" || s == "" {
		return s
	}
	return sgr[tone] + s + "\x1b[0m"
}

// cut shortens plain text to the width.
func (t *terminal) cut(s string, used int) string {
	s = plainText(s)
	room := t.width - used
	if utf8.RuneCountInString(s) <= room {
		return s
	}
	if room < 2 {
		return ""
	}
	return string([]rune(s)[:room-1]) + "…"
}

func (t *terminal) put(tone, format string, values ...any) {
	t.lines = append(t.lines, t.paint(t.cut(fmt.Sprintf(format, values...), 0), tone))
}

// wrapped prints text on one line, or on up to three where there is room, the
// later ones indented.
func (t *terminal) wrapped(tone, s string, room int) {
	s = plainText(s)
	if room < 2 || utf8.RuneCountInString(s) <= t.width {
		t.put(tone, "%s", s)
		return
	}
	lines := wrap(s, t.width-2, min(room, 3))
	for i, l := range lines {
		if i > 0 {
			l = "  " + l
		}
		t.put(tone, "%s", l)
	}
}

func (t *terminal) trust(a *analyze.Analysis) {
	if a.Trust == nil {
		t.put("doubt", "trust  ? not judged: no evidence of the generator")
		return
	}
	b := t.w.badge(a.Trust.Verdict)
	s := fmt.Sprintf("trust  %s %s", b.Sign, b.Word)
	if len(a.Trust.Reasons) > 0 {
		s += ": " + t.w.list(a.Trust.Reasons)
	}
	t.put(b.Tone, "%s", s)
	var parts []string
	if q := a.Trust.OmissionFactor; q != nil && q.P99 != nil {
		parts = append(parts, "omission factor "+t.w.significant(*q.P99)+" at p99")
	}
	if l := a.Trust.LagUS; l != nil && l.P99 != nil {
		lag := "lag p99 " + t.w.duration(*l.P99)
		if l.Max != nil {
			lag += ", max " + t.w.duration(*l.Max)
		}
		parts = append(parts, lag)
	}
	if c := a.Trust.CPU.GeneratorShareMax; c != nil {
		parts = append(parts, "generator CPU "+t.w.percent(*c))
	}
	if len(parts) > 0 {
		t.put("none", "       %s", strings.Join(parts, " · "))
	}
}

// sentence wraps the sentence over at most three lines, after the verdict.
func (t *terminal) sentence(a *analyze.Analysis) {
	b := t.w.badge(string(a.Verdict))
	lines := wrap(plainText(orElse(a.Sentence.EN, t.w.NoSentence)), t.width, 3)
	t.put(b.Tone, "result %s %s", b.Sign, b.Word)
	for _, l := range lines {
		t.put("bold", "%s", l)
	}
}

// keep stands for a space at which wrap must not break.
const keep = "\x1f"

// wrap breaks text at spaces into at most n lines; the last ends in … where cut.
func wrap(s string, width, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			if len(lines) == n-1 {
				return append(lines, line+" …")
			}
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

func (t *terminal) gates(a *analyze.Analysis, most int) {
	rank := map[analyze.Verdict]int{analyze.Fail: 0, analyze.Pass: 2}
	order := slices.Clone(a.Gates) // failed ones first, so that a cut can't hide one
	slices.SortStableFunc(order, func(x, y analyze.GateResult) int {
		return cmp.Compare(rankOf(rank, x.Outcome), rankOf(rank, y.Outcome))
	})
	for i := range order {
		g := &order[i]
		if i == most-1 && len(order) > most {
			t.put("doubt", "gate   … and %d more gates in the report", len(order)-i)
			return
		}
		b := t.w.badge(string(g.Outcome))
		s := fmt.Sprintf("gate   %s %-12s %s", b.Sign, b.Word, g.Rule)
		if g.Measured != nil {
			s += "   measured " + t.w.gateValue(g)
		}
		if why := t.w.gateWhy(g); why != "" {
			s += " (" + why + ")"
		}
		t.wrapped(b.Tone, s, most/len(order))
	}
}

// rankOf is the rank of a code; one of a later version ranks in the middle.
func rankOf[K comparable](rank map[K]int, k K) int {
	if r, ok := rank[k]; ok {
		return r
	}
	return 1
}

// chosen picks at most n of the plateaus, which come by rising load: the ends,
// the highest that held, the lowest that did not and its neighbours, then evenly.
func chosen(steps []*analyze.StepResult, n int) []*analyze.StepResult {
	if len(steps) <= n {
		return steps
	}
	order := []int{0, len(steps) - 1}
	first, best := -1, -1
	for i, s := range steps {
		if s.Held != nil && *s.Held {
			best = i
		}
		if s.Held != nil && !*s.Held && first < 0 {
			first = i
		}
	}
	if best >= 0 {
		order = append(order, best)
	}
	if first >= 0 {
		order = append(order, first, first-1, first+1)
	}
	for parts := 2; parts <= 2*len(steps); parts *= 2 { // halves, quarters, …
		for i := 1; i < parts; i += 2 {
			order = append(order, i*(len(steps)-1)/parts)
		}
	}
	for i := range steps {
		order = append(order, i)
	}
	want := map[int]bool{}
	for _, i := range order {
		if i >= 0 && i < len(steps) && len(want) < n {
			want[i] = true
		}
	}
	var out []*analyze.StepResult
	for i, s := range steps {
		if want[i] {
			out = append(out, s)
		}
	}
	return out
}

func (t *terminal) steps(a *analyze.Analysis, most int) {
	if len(a.Steps) == 0 {
		return
	}
	row := func(tone string, cells ...any) {
		t.put(tone, "%6s %10s %10s %-6s %10s %10s %10s", cells...)
	}
	row("none", "step", "offered/s", "goodput/s", "held", "resp p50", "resp p99", "serv p99")
	all := byLoad(a.Steps)
	show := chosen(all, most-1)
	for _, s := range show {
		b := t.w.held(s)
		word := map[string]string{"good": "✓ yes", "bad": "✗ no", "doubt": "?"}[b.Tone]
		if s.Trust == "untrusted" {
			word += " !"
		}
		row(b.Tone, fmt.Sprint(s.Index), t.w.number(s.OfferedRPS), t.w.number(s.GoodputRPS), word,
			short(t.w.quantile(&s.Response, "p50", s.Response.P50)), short(t.w.quantile(&s.Response, "p99", s.Response.P99)),
			short(t.w.quantile(&s.Service, "p99", s.Service.P99)))
	}
	if n := len(all) - len(show); n > 0 {
		t.put("none", "       … and %d more plateaus in steps.csv", n)
	}
}

// short leaves the reason of an absent value out, where a table has no room.
func short(s string) string {
	if strings.HasPrefix(s, absent) {
		return absent
	}
	return s
}

func (t *terminal) latency(a *analyze.Analysis) {
	if a.Latency == nil {
		return
	}
	t.put("none", "%-9s %10s %10s %10s %10s %10s %10s", "latency", "mean", "p50", "p90", "p99", "p99.9", "max")
	for _, c := range t.w.clocks(a.Latency)[:2] {
		l := c.l
		t.put("none", "%-9s %10s %10s %10s %10s %10s %10s", c.name, t.w.optional(l.Mean, "", t.w.duration), short(t.w.quantile(l, "p50", l.P50)),
			short(t.w.quantile(l, "p90", l.P90)), short(t.w.quantile(l, "p99", l.P99)), short(t.w.quantile(l, "p99_9", l.P999)), t.w.optional(l.Max, "", t.w.duration))
	}
}

func (t *terminal) outcomes(a *analyze.Analysis) {
	c := a.Accounting
	if c == nil {
		return
	}
	t.put("none", "scheduled %s, sent %s", t.w.count(c.Scheduled), t.w.count(c.Sent))
	var parts []string
	for _, o := range outcomes(c) {
		if o.N > 0 || o.Name == record.OK.String() {
			part := fmt.Sprintf("%s %s (%s)", t.w.Outcomes[o.Name], t.w.count(o.N), t.w.share(o.N, c.Scheduled))
			parts = append(parts, strings.ReplaceAll(part, " ", keep))
		}
	}
	for _, l := range wrap(strings.Join(parts, ", "), t.width, 2) {
		t.put("none", "%s", strings.ReplaceAll(l, keep, " "))
	}
}

// findings prints the most severe first, one a line; the codes of those that
// have no line of their own share the last.
func (t *terminal) findings(a *analyze.Analysis, room int) {
	rank := map[string]int{"invalidates": 0, "caution": 1, "note": 2}
	order := slices.Clone(a.Findings)
	slices.SortStableFunc(order, func(x, y analyze.Finding) int {
		return cmp.Compare(rankOf(rank, x.Severity), rankOf(rank, y.Severity))
	})
	for i, f := range order {
		if i == room-1 && len(order) > room {
			var codes []string
			for _, rest := range order[i:] {
				codes = append(codes, rest.Code)
			}
			t.put("doubt", "… and %d more: %s", len(codes), strings.Join(codes, ", "))
			return
		}
		b := t.w.badge(f.Severity)
		s := b.Sign + " " + f.Code
		if f.Scope != "" && f.Scope != "run" {
			s += " (" + f.Scope + ")"
		}
		t.wrapped(b.Tone, s+": "+orElse(f.Text, t.w.code(f.Code)), room/len(order))
	}
}

// files names where the report is; a long list is one folder and a count.
func (t *terminal) files(files []string) {
	for i, f := range files {
		if i == 3 && len(files) > 4 {
			t.last = append(t.last, t.cut(fmt.Sprintf("       … and %d more files there", len(files)-i), 0))
			return
		}
		t.last = append(t.last, t.cut(map[bool]string{true: "files  ", false: "       "}[i == 0]+f, 0))
	}
}
