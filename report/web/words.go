package web

import (
	"fmt"
	"strings"

	"headroom/report"
)

// language is one of the languages of the pages; its path is the first part of
// every address.
type language struct {
	path, name string
	lang       report.Lang
	words      *words
}

var languages = []*language{
	{"en", "English", report.English, &english},
	{"pt", "Português", report.Portuguese, &portuguese},
}

func languageOf(l report.Lang) *language {
	for _, k := range languages {
		if k.lang == l {
			return k
		}
	}
	return languages[0]
}

// preferred is the first language of a browser's list that there is. Weights are
// as good as always in falling order, so they are not read.
func preferred(accept string) *language {
	for _, part := range strings.Split(accept, ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		tag, _, _ = strings.Cut(strings.ToLower(tag), "-")
		for _, l := range languages {
			if l.path == tag {
				return l
			}
		}
	}
	return languages[0]
}

// words are those that the pages say beside the reports' own.
type words struct {
	Skip, Menu, Language, Filters, Apply, Clear, All, History, Compare, Trend, Diff, Live string

	Started, Plan, Release, Format, State, Verdict, Knee, Margin, Size, From, Until, Any string
	Name, RefusedState, BeingRecorded, BeingRecordedNoFeed, Pending, NoRuns, NoMatch     string
	Shown, Previous, Next, RunsOf, LastRun, SparkName, Plans, Runs, SelectA, SelectB     string
	SideA, SideB, CompareThese, WhyRefused, CantShow, Back, NotAnalysed                  string

	Pictures, Contents, Stretch, StretchFrom, StretchTo, ShowStretch, WholeRun, Hover, Drag, Downloads, OtherRuns string
	CompareWith, PlanDiff, StepOf, StepPrev, StepNext, ToRun, HoverName                                           string

	Sentence, NotComparable, Forced, ForceIt, Metric, Base, New, Change, PValue, RunsWord, Needed, Differences, Excluded, Why string
	Better, Worse, Same, Unknown, Fact, ChooseSides, AtRate, DiffPlans, Values                                                string

	Latest, PerWeek, Changes, Points, Gated, ChangeAt, Spike, Value, Range, TrendOf, Earlier string

	DiffPlan, DiffFacts, SamePlan, NoPlan, TooLong, ChooseTwo, FactsDiffer, Show string

	Elapsed, Phase, Offered, Sent, Goodput, InFlight, Waiting, Lag, Recent, SoFar, Total, Scheduled, Target                      string
	Response, Service, Outcomes, HighestHeld, LowestFailed, KneeSoFar, NotTrusted, Updated, LiveIntro, Plateaus, Timeline, Class string

	APIIntro, Method, Path, What, Query string

	HoverWords map[string]string
	Metrics    map[string]string
}

func (w *words) f(format string, values ...any) string { return fmt.Sprintf(format, values...) }

