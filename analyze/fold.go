package analyze

import (
	"fmt"
	"slices"

	"headroom/store/record"
)

// maxLawFindings bounds how many violated intervals are named one by one.
const maxLawFindings = 5

// fold is one pass over the evidence: what every later step needs, in memory
// that does not grow with the number of requests, nor, but for a few counters
// each, with the number of intervals.
type fold struct {
	header   record.Header
	facts    record.Facts
	phases   []record.Phase
	total    record.Counts // of all phases
	status   map[int]uint64
	errors   map[record.ErrorKind]uint64
	plateaus []Plateau   // of every phase that is judged, in the order of time
	class    []classFold // over the judged windows
	flows    []classFold
	law      []Finding
	broken   int // intervals in which the law of accounting does not hold
	open     *PlateauBuilder
	at       int // phase of open
	closed   map[int]bool
	endNS    int64
	backlog  int64     // at the end of the interval before
	course   []instant // of a load that is watched over time
}

// classFold is what one class did in the judged windows.
type classFold struct {
	counts    record.Counts
	ok, other *record.Histogram
	service   *record.Histogram
}

// judgedKind reports whether a phase is part of the answer: all but warm-up
// and drain.
func judgedKind(k record.PhaseKind) bool { return k != record.Warmup && k != record.Drain }

func foldEvidence(ev record.Evidence) (*fold, error) {
	f := &fold{
		header: ev.Header(), facts: ev.Facts(), phases: ev.Phases(),
		status: map[int]uint64{}, errors: map[record.ErrorKind]uint64{}, closed: map[int]bool{}, at: -1,
	}
	if f.header.MaxUS < 2 {
		return nil, fmt.Errorf("evidence: the header's highest histogram value is %d µs", f.header.MaxUS)
	}
	f.class = make([]classFold, len(f.header.Classes))
	f.flows = make([]classFold, len(f.header.Classes))
	byIndex := make(map[int]record.Phase, len(f.phases))
	for _, p := range f.phases {
		byIndex[p.Index] = p
	}
	for iv, err := range ev.Intervals() {
		if err != nil {
			return nil, fmt.Errorf("reading intervals: %w", err)
		}
		p, ok := byIndex[iv.Phase]
		if !ok {
			return nil, fmt.Errorf("interval %d belongs to phase %d, which the evidence does not have", iv.Index, iv.Phase)
		}
		if err := f.add(p, iv); err != nil {
			return nil, err
		}
	}
	f.close()
	if f.broken > maxLawFindings {
		f.law = append(f.law, lawFinding("run", float64(f.broken), fmt.Sprintf("%d intervals in all break the law of accounting", f.broken)))
	}
	return f, nil
}

func (f *fold) close() {
	if f.open != nil {
		f.plateaus = append(f.plateaus, f.open.Plateau())
		f.closed[f.at] = true
		f.open, f.at = nil, -1
	}
}

func (f *fold) add(p record.Phase, iv *record.Interval) error {
	f.check(p, iv)
	before := f.backlog
	f.backlog = iv.Moment.InFlight + iv.Moment.Waiting
	f.endNS = max(f.endNS, iv.StartNS+iv.WidthNS)
	for i := range iv.Cells {
		c := &iv.Cells[i]
		f.total.Add(&c.Counts)
		for s, n := range c.Status {
			f.status[s] += n
		}
		for e, n := range c.Errors {
			f.errors[e] += n
		}
	}
	if !judgedKind(p.Kind) {
		return nil
	}
	if iv.Phase != f.at {
		if f.closed[iv.Phase] {
			return fmt.Errorf("interval %d of phase %d comes after a later phase", iv.Index, iv.Phase)
		}
		f.close()
		f.open, f.at = NewPlateau(f.header, p), iv.Phase
		f.open.SharesCPUs(sharesCPUs(f.facts))
		f.open.prior = before
	}
	if err := f.open.Add(iv); err != nil {
		return err
	}
	if !f.open.judged(iv) {
		return nil
	}
	if watched(p.Kind) {
		if err := f.watch(p, iv); err != nil {
			return err
		}
	}
	for i := range iv.Cells {
		if err := f.class[iv.Cells[i].Class].add(&iv.Cells[i], f.header.MaxUS); err != nil {
			return err
		}
	}
	for i := range iv.Flows {
		if c := iv.Flows[i].Class; c >= 0 && c < len(f.flows) {
			if err := f.flows[c].add(&iv.Flows[i], f.header.MaxUS); err != nil {
				return err
			}
		}
	}
	return nil
}

