package analyze

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"
	"time"

	"headroom/store/record"
)

// system is a service of known capacity and the client in front of it: c
// servers, one FIFO queue, at most room requests inside (0: no limit), which
// are refused beyond, and a client that gives up after timeout while the
// server goes on working on what it left.
type system struct {
	servers  int
	service  time.Duration // mean
	law      string        // exponential, constant, h2 (squared coefficient of variation 4)
	room     int
	timeout  time.Duration
	deadline time.Duration
	capRPS   float64 // the generator sends no faster; 0: no limit
	limitRPS float64 // a rate limiter of one second's burst 20 in front; 0: none
	latency  time.Duration
	slowdown float64 // of the service, for each request inside beyond the servers: collapse
	failure  float64 // share of the answers that are errors, at any rate
}

// load is the shape of a sweep.
type load struct {
	rates    []float64
	plateau  time.Duration
	settle   time.Duration
	interval time.Duration
	seed     uint64
	constant bool
	kinds    []record.PhaseKind // of each plateau; step where it is shorter
}

type request struct {
	sched, sent, done int64
	outcome           record.Outcome
	status            int
}

type instants []float64

func (h instants) Len() int           { return len(h) }
func (h instants) Less(i, j int) bool { return h[i] < h[j] }
func (h instants) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *instants) Push(x any)        { *h = append(*h, x.(float64)) }
func (h *instants) Pop() any          { o := *h; v := o[len(o)-1]; *h = o[:len(o)-1]; return v }

// engine runs requests through the system in order of their sends.
type engine struct {
	s        system
	rng      *rand.Rand
	free     instants // when each server becomes free
	inside   instants // departures of those inside
	lastSent float64
	tokens   float64
	tokenAt  float64
}

func newEngine(s system, seed uint64) *engine {
	e := &engine{s: s, rng: rand.New(rand.NewPCG(seed, 99)), tokens: 20}
	for range s.servers {
		heap.Push(&e.free, 0.0)
	}
	return e
}

func (e *engine) draw() float64 {
	mean := e.s.service.Seconds()
	switch e.s.law {
	case "constant":
		return mean
	case "h2":
		// Balanced means, squared coefficient of variation 4.
		p := 0.5 * (1 + math.Sqrt(3.0/5))
		if e.rng.Float64() < p {
			return e.rng.ExpFloat64() * mean / (2 * p)
		}
		return e.rng.ExpFloat64() * mean / (2 * (1 - p))
	}
	return e.rng.ExpFloat64() * mean
}

func (e *engine) run(sched float64) request {
	sent := sched
	if e.s.capRPS > 0 {
		sent = max(sched, e.lastSent+1/e.s.capRPS)
		e.lastSent = sent
	}
	r := request{sched: ns(sched), sent: ns(sent), outcome: record.OK, status: 200}
	for len(e.inside) > 0 && e.inside[0] <= sent {
		heap.Pop(&e.inside)
	}
	refused := e.s.room > 0 && len(e.inside) >= e.s.room
	if e.s.limitRPS > 0 {
		e.tokens = min(20, e.tokens+(sent-e.tokenAt)*e.s.limitRPS)
		e.tokenAt = sent
		if e.tokens < 1 {
			refused = true
		} else {
			e.tokens--
		}
	}
	if refused {
		r.outcome, r.status, r.done = record.Shed, 503, ns(sent+0.0002)
		return r
	}
	if e.rng.Float64() < e.s.failure {
		r.outcome, r.status, r.done = record.HTTPError, 500, ns(sent+0.001)
		return r
	}
	work := e.draw()
	if e.s.slowdown > 0 && len(e.inside) > e.s.servers {
		work *= 1 + e.s.slowdown*float64(len(e.inside)-e.s.servers)/float64(e.s.servers)
	}
	start := max(sent, e.free[0])
	departs := start + work
	e.free[0] = departs
	heap.Fix(&e.free, 0)
	heap.Push(&e.inside, departs)
	done := departs + e.s.latency.Seconds()
	if t := e.s.timeout.Seconds(); t > 0 && done > sent+t {
		r.outcome, r.status, done = record.Timeout, 0, sent+t
	} else if d := e.s.deadline.Seconds(); d > 0 && done > sched+d {
		r.outcome = record.Late
	}
	r.done = ns(done)
	return r
}

