package analyze

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// tableRow is one step of a table made elsewhere. Rates are per second.
type tableRow struct {
	offered, sent, goodput float64
	seconds                float64 // 0: not known
	p50ms, p99ms           float64 // 0: not known
}

// tableDF stands for the degrees of freedom of a standard error that comes
// from a model and not from blocks.
const tableDF = 1000

// Table analyses a step table made elsewhere: the rows of a CSV file, the first
// of them its header, with the columns offered_rps (or target_rps), sent_rps (or
// achieved_rps) and goodput_rps, and where known duration_s, p50_ms and p99_ms.
// Other columns are left alone. The error lists every cell that cannot be read.
// Without goodput_rps, as many tools have it, what was sent counts as answered:
// a step that fell short then shows a limit, but not whose.
//
// There are no intervals, so noise is not measured. Where durations are given,
// arrivals and services are taken for Poisson; without them a step holds below
// half of the tolerance and fails above twice it, and the knee is a bracket.
// Whether the generator kept its schedule is not known: the answer is never
// more than suspect.
func Table(records [][]string, opt Options) (*Analysis, error) {
	rows, err := readTable(records)
	if err != nil {
		return nil, err
	}
	gates, err := parseGates(nil, opt.Gates)
	if err != nil {
		return nil, err
	}
	timed := !slices.ContainsFunc(rows, func(r tableRow) bool { return r.seconds <= 0 })
	f := found{sweep: tableSweep(rows, timed), Knee: Knee{Status: KneeInconclusive, Criterion: criterion}}
	f.p = 1 - f.sweep.base
	if len(f.sweep.valid) > 0 {
		f.BaseErrorRatio = number(f.sweep.base)
	}
	f.noHinge = !timed
	f.decide(tableSeed(rows))
	f.Kind, f.DwellS = "", nil // outcomes are not known
	if f.LowestFailed != nil && timed {
		f.DwellS = number(rows[0].seconds)
	}
	f.NextRun = f.nextRun()

	r := &analysis{fold: &fold{header: record.Header{Model: record.Unknown, Format: "step"}}, opt: opt, knee: f, out: emptyAnalysis()}
	r.out.Knee = &r.knee.Knee
	r.trust = PlateauTrust{Verdict: Suspect, Reasons: []string{"no_intervals"}}
	r.out.Trust = &Trust{Verdict: Suspect, Reasons: []string{"no_intervals"}, UntrustedPlateaus: []int{}}
	r.note("no_intervals", "caution", 0, 1, "a table has no intervals: noise, the generator's lag and the order of time are not known")
	if !timed {
		r.note("no_durations", "caution", 0, 1, "without durations only a bracket can be named, and no interval with a confidence")
	}
	for i := range f.sweep.all {
		p := &f.sweep.all[i]
		r.out.Steps = append(r.out.Steps, p.result())
		r.findings = append(r.findings, p.Trust.Findings...)
		if p.Trust.Verdict == Untrusted {
			r.out.Trust.UntrustedPlateaus = append(r.out.Trust.UntrustedPlateaus, p.Index)
		}
	}
	slices.SortFunc(r.out.Steps, func(a, b StepResult) int { return a.Index - b.Index })
	slices.Sort(r.out.Trust.UntrustedPlateaus)
	r.margin()
	r.postSaturation(gates)
	r.out.Gates = r.judgeGates(gates)
	r.verdict()
	r.finish()
	return r.out, nil
}

func tableSeed(rows []tableRow) uint64 {
	sorted := slices.Clone(rows)
	slices.SortFunc(sorted, func(a, b tableRow) int { return compare(a.offered, b.offered) })
	sum := sha256.Sum256(fmt.Append(nil, sorted))
	return binary.LittleEndian.Uint64(sum[:])
}

