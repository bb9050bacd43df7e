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
	Skip, Menu, Language, Filters, Apply, Clear, History, Compare, Trend, Diff, Live string

	Started, Plan, Release, Format, State, Verdict, Knee, Margin, Size, From, Until, Any string
	Name, RefusedState, BeingRecorded, BeingRecordedNoFeed, Pending, NoRuns, NoMatch     string
	Shown, Previous, Next, RunsOf, LastRun, SparkName, Plans, Runs, SelectA, SelectB     string
	SideA, SideB, CompareThese, WhyRefused, CantShow, Back, NotAnalysed                  string

	Pictures, Contents, Stretch, StretchFrom, StretchTo, ShowStretch, WholeRun, Hover, Drag, Downloads, OtherRuns string
	CompareWith, PlanDiff, StepOf, StepPrev, StepNext, ToRun                                                      string

	Sentence, ForceIt            string
	Fact, ChooseSides, DiffPlans string

	TrendOf, Earlier string

	DiffPlan, DiffFacts, SamePlan, NoPlan, TooLong, ChooseTwo, FactsDiffer, Show string

	Phase, Offered, Sent, Goodput, InFlight, Waiting, Lag, Recent, SoFar, Total, Scheduled, Target                               string
	Response, Service, Outcomes, HighestHeld, LowestFailed, KneeSoFar, NotTrusted, Updated, LiveIntro, Plateaus, Timeline, Class string

	APIIntro, Method, Path, What, Query string

	HoverWords map[string]string
}

func (w *words) f(format string, values ...any) string { return fmt.Sprintf(format, values...) }

var english = words{
	Skip: "Skip to the content", Menu: "Pages", Language: "Language", Filters: "Filters", Apply: "Show", Clear: "Show all",
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
	StepPrev: "Plateau before", StepNext: "Plateau after", ToRun: "The whole run",
	Sentence: "In one sentence", ForceIt: "Compare although their plans differ",

	Fact: "Fact", ChooseSides: "Tick the runs of each side, or drag them into it.",
	DiffPlans: "Plans and facts of the first two side by side",
	TrendOf:   "Trend of %s", Earlier: "%d earlier runs are left out.",
	DiffPlan: "Plan", DiffFacts: "Facts", SamePlan: "Both ran the same plan.", NoPlan: "Neither run carries its plan.", TooLong: "The plans are too long to be shown side by side.", ChooseTwo: "Choose two runs.", FactsDiffer: "%d facts differ; they come first.", Show: "Show",
	Phase: "Phase", Offered: "Offered", Sent: "Sent", Goodput: "Goodput", InFlight: "In flight", Waiting: "Waiting for a connection", Lag: "Lag p99", Recent: "the last %s", SoFar: "So far", Total: "All closed intervals", Scheduled: "scheduled", Target: "Target",
	Response: "Response", Service: "Service", Outcomes: "Outcomes", HighestHeld: "highest plateau that held", LowestFailed: "lowest that did not", KneeSoFar: "knee so far", NotTrusted: "plateaus that can't be trusted", Updated: "Seen at %s of the run.",
	LiveIntro: "This run is being recorded. Numbers are of intervals all of whose requests have ended.", Plateaus: "Plateaus ended", Timeline: "Timeline", Class: "Class",
	APIIntro: "The same numbers as JSON. Uploads want the server's token.", Method: "Method", Path: "Address", What: "What", Query: "Parameters",
	HoverWords: map[string]string{
		"at": "at", "offered": "offered", "goodput": "goodput", "errors": "errors", "shed": "shed", "in_flight": "in flight", "waiting": "waiting",
		"response": "response", "service": "service", "lag": "lag p99", "intervals": "intervals", "plateau": "plateau", "held": "held", "not_held": "not held", "whole": "The whole run",
	},
}

var portuguese = words{
	Skip: "Ir ao conteúdo", Menu: "Páginas", Language: "Idioma", Filters: "Filtros", Apply: "Mostrar", Clear: "Mostrar tudo",
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
	StepPrev: "Patamar anterior", StepNext: "Próximo patamar", ToRun: "A execução inteira",
	Sentence: "Em uma frase", ForceIt: "Comparar embora os planos difiram",

	Fact: "Fato", ChooseSides: "Marque as execuções de cada lado, ou arraste-as até ele.",
	DiffPlans: "Planos e fatos das duas primeiras lado a lado",
	TrendOf:   "Tendência de %s", Earlier: "%d execuções anteriores ficaram de fora.",
	DiffPlan: "Plano", DiffFacts: "Fatos", SamePlan: "As duas usaram o mesmo plano.", NoPlan: "Nenhuma das duas guarda o plano.", TooLong: "Os planos são longos demais para mostrar lado a lado.", ChooseTwo: "Escolha duas execuções.", FactsDiffer: "%d fatos diferem; eles vêm primeiro.", Show: "Mostrar",
	Phase: "Fase", Offered: "Oferecida", Sent: "Enviada", Goodput: "Vazão útil", InFlight: "Em curso", Waiting: "Esperando conexão", Lag: "Atraso p99", Recent: "últimos %s", SoFar: "Até agora", Total: "Todos os intervalos fechados", Scheduled: "agendadas", Target: "Alvo",
	Response: "Resposta", Service: "Serviço", Outcomes: "Desfechos", HighestHeld: "maior patamar sustentado", LowestFailed: "menor não sustentado", KneeSoFar: "joelho até agora", NotTrusted: "patamares não confiáveis", Updated: "Visto aos %s da execução.",
	LiveIntro: "Esta execução está sendo gravada. Os números são de intervalos cujas requisições já terminaram.", Plateaus: "Patamares terminados", Timeline: "Linha do tempo", Class: "Classe",
	APIIntro: "Os mesmos números em JSON. O envio de execuções exige a senha do servidor.", Method: "Método", Path: "Endereço", What: "O quê", Query: "Parâmetros",
	HoverWords: map[string]string{
		"at": "em", "offered": "oferecida", "goodput": "vazão útil", "errors": "erros", "shed": "recusadas", "in_flight": "em curso", "waiting": "esperando",
		"response": "resposta", "service": "serviço", "lag": "atraso p99", "intervals": "intervalos", "plateau": "patamar", "held": "sustentou", "not_held": "não sustentou", "whole": "A execução inteira",
	},
}

// Lang is the language as in lang attributes.
func (l *language) Lang() string { return l.lang }

// Name is the language's name in itself.
func (l *language) Name() string { return l.name }
