package plot

import "headroom/store/record"

// Lang is the language of the words in a picture.
type Lang string

// The languages.
const (
	English    Lang = "en"
	Portuguese Lang = "pt-BR"
)

// words holds every word that a picture shows.
type words struct {
	comma bool // decimal comma

	offered, goodput, latency, percentile                 string
	timeMinutes, timeHours, timeSeconds                   string
	requestsPerS, lagAxis, shareOfRequests, requestsCount string

	kneeTitle, kneeAbout                                  string
	held, notHeld, unknown, everyAnswer, interval, kneeAt string
	highestHeld, lowestFailed, peak, ci                   string
	latencyTitle, latencyAbout, beyondTimeout, timeout    string
	response, service                                     string
	spectrumTitle, spectrumAbout                          string
	timelineTitle, timelineAbout, errors, inFlight        string
	waiting, warmup, step, refine, beyond                 string
	heatTitle, heatAbout, heatScale                       string
	lagTitle, lagAbout, max, suspect, untrusted           string
	resourcesTitle, resourcesAbout                        string
	noData, offeredName, goodputName                      string
	outcomes                                              [record.NumOutcomes]string
}

var english = words{
	offered: "offered load, requests per second", goodput: "goodput, requests per second",
	latency: "time from request to answer", percentile: "share of requests that were at most this slow",
	timeMinutes: "time since the start, m:ss", timeHours: "time since the start, h:mm", timeSeconds: "time since the start, s",
	requestsPerS: "requests per second", lagAxis: "lag of the generator", shareOfRequests: "outcomes, %", requestsCount: "requests in flight",

	kneeTitle: "What was offered and what came back in time",
	kneeAbout: "Goodput against offered load, one point per plateau; on the line y = x every request was answered in time",
	held:      "held", notHeld: "did not hold", unknown: "can't be said", everyAnswer: "every request answered in time (y = x)",
	interval: "knee, 95 % interval", kneeAt: "knee", highestHeld: "highest held", lowestFailed: "lowest not held",
	peak: "production peak", ci: "95 % interval of goodput",
	latencyTitle:  "Latency of both clocks against offered load",
	latencyAbout:  "Median and 99th percentile of response time (from the scheduled instant) and service time (from the send), one point per plateau, logarithmic",
	beyondTimeout: "beyond the timeout", timeout: "timeout",
	response: "response", service: "service",
	spectrumTitle: "Latency spectrum",
	spectrumAbout: "How slow the slowest requests were: time over the share of requests, stretched towards the tail, logarithmic",
	timelineTitle: "The run, interval by interval",
	timelineAbout: "Offered load, goodput and errors over time, and the requests in flight below",
	errors:        "errors (all but ok and shed)", inFlight: "in flight", waiting: "waiting for a connection",
	warmup: "warm-up", step: "step", refine: "refine", beyond: "beyond the knee",
	heatTitle: "Response time over time",
	heatAbout: "Each cell is a slice of time and of response time; the darker, the more requests per second ended up in it; both scales of value are logarithmic",
	heatScale: "requests per second in a cell",
	lagTitle:  "Lag of the generator over time",
	lagAbout:  "How much later than scheduled the requests left the generator, per interval, logarithmic; above the limits the run is not to be trusted",
	max:       "max", suspect: "suspect above", untrusted: "untrusted when more than 1 % is above",
	resourcesTitle: "Resources over time",
	resourcesAbout: "What was observed beside the load, each series in its own unit, on the time axis of the run",
	noData:         "no data", offeredName: "offered", goodputName: "goodput (ok, in time)",
	outcomes: [record.NumOutcomes]string{"ok", "late", "shed", "wrong", "http error", "timeout", "connect error", "generator error", "dropped", "unfinished"},
}

var portuguese = words{
	comma:   true,
	offered: "carga oferecida, requisições por segundo", goodput: "vazão útil, requisições por segundo",
	latency: "tempo da requisição à resposta", percentile: "parcela das requisições que demorou no máximo isto",
	timeMinutes: "tempo desde o início, m:ss", timeHours: "tempo desde o início, h:mm", timeSeconds: "tempo desde o início, s",
	requestsPerS: "requisições por segundo", lagAxis: "atraso do gerador", shareOfRequests: "desfechos, %", requestsCount: "requisições em curso",

	kneeTitle: "O que foi oferecido e o que voltou a tempo",
	kneeAbout: "Vazão útil em função da carga oferecida, um ponto por patamar; na reta y = x toda requisição foi respondida a tempo",
	held:      "sustentou", notHeld: "não sustentou", unknown: "indefinido", everyAnswer: "toda requisição respondida a tempo (y = x)",
	interval: "joelho, intervalo de 95 %", kneeAt: "joelho", highestHeld: "maior sustentada", lowestFailed: "menor não sustentada",
	peak: "pico de produção", ci: "intervalo de 95 % da vazão útil",
	latencyTitle:  "Latência nos dois relógios em função da carga oferecida",
	latencyAbout:  "Mediana e percentil 99 do tempo de resposta (desde o instante agendado) e do tempo de serviço (desde o envio), um ponto por patamar, escala logarítmica",
	beyondTimeout: "além do tempo limite", timeout: "tempo limite",
	response: "resposta", service: "serviço",
	spectrumTitle: "Espectro de latência",
	spectrumAbout: "Quão lentas foram as requisições mais lentas: tempo em função da parcela das requisições, com a cauda ampliada, escala logarítmica",
	timelineTitle: "A execução, intervalo a intervalo",
	timelineAbout: "Carga oferecida, vazão útil e erros ao longo do tempo, e abaixo as requisições em curso",
	errors:        "erros (tudo menos ok e recusadas)", inFlight: "em curso", waiting: "à espera de conexão",
	warmup: "aquecimento", step: "patamar", refine: "refino", beyond: "além do joelho",
	heatTitle: "Tempo de resposta ao longo do tempo",
	heatAbout: "Cada célula é uma fatia de tempo e de tempo de resposta; quanto mais escura, mais requisições por segundo caíram nela; escalas de valor logarítmicas",
	heatScale: "requisições por segundo na célula",
	lagTitle:  "Atraso do gerador ao longo do tempo",
	lagAbout:  "Quanto depois do agendado as requisições saíram do gerador, por intervalo, escala logarítmica; acima dos limites a execução não merece confiança",
	max:       "máx", suspect: "suspeita acima de", untrusted: "não confiável se mais de 1 % passa de",
	resourcesTitle: "Recursos ao longo do tempo",
	resourcesAbout: "O que foi observado ao lado da carga, cada série em sua unidade, no eixo de tempo da execução",
	noData:         "sem dados", offeredName: "oferecida", goodputName: "vazão útil (ok, a tempo)",
	outcomes: [record.NumOutcomes]string{"ok", "atrasada", "recusada", "errada", "erro http", "tempo esgotado", "erro de conexão", "erro do gerador", "descartada", "inacabada"},
}

func wordsOf(l Lang) words {
	if l == Portuguese {
		return portuguese
	}
	return english
}
