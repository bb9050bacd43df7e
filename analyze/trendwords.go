package analyze

import (
	"fmt"
	"strings"
)

// tell writes the sentence and the notes.
func (t *TrendResult) tell() {
	t.Sentence = Sentence{EN: t.sentence(english), PTBR: t.sentence(portuguese)}
	if n := len(t.Unused); n > 0 {
		reasons := map[string]int{}
		var order []string
		for _, u := range t.Unused {
			if reasons[u.Reason]++; reasons[u.Reason] == 1 {
				order = append(order, u.Reason)
			}
		}
		for i, r := range order {
			order[i] = fmt.Sprintf("%d %s", reasons[r], strings.ReplaceAll(r, "_", " "))
		}
		t.Notes = append(t.Notes, fmt.Sprintf("%d runs are drawn but not used: %s", n, strings.Join(order, ", ")))
	}
	missing := 0
	for _, g := range t.Missing {
		missing += g.Missing
	}
	if missing > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d runs are missing, by the usual distance between them", missing))
	}
	for i := range t.Metrics {
		spikes := 0
		for _, p := range t.Metrics[i].Points {
			if p.Spike {
				spikes++
			}
		}
		if spikes > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: %d single spikes, which are no change of level", t.Metrics[i].Metric, spikes))
		}
	}
}

func (t *TrendResult) sentence(l language) string {
	if t.Runs == 0 {
		return l.say("there is no run to tell a trend from", "não há execução de que se possa ver uma tendência")
	}
	head := l.say("%s, %s runs since %s", "%s, %s execuções desde %s", t.Name, fmt.Sprint(t.Used), day(t.From))
	if t.Used < minTrend {
		return head + l.say(": too few for a trend, at least %s are needed", ": poucas para uma tendência, são necessárias pelo menos %s", fmt.Sprint(minTrend))
	}
	var worse, better []string
	for i := range t.Metrics {
		x := &t.Metrics[i]
		switch x.Verdict {
		case Worse:
			worse = append(worse, x.moved(l))
		case Better:
			better = append(better, x.moved(l))
		}
	}
	switch {
	case len(worse) > 0 && len(better) > 0:
		return head + l.say(": got worse: %s; got better: %s", ": piorou: %s; melhorou: %s", listed(worse, l), listed(better, l))
	case len(worse) > 0:
		return head + l.say(": got worse: %s", ": piorou: %s", listed(worse, l))
	case len(better) > 0:
		return head + l.say(": got better: %s", ": melhorou: %s", listed(better, l))
	}
	return head + l.say(": steady", ": estável")
}

// moved says when and by how much.
func (x *TrendMetric) moved(l language) string {
	n := len(x.Changes)
	if n == 0 {
		if x.Slope == nil || x.Scale != "log" {
			return x.Metric
		}
		return l.say("%s by %s %% a week", "%s %s %% por semana", x.Metric, signed(100**x.Slope, l))
	}
	c := x.Changes[n-1]
	by := ""
	if c.Ratio != nil {
		by = l.say(" by %s %%", " %s %%", signed(100*(*c.Ratio-1), l))
	}
	release := ""
	if c.Release != "" {
		release = l.say(", release %s", ", versão %s", c.Release)
	}
	return x.Metric + by + l.say(" on %s%s", " em %s%s", day(c.Started), release)
}

func signed(v float64, l language) string { return say(l, fmt.Sprintf("%+.1f", v)) }

// day is the date of an instant in RFC 3339.
func day(s string) string {
	d, _, _ := strings.Cut(s, "T")
	return d
}
