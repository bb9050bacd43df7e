package analyze

import (
	"fmt"
	"strings"
)

// verdict of the run: fail where a trusted gate failed, else inconclusive
// where trust, data or state are missing, else pass.
func (r *analysis) verdict() {
	o := r.out
	o.Verdict = Pass
	for _, g := range o.Gates {
		switch g.Outcome {
		case Fail:
			o.Verdict = Fail
			return
		case NoData, Inconclusive:
			o.Verdict = Inconclusive
		}
	}
	if len(r.law) > 0 || o.Trust.Verdict == Untrusted || r.state() != "complete" || o.Accounting != nil && o.Accounting.Scheduled == 0 {
		o.Verdict = Inconclusive
	}
	if k := r.knee.Status; k == KneeInconclusive || k == GeneratorLimited {
		o.Verdict = Inconclusive
	}
}

// state is the run's; a table of steps has none that could be missing.
func (r *analysis) state() string {
	if r.out.Run == nil {
		return "complete"
	}
	return r.out.Run.State
}

// finish writes the sentence and the findings.
func (r *analysis) finish() {
	o := r.out
	all := append([]Finding{}, r.law...)
	if r.state() != "complete" {
		all = append(all, Finding{Code: o.Run.State, Severity: "invalidates", Scope: "run", Text: fmt.Sprintf("the run was %s%s: what follows is about the part that was recorded", o.Run.State, reason(o.Run.StateReason))})
	}
	if o.Latency != nil {
		all = append(all, r.latencyFindings()...)
	}
	if k := r.knee; k.Status != "" && k.Status != KneeFound {
		f := Finding{Code: orWord(code(&k.Knee), k.Status), Severity: kneeSeverity(k.Status), Scope: "knee", Text: strings.TrimSuffix(capital(kneeWords(&k.Knee, english)), ".") + nextWords(k.NextRun)}
		if k.Reason == reasonBaseErrors {
			f.Measured, f.Limit = k.BaseErrorRatio, number(maxBaseErrors)
		}
		all = append(all, f)
	}
	if k := r.knee; k.RPS != nil && k.Kind == "queueing" && k.LatencyRiseFailed != nil && *k.LatencyRiseFailed < 1.2 {
		all = append(all, Finding{Code: "flat_without_latency", Severity: "caution", Scope: "knee", Measured: k.LatencyRiseFailed, Limit: number(1.2), Text: "goodput stopped growing but response time did not rise: check that the client is not the limit"})
	}
	all = append(all, r.findings...)
	sortFindings(all)
	o.Findings = all
	o.Sentence = Sentence{EN: r.sentence(english), PTBR: r.sentence(portuguese)}
}

// latencyFindings say where a duration is not known exactly.
func (r *analysis) latencyFindings() (all []Finding) {
	o := r.out
	if n := o.Latency.Response.Clamped + o.Latency.Service.Clamped; n > 0 {
		all = append(all, Finding{Code: "clamped", Severity: "caution", Scope: "run", Measured: number(float64(n)), Limit: number(float64(r.header.MaxUS)), Text: fmt.Sprintf("%d durations were longer than the histograms reach (%s) and count as that long", n, millis(float64(r.header.MaxUS)))})
	}
	if len(o.Latency.Response.Censored) > 0 {
		all = append(all, Finding{Code: "histogram_censored", Severity: "note", Scope: "run", Measured: number(float64(o.Accounting.Timeout)), Limit: number(0), Text: "some percentiles lie among requests that timed out, so only that they exceed the timeout is known"})
	}
	return all
}

// code is the finding code of a knee that was not found.
func code(k *Knee) string {
	switch k.Status {
	case KneeInconclusive:
		return k.Reason
	}
	return k.Status
}

func kneeSeverity(status string) string {
	if status == KneeInconclusive || status == GeneratorLimited {
		return "caution"
	}
	return "note"
}

func nextWords(next string) string {
	if next == "" {
		return "."
	}
	return ". Next: " + next + "."
}

func reason(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

type language int

const (
	english language = iota
	portuguese
)

// say picks the words of a language and its decimal mark.
func (l language) say(en, pt string, args ...any) string {
	if l == english {
		return fmt.Sprintf(en, args...)
	}
	for i, a := range args {
		if s, ok := a.(string); ok && isNumber(s) {
			args[i] = strings.Replace(s, ".", ",", 1)
		}
	}
	return fmt.Sprintf(pt, args...)
}

func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789.") == ""
}

// sentence is what a manager reads: one sentence.
func (r *analysis) sentence(l language) string {
	o := r.out
	var parts []string
	switch {
	case o.Accounting != nil && o.Accounting.Scheduled == 0:
		return l.say("no request was sent, so nothing can be said", "nenhuma requisição foi enviada, portanto nada se pode afirmar")
	case len(r.law) > 0:
		return l.say("the counters of this run contradict each other, so nothing can be concluded from it",
			"os contadores desta execução se contradizem, portanto nada se pode concluir dela")
	}
	switch r.state() {
	case "interrupted":
		parts = append(parts, l.say("the run was interrupted", "a execução foi interrompida"))
	case "failed":
		parts = append(parts, l.say("the run failed", "a execução falhou"))
	}
	switch {
	case r.knee.Status != "":
		parts = append(parts, kneeWords(&r.knee.Knee, l))
		parts = append(parts, r.marginWords(l)...)
		parts = append(parts, r.pastWords(l)...)
	default:
		parts = append(parts, r.formatWords(l))
	}
	if n := len(parts); n > 2 && r.knee.RPS != nil {
		parts[n-1] = l.say("and ", "e ") + parts[n-1]
	}
	return strings.Join(parts, ", ")
}

