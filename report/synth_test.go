package report

import (
	"math"
	"math/rand/v2"
	"time"

	"headroom/analyze"
	"headroom/store/record"
)

// synthetic describes a run of a service of known capacity, made up without a
// runner: a fluid queue with exponential service.
type synthetic struct {
	rates     []float64
	refine    []float64
	beyond    []float64
	plateauS  int
	capacity  float64
	collapse  bool // past the knee goodput falls
	sheds     bool // past the knee the service refuses at once
	peak      float64
	intervalS float64
}

const (
	synthTimeoutS = 2.0
	synthMaxUS    = 60_000_000
)

func (s synthetic) make() (*analyze.Analysis, *record.Memory) {
	if s.intervalS == 0 {
		s.intervalS = 1
	}
	rng := rand.New(rand.NewPCG(7, 11))
	m := &record.Memory{SealDigest: "9f2c1a0b4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8"}
	m.H = record.Header{
		RunID: "20261129-101500-checkout-7", Name: "checkout", Release: "v1.42.0", Model: record.Open, Format: "step",
		Started: time.Date(2026, 11, 29, 10, 15, 0, 0, time.UTC), Seed: 7, IntervalNS: int64(s.intervalS * 1e9),
		TimeoutNS: int64(synthTimeoutS * 1e9), DeadlineNS: int64(synthTimeoutS * 1e9), MaxUS: synthMaxUS, Arrivals: "poisson",
		Classes:  []record.Class{{Name: "view", Weight: 80}, {Name: "buy", Weight: 20}},
		Observed: []record.SeriesInfo{{ID: 3, Name: "process.open_fds", Source: "process", Unit: "1"}, {ID: 4, Name: "process.resident_memory", Source: "process", Unit: "bytes"}},
	}
	a := &analyze.Analysis{Schema: analyze.Schema, Verdict: analyze.Pass}
	m.E = record.End{State: record.Complete}
	now := 0.0
	backlog := 0.0
	phase := func(kind record.PhaseKind, step int, rate, seconds float64) {
		p := record.Phase{
			Index: len(m.P), Kind: kind, Step: step, TargetRPS: rate, StartNS: int64(now * 1e9),
			EndNS: int64((now + seconds) * 1e9), Ended: true,
		}
		if kind.Judged() {
			p.SettleNS = int64(min(5, seconds/4) * 1e9)
		}
		m.P = append(m.P, p)
		for i := 0; float64(i)*s.intervalS < seconds-1e-9; i++ {
			width := min(s.intervalS, seconds-float64(i)*s.intervalS)
			at := int64((now + float64(i)*s.intervalS) * 1e9)
			m.Res = append(m.Res, record.Sample{Series: 3, AtNS: at, Value: 20 + backlog}, record.Sample{Series: 4, AtNS: at, Value: 80e6 + 1e4*now})
			m.Iv = append(m.Iv, s.interval(rng, p.Index, i, now+float64(i)*s.intervalS, width, rate, &backlog))
		}
		now += seconds
		if kind.Judged() {
			a.Steps = append(a.Steps, s.step(m, p, len(a.Steps)))
		}
	}
	phase(record.Warmup, -1, s.rates[0]/2, 15)
	phase(record.Drain, -1, 0, 2)
	step := 0
	for _, set := range []struct {
		kind  record.PhaseKind
		rates []float64
	}{{record.Step, s.rates}, {record.Refine, s.refine}, {record.Beyond, s.beyond}} {
		for _, r := range set.rates {
			phase(set.kind, step, r, float64(s.plateauS))
			phase(record.Drain, -1, 0, 3)
			step++
		}
	}
	s.conclude(a, m, now)
	return a, m
}

