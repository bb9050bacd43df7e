package live

import (
	"encoding/json"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"headroom/store/record"
)

const (
	// windowS is how far back Recent looks, in seconds.
	windowS = 10
	// maxRows is how many closed intervals are kept.
	maxRows = 600
	// maxPhases is how many phases are kept, the latest.
	maxPhases = 400
)

// Feed is the state of a run that goes on. Its methods may be called from any
// goroutine; Tick never waits, the others only for the copy of a few numbers.
type Feed struct {
	h    record.Header
	tick atomic.Pointer[Tick]

	mu      sync.Mutex
	end     record.End
	phases  []record.Phase
	rows    []Row
	recent  []slice
	total   record.Counts
	classes []record.Counts
	soFar   SoFar
	clocks  [3]cumulative // response, service, lag
	whole   cached        // with rows
	short   cached        // without
}

// slice is what Recent needs of one closed interval.
type slice struct {
	startNS, widthNS       int64
	counts                 record.Counts
	response, service, lag *record.Histogram
}

// cached is an encoded status and the tick that it belongs to.
type cached struct {
	body []byte
	tick *Tick
}

// New returns the feed of a run.
func New(h record.Header) *Feed {
	f := &Feed{h: h, classes: make([]record.Counts, len(h.Classes)), end: record.End{State: record.Recording}}
	f.tick.Store(&Tick{Phase: record.Phase{Step: -1}})
	return f
}

// Tick takes what the sending loop knows. It does not wait.
func (f *Feed) Tick(t Tick) { f.tick.Store(&t) }

// SetSoFar takes what the ended plateaus say.
func (f *Feed) SetSoFar(s SoFar) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.soFar = s
	f.changed()
}

// End takes how the run ended.
func (f *Feed) End(e record.End) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end = e
	f.changed()
}

func (f *Feed) changed() { f.whole, f.short = cached{}, cached{} }

// Through returns a sink that shows the feed what passes to the sink to.
func (f *Feed) Through(to record.Sink) record.Sink { return &through{Sink: to, feed: f} }

// through looks at phases and intervals before it passes them on: afterwards
// they belong to the sink.
type through struct {
	record.Sink
	feed *Feed
}

func (t *through) PutPhase(p record.Phase) error {
	t.feed.phase(p)
	return t.Sink.PutPhase(p)
}

func (t *through) PutInterval(iv *record.Interval) error {
	t.feed.interval(iv)
	return t.Sink.PutInterval(iv)
}

func (f *Feed) phase(p record.Phase) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed()
	for i := range f.phases {
		if f.phases[i].Index == p.Index {
			f.phases[i] = p
			return
		}
	}
	if f.phases = append(f.phases, p); len(f.phases) > maxPhases {
		f.phases = append(f.phases[:0], f.phases[len(f.phases)-maxPhases:]...)
	}
}

func (f *Feed) interval(iv *record.Interval) {
	s := slice{startNS: iv.StartNS, widthNS: iv.WidthNS}
	for _, h := range []**record.Histogram{&s.response, &s.service, &s.lag} {
		*h = record.NewHistogram(f.h.MaxUS)
	}
	for i := range iv.Cells {
		c := &iv.Cells[i]
		s.counts.Add(&c.Counts)
		// The geometry is the header's: the recorder refuses any other.
		_ = s.response.Merge(c.OKResponse)
		_ = s.response.Merge(c.OtherResponse)
		_ = s.service.Merge(c.Service)
		_ = s.lag.Merge(c.Lag)
	}
	row := rowOf(iv, &s)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed()
	for i := range f.phases {
		if f.phases[i].Index == iv.Phase {
			row.Quiet = f.phases[i].Kind == record.Drain
		}
	}
	if f.rows = append(f.rows, row); len(f.rows) > maxRows {
		f.rows = append(f.rows[:0], f.rows[len(f.rows)-maxRows:]...)
	}
	f.total.Add(&s.counts)
	for _, cells := range [][]record.Cell{iv.Cells, iv.Flows} {
		for i := range cells {
			if c := cells[i].Class; c >= 0 && c < len(f.classes) {
				f.classes[c].Add(&cells[i].Counts)
			}
		}
	}
	for i, h := range []*record.Histogram{s.response, s.service, s.lag} {
		f.clocks[i].add(h)
	}
	f.recent = append(f.recent, s)
	from := 0
	for from < len(f.recent)-1 && f.recent[from].startNS+windowS*int64(time.Second) <= s.startNS {
		from++
	}
	if from > 0 {
		f.recent = append(f.recent[:0], f.recent[from:]...)
	}
}