var english = words{
	Skip: "Skip to the content", Menu: "Pages", Language: "Language", Filters: "Filters", Apply: "Show", Clear: "Show all", All: "all",
	History: "History", Compare: "Compare", Trend: "Trend", Diff: "Plans and facts side by side", Live: "live",
	Started: "Started", Plan: "Plan", Release: "Release", Format: "Format", State: "State", Verdict: "Verdict", Knee: "Knee", Margin: "Margin", Size: "Size",
	From: "From", Until: "Until", Any: "any", Name: "Name", RefusedState: "refused",
	BeingRecorded: "being recorded – watch it", BeingRecordedNoFeed: "being recorded; started with --ui it could be watched",
	Pending: "%d runs are still being read; their verdicts appear when they are known.", NoRuns: "There is no run in this folder yet.", NoMatch: "No run matches these filters.",
	Shown: "%d to %d of %d runs", Previous: "Previous", Next: "Next", RunsOf: "%d runs", LastRun: "last run", SparkName: "%s: %s", Plans: "Plans", Runs: "Runs",
	SelectA: "on side A: %s", SelectB: "on side B: %s", SideA: "A", SideB: "B", CompareThese: "Compare A with B", WhyRefused: "This run can't be read", CantShow: "This page can't be shown", Back: "Back to the history",
	NotAnalysed: "no analysis",
	Pictures:    "Pictures", Contents: "Contents", Stretch: "A stretch of the run", StretchFrom: "from, s", StretchTo: "to, s", ShowStretch: "Show the stretch", WholeRun: "The whole run",
	Hover: "Point at a picture, or focus it and use the arrow keys, to read the values of an interval.", Drag: "Drag across a picture over time to see a stretch of it; Escape shows the whole.",
	Downloads: "Downloads", OtherRuns: "Other runs of this plan", CompareWith: "Compare with this run", PlanDiff: "plan and facts", StepOf: "Plateau %s of %s",
	StepPrev: "Plateau before", StepNext: "Plateau after", ToRun: "The whole run", HoverName: "Values",
	Sentence: "In one sentence", NotComparable: "These runs can't be compared", Forced: "compared although their plans differ", ForceIt: "Compare although their plans differ",
	Metric: "Metric", Base: "A", New: "B", Change: "Change", PValue: "p", RunsWord: "runs", Needed: "%d runs a side would decide", Differences: "What else differs", Excluded: "Not used", Why: "Why",
	Better: "better", Worse: "worse", Same: "same", Unknown: "not known", Fact: "Fact", ChooseSides: "Tick the runs of each side, or drag them into it.", AtRate: "Latencies and errors at %s, the highest plateau that held in every run.",
	DiffPlans: "Plans and facts of the first two side by side", Values: "values",
	Latest: "latest", PerWeek: "a week", Changes: "Where it changed", Points: "Runs", Gated: "gated", ChangeAt: "%s: %s → %s (%d and %d runs)", Spike: "alone", Value: "Value", Range: "95 %", TrendOf: "Trend of %s", Earlier: "%d earlier runs are left out.",
	DiffPlan: "Plan", DiffFacts: "Facts", SamePlan: "Both ran the same plan.", NoPlan: "Neither run carries its plan.", TooLong: "The plans are too long to be shown side by side.", ChooseTwo: "Choose two runs.", FactsDiffer: "%d facts differ; they come first.", Show: "Show",
	Elapsed: "Elapsed", Phase: "Phase", Offered: "Offered", Sent: "Sent", Goodput: "Goodput", InFlight: "In flight", Waiting: "Waiting for a connection", Lag: "Lag p99", Recent: "The last %s", SoFar: "So far", Total: "All closed intervals", Scheduled: "scheduled", Target: "Target",
	Response: "Response", Service: "Service", Outcomes: "Outcomes", HighestHeld: "highest plateau that held", LowestFailed: "lowest that did not", KneeSoFar: "knee so far", NotTrusted: "plateaus that can't be trusted", Updated: "Seen at %s of the run.",
	LiveIntro: "This run is being recorded. Numbers are of intervals all of whose requests have ended.", Plateaus: "plateaus ended", Timeline: "Timeline", Class: "Class",
	APIIntro: "The same numbers as JSON. Uploads want the server's token.", Method: "Method", Path: "Address", What: "What", Query: "Parameters",
	HoverWords: map[string]string{
		"at": "at", "offered": "offered", "goodput": "goodput", "errors": "errors", "shed": "shed", "in_flight": "in flight", "waiting": "waiting",
		"response": "response", "service": "service", "lag": "lag p99", "intervals": "intervals", "plateau": "plateau", "held": "held", "not_held": "not held", "whole": "The whole run",
	},
	Metrics: map[string]string{
		"knee": "knee", "margin": "margin", "post_saturation": "left past the knee", "goodput": "peak goodput", "response_p50": "response p50", "response_p90": "response p90",
		"response_p99": "response p99", "response_p99_9": "response p99.9", "service_p50": "service p50", "service_p99": "service p99", "error_ratio": "errors", "shed_ratio": "shed",
		"recovery": "recovery", "omission": "omission factor", "amplification": "attempts per request",
	},
}

