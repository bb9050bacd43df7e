// Package tally turns results into closed intervals.
//
// A request belongs to the interval in which it was scheduled, so an interval
// can be closed only when its time has passed and its last request has ended.
// Open intervals are few: as many as fit into the longest time a request may
// take. Memory therefore depends on the timeout and on the number of classes,
// not on the number of requests.
package tally

import (
	"math"

	"headroom/store/record"
)

// Slice is the width, in ns, of the slices in which the highest rate actually
// sent is looked for.
const Slice = 100_000_000

// Tally counts one run. It is not safe for concurrent use; the sending loop
// owns it.
type Tally struct {
	h       record.Header
	flow    []bool
	emit    func(*record.Interval)
	samples func(*record.SendSample)

	phase   record.Phase
	begun   bool
	nextIdx int     // of the next interval to open in the current phase
	open    []*Open // time order; open[0] is the oldest not emitted
	ticked  int     // how many of open have passed their end
	balance int64   // scheduled - ended, up to the last ticked boundary
	window  []*window
}

// Open is an interval that still waits for its time or its requests.
type Open struct {
	iv      *record.Interval
	cells   []*record.Cell // by class
	slices  []uint64
	pending int
	fired   int64 // scheduled in it, for the balance
	ticked  bool
	last    bool // of its phase
}

// New makes a tally for the classes and thresholds of h. Closed intervals go to
// emit in time order, windows of send instants to samples.
func New(h record.Header, emit func(*record.Interval), samples func(*record.SendSample)) *Tally {
	t := &Tally{h: h, emit: emit, samples: samples, flow: make([]bool, len(h.Classes))}
	for i, c := range h.Classes {
		t.flow[i] = c.Flow
	}
	return t
}

// Begin starts a phase. The phase before must have been ended with EndPhase.
func (t *Tally) Begin(p record.Phase) {
	t.phase, t.begun, t.nextIdx = p, true, 0
	if w := newWindows(p); w != nil {
		t.flushWindows()
		t.window = w
	}
	t.grow()
}

// Boundary is the end of the oldest interval whose time has not passed; ok is
// false between phases.
func (t *Tally) Boundary() (at int64, ok bool) {
	if !t.begun || t.ticked >= len(t.open) {
		return 0, false
	}
	iv := t.open[t.ticked].iv
	return iv.StartNS + iv.WidthNS, true
}

// Depth is how many intervals are open.
func (t *Tally) Depth() int { return len(t.open) }

// grow opens the phase's next interval.
func (t *Tally) grow() *Open {
	width := t.h.IntervalNS
	start := t.phase.StartNS + int64(t.nextIdx)*width
	if end := start + width; end > t.phase.EndNS {
		width = t.phase.EndNS - start
	}
	o := &Open{
		iv:     &record.Interval{Phase: t.phase.Index, Index: t.nextIdx, StartNS: start, WidthNS: width},
		cells:  make([]*record.Cell, len(t.h.Classes)),
		slices: make([]uint64, (width+Slice-1)/Slice),
		last:   start+width >= t.phase.EndNS,
	}
	o.iv.Moment.Gen.MachineBusy = math.NaN()
	t.nextIdx++
	t.open = append(t.open, o)
	return o
}

// at finds the interval that holds the instant, opening later ones as needed.
// An instant before the oldest counts into the oldest, one after the end of
// the phase into its last.
func (t *Tally) at(ns int64) *Open {
	for {
		last := t.open[len(t.open)-1]
		if ns < last.iv.StartNS+last.iv.WidthNS || last.last {
			break
		}
		t.grow()
	}
	for i := len(t.open) - 1; i > 0; i-- {
		if ns >= t.open[i].iv.StartNS {
			return t.open[i]
		}
	}
	return t.open[0]
}