func (s synthetic) interval(rng *rand.Rand, phase, index int, start, width, rate float64, backlog *float64) *record.Interval {
	iv := &record.Interval{Phase: phase, Index: index, StartNS: int64(start * 1e9), WidthNS: int64(width * 1e9)}
	n := int(math.Max(0, math.Round(rate*width+math.Sqrt(rate*width)*rng.NormFloat64())))
	capacity := s.capacity
	if s.collapse && *backlog > capacity {
		capacity *= 0.45
	}
	utilisation := math.Min(rate/s.capacity, 0.995)
	cells := [2]record.Cell{}
	for c := range cells {
		cells[c] = record.Cell{
			Class: c, OKResponse: record.NewHistogram(synthMaxUS), OtherResponse: record.NewHistogram(synthMaxUS),
			Service: record.NewHistogram(synthMaxUS), Lag: record.NewHistogram(synthMaxUS), Status: map[int]uint64{}, Errors: map[record.ErrorKind]uint64{},
		}
	}
	for range n {
		c := &cells[0]
		if rng.Float64() < 0.2 {
			c = &cells[1]
		}
		lag := 30e3 * (1 + rng.ExpFloat64())
		if rng.IntN(4000) == 0 {
			lag *= 40
		}
		wait := *backlog/capacity*1e9 + 4e6*rng.ExpFloat64()*utilisation/(1-utilisation)*0.4
		service := 3e6 + 15e6*rng.ExpFloat64() + wait
		out := record.OK
		switch {
		case s.sheds && rng.Float64() > s.capacity/math.Max(rate, s.capacity):
			out, service = record.Shed, 0.6e6+0.4e6*rng.ExpFloat64()
		case service > synthTimeoutS*1e9:
			out, service = record.Timeout, synthTimeoutS*1e9+1e5
		case rng.IntN(9000) == 0:
			out = record.HTTPError
		}
		c.Counts.Scheduled++
		c.Counts.Sent++
		c.Counts.Attempts++
		c.Counts.By[out]++
		c.Lag.Record(int64(lag))
		c.Service.Record(int64(service))
		if out == record.OK {
			c.OKResponse.Record(int64(service + lag))
		} else {
			c.OtherResponse.Record(int64(service + lag))
		}
	}
	if !s.sheds {
		*backlog = math.Max(0, *backlog+float64(n)-capacity*width)
		*backlog = math.Min(*backlog, rate*synthTimeoutS*1.4)
	}
	iv.Moment.InFlight = int64(*backlog + rate*0.018/(1.02-utilisation)*0.3)
	for c := range cells {
		if cells[c].Counts.Scheduled > 0 {
			iv.Cells = append(iv.Cells, cells[c])
		}
	}
	return iv
}

func num(v float64) *float64 { return &v }

func latencyOf(h *record.Histogram) analyze.LatencyUS {
	l := analyze.LatencyUS{Count: h.Count()}
	if h.Count() == 0 {
		return l
	}
	l.Min, l.Mean, l.Max = num(float64(h.MinNS())/1e3), num(h.MeanUS()), num(float64(h.MaxNS())/1e3)
	set := func(name string, q float64) *float64 {
		v := h.QuantileUS(q)
		if v >= synthTimeoutS*1e6 {
			if l.Censored == nil {
				l.Censored = map[string]float64{}
			}
			l.Censored[name] = synthTimeoutS * 1e6
			return nil
		}
		return num(v)
	}
	l.P50, l.P90, l.P95, l.P99 = set("p50", 0.5), set("p90", 0.9), set("p95", 0.95), set("p99", 0.99)
	if h.Count() < 30_000 {
		l.Refused = map[string]string{"p99_9": "tail_too_thin"}
	} else {
		l.P999 = set("p99_9", 0.999)
	}
	if l.P99 != nil {
		l.CI95 = map[string]*analyze.Interval{"p99": {*l.P99 * 0.97, *l.P99 * 1.04}}
	}
	return l
}

func outcomesOf(c record.Counts) analyze.Outcomes {
	out := analyze.Outcomes{}
	for _, o := range record.Outcomes() {
		out[o.String()] = c.By[o]
	}
	return out
}

// merged sums the intervals of a window, in seconds.
func merged(m *record.Memory, from, to float64, class int) (c record.Counts, response, service, ok, failed *record.Histogram) {
	response, service = record.NewHistogram(synthMaxUS), record.NewHistogram(synthMaxUS)
	ok, failed = record.NewHistogram(synthMaxUS), record.NewHistogram(synthMaxUS)
	for _, iv := range m.Iv {
		if s := seconds(iv.StartNS); s < from-1e-9 || s >= to-1e-9 {
			continue
		}
		for i := range iv.Cells {
			cell := &iv.Cells[i]
			if class >= 0 && cell.Class != class {
				continue
			}
			c.Add(&cell.Counts)
			for h, into := range map[*record.Histogram][]*record.Histogram{
				cell.OKResponse: {response, ok}, cell.OtherResponse: {response, failed}, cell.Service: {service},
			} {
				for _, t := range into {
					if err := t.Merge(h); err != nil {
						panic(err)
					}
				}
			}
		}
	}
	return c, response, service, ok, failed
}