func ns(s float64) int64 { return int64(math.Round(s * 1e9)) }

var (
	simClasses    = []record.Class{{Name: "view", Weight: 3}, {Name: "buy", Weight: 1}}
	simThresholds = []record.Threshold{
		{Name: "response<=150ms", Clock: record.Response, LimitNS: 150e6},
		{Name: "service<=100ms", Clock: record.Service, LimitNS: 100e6},
		{Name: "lag<=1ms", Clock: record.Lag, LimitNS: 1e6},
	}
)

// simulate runs a sweep on a system and records it as the runner would.
func simulate(s system, l load) *record.Memory {
	timeout := s.timeout
	if timeout == 0 {
		timeout = time.Hour
	}
	deadline := s.deadline
	if deadline == 0 {
		deadline = timeout
	}
	m := &record.Memory{
		H: record.Header{
			RunID: fmt.Sprintf("sim-%d", l.seed), Name: "sim", Model: record.Open, Format: "step", Seed: l.seed,
			Started: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), IntervalNS: l.interval.Nanoseconds(),
			TimeoutNS: timeout.Nanoseconds(), DeadlineNS: deadline.Nanoseconds(),
			MaxUS: max(record.DefaultMaxUS, timeout.Microseconds()), Arrivals: "poisson", Shards: 1, BuiltIn: true,
			Classes: simClasses, Thresholds: simThresholds,
		},
		E:          record.End{State: record.Complete},
		SealDigest: fmt.Sprintf("%016x", l.seed*0x9e3779b97f4a7c15),
	}
	if l.constant {
		m.H.Arrivals = "constant"
	}
	rng := rand.New(rand.NewPCG(l.seed, 1))
	e := newEngine(s, l.seed)
	w := l.interval.Seconds()
	at := 0.0
	for i, rateRPS := range l.rates {
		kind := record.Step
		if i < len(l.kinds) {
			kind = l.kinds[i]
		}
		var reqs []request
		t, gap := at, func() float64 { return rng.ExpFloat64() / rateRPS }
		if l.constant {
			gap = func() float64 { return 1 / rateRPS }
		}
		for t += gap(); t < at+l.plateau.Seconds(); t += gap() {
			reqs = append(reqs, e.run(t))
		}
		end := at + l.plateau.Seconds()
		var last int64
		for _, r := range reqs {
			last = max(last, r.done)
		}
		drainEnd := end + max(w, math.Ceil((float64(last)/1e9-end)/w)*w)
		p := record.Phase{Index: 2 * i, Kind: kind, Step: i, TargetRPS: rateRPS, StartNS: ns(at), EndNS: ns(end), SettleNS: l.settle.Nanoseconds(), Ended: true}
		d := record.Phase{Index: 2*i + 1, Kind: record.Drain, Step: -1, StartNS: ns(end), EndNS: ns(drainEnd), Ended: true}
		m.P = append(m.P, p, d)
		m.Iv = append(m.Iv, tabulate(m.H, p, d, reqs)...)
		at = drainEnd
		m.E.AtNS = ns(at)
	}
	return m
}