func readTable(records [][]string) ([]tableRow, error) {
	if len(records) < 2 {
		return nil, errors.New("the table has no steps: a header and at least one row are needed")
	}
	column := func(names ...string) int {
		return slices.IndexFunc(records[0], func(h string) bool {
			return slices.Contains(names, strings.ToLower(strings.TrimSpace(strings.TrimPrefix(h, "\ufeff"))))
		})
	}
	columns := []struct {
		names []string
		must  bool
		set   func(*tableRow, float64)
		at    int
	}{
		{names: []string{"offered_rps", "target_rps"}, must: true, set: func(r *tableRow, v float64) { r.offered = v }},
		{names: []string{"sent_rps", "achieved_rps"}, must: true, set: func(r *tableRow, v float64) { r.sent = v }},
		{names: []string{"goodput_rps"}, set: func(r *tableRow, v float64) { r.goodput = v }},
		{names: []string{"duration_s"}, set: func(r *tableRow, v float64) { r.seconds = v }},
		{names: []string{"p50_ms"}, set: func(r *tableRow, v float64) { r.p50ms = v }},
		{names: []string{"p99_ms"}, set: func(r *tableRow, v float64) { r.p99ms = v }},
	}
	var problems []error
	for i := range columns {
		c := &columns[i]
		for _, name := range c.names {
			if c.at = column(name); c.at >= 0 {
				break
			}
		}
		if c.at < 0 && c.must {
			problems = append(problems, fmt.Errorf("line 1: no column %s", strings.Join(c.names, " or ")))
		}
	}
	answers := columns[2].at >= 0
	var rows []tableRow
	for n, rec := range records[1:] {
		if len(rec) == 1 && strings.TrimSpace(rec[0]) == "" {
			continue
		}
		var row tableRow
		for i := range columns {
			c := &columns[i]
			if c.at < 0 {
				continue
			}
			text := ""
			if c.at < len(rec) {
				text = strings.TrimSpace(rec[c.at])
			}
			if text == "" && !c.must && (i != 2 || !answers) {
				continue
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				problems = append(problems, fmt.Errorf("line %d: %s is %q; write a number of zero or more", n+2, c.names[0], text))
				continue
			}
			c.set(&row, v)
		}
		if !answers {
			row.goodput = min(row.sent, row.offered)
		}
		switch {
		case row.offered <= 0:
			problems = append(problems, fmt.Errorf("line %d: the offered rate must be above zero", n+2))
		case row.goodput > 1.05*row.offered && row.goodput > 1.05*row.sent:
			problems = append(problems, fmt.Errorf("line %d: more good answers than requests (%v of %v per second)", n+2, row.goodput, row.offered))
		}
		rows = append(rows, row)
	}
	return rows, errors.Join(problems...)
}

// tableSweep judges the rows.
func tableSweep(rows []tableRow, timed bool) sweep {
	var s sweep
	order := make([]int, len(rows))
	var best float64
	for i := range rows {
		order[i] = i
		if rows[i].sent >= minSentShare*rows[i].offered {
			best = max(best, rows[i].goodput)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(rows[a].offered, rows[b].offered) })
	var ratios []float64
	for _, i := range order {
		if r := rows[i]; r.offered <= 0.7*best && r.sent >= minSentShare*r.offered {
			ratios = append(ratios, max(0, 1-r.goodput/min(r.sent, r.offered)))
		}
	}
	slices.Sort(ratios)
	s.base, _ = stat.Median(ratios)
	for _, i := range order {
		p := tablePlateau(i, &rows[i], s.base, timed)
		s.all = append(s.all, p)
		if p.valid {
			s.valid = append(s.valid, p)
		}
	}
	return s
}

func tablePlateau(i int, r *tableRow, base float64, timed bool) judgedPlateau {
	p := &Plateau{
		Index: i, Phase: i, Kind: record.Step, TargetRPS: r.offered, LengthS: r.seconds,
		Trust: PlateauTrust{Verdict: Suspect, Reasons: []string{"no_intervals"}},
	}
	nothing := record.NewHistogram(record.DefaultMaxUS)
	p.Resp, p.Serv = summarise(nothing, 0, 0), summarise(nothing, 0, 0)
	if r.p50ms > 0 {
		p.OKp50, p.Resp.P50 = number(1000*r.p50ms), number(1000*r.p50ms)
	}
	if r.p99ms > 0 {
		p.Resp.P99 = number(1000 * r.p99ms)
	}
	j := Judged{OfferedRPS: r.offered, GoodputRPS: r.goodput, DoneRPS: r.goodput, WidthS: r.seconds, ToNS: int64(r.seconds * 1e9)}
	if share := r.sent / r.offered; share < minSentShare {
		p.Trust.Verdict, p.Trust.Reasons = Untrusted, []string{"sent_below_scheduled"}
		p.Trust.Findings = []Finding{{
			Code: "sent_below_scheduled", Severity: "invalidates", Scope: fmt.Sprintf("step %d", i), Measured: number(share), Limit: number(minSentShare),
			Text: fmt.Sprintf("only %s %% of the offered requests were sent", short(100*share)),
		}}
		j.Why = whyUntrusted
		return judgedPlateau{p, j}
	}
	j.Deficit = 1 - r.goodput/min(r.sent, r.offered) - base
	low, high := Eps/2, 2*Eps
	if timed {
		// Poisson arrivals and services: METHODS.md.
		j.Blocks = tableDF + 1
		j.SE = math.Sqrt(2 / (r.offered * r.seconds))
		j.GoodputSE = math.Sqrt(r.goodput / r.seconds)
		half := j.t() * j.SE
		j.Lo, j.Hi = j.Deficit-half, j.Deficit+half
		low, high = Eps-half, max(Eps, half)
	} else {
		j.Lo, j.Hi = j.Deficit, j.Deficit
	}
	switch {
	case j.Deficit < low:
		j.class = stable
	case j.Deficit > high:
		j.class = saturated
	}
	j.accept()
	return judgedPlateau{p, j}
}
