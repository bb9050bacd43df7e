package report

// formatCodes are the codes of bursts, soaks, faults, comparisons and trends, in
// English and in Portuguese.
var formatCodes = map[string][2]string{
	"metastable":          {"the service keeps itself down", "o serviço se mantém derrubado por si mesmo"},
	"vulnerable":          {"retries alone could hold the service down", "só as novas tentativas poderiam manter o serviço derrubado"},
	"slower_than_drain":   {"slower than draining explains", "mais lento do que o escoamento explica"},
	"burst_not_delivered": {"burst not delivered", "rajada não entregue"},
	"no_recovery_phase":   {"ended before the load was back at its base", "terminou antes que a carga voltasse à base"},
	"baseline_unstable":   {"no stable baseline before it", "sem base estável antes"},
	"fault_failed":        {"the fault could not be brought about", "a falha não pôde ser provocada"},
	"not_acknowledged":    {"nothing acknowledged the fault", "nada confirmou a falha"},
	"no_baseline":         {"nothing before it to compare with", "nada antes com que comparar"},
	"never_lifted":        {"never lifted", "nunca retirada"},
	"restarted":           {"began anew during the run", "recomeçou durante a execução"},
	"gaps":                {"too many gaps", "lacunas demais"},
	"short_soak":          {"short soak", "ensaio longo curto demais"},
	"load_not_constant":   {"the load was not constant", "a carga não foi constante"},
	"step_or_warmup":      {"a step or a warm-up, no trend", "um degrau ou aquecimento, não uma tendência"},
	"unlike_plans":        {"not of one plan", "não são de um mesmo plano"},
	"no_runs":             {"no run that can be used", "nenhuma execução utilizável"},
	"duplicate":           {"given twice", "dada duas vezes"},
	"not_complete":        {"not complete", "incompleta"},
	"other_plan":          {"of another plan", "de outro plano"},
	"one_run_each":        {"one run each", "uma execução de cada lado"},
	"too_few_runs":        {"too few runs", "execuções de menos"},
	"better":              {"better", "melhor"},
	"worse":               {"worse", "pior"},
	"same":                {"same", "igual"},
	"unknown":             {"can't be said", "indefinido"},
	"no_common_plateau":   {"no plateau that held in every run", "nenhum patamar sustentado em todas as execuções"},
	"beyond_timeout":      {"beyond the timeout", "além do tempo limite"},
	"at_least":            {"a lower bound only", "só um limite inferior"},
	"no_sweep":            {"no step load", "não foi carga em degraus"},
	"left_out":            {"left out", "omitido"},
	"not_positive":        {"not above zero", "não é maior que zero"},
	"no_burst":            {"no burst and no fault", "sem rajada nem falha"},
	"no_soak":             {"no soak", "não foi ensaio longo"},
	"too_noisy":           {"too noisy", "ruidoso demais"},
	"tail_too_thin":       {"too few slow requests", "requisições lentas de menos"},
}

func (w *words) formatCode(c string) (string, bool) {
	s, ok := formatCodes[c]
	if w.Lang == portuguese.Lang {
		return s[1], ok
	}
	return s[0], ok
}
