package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"strconv"
	"strings"

	"headroom/analyze"
	"headroom/store/record"
)

// StepsCSV writes one row per plateau. A cell is empty where there is no value:
// a percentile beyond the timeout has its limit in the column that ends in
// _beyond_us instead. Cells that a spreadsheet would run as a formula are
// defused with an apostrophe.
func StepsCSV(a *analyze.Analysis) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	head := []string{
		"index", "phase", "kind", "target_rps", "offered_rps", "goodput_rps", "goodput_ci95_low", "goodput_ci95_high", "completions_rps",
		"held", "why", "deficit", "deficit_ci95_low", "deficit_ci95_high", "trust", "reasons", "window_from_s", "window_to_s",
	}
	for _, clock := range []string{"response", "service"} {
		head = append(head, clock+"_count")
		for _, q := range []string{"mean", "p50", "p90", "p95", "p99", "p99_9", "max"} {
			head = append(head, clock+"_"+q+"_us")
		}
		head = append(head, clock+"_p50_beyond_us", clock+"_p99_beyond_us")
	}
	head = append(head, "lag_p99_us", "omission_factor", "backlog_start", "backlog_end", "backlog_slope_per_s")
	for _, o := range record.Outcomes() {
		head = append(head, o.String())
	}
	_ = w.Write(head)
	for i := range a.Steps {
		_ = w.Write(stepRow(&a.Steps[i]))
	}
	w.Flush()
	return out.Bytes(), w.Error() // which keeps the first error of any Write
}

func stepRow(s *analyze.StepResult) []string {
	held := ""
	if s.Held != nil {
		held = strconv.FormatBool(*s.Held)
	}
	goodLow, goodHigh := endCells(s.GoodputCI95)
	deficitLow, deficitHigh := endCells(s.DeficitCI95)
	row := []string{
		strconv.Itoa(s.Index), strconv.Itoa(s.Phase), record.Defuse(s.Kind), cell(s.TargetRPS), cell(s.OfferedRPS), cell(s.GoodputRPS),
		goodLow, goodHigh, cell(s.CompletionsRPS), held, record.Defuse(s.Why), optionalCell(s.Deficit), deficitLow, deficitHigh,
		record.Defuse(s.Trust), record.Defuse(strings.Join(s.Reasons, " ")), cell(s.WindowS[0]), cell(s.WindowS[1]),
	}
	for _, l := range []*analyze.LatencyUS{&s.Response, &s.Service} {
		row = append(row, strconv.FormatUint(l.Count, 10), optionalCell(l.Mean), optionalCell(l.P50), optionalCell(l.P90), optionalCell(l.P95),
			optionalCell(l.P99), optionalCell(l.P999), optionalCell(l.Max), mapCell(l.Censored, "p50"), mapCell(l.Censored, "p99"))
	}
	row = append(row, optionalCell(s.LagP99US), optionalCell(s.OmissionFactor), optionalCell(s.BacklogStart), optionalCell(s.BacklogEnd), optionalCell(s.BacklogSlope))
	for _, o := range record.Outcomes() {
		row = append(row, strconv.FormatUint(s.Outcomes[o.String()], 10))
	}
	return row
}

// cell writes a number with at most seven significant digits, "" where it is not finite.
func cell(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 7, 64)
}

func optionalCell(v *float64) string {
	if v == nil {
		return ""
	}
	return cell(*v)
}

func mapCell(m map[string]float64, key string) string {
	v, ok := m[key]
	if !ok {
		return ""
	}
	return cell(v)
}

func endCells(i *analyze.Interval) (low, high string) {
	if i == nil {
		return "", ""
	}
	return cell(i[0]), cell(i[1])
}