// clock finds the interval for something that happened at ns: never one whose
// moment is already closed.
func (t *Tally) clock(ns int64) *Open {
	o := t.at(ns)
	if o.ticked && t.ticked < len(t.open) {
		return t.open[t.ticked]
	}
	return o
}

// Scheduled counts a request of a class that is due at the instant and returns
// the interval that it belongs to.
func (t *Tally) Scheduled(class int, at int64) *Open {
	o := t.at(at)
	o.pending++
	o.cell(t, class).Counts.Scheduled++
	if !t.flow[class] {
		if o.ticked { // a tick that came before its arrivals: count from the next boundary on
			t.clock(at).fired++
		} else {
			o.fired++
		}
	}
	return o
}

func (o *Open) cell(t *Tally, class int) *record.Cell {
	c := o.cells[class]
	if c == nil {
		c = &record.Cell{
			Class:         class,
			OKResponse:    record.NewHistogram(t.h.MaxUS),
			OtherResponse: record.NewHistogram(t.h.MaxUS),
			Service:       record.NewHistogram(t.h.MaxUS),
			Lag:           record.NewHistogram(t.h.MaxUS),
			AtOrBelow:     make([]uint64, len(t.h.Thresholds)),
			Status:        map[int]uint64{},
			Errors:        map[record.ErrorKind]uint64{},
		}
		o.cells[class] = c
	}
	return c
}

// Attempt counts an attempt that was written at the instant sent. It must be
// called before its request's Ended, which keeps the interval of the send open.
func (t *Tally) Attempt(sent int64) {
	o := t.at(sent)
	o.iv.Moment.Sends++
	if n := len(o.slices); n > 0 {
		i := min(max(int((sent-o.iv.StartNS)/Slice), 0), n-1)
		o.slices[i]++
	}
}

// End is how a request ended, all its attempts taken together. Instants are in
// ns since origin.
type End struct {
	Class     int
	Arrival   int64 // number within the phase, from 0; -1 where it is not an arrival of the schedule
	Scheduled int64
	FirstSent int64 // of the first attempt
	Sent      int64 // of the last attempt
	Done      int64
	Attempts  int // 0: never sent
	Outcome   record.Outcome
	Err       record.ErrorKind
	Status    int // 0: none
	BytesIn   int64
	BytesOut  int64
}

// Ended counts the end of a request that Scheduled had put into o.
func (t *Tally) Ended(o *Open, e *End) {
	c := o.cell(t, e.Class)
	c.Counts.By[e.Outcome]++
	c.Counts.Attempts += uint64(e.Attempts)
	c.Counts.BytesIn += uint64(e.BytesIn)
	c.Counts.BytesOut += uint64(e.BytesOut)
	if e.Status != 0 {
		c.Status[e.Status]++
	}
	if e.Err != record.ErrNone {
		c.Errors[e.Err]++
	}
	if e.Attempts > 0 {
		c.Counts.Sent++
		t.durations(c, e)
	} else if e.Outcome != record.Dropped {
		c.Counts.Unsent++
	}
	if !t.flow[e.Class] {
		o := t.clock(e.Done)
		o.iv.Moment.Done[e.Outcome]++
		if o.ticked {
			o.left(t)
		}
		for _, w := range t.window {
			w.add(o.iv.Phase, e)
		}
	}
	o.pending--
	t.flush()
}

// left takes a request out of a moment that is closed already: the end of the
// last interval, on whose boundary what is left of a run is cut off.
func (o *Open) left(t *Tally) {
	t.balance--
	if m := &o.iv.Moment; m.InFlight > 0 {
		m.InFlight--
	} else if m.Waiting > 0 {
		m.Waiting--
	}
}