func (s synthetic) step(m *record.Memory, p record.Phase, index int) analyze.StepResult {
	from, to := seconds(p.StartNS+p.SettleNS), seconds(p.EndNS)
	c, response, service, _, _ := merged(m, from, to, -1)
	length := to - from
	good := float64(c.By[record.OK]) / length
	r := analyze.StepResult{
		Index: index, Phase: p.Index, Kind: string(p.Kind), TargetRPS: p.TargetRPS,
		OfferedRPS: float64(c.Scheduled) / length, GoodputRPS: good, CompletionsRPS: float64(c.Total()) / length,
		GoodputCI95: &analyze.Interval{good * 0.985, good * 1.015}, Trust: "trusted", WindowS: analyze.Interval{from, to},
		Response: latencyOf(response), Service: latencyOf(service), LagP99US: num(140), OmissionFactor: num(1.01),
		BacklogStart: num(3), BacklogEnd: num(3 + math.Max(0, p.TargetRPS-s.capacity)*length), Outcomes: outcomesOf(c), Why: "keeps_up",
	}
	held := good > 0.985*r.OfferedRPS
	if d := math.Abs(p.TargetRPS/s.capacity - 1); d < 0.012 {
		r.Why = "indeterminate"
		return r
	}
	r.Held = &held
	if !held {
		r.Why = "deficit"
	}
	return r
}

func (s synthetic) conclude(a *analyze.Analysis, m *record.Memory, now float64) {
	c, response, service, ok, failed := merged(m, 17, now, -1)
	a.Run = &analyze.RunInfo{
		ID: m.H.RunID, Name: m.H.Name, Release: m.H.Release, Model: "open", Format: "step", Started: "2026-11-29T10:15:00Z", State: "complete",
		Seed: 7, IntervalS: s.intervalS, DurationS: now, TimeoutS: 2, DeadlineS: 2, PlanDigest: "b1946ac92492d2347c6235b4d2611184b1946ac92492d2347c6235b4d2611184",
		EvidenceDigest: m.SealDigest, ComparableKey: "591785b794601e212b260e25925636fd", ToolVersion: "v0.3.0", Shards: 1,
		Facts: analyze.FactsResult{
			Generator: map[string]string{"cpu": "2 × Example 2.4 GHz", "kernel": "6.12.0", "go": "go1.26", "file limit": "65536"},
			Target:    map[string]string{"image": "sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1", "version": "v1.42.0"},
		},
	}
	acc := &analyze.Accounting{
		Scheduled: c.Scheduled, Sent: c.Sent, OK: c.By[0], Late: c.By[1], Shed: c.By[2], Wrong: c.By[3], HTTPError: c.By[4],
		Timeout: c.By[5], ConnectError: c.By[6], GeneratorError: c.By[7], Dropped: c.By[8], Unfinished: c.By[9], Attempts: c.Attempts, Amplification: num(1),
		ByStatus: map[string]uint64{"200": c.By[0], "500": c.By[4]}, ByError: map[string]uint64{"answer_timeout": c.By[5]},
		BytesIn: 4096 * c.By[0], BytesOut: 120 * c.Sent, Connections: analyze.ConnectionCounts{Opened: 2210, Reused: c.Sent - 2210},
	}
	if c.By[2] > 0 {
		acc.ByStatus["503"] = c.By[2]
	}
	a.Accounting = acc
	a.Trust = &analyze.Trust{
		Verdict: "trusted", OmissionFactor: &analyze.Quantiles{P50: num(1), P90: num(1), P99: num(1.004), P999: num(1.01)},
		LagUS:            &analyze.LagUS{Quantiles: analyze.Quantiles{P50: num(52), P90: num(98), P99: num(171), P999: num(1340)}, Max: num(7420)},
		LateSends:        analyze.LateSends{Over1ms: 212, Over10ms: 0},
		PeakSentRPS100ms: num(2480), Arrivals: &analyze.ArrivalFit{Model: "poisson", Verdict: "accepted", Dispersion: num(1.02), GapCV: num(0.998), GapKSP: num(0.41), Windows: 40},
		CPU: analyze.GeneratorCPU{GeneratorShareMax: num(0.34), SharesWithTarget: new(bool)}, GCPauseMaxMS: num(0.21), SleeperLateMaxMS: num(1.4),
		LimitedShare: num(0), LittlesLawRatio: num(1.003),
	}
	a.Latency = &analyze.Latencies{Response: latencyOf(response), Service: latencyOf(service), OKResponse: latencyOf(ok), FailedResponse: latencyOf(failed)}
	a.Thresholds = []analyze.ThresholdCount{{Name: "response<=150ms", LimitUS: 150_000, AtOrBelow: response.Count() - response.CountAbove(150_000), Total: c.Scheduled}}
	for i, cl := range m.H.Classes {
		cc, r, sv, _, _ := merged(m, 17, now, i)
		a.Classes = append(a.Classes, analyze.ClassResult{Class: cl.Name, Scheduled: cc.Scheduled, Outcomes: outcomesOf(cc), Response: latencyOf(r), Service: latencyOf(sv)})
	}
	s.knee(a)
}

