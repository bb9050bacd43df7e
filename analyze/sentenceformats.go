package analyze

import (
	"fmt"
	"strings"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// formatWords is the sentence of a load that looks for no knee.
func (r *analysis) formatWords(l language) string {
	text := ""
	switch {
	case r.out.Burst != nil:
		text = r.burstWords(l)
	case r.out.Soak != nil:
		text = r.soakWords(l)
	case len(r.out.Chaos) > 0:
		text = r.chaosWords(l)
	case r.header.Model == record.Closed:
		text = r.closedWords(l)
	}
	if text == "" {
		return r.steadyWords(l)
	}
	if r.trust.Verdict == Untrusted {
		text += r.untrustedWords(l)
	}
	return text
}

func (r *analysis) untrustedWords(l language) string {
	return l.say(", but the load generator did not keep its schedule, so none of it can be trusted", ", mas o gerador de carga não cumpriu o seu cronograma, portanto nada disso é confiável")
}

// span writes seconds for people.
func span(s float64) string {
	switch {
	case s >= 2*3600:
		return short(s/3600) + " h"
	case s >= 300:
		return short(s/60) + " min"
	}
	return short(s) + " s"
}

func (r *analysis) burstWords(l language) string {
	b := r.out.Burst
	text := l.say("after %s of %s instead of %s requests per second", "depois de %s com %s em vez de %s requisições por segundo", say(l, span(b.LengthS)), rate(b.BurstRPS), rate(b.BaseRPS))
	switch {
	case b.RecoveryS != nil && *b.RecoveryS == 0:
		text += l.say(" the service was back to normal at once", " o serviço voltou ao normal de imediato")
	case b.RecoveryS != nil:
		text += l.say(" the service was back to normal in %s", " o serviço voltou ao normal em %s", say(l, span(*b.RecoveryS)))
	case b.CensoredAtS != nil:
		text += l.say(" the service was not back to normal when the record ended %s later", " o serviço não tinha voltado ao normal quando o registro terminou, %s depois", say(l, span(*b.CensoredAtS)))
		if b.Spiral != nil && *b.Spiral {
			text += l.say(" and keeps itself down", " e se mantém derrubado por si mesmo")
		}
	default:
		return text + l.say(" nothing can be said about recovery: %s", " nada se pode dizer sobre a recuperação: %s", l.code(b.Refused))
	}
	if b.GoodputDuringRatio != nil {
		text += l.say(", and %s %% of the burst's requests got a good answer", ", e %s %% das requisições da rajada tiveram boa resposta", short(100**b.GoodputDuringRatio))
	}
	return text
}

// say gives a number inside words the decimal mark of the language.
func say(l language, s string) string {
	if l == portuguese {
		return strings.Replace(s, ".", ",", 1)
	}
	return s
}

// code is a refusal in words.
func (l language) code(c string) string {
	words := map[string][2]string{
		string(stat.BaselineUnstable): {"the load before the burst gives no stable baseline", "a carga antes da rajada não dá uma base estável"},
		whyBurstNotDelivered:          {"the burst was not delivered", "a rajada não foi entregue"},
		whyNoRecoveryPhase:            {"the run ended before the load was back at its base", "a execução terminou antes que a carga voltasse à base"},
		string(stat.TooShort):         {"the record is too short", "o registro é curto demais"},
		string(stat.LoadNotConstant):  {"the load itself was not constant", "a própria carga não foi constante"},
	}
	if w, ok := words[c]; ok {
		return w[l]
	}
	return strings.ReplaceAll(c, "_", " ")
}

func (r *analysis) soakWords(l language) string {
	s := r.out.Soak
	text := l.say("over %s at %s requests per second", "durante %s com %s requisições por segundo", say(l, span(s.Hours*3600)), rate(r.header.Load.RateRPS))
	if s.Refused != "" {
		return text + l.say(" no drift could be judged: %s", " nenhuma deriva pôde ser avaliada: %s", l.code(s.Refused))
	}
	unknown := 0
	for _, d := range s.Drift {
		if d.Refused != "" && d.Kind == "" {
			unknown++
		}
	}
	if len(s.Leaks) == 0 {
		text += l.say(" nothing was seen to leak or to drift", " não se viu vazamento nem deriva")
		if unknown > 0 {
			text += l.say(", in %s of %s series", ", em %s de %s séries", fmt.Sprint(len(s.Drift)-unknown), fmt.Sprint(len(s.Drift)))
		}
		return text
	}
	text += l.say(" %s grew", " cresceu: %s", listed(s.Leaks, l))
	var first *float64
	name := ""
	for _, leak := range s.Leaks {
		if d := s.Drift[leak]; d.ExhaustionH != nil && (first == nil || *d.ExhaustionH < *first) {
			first, name = d.ExhaustionH, leak
		}
	}
	if first != nil {
		text += l.say(", and %s reaches its limit in %s", ", e %s chega ao limite em %s", name, say(l, span(*first*3600)))
	}
	return text
}

// listed joins at most three names.
func listed(names []string, l language) string {
	more := ""
	if n := len(names); n > 3 {
		more = l.say(" and %s more", " e mais %s", fmt.Sprint(n-3))
		names = names[:3]
	}
	return strings.Join(names, ", ") + more
}

func (r *analysis) chaosWords(l language) string {
	var worst *ChaosResult
	back := true
	for i := range r.out.Chaos {
		c := &r.out.Chaos[i]
		if c.GoodputRatioDuring != nil && (worst == nil || *c.GoodputRatioDuring < *worst.GoodputRatioDuring) {
			worst = c
		}
		back = back && (c.Recovered == nil || *c.Recovered)
	}
	if worst == nil {
		return l.say("no fault of this run can be judged", "nenhuma falha desta execução pode ser avaliada")
	}
	text := l.say("with the fault %s, %s %% of goodput was left", "com a falha %s, restou %s %% da vazão útil", worst.Fault, short(100**worst.GoodputRatioDuring))
	if n := len(r.out.Chaos); n > 1 {
		text = l.say("of %s faults %s was the hardest: %s %% of goodput was left", "de %s falhas, %s foi a pior: restou %s %% da vazão útil", fmt.Sprint(n), worst.Fault, short(100**worst.GoodputRatioDuring))
	}
	switch {
	case worst.RecoveryS != nil:
		text += l.say(", and the service was back to normal %s after it", ", e o serviço voltou ao normal %s depois", say(l, span(*worst.RecoveryS)))
	case worst.Recovered != nil && worst.Spiral != nil && *worst.Spiral:
		text += l.say(", and the service keeps itself down ever since", ", e desde então o serviço se mantém derrubado por si mesmo")
	case worst.Recovered != nil:
		text += l.say(", and the service was not back to normal afterwards", ", e o serviço não voltou ao normal depois")
	}
	if !back && (worst.Recovered == nil || *worst.Recovered) {
		text += l.say(", but it did not come back from another fault", ", mas não se recuperou de outra falha")
	}
	return text
}

func (r *analysis) closedWords(l language) string {
	users := 0
	for _, p := range r.phases {
		users = max(users, p.Users)
	}
	var good uint64
	var width int64
	for i := range r.plateaus {
		if p := &r.plateaus[i]; users == 0 || r.usersOf(p.Phase) == users {
			good += p.Counts.By[record.OK]
			width += p.widthNS()
		}
	}
	if width == 0 || users == 0 {
		return ""
	}
	text := l.say("%s users who wait for their answers got %s good ones per second", "%s usuários que esperam pelas respostas tiveram %s boas por segundo", fmt.Sprint(users), rate(perSecond(good, width)))
	if p := r.out.Latency.Response.P99; p != nil {
		text += l.say(", 99 %% of the answers within %s ms", ", 99 %% das respostas em até %s ms", short(*p/1000))
	}
	return text + l.say("; a closed load hides saturation, so no limit is claimed", "; uma carga fechada esconde a saturação, portanto não se afirma um limite")
}

func (r *analysis) usersOf(phase int) int {
	for _, p := range r.phases {
		if p.Index == phase {
			return p.Users
		}
	}
	return 0
}