func rowOf(iv *record.Interval, s *slice) Row {
	w := float64(iv.WidthNS) / 1e9
	r := Row{
		StartS: float64(iv.StartNS) / 1e9, WidthS: w, Phase: iv.Phase, InFlight: iv.Moment.InFlight, Waiting: iv.Moment.Waiting,
		ResponseP50US: quantile(s.response, 0.5), ResponseP99US: quantile(s.response, 0.99), ServiceP99US: quantile(s.service, 0.99),
		LagP50US: quantile(s.lag, 0.5), LagP99US: quantile(s.lag, 0.99), LagMaxUS: largest(s.lag),
	}
	if w > 0 {
		r.OfferedRPS = float64(s.counts.Scheduled) / w
		r.GoodputRPS = float64(s.counts.By[record.OK]) / w
		r.ShedRPS = float64(s.counts.By[record.Shed]) / w
		r.ErrorRPS = float64(s.counts.Errors()) / w
	}
	return r
}

func quantile(h *record.Histogram, q float64) *float64 {
	if h.Count() == 0 {
		return nil
	}
	v := h.QuantileUS(q)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func largest(h *record.Histogram) *float64 {
	if h.Count() == 0 {
		return nil
	}
	v := float64(h.MaxNS()) / 1e3
	return &v
}

// Status is what the run shows now.
func (f *Feed) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status(f.tick.Load())
}

func (f *Feed) status(t *Tick) Status {
	h := &f.h
	s := Status{
		Schema: Schema, RunID: h.RunID, Name: h.Name, Release: h.Release, Format: h.Format, Model: string(h.Model),
		Started: h.Started.UTC().Format(time.RFC3339), State: string(f.end.State), ElapsedS: float64(t.AtNS) / 1e9,
		IntervalS: float64(h.IntervalNS) / 1e9, TimeoutS: float64(h.TimeoutNS) / 1e9,
		Phase: phaseOf(t.Phase), InFlight: t.InFlight, SoFar: f.soFar, Recent: f.recently(),
		Total:   Total{Scheduled: f.total.Scheduled, Sent: f.total.Sent, Attempts: f.total.Attempts, Outcomes: outcomes(&f.total)},
		Classes: make([]Class, len(h.Classes)), Phases: make([]Phase, len(f.phases)), Rows: append([]Row{}, f.rows...),
	}
	if s.SoFar.UntrustedReasons == nil {
		s.SoFar.UntrustedReasons = []string{}
	}
	for i, c := range h.Classes {
		s.Classes[i] = Class{Name: c.Name, Scheduled: f.classes[i].Scheduled, Outcomes: outcomes(&f.classes[i])}
	}
	for i, p := range f.phases {
		s.Phases[i] = phaseOf(p)
	}
	if n := len(f.rows); n > 0 {
		s.Waiting = f.rows[n-1].Waiting
	}
	return s
}

func phaseOf(p record.Phase) Phase {
	return Phase{
		Index: p.Index, Kind: string(p.Kind), Step: p.Step, TargetRPS: p.TargetRPS,
		StartS: float64(p.StartNS) / 1e9, EndS: float64(p.EndNS) / 1e9,
	}
}

func outcomes(c *record.Counts) map[string]uint64 {
	m := make(map[string]uint64, record.NumOutcomes)
	for _, o := range record.Outcomes() {
		m[o.String()] = c.By[o]
	}
	return m
}

func (f *Feed) recently() Recent {
	var c record.Counts
	var width int64
	var all [3]*record.Histogram
	for i := range all {
		all[i] = record.NewHistogram(f.h.MaxUS)
	}
	for i := range f.recent {
		s := &f.recent[i]
		width += s.widthNS
		c.Add(&s.counts)
		for k, h := range []*record.Histogram{s.response, s.service, s.lag} {
			_ = all[k].Merge(h) // one geometry
		}
	}
	r := Recent{
		WindowS: float64(width) / 1e9, Outcomes: outcomes(&c),
		ResponseP50US: quantile(all[0], 0.5), ResponseP99US: quantile(all[0], 0.99),
		ServiceP50US: quantile(all[1], 0.5), ServiceP99US: quantile(all[1], 0.99),
		LagP99US: quantile(all[2], 0.99), LagMaxUS: largest(all[2]),
	}
	if width > 0 {
		r.OfferedRPS = float64(c.Scheduled) / r.WindowS
		r.SentRPS = float64(c.Sent) / r.WindowS
		r.GoodputRPS = float64(c.By[record.OK]) / r.WindowS
	}
	if r.ResponseP99US != nil && r.ServiceP99US != nil {
		v := max(*r.ResponseP99US, 1000) / max(*r.ServiceP99US, 1000)
		r.Omission = &v
	}
	return r
}

// encoded is the status as JSON; it is made once for all readers between two
// changes.
func (f *Feed) encoded(rows bool) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tick.Load()
	c := &f.whole
	if !rows {
		c = &f.short
	}
	if c.body != nil && c.tick == t {
		return c.body, nil
	}
	s := f.status(t)
	if !rows {
		s.Rows = []Row{}
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	*c = cached{append(b, '\n'), t}
	return c.body, nil
}