// tabulate cuts the requests of a plateau and its drain into intervals.
func tabulate(h record.Header, p, d record.Phase, reqs []request) []*record.Interval {
	var out []*record.Interval
	for _, ph := range []record.Phase{p, d} {
		for i, t := 0, ph.StartNS; t < ph.EndNS; i, t = i+1, t+h.IntervalNS {
			iv := &record.Interval{Phase: ph.Index, Index: i, StartNS: t, WidthNS: min(h.IntervalNS, ph.EndNS-t)}
			iv.Moment.Gen = record.Generator{CPUNS: iv.WidthNS / 10, CapacityNS: iv.WidthNS, MachineBusy: 0.1}
			out = append(out, iv)
		}
	}
	find := func(t int64) *record.Interval {
		i := sort.Search(len(out), func(i int) bool { return out[i].StartNS > t })
		return out[max(i-1, 0)]
	}
	var sched, sent, done []int64
	for i, r := range reqs {
		class := 0
		if i%4 == 3 {
			class = 1
		}
		iv := find(r.sched)
		c := cellOf(iv, class, h)
		c.Counts.Scheduled++
		c.Counts.Sent++
		c.Counts.Attempts++
		c.Counts.By[r.outcome]++
		resp, serv, lag := r.done-r.sched, r.done-r.sent, r.sent-r.sched
		if r.outcome == record.OK {
			c.OKResponse.Record(resp)
		} else {
			c.OtherResponse.Record(resp)
		}
		c.Service.Record(serv)
		c.Lag.Record(lag)
		for k, v := range []int64{resp, serv, lag} {
			if v <= h.Thresholds[k].LimitNS && (k == 2 || r.outcome.Valid()) {
				c.AtOrBelow[k]++
			}
		}
		for k, limit := range []int64{1e6, 10e6, 100e6, 1e9} {
			if lag > limit {
				c.LateSends[k]++
			}
		}
		if r.status > 0 {
			c.Status[r.status]++
		} else {
			c.Errors[record.ErrAnswerTimeout]++
		}
		find(r.done).Moment.Done[r.outcome]++
		find(r.sent).Moment.Sends++
		sched, sent, done = append(sched, r.sched), append(sent, r.sent), append(done, r.done)
	}
	slices.Sort(sent)
	slices.Sort(done)
	upTo := func(x []int64, t int64) int64 {
		return int64(sort.Search(len(x), func(i int) bool { return x[i] >= t }))
	}
	for _, iv := range out {
		end := iv.StartNS + iv.WidthNS
		iv.Moment.InFlight = upTo(sent, end) - upTo(done, end)
		iv.Moment.Waiting = upTo(sched, end) - upTo(sent, end)
		iv.Moment.PeakSent100ms = iv.Moment.Sends / 8
	}
	return out
}

func cellOf(iv *record.Interval, class int, h record.Header) *record.Cell {
	for i := range iv.Cells {
		if iv.Cells[i].Class == class {
			return &iv.Cells[i]
		}
	}
	iv.Cells = append(iv.Cells, record.Cell{
		Class: class, OKResponse: record.NewHistogram(h.MaxUS), OtherResponse: record.NewHistogram(h.MaxUS),
		Service: record.NewHistogram(h.MaxUS), Lag: record.NewHistogram(h.MaxUS),
		AtOrBelow: make([]uint64, len(h.Thresholds)), Status: map[int]uint64{}, Errors: map[record.ErrorKind]uint64{},
	})
	slices.SortFunc(iv.Cells, func(a, b record.Cell) int { return a.Class - b.Class })
	return cellOf(iv, class, h)
}

// plateausOf builds the plateaus of evidence in memory.
func plateausOf(t testing.TB, m *record.Memory) []Plateau {
	t.Helper()
	var out []Plateau
	for _, ph := range m.P {
		if !ph.Kind.Judged() {
			continue
		}
		b := NewPlateau(m.H, ph)
		for _, iv := range m.Iv {
			if iv.Phase == ph.Index {
				if err := b.Add(iv); err != nil {
					t.Fatal(err)
				}
			}
		}
		out = append(out, b.Plateau())
	}
	return out
}

// ladder is from, from*factor, … up to to.
func ladder(from, factor, to float64) []float64 {
	var out []float64
	for r := from; r <= to; r *= factor {
		out = append(out, r)
	}
	return out
}