func (t *Tally) durations(c *record.Cell, e *End) {
	response, service, lag := e.Done-e.Scheduled, e.Done-e.Sent, e.FirstSent-e.Scheduled
	if e.Outcome == record.OK {
		c.OKResponse.Record(response)
	} else {
		c.OtherResponse.Record(response)
	}
	c.Service.Record(service)
	c.Lag.Record(lag)
	for i, limit := range [...]int64{1e6, 1e7, 1e8, 1e9} {
		if lag > limit {
			c.LateSends[i]++
		}
	}
	valid := e.Outcome.Valid()
	for i := range t.h.Thresholds {
		th := &t.h.Thresholds[i]
		switch th.Clock {
		case record.Response:
			if valid && response <= th.LimitNS {
				c.AtOrBelow[i]++
			}
		case record.Service:
			if valid && service <= th.LimitNS {
				c.AtOrBelow[i]++
			}
		case record.Lag:
			if lag <= th.LimitNS {
				c.AtOrBelow[i]++
			}
		}
	}
}

// Tick closes the moment of the oldest interval whose time has not been
// closed. waiting is how many requests wait for a connection now, limited how
// long an own limit was reached since the last tick (ns), conns how many
// connections are open. It returns the interval's phase and index.
func (t *Tally) Tick(waiting int, limited int64, conns int) (phase, index int) {
	o := t.open[t.ticked]
	m := &o.iv.Moment
	ended := int64(0)
	for _, n := range m.Done {
		ended += int64(n)
	}
	t.balance += o.fired - ended
	m.Waiting = min(int64(waiting), max(t.balance, 0))
	m.InFlight = t.balance - m.Waiting
	m.LimitedNS, m.ConnsOpen = limited, int64(conns)
	o.ticked = true
	t.ticked++
	if t.ticked == len(t.open) && !o.last {
		t.grow()
	}
	phase, index = o.iv.Phase, o.iv.Index
	t.flush()
	return phase, index
}

// EndPhase ends the current phase at the instant, cutting its last interval
// short where that is earlier than declared. All boundaries before it must
// have been ticked; the moment of the cut interval is closed here, with the
// arguments of Tick. It reports the index of that interval, or -1 where the
// phase ended on a boundary.
func (t *Tally) EndPhase(at int64, waiting int, limited int64, conns int) (index int) {
	t.phase.EndNS = at
	index = -1
	kept := t.open[:0]
	cut := false
	for i, o := range t.open {
		if i >= t.ticked && o.iv.Phase == t.phase.Index {
			if o.iv.StartNS >= at && o.empty() {
				continue
			}
			o.iv.WidthNS = max(min(o.iv.WidthNS, at-o.iv.StartNS), 1)
			o.last, cut = true, true
		}
		kept = append(kept, o)
	}
	t.open = kept
	for cut && t.ticked < len(t.open) {
		_, index = t.Tick(waiting, limited, conns)
	}
	t.begun = false
	t.flush()
	return index
}

// Close hands over what is left after the last phase.
func (t *Tally) Close() {
	t.begun = false
	t.flushWindows()
	t.flush()
}

func (o *Open) empty() bool {
	if o.pending > 0 || o.fired > 0 || o.iv.Moment.Sends > 0 {
		return false
	}
	for _, c := range o.cells {
		if c != nil {
			return false
		}
	}
	return o.iv.Moment.Done == [record.NumOutcomes]uint64{}
}

func (t *Tally) flush() {
	n := 0
	for n < len(t.open) && t.open[n].ticked && t.open[n].pending == 0 {
		t.emit(t.open[n].finish(t))
		n++
	}
	if n > 0 {
		t.open = append(t.open[:0], t.open[n:]...)
		t.ticked -= n
	}
}

func (o *Open) finish(t *Tally) *record.Interval {
	for _, n := range o.slices {
		o.iv.Moment.PeakSent100ms = max(o.iv.Moment.PeakSent100ms, n)
	}
	for class, c := range o.cells {
		switch {
		case c == nil:
		case t.flow[class]:
			o.iv.Flows = append(o.iv.Flows, *c)
		default:
			o.iv.Cells = append(o.iv.Cells, *c)
		}
	}
	return o.iv
}
