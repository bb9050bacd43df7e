package analyze

import (
	"fmt"

	"headroom/store/record"
)

// Usability codes of a plateau that cannot be judged, beside those of trust.
const (
	whyKeepsUp       = "keeps_up"
	whyDeficit       = "deficit"
	whyIndeterminate = "indeterminate"
	whyUntrusted     = "untrusted"
	whyNeverSettled  = "never_settled"
	whyTooShort      = "too_short"
	whyInterrupted   = "interrupted"
	whyNoArrivals    = "no_arrivals"
	whyInherits      = "inherits_work" // the service was not idle when it began
)

// row is what one interval of a plateau contributes to tests that need the
// order of time. Counts are by the clock, except scheduled, sent and own.
type row struct {
	startNS, widthNS int64
	scheduled        uint64
	arrivals         uint64 // scheduled, less what our own side never sent
	done             [record.NumOutcomes]uint64
	backlog          int64 // in flight and waiting, at the end
	limitedNS        int64
	cpuNS, capNS     int64
	stolenNS         int64
	gcNS, sleeperNS  int64
	peakSent100ms    uint64
}

// total is how many requests ended in the interval.
func (r *row) total() uint64 {
	var n uint64
	for _, v := range r.done {
		n += v
	}
	return n
}

// Plateau is what a phase of constant rate did, in the form in which it is
// judged. The runner builds it while a run goes on, the analysis afterwards,
// from the same intervals by the same code. Rates are requests per second.
type Plateau struct {
	Index     int // number of the plateau, from 0; -1 for a phase that is none
	Phase     int
	Kind      record.PhaseKind
	TargetRPS float64
	Multiple  float64 // beyond: of the knee found so far
	LengthS   float64 // as declared, settling included

	Counts   record.Counts  // by schedule, over the window after settling
	Late     [4]uint64      // sends later than 1 ms, 10 ms, 100 ms, 1 s
	Trust    PlateauTrust   // whether the generator did its part
	Inherits bool           // the service was not idle when it began
	Lacks    string         // why it cannot be judged at all: too_short, interrupted, no_arrivals; "" where it can
	Resp     LatencyUS      // response time of all requests that have one
	Serv     LatencyUS      // service time of all last attempts
	OKp50    *float64       // median response of the good answers, µs
	Cells    []ClassCounts  // by class, in the order of the header
	Flows    []ClassCounts  // whole flows, by class
	rows     []row          // after settling
	before   int64          // backlog when the window began
	hist     plateauHist    // merged over classes
	header   *record.Header // for limits
}

// ClassCounts is what one class did in the window of a plateau.
type ClassCounts struct {
	Counts    record.Counts
	AtOrBelow []uint64 // parallel to the header's thresholds
	Status    map[int]uint64
	Errors    map[record.ErrorKind]uint64
}

type plateauHist struct {
	ok, other, service, lag *record.Histogram
}

// Offered is what the schedule asked for in the window, per second.
func (p *Plateau) Offered() float64 {
	var n uint64
	for i := range p.rows {
		n += p.rows[i].scheduled
	}
	return perSecond(n, p.widthNS())
}

func (p *Plateau) widthNS() int64 {
	var w int64
	for i := range p.rows {
		w += p.rows[i].widthNS
	}
	return w
}

func perSecond(n uint64, widthNS int64) float64 {
	if widthNS <= 0 {
		return 0
	}
	return float64(n) / float64(widthNS) * 1e9
}

// PlateauBuilder takes the intervals of one phase, in order.
type PlateauBuilder struct {
	header  *record.Header
	phase   record.Phase
	fromNS  int64 // judged from here
	p       Plateau
	resp    *spectrum
	serv    *spectrum
	prior   int64 // backlog at the end of the interval before the window
	shares  bool
	coverNS int64
}

// NewPlateau starts a plateau. Only intervals that begin after the phase has
// settled and that end within its declared length are judged.
func NewPlateau(h record.Header, p record.Phase) *PlateauBuilder {
	header := h
	b := &PlateauBuilder{
		header: &header, phase: p, fromNS: p.StartNS + p.SettleNS,
		resp: newSpectrum(h.MaxUS, p.StartNS+p.SettleNS, p.EndNS),
		serv: newSpectrum(h.MaxUS, p.StartNS+p.SettleNS, p.EndNS),
	}
	b.p = Plateau{
		Index: p.Step, Phase: p.Index, Kind: p.Kind, TargetRPS: p.TargetRPS, Multiple: p.Multiple,
		LengthS: float64(p.EndNS-p.StartNS) / 1e9, Inherits: p.Inherits,
		Cells: make([]ClassCounts, len(h.Classes)), Flows: make([]ClassCounts, len(h.Classes)),
		hist: plateauHist{
			ok: record.NewHistogram(h.MaxUS), other: record.NewHistogram(h.MaxUS),
			service: record.NewHistogram(h.MaxUS), lag: record.NewHistogram(h.MaxUS),
		},
		header: &header,
	}
	return b
}

func sharesCPUs(f record.Facts) bool {
	switch f.Generator["shares_cpus_with_target"] {
	case "true", "yes", "1":
		return true
	}
	return false
}

