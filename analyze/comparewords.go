package analyze

import (
	"fmt"
	"strings"
)

// tell writes the sentence and the notes.
func (c *Comparison) tell() {
	c.Sentence = Sentence{EN: c.sentence(english), PTBR: c.sentence(portuguese)}
	for _, e := range c.Excluded {
		c.Notes = append(c.Notes, fmt.Sprintf("run %s (%s) was left out: %s", e.Run, e.Side, strings.ReplaceAll(e.Reason, "_", " ")))
	}
	if c.Forced {
		c.Notes = append(c.Notes, "the runs are not of one plan; they were compared because that was asked for")
	}
	within, between := 0, 0
	for i := range c.Metrics {
		x := &c.Metrics[i]
		if x.Verdict != Unknown || x.WithinRun == nil || x.SpreadBase == nil {
			continue
		}
		if *x.WithinRun > max(*x.SpreadBase, *x.SpreadNew) {
			within++
		} else {
			between++
		}
	}
	switch {
	case within > between:
		c.Notes = append(c.Notes, "one run says less exactly what it did than runs differ from each other: longer runs help")
	case between > 0:
		c.Notes = append(c.Notes, "runs differ from each other by more than what one run leaves open: only more runs help")
	}
}

func (c *Comparison) sentence(l language) string {
	side := func(s *CompareSide) string {
		name := strings.Join(s.Releases, ", ")
		if name == "" {
			name = l.say("no release", "sem versão")
		}
		n := len(s.Runs)
		if n == 1 {
			return l.say("%s (1 run)", "%s (1 execução)", name)
		}
		return l.say("%s (%d runs)", "%s (%d execuções)", name, n)
	}
	switch {
	case c.Reason == whyNoRuns:
		return l.say("nothing to compare: one side has no run that can be used", "nada a comparar: um dos lados não tem execução que se possa usar")
	case !c.Comparable && !c.Forced:
		return l.say("these runs are not of one plan, so they are not compared", "estas execuções não são de um mesmo plano, portanto não se comparam")
	}
	head := l.say("%s against %s", "%s contra %s", side(&c.New), side(&c.Base))
	var worse, better, unknown []string
	verdicts := 0
	for i := range c.Metrics {
		x := &c.Metrics[i]
		switch x.Verdict {
		case Worse:
			worse = append(worse, x.change(l))
		case Better:
			better = append(better, x.change(l))
		case Unknown:
			unknown = append(unknown, x.Metric)
		}
		if x.Verdict != Unknown {
			verdicts++
		}
	}
	if len(c.Base.Runs) == 1 && len(c.New.Runs) == 1 {
		return head + l.say(": one run a side gives numbers and no winner", ": uma execução de cada lado dá números e nenhum vencedor")
	}
	switch {
	case len(worse) > 0 && len(better) > 0:
		return head + l.say(": worse in %s; better in %s", ": pior em %s; melhor em %s", listed(worse, l), listed(better, l))
	case len(worse) > 0:
		return head + l.say(": worse in %s", ": pior em %s", listed(worse, l))
	case len(better) > 0:
		return head + l.say(": better in %s, and nothing was shown to be worse", ": melhor em %s, e nada se mostrou pior", listed(better, l))
	case verdicts == 0:
		return head + l.say(": no difference can be shown, nor excluded; more runs are needed", ": não se pode mostrar nem excluir uma diferença; são necessárias mais execuções")
	case len(unknown) > 0:
		return head + l.say(": no difference was shown; it cannot be excluded in %s without more runs", ": nenhuma diferença foi mostrada; não se pode excluí-la em %s sem mais execuções", listed(unknown, l))
	}
	return head + l.say(": no difference that matters", ": nenhuma diferença que importe")
}

// change is a metric's change in words.
func (x *ComparedMetric) change(l language) string {
	if x.Ratio == nil {
		return x.Metric
	}
	text := fmt.Sprintf("%+.1f", 100*(*x.Ratio-1))
	low, high := "", ""
	if x.CI95 != nil && x.share == nil {
		low, high = fmt.Sprintf("%+.1f", 100*(x.CI95[0]-1)), fmt.Sprintf("%+.1f", 100*(x.CI95[1]-1))
	}
	if l == portuguese {
		text, low, high = strings.Replace(text, ".", ",", 1), strings.Replace(low, ".", ",", 1), strings.Replace(high, ".", ",", 1)
	}
	if low == "" {
		return fmt.Sprintf("%s %s %%", x.Metric, text)
	}
	return l.say("%s %s %% (95 %%: %s to %s)", "%s %s %% (95 %%: %s a %s)", x.Metric, text, low, high)
}