func (s synthetic) knee(a *analyze.Analysis) {
	highest, lowest, best := 0.0, math.Inf(1), analyze.StepResult{}
	for _, st := range a.Steps {
		if st.Held != nil && *st.Held {
			highest = math.Max(highest, st.OfferedRPS)
		}
		if st.Held != nil && !*st.Held {
			lowest = math.Min(lowest, st.OfferedRPS)
		}
		if st.GoodputRPS > best.GoodputRPS {
			best = st
		}
	}
	a.PeakGoodput = &analyze.PeakGoodput{RPS: num(best.GoodputRPS), CI95: best.GoodputCI95, AtOfferedRPS: num(best.OfferedRPS)}
	k := &analyze.Knee{DwellS: num(float64(s.plateauS)), Criterion: "goodput within 2 % of offered", HighestHeld: num(highest)}
	a.Knee = k
	if s.peak > 0 {
		a.Margin = &analyze.Margin{PeakRPS: s.peak, WindowDays: 90, ResolutionS: 1, Taken: "2026-11-20", AgeDays: num(9), Source: "edge counter", NextRefused: "too_short"}
	}
	if math.IsInf(lowest, 1) {
		k.Status, k.NextRun = "not_reached", "raise load.step.to above 2400"
		a.Sentence = analyze.Sentence{EN: "no saturation up to " + english.number(highest) + " requests per second", PTBR: "sem saturação até " + portuguese.number(highest) + " requisições por segundo"}
		if a.Margin != nil {
			a.Margin.Value, a.Margin.AtLeast = num(highest/s.peak), true
		}
		return
	}
	k.Status, k.Kind, k.Method = "found", "queueing", "hinge"
	k.RPS, k.CI95, k.LowestFailed = num(s.capacity*0.998), &analyze.Interval{s.capacity * 0.967, s.capacity * 1.033}, num(lowest)
	if s.sheds {
		k.Kind = "shedding"
	}
	a.Sentence.EN = "saturation at " + english.number(*k.RPS) + " requests per second (95 %: " + english.span(k.CI95, english.number) + ")"
	a.Sentence.PTBR = "saturação a " + portuguese.number(*k.RPS) + " requisições por segundo (95 %: " + portuguese.span(k.CI95, portuguese.number) + ")"
	if s.peak > 0 {
		v := *k.RPS / s.peak
		a.Margin.Value, a.Margin.CI95 = num(v), &analyze.Interval{k.CI95[0] / s.peak, k.CI95[1] / s.peak}
		a.Sentence.EN += ", production peak " + english.number(s.peak) + ", margin " + english.significant(v)
		a.Sentence.PTBR += ", pico de produção " + portuguese.number(s.peak) + ", margem " + portuguese.significant(v)
		a.Gates = append(a.Gates, analyze.GateResult{Rule: "margin >= 2.0", Measured: num(a.Margin.CI95[0]), Limit: 2, Outcome: analyze.Pass})
		if a.Margin.CI95[0] < 2 {
			a.Gates[0].Outcome, a.Verdict = analyze.Fail, analyze.Fail
		} else {
			a.Verdict = analyze.Inconclusive // the last gate has no data
		}
	}
	for _, st := range a.Steps {
		if st.Kind == "beyond" {
			ratio := st.GoodputRPS / s.capacity
			shape := "holds"
			if ratio < 0.9 {
				shape = "degrades"
			}
			if ratio < 0.5 {
				shape = "collapses"
			}
			a.PostSaturation = append(a.PostSaturation, analyze.PostSaturation{
				At: math.Round(st.TargetRPS/s.capacity*100) / 100, OfferedRPS: num(st.OfferedRPS),
				GoodputRPS: num(st.GoodputRPS), Ratio: num(ratio), CI95: &analyze.Interval{ratio * 0.96, ratio * 1.04}, Shape: shape,
			})
		}
	}
	a.PostSaturation = append(a.PostSaturation, analyze.PostSaturation{At: 2, Refused: "too_few_steps"})
	a.Gates = append(a.Gates,
		analyze.GateResult{Rule: "response(p99) <= 150ms", Measured: num(61), Unit: "ms", Limit: 150, Outcome: analyze.Pass},
		analyze.GateResult{Rule: "post_saturation(2) >= 0.70", Limit: 0.7, Outcome: analyze.NoData, Why: "too_few_steps"})
	a.Findings = append(a.Findings,
		analyze.Finding{Code: "old_peak", Severity: "note", Scope: "run", Measured: num(9), Limit: num(7), Text: "the production peak was taken 9 days before the run"},
		analyze.Finding{Code: "shares_cpus", Severity: "caution", Scope: "run", Text: "the generator may run on the processors of the target"})
}