// SharesCPUs says that the generator runs on processors of the service.
func (b *PlateauBuilder) SharesCPUs(shares bool) { b.shares = shares && !b.header.BuiltIn }

// judged reports whether an interval belongs to the window.
func (b *PlateauBuilder) judged(iv *record.Interval) bool {
	return iv.StartNS >= b.fromNS && iv.StartNS+iv.WidthNS <= b.phase.EndNS+b.header.IntervalNS/100
}

// Add takes the next interval of the phase.
func (b *PlateauBuilder) Add(iv *record.Interval) error {
	if iv.Phase != b.phase.Index {
		return fmt.Errorf("plateau %d: an interval of phase %d where phase %d was expected", b.phase.Step, iv.Phase, b.phase.Index)
	}
	if !b.judged(iv) {
		b.prior = iv.Moment.InFlight + iv.Moment.Waiting
		return nil
	}
	if len(b.p.rows) == 0 {
		b.p.before = b.prior
	}
	total := iv.Total()
	m := &iv.Moment
	b.p.rows = append(b.p.rows, row{
		startNS: iv.StartNS, widthNS: iv.WidthNS,
		scheduled: total.Scheduled, arrivals: total.Scheduled - total.By[record.Dropped] - total.Unsent,
		done: m.Done, backlog: m.InFlight + m.Waiting, limitedNS: m.LimitedNS,
		cpuNS: m.Gen.CPUNS, capNS: m.Gen.CapacityNS, stolenNS: m.Gen.StolenNS,
		gcNS: m.Gen.GCPauseNS, sleeperNS: m.Gen.SleeperNS, peakSent100ms: m.PeakSent100ms,
	})
	b.coverNS += iv.WidthNS
	b.p.Counts.Add(&total)
	for i := range iv.Cells {
		if err := b.addCell(&iv.Cells[i]); err != nil {
			return fmt.Errorf("phase %d, interval %d: %w", iv.Phase, iv.Index, err)
		}
	}
	for i := range iv.Flows {
		if c := iv.Flows[i].Class; c >= 0 && c < len(b.p.Flows) {
			b.p.Flows[c].add(&iv.Flows[i])
		}
	}
	err := b.resp.add(iv.StartNS, iv.Cells, func(c *record.Cell) [2]*record.Histogram {
		return [2]*record.Histogram{c.OKResponse, c.OtherResponse}
	})
	if err != nil {
		return err
	}
	return b.serv.add(iv.StartNS, iv.Cells, func(c *record.Cell) [2]*record.Histogram {
		return [2]*record.Histogram{c.Service}
	})
}

func (b *PlateauBuilder) addCell(c *record.Cell) error {
	if c.Class < 0 || c.Class >= len(b.p.Cells) {
		return fmt.Errorf("class %d of %d", c.Class, len(b.p.Cells))
	}
	b.p.Cells[c.Class].add(c)
	for i, n := range c.LateSends {
		b.p.Late[i] += n
	}
	h := &b.p.hist
	for _, m := range []struct{ into, from *record.Histogram }{
		{h.ok, c.OKResponse}, {h.other, c.OtherResponse}, {h.service, c.Service}, {h.lag, c.Lag},
	} {
		if err := m.into.Merge(m.from); err != nil {
			return err
		}
	}
	return nil
}

func (cc *ClassCounts) add(c *record.Cell) {
	cc.Counts.Add(&c.Counts)
	if len(c.AtOrBelow) > len(cc.AtOrBelow) {
		cc.AtOrBelow = append(cc.AtOrBelow, make([]uint64, len(c.AtOrBelow)-len(cc.AtOrBelow))...)
	}
	for i, n := range c.AtOrBelow {
		cc.AtOrBelow[i] += n
	}
	if len(c.Status) > 0 && cc.Status == nil {
		cc.Status = map[int]uint64{}
	}
	for s, n := range c.Status {
		cc.Status[s] += n
	}
	if len(c.Errors) > 0 && cc.Errors == nil {
		cc.Errors = map[record.ErrorKind]uint64{}
	}
	for e, n := range c.Errors {
		cc.Errors[e] += n
	}
}

// Plateau returns what has been built. It may be called once, when all
// intervals of the phase have been added.
func (b *PlateauBuilder) Plateau() Plateau {
	p := b.p
	window := b.phase.EndNS - b.fromNS
	switch {
	case p.Counts.Scheduled == 0:
		p.Lacks = whyNoArrivals
	case float64(b.coverNS) < 0.9*float64(window) && int64(float64(window)*0.1) > b.header.IntervalNS:
		p.Lacks = whyInterrupted
	case len(p.rows) < minBlocks:
		p.Lacks = whyTooShort
	}
	cut := p.Counts.By[record.Timeout] + p.Counts.By[record.Unfinished]
	limit := float64(b.header.TimeoutNS) / 1000
	p.Resp = b.resp.latency(cut, limit)
	p.Serv = b.serv.latency(cut, limit)
	p.OKp50 = quantile(p.hist.ok, 0.5)
	p.Trust = judgeTrust(p.evidence(b.header, b.shares), fmt.Sprintf("step %d", p.Index))
	b.resp, b.serv = nil, nil
	return p
}