func kneeWords(k *Knee, l language) string {
	held := func() string { return rate(orElse(k.HighestHeld, 0)) }
	failed := func() string { return rate(orElse(k.LowestFailed, 0)) }
	switch k.Status {
	case KneeFound:
		return l.say("saturation at %s requests per second (95 %%: %s–%s)", "saturação em %s requisições por segundo (95 %%: %s–%s)",
			rate(*k.RPS), rate(k.CI95[0]), rate(k.CI95[1]))
	case NotReached:
		return l.say("saturation was not reached: the service kept up at %s requests per second", "a saturação não foi atingida: o serviço acompanhou %s requisições por segundo", held())
	case AlreadySaturated:
		return l.say("the service was saturated from the start: it did not keep up at %s requests per second, the lowest rate tried",
			"o serviço já estava saturado desde o início: não acompanhou %s requisições por segundo, a menor taxa testada", failed())
	case GeneratorLimited:
		if k.HighestHeld == nil {
			return l.say("no knee can be claimed: the load generator gave out before the service did", "não se pode afirmar um ponto de saturação: o gerador de carga cedeu antes do serviço")
		}
		return l.say("no knee can be claimed: the load generator gave out before the service, which kept up at %s requests per second",
			"não se pode afirmar um ponto de saturação: o gerador de carga cedeu antes do serviço, que acompanhou %s requisições por segundo", held())
	case Soft:
		return l.say("there is no single point of saturation: losses begin at %s requests per second while goodput still grows",
			"não há um ponto único de saturação: as perdas começam em %s requisições por segundo enquanto a vazão útil ainda cresce", failed())
	}
	en, pt := "the plateaus do not allow a conclusion", "os patamares não permitem uma conclusão"
	switch k.Reason {
	case reasonBaseErrors:
		share := rate(100 * orElse(k.BaseErrorRatio, 0))
		return l.say("no saturation point can be named: %s %% of the requests fail far below any saturation", "não se pode indicar um ponto de saturação: %s %% das requisições falham muito abaixo de qualquer saturação", share)
	case reasonTooFewSteps:
		en, pt = "too few plateaus could be judged", "poucos patamares puderam ser avaliados"
	case reasonTooNoisy:
		en, pt = "the plateaus were too short or too noisy", "os patamares foram curtos ou ruidosos demais"
	case reasonUnstable:
		en, pt = "the service held a higher rate after failing at a lower one", "o serviço sustentou uma taxa maior depois de falhar em uma menor"
	case reasonUntrusted:
		en, pt = "the load generator did not keep its schedule", "o gerador de carga não cumpriu o seu cronograma"
	case reasonNoPlateaus:
		en, pt = "no plateau was recorded", "nenhum patamar foi registrado"
	case reasonClosed:
		en, pt = "users who wait for answers hide it", "usuários que esperam pelas respostas o escondem"
	case "law_broken":
		en, pt = "the counters contradict each other", "os contadores se contradizem"
	}
	if l == portuguese {
		en = pt
	}
	return l.say("no saturation point can be named: %s", "não se pode indicar um ponto de saturação: %s", en)
}

func (r *analysis) marginWords(l language) []string {
	m := r.out.Margin
	if m == nil {
		return nil
	}
	out := []string{l.say("production peak %s", "pico de produção %s", rate(m.PeakRPS))}
	switch {
	case m.Value == nil:
		return append(out, l.say("margin unknown", "margem desconhecida"))
	case m.AtLeast:
		return append(out, l.say("margin at least %s", "margem de pelo menos %s", short(*m.Value)))
	}
	return append(out, l.say("margin %s", "margem %s", short(*m.Value)))
}

func (r *analysis) pastWords(l language) []string {
	for _, p := range r.out.PostSaturation {
		if p.At == defaultPast && p.Ratio != nil {
			return []string{l.say("%s %% of peak goodput left at 150 %% of saturation", "%s %% da vazão útil máxima restante a 150 %% da saturação", fmt.Sprintf("%.0f", 100**p.Ratio))}
		}
	}
	return nil
}

func (r *analysis) steadyWords(l language) string {
	var offered, good float64
	var width int64
	var scheduled, ok uint64
	for i := range r.plateaus {
		p := &r.plateaus[i]
		scheduled += p.Counts.Scheduled
		ok += p.Counts.By[0]
		width += p.widthNS()
	}
	if width == 0 || scheduled == 0 {
		return l.say("no phase of this run is judged", "nenhuma fase desta execução é avaliada")
	}
	offered, good = perSecond(scheduled, width), 100*float64(ok)/float64(scheduled)
	text := l.say("%s requests per second were offered and %s %% got a good answer", "%s requisições por segundo foram oferecidas e %s %% tiveram boa resposta", rate(offered), short(good))
	if p := r.out.Latency.Response.P99; p != nil {
		text += l.say(", 99 %% of the answers within %s ms", ", 99 %% das respostas em até %s ms", short(*p/1000))
	}
	text += r.breakdownWords(l)
	if r.trust.Verdict == Untrusted {
		text += r.untrustedWords(l)
	}
	return text
}