var portuguese = words{
	Skip: "Ir ao conteúdo", Menu: "Páginas", Language: "Idioma", Filters: "Filtros", Apply: "Mostrar", Clear: "Mostrar tudo", All: "todos",
	History: "Histórico", Compare: "Comparar", Trend: "Tendência", Diff: "Planos e fatos lado a lado", Live: "ao vivo",
	Started: "Início", Plan: "Plano", Release: "Versão", Format: "Formato", State: "Estado", Verdict: "Veredito", Knee: "Joelho", Margin: "Margem", Size: "Tamanho",
	From: "De", Until: "Até", Any: "qualquer", Name: "Nome", RefusedState: "recusada",
	BeingRecorded: "sendo gravada – acompanhe", BeingRecordedNoFeed: "sendo gravada; iniciada com --ui, poderia ser acompanhada",
	Pending: "%d execuções ainda estão sendo lidas; os vereditos aparecem quando forem conhecidos.", NoRuns: "Ainda não há execuções nesta pasta.", NoMatch: "Nenhuma execução atende a estes filtros.",
	Shown: "%d a %d de %d execuções", Previous: "Anterior", Next: "Próxima", RunsOf: "%d execuções", LastRun: "última execução", SparkName: "%s: %s", Plans: "Planos", Runs: "Execuções",
	SelectA: "no lado A: %s", SelectB: "no lado B: %s", SideA: "A", SideB: "B", CompareThese: "Comparar A com B", WhyRefused: "Esta execução não pode ser lida", CantShow: "Esta página não pode ser mostrada", Back: "Voltar ao histórico",
	NotAnalysed: "sem análise",
	Pictures:    "Figuras", Contents: "Conteúdo", Stretch: "Um trecho da execução", StretchFrom: "de, s", StretchTo: "até, s", ShowStretch: "Mostrar o trecho", WholeRun: "A execução inteira",
	Hover: "Aponte para uma figura, ou selecione-a e use as setas, para ler os valores de um intervalo.", Drag: "Arraste sobre uma figura no tempo para ver um trecho; Escape mostra tudo.",
	Downloads: "Arquivos", OtherRuns: "Outras execuções deste plano", CompareWith: "Comparar com esta execução", PlanDiff: "plano e fatos", StepOf: "Patamar %s de %s",
	StepPrev: "Patamar anterior", StepNext: "Próximo patamar", ToRun: "A execução inteira", HoverName: "Valores",
	Sentence: "Em uma frase", NotComparable: "Estas execuções não podem ser comparadas", Forced: "comparadas embora os planos difiram", ForceIt: "Comparar embora os planos difiram",
	Metric: "Métrica", Base: "A", New: "B", Change: "Mudança", PValue: "p", RunsWord: "execuções", Needed: "%d execuções de cada lado decidiriam", Differences: "O que mais difere", Excluded: "Não usadas", Why: "Por quê",
	Better: "melhor", Worse: "pior", Same: "igual", Unknown: "não se sabe", Fact: "Fato", ChooseSides: "Marque as execuções de cada lado, ou arraste-as até ele.", AtRate: "Latências e erros em %s, o maior patamar sustentado em todas as execuções.",
	DiffPlans: "Planos e fatos das duas primeiras lado a lado", Values: "valores",
	Latest: "última", PerWeek: "por semana", Changes: "Onde mudou", Points: "Execuções", Gated: "com critério", ChangeAt: "%s: %s → %s (%d e %d execuções)", Spike: "isolado", Value: "Valor", Range: "95 %", TrendOf: "Tendência de %s", Earlier: "%d execuções anteriores ficaram de fora.",
	DiffPlan: "Plano", DiffFacts: "Fatos", SamePlan: "As duas usaram o mesmo plano.", NoPlan: "Nenhuma das duas guarda o plano.", TooLong: "Os planos são longos demais para mostrar lado a lado.", ChooseTwo: "Escolha duas execuções.", FactsDiffer: "%d fatos diferem; eles vêm primeiro.", Show: "Mostrar",
	Elapsed: "Decorrido", Phase: "Fase", Offered: "Oferecida", Sent: "Enviada", Goodput: "Vazão útil", InFlight: "Em curso", Waiting: "Esperando conexão", Lag: "Atraso p99", Recent: "Os últimos %s", SoFar: "Até agora", Total: "Todos os intervalos fechados", Scheduled: "agendadas", Target: "Alvo",
	Response: "Resposta", Service: "Serviço", Outcomes: "Desfechos", HighestHeld: "maior patamar sustentado", LowestFailed: "menor não sustentado", KneeSoFar: "joelho até agora", NotTrusted: "patamares não confiáveis", Updated: "Visto aos %s da execução.",
	LiveIntro: "Esta execução está sendo gravada. Os números são de intervalos cujas requisições já terminaram.", Plateaus: "patamares terminados", Timeline: "Linha do tempo", Class: "Classe",
	APIIntro: "Os mesmos números em JSON. O envio de execuções exige a senha do servidor.", Method: "Método", Path: "Endereço", What: "O quê", Query: "Parâmetros",
	HoverWords: map[string]string{
		"at": "em", "offered": "oferecida", "goodput": "vazão útil", "errors": "erros", "shed": "recusadas", "in_flight": "em curso", "waiting": "esperando",
		"response": "resposta", "service": "serviço", "lag": "atraso p99", "intervals": "intervalos", "plateau": "patamar", "held": "sustentou", "not_held": "não sustentou", "whole": "A execução inteira",
	},
	Metrics: map[string]string{
		"knee": "joelho", "margin": "margem", "post_saturation": "resta além do joelho", "goodput": "vazão útil máxima", "response_p50": "resposta p50", "response_p90": "resposta p90",
		"response_p99": "resposta p99", "response_p99_9": "resposta p99,9", "service_p50": "serviço p50", "service_p99": "serviço p99", "error_ratio": "erros", "shed_ratio": "recusadas",
		"recovery": "recuperação", "omission": "fator de omissão", "amplification": "tentativas por requisição",
	},
}

// Lang is the language as in lang attributes.
func (l *language) Lang() string { return l.lang }

// Name is the language's name in itself.
func (l *language) Name() string { return l.name }