func (cf *classFold) add(c *record.Cell, maxUS int64) error {
	if cf.ok == nil {
		cf.ok, cf.other, cf.service = record.NewHistogram(maxUS), record.NewHistogram(maxUS), record.NewHistogram(maxUS)
	}
	cf.counts.Add(&c.Counts)
	for _, m := range []struct{ into, from *record.Histogram }{{cf.ok, c.OKResponse}, {cf.other, c.OtherResponse}, {cf.service, c.Service}} {
		if err := m.into.Merge(m.from); err != nil {
			return err
		}
	}
	return nil
}

// check asserts the law of accounting on every cell of an interval, and that
// the histogram of the good answers holds as many as the counter.
func (f *fold) check(p record.Phase, iv *record.Interval) {
	for _, cells := range [][]record.Cell{iv.Cells, iv.Flows} {
		for i := range cells {
			c := &cells[i]
			err := c.Counts.Check()
			if err == nil && c.OKResponse != nil && c.OKResponse.Count() != c.Counts.By[record.OK] {
				err = fmt.Errorf("%d good answers, but their histogram holds %d", c.Counts.By[record.OK], c.OKResponse.Count())
			}
			if err == nil {
				continue
			}
			f.broken++
			if f.broken <= maxLawFindings {
				name := fmt.Sprintf("class %d", c.Class)
				if c.Class >= 0 && c.Class < len(f.header.Classes) {
					name = "class " + f.header.Classes[c.Class].Name
				}
				f.law = append(f.law, lawFinding(fmt.Sprintf("%s %d, interval %d, %s", p.Kind, p.Index, iv.Index, name),
					float64(c.Counts.Total()), "the counters contradict each other: "+err.Error()))
			}
			break
		}
	}
}

func lawFinding(scope string, measured float64, text string) Finding {
	return Finding{Code: "law_broken", Severity: "invalidates", Scope: scope, Measured: number(measured), Text: text}
}

// steps are the plateaus of a step load.
func (f *fold) steps() []Plateau {
	var out []Plateau
	for i := range f.plateaus {
		if f.plateaus[i].Kind.Judged() {
			out = append(out, f.plateaus[i])
		}
	}
	return out
}

// outcomes is a table of the ten outcomes.
func outcomes(by [record.NumOutcomes]uint64) Outcomes {
	out := make(Outcomes, record.NumOutcomes)
	for _, o := range record.Outcomes() {
		out[o.String()] = by[o]
	}
	return out
}

// accounting is the law, written out for the whole run.
func (f *fold) accounting(conns record.Connections) *Accounting {
	c := &f.total
	a := &Accounting{
		Scheduled: c.Scheduled, Sent: c.Sent, OK: c.By[record.OK], Late: c.By[record.Late], Shed: c.By[record.Shed],
		Wrong: c.By[record.Wrong], HTTPError: c.By[record.HTTPError], Timeout: c.By[record.Timeout],
		ConnectError: c.By[record.ConnectError], GeneratorError: c.By[record.GeneratorError],
		Dropped: c.By[record.Dropped], Unfinished: c.By[record.Unfinished], Attempts: c.Attempts,
		ByStatus: map[string]uint64{}, ByError: map[string]uint64{}, BytesIn: c.BytesIn, BytesOut: c.BytesOut,
		Connections: ConnectionCounts{conns.Opened, conns.Reused, conns.FullHandshakes, conns.ResumedHandshakes},
	}
	if c.Sent > 0 {
		a.Amplification = number(float64(c.Attempts) / float64(c.Sent))
	}
	for s, n := range f.status {
		a.ByStatus[fmt.Sprint(s)] += n
	}
	for e, n := range f.errors {
		a.ByError[e.String()] += n
	}
	return a
}

// classes are the classes over the judged windows, in the order of the plan;
// a class that counts whole flows shows its flows.
func (f *fold) classes() ([]ClassResult, error) {
	out := make([]ClassResult, 0, len(f.header.Classes))
	limit := float64(f.header.TimeoutNS) / 1000
	for i, c := range f.header.Classes {
		cf := &f.class[i]
		if c.Flow {
			cf = &f.flows[i]
		}
		cut := cf.counts.By[record.Timeout] + cf.counts.By[record.Unfinished]
		response, err := merged(f.header.MaxUS, cut, limit, "", cf.ok, cf.other)
		if err != nil {
			return nil, err
		}
		service, err := merged(f.header.MaxUS, cut, limit, "", cf.service)
		if err != nil {
			return nil, err
		}
		out = append(out, ClassResult{
			Class: c.Name, Scheduled: cf.counts.Scheduled, Outcomes: outcomes(cf.counts.By), Response: response, Service: service,
		})
	}
	return out, nil
}

// sortFindings orders findings by severity, then code, then scope.
func sortFindings(all []Finding) {
	weight := map[string]int{"invalidates": 0, "caution": 1, "note": 2}
	slices.SortStableFunc(all, func(a, b Finding) int {
		if d := weight[a.Severity] - weight[b.Severity]; d != 0 {
			return d
		}
		return 0
	})
}
