package runner

import (
	"container/heap"

	"headroom/runner/schedule"
	"headroom/runner/send"
	"headroom/runner/tally"
	"headroom/store/record"
)

// conductor is the Feed of a run: it says what is due, and counts how it ended.
type conductor struct {
	h       record.Header
	traffic Traffic
	engine  send.Engine
	tally   *tally.Tally
	onTick  func(phase, index int)
	onProbe func(response int64, valid bool)

	arrivals schedule.Arrivals // of the current phase; nil: none
	start    int64             // of the current phase
	limit    int64             // its end: arrivals at or after it are not sent
	nextAt   int64             // the next arrival
	hasNext  bool
	number   int64  // of the next arrival within the phase
	base     uint64 // arrivals of all phases before
	shard    func(arrival uint64) bool

	due   laterHeap
	seq   uint64
	model record.Model

	pacing, think int64
	population    []*user

	inFlight    int // fired and not done
	outstanding int // requests and flows begun and not ended, waiting ones included
	limitedFrom int64
	limitedSum  int64
	lastLimited int64
	free        []*job

	live   Counters
	recent *Recent     // nil: nobody watches
	aborts *abortRules // nil: none
}

// Counters is what a progress line wants of the run so far, since the phase began.
type Counters struct {
	Scheduled, Sent uint64
	By              [record.NumOutcomes]uint64
}

func newConductor(h record.Header, t Traffic, e send.Engine, tl *tally.Tally) *conductor {
	c := &conductor{h: h, traffic: t, engine: e, tally: tl, model: h.Model, limitedFrom: -1}
	return c
}

// begin points the conductor at a phase's arrivals; instants of a are relative
// to start.
func (c *conductor) begin(a schedule.Arrivals, start, end int64) {
	for _, u := range c.population {
		u.retired = true // a drain has no users
	}
	c.population = nil
	c.base += uint64(c.number)
	c.arrivals, c.start, c.limit, c.number = a, start, end, 0
	c.live = Counters{}
	c.advance()
}

func (c *conductor) advance() {
	c.hasNext = false
	for c.arrivals != nil {
		at, ok := c.arrivals.Next()
		if !ok || c.start+at >= c.limit {
			c.arrivals = nil
			return
		}
		if c.shard != nil && !c.shard(c.base+uint64(c.number)) {
			c.number++
			continue
		}
		c.nextAt, c.hasNext = c.start+at, true
		return
	}
}

// Pending reports whether something will become due without an answer from
// outside, interval boundaries apart.
func (c *conductor) Pending() bool { return c.hasNext || len(c.due) > 0 }

// Due implements send.Feed.
func (c *conductor) Due() (int64, bool) {
	at, ok := c.tally.Boundary()
	if c.hasNext && (!ok || c.nextAt < at) {
		at, ok = c.nextAt, true
	}
	if c.ripe() && (!ok || c.due[0].at < at) {
		at, ok = c.due[0].at, true
	}
	return at, ok
}

// ripe reports whether something will become due by itself within the phase.
// What becomes due at its end or later belongs to the next.
func (c *conductor) ripe() bool { return len(c.due) > 0 && c.due[0].at < c.limit }

// Fire implements send.Feed.
func (c *conductor) Fire(now int64) *send.Request {
	if at, ok := c.tally.Boundary(); ok && (!c.hasNext || at <= c.nextAt) && (!c.ripe() || at <= c.due[0].at) {
		if at <= now {
			c.tick()
		}
		return nil
	}
	if c.hasNext && (!c.ripe() || c.nextAt <= c.due[0].at) {
		at, number := c.nextAt, c.number
		arrival := c.base + uint64(number)
		c.number++
		c.advance()
		return c.arrive(arrival, number, at, now, nil)
	}
	if !c.ripe() {
		return nil
	}
	l := heap.Pop(&c.due).(later)
	switch {
	case l.job != nil:
		return c.fire(l.job, l.at, now)
	case l.fl != nil:
		return c.step(l.fl, l.at, now)
	default:
		return c.cycle(l.usr, l.at, now)
	}
}

func (c *conductor) tick() {
	st := c.engine.Stats()
	limited := c.limitedNS(st)
	phase, index := c.tally.Tick(st.Waiting, limited-c.lastLimited, st.ConnsOpen)
	c.lastLimited = limited
	if c.onTick != nil {
		c.onTick(phase, index)
	}
}

// limitedNS is how long, since the run began, a connection or in-flight limit
// of our own was reached.
func (c *conductor) limitedNS(st send.Stats) int64 {
	sum := c.limitedSum + st.LimitedNS
	if c.limitedFrom >= 0 {
		sum += c.engine.Now() - c.limitedFrom
	}
	return sum
}

// push makes something due at an instant.
func (c *conductor) push(l later) {
	c.seq++
	l.seq = c.seq
	heap.Push(&c.due, l)
}

// arrive begins an arrival: a request, or a flow.
func (c *conductor) arrive(arrival uint64, number, at, now int64, u *user) *send.Request {
	class := c.traffic.Class(arrival)
	if c.traffic.Steps(class) == 0 {
		return c.fire(c.newJob(class, arrival, number, at, u), at, now)
	}
	f := &flow{class: class, arrival: arrival, number: number, scheduled: at, vars: map[string]string{}, user: u}
	f.slot = c.tally.Scheduled(class, at)
	c.outstanding++
	return c.step(f, at, now)
}

func (c *conductor) newJob(class int, arrival uint64, number, at int64, u *user) *job {
	var j *job
	if n := len(c.free); n > 0 {
		j, c.free = c.free[n-1], c.free[:n-1]
		fields, path, body := j.req.Fields[:0], j.req.Path[:0], j.req.Body[:0]
		*j = job{}
		j.req.Fields, j.req.Path, j.req.Body = fields, path, body
	} else {
		j = &job{}
	}
	j.class, j.arrival, j.number, j.scheduled, j.user = class, arrival, number, at, u
	j.slot = c.tally.Scheduled(class, at)
	c.outstanding++
	c.live.Scheduled++
	if c.recent != nil {
		c.recent.Scheduled++
	}
	if c.aborts != nil {
		c.aborts.scheduled(class)
	}
	return j
}

// step sends a flow's next step, which became due at the instant.
func (c *conductor) step(f *flow, at, now int64) *send.Request {
	class, _ := c.traffic.Step(f.class, f.step)
	number := int64(-1)
	if f.step == 0 {
		number = f.number
	}
	j := c.newJob(class, f.arrival, number, at, f.user)
	j.flow = f
	return c.fire(j, at, now)
}

// fire sends the next attempt of a job, which became due at the instant.
func (c *conductor) fire(j *job, at, now int64) *send.Request {
	if c.h.MaxInFlight > 0 && c.inFlight >= c.h.MaxInFlight {
		if c.limitedFrom < 0 {
			c.limitedFrom = now
		}
		res := send.Result{Done: now, Err: record.ErrInFlightLimit, Unsent: true}
		c.finish(j, &res, record.Dropped, record.ErrInFlightLimit)
		return nil
	}
	var vars map[string]string
	if j.flow != nil {
		vars = j.flow.vars
	}
	j.req.Class, j.req.Arrival, j.req.Attempt = j.class, j.arrival, j.attempts
	j.req.Scheduled, j.req.Due, j.req.Timeout = j.scheduled, at, c.h.TimeoutNS
	if j.attempts == 0 {
		if kind := c.traffic.Prepare(&j.req, j.class, j.arrival, vars); kind != record.ErrNone {
			res := send.Result{Done: now, Err: kind, Unsent: true}
			c.finish(j, &res, record.GeneratorError, kind)
			return nil
		}
	}
	j.req.State = j
	c.inFlight++
	return &j.req
}

// Done implements send.Feed.
func (c *conductor) Done(r *send.Request, res *send.Result) {
	j := r.State.(*job)
	c.inFlight--
	if c.limitedFrom >= 0 && c.inFlight < c.h.MaxInFlight {
		c.limitedSum += c.engine.Now() - c.limitedFrom
		c.limitedFrom = -1
	}
	if !res.Unsent {
		if j.attempts == 0 {
			j.firstSent = res.Sent
		}
		j.attempts++
		c.live.Sent++
		if c.recent != nil {
			c.recent.Attempts++
		}
		c.tally.Attempt(res.Sent)
	}
	j.bytesIn += res.BytesIn
	j.bytesOut += res.BytesOut
	var vars map[string]string
	if j.flow != nil {
		vars = j.flow.vars
	}
	o, kind := c.traffic.Judge(j.class, j.arrival, j.scheduled, res, vars)
	if o != record.OK && kind != record.ErrDrain && !j.probe {
		if pause, ok := c.traffic.Retry(j.class, j.arrival, j.attempts, o, kind, res.Status); ok {
			c.push(later{at: res.Done + pause, job: j})
			return
		}
	}
	c.finish(j, res, o, kind)
}

// finish counts a job's end and lets follow what follows from it.
func (c *conductor) finish(j *job, res *send.Result, o record.Outcome, kind record.ErrorKind) {
	f := j.flow
	if f != nil && o.Valid() && !c.traffic.Capture(j.class, res, f.vars) {
		o, kind = record.Wrong, record.ErrCapture
	}
	sent := res.Sent
	if res.Unsent {
		sent = j.firstSent // a retry that could not be sent: the last attempt that was counts
	}
	e := tally.End{
		Class: j.class, Arrival: j.number, Scheduled: j.scheduled,
		FirstSent: j.firstSent, Sent: sent, Done: res.Done, Attempts: j.attempts,
		Outcome: o, Err: kind, Status: res.Status, BytesIn: j.bytesIn, BytesOut: j.bytesOut,
	}
	c.tally.Ended(j.slot, &e)
	c.outstanding--
	c.live.By[o]++
	if c.recent != nil {
		c.recent.ended(&e)
	}
	if c.aborts != nil {
		c.aborts.done(&e, false)
	}
	if j.probe && c.onProbe != nil {
		c.onProbe(res.Done-j.scheduled, o == record.OK)
	}
	switch {
	case f != nil:
		c.afterStep(f, &e, o, kind)
	case j.user != nil:
		c.afterCycle(j.user, res.Done)
	}
	if len(c.free) < 4096 {
		c.free = append(c.free, j)
	}
}

func (c *conductor) afterStep(f *flow, e *tally.End, o record.Outcome, kind record.ErrorKind) {
	if f.step == 0 {
		f.firstSent = e.FirstSent
	}
	if e.Attempts > 0 {
		f.lastSent = e.Sent
	}
	f.attempts += e.Attempts
	f.late = f.late || o == record.Late
	f.step++
	if o.Valid() && f.step < c.traffic.Steps(f.class) {
		_, think := c.traffic.Step(f.class, f.step)
		c.push(later{at: e.Done + think, fl: f})
		return
	}
	if o.Valid() && f.late {
		o = record.Late
	}
	c.endFlow(f, e.Done, o, kind)
}

func (c *conductor) endFlow(f *flow, at int64, o record.Outcome, kind record.ErrorKind) {
	e := tally.End{
		Class: f.class, Arrival: -1, Scheduled: f.scheduled, FirstSent: f.firstSent, Sent: f.firstSent,
		Done: at, Attempts: min(f.attempts, 1), Outcome: o, Err: kind,
	}
	c.tally.Ended(f.slot, &e)
	if c.aborts != nil {
		c.aborts.done(&e, true)
	}
	c.outstanding--
	if f.user != nil {
		c.afterCycle(f.user, at)
	}
}

// cancel ends what would still become due: retries, later steps, users.
func (c *conductor) cancel() {
	c.hasNext, c.arrivals = false, nil
	for _, u := range c.population {
		u.retired = true
	}
	c.population = nil
	for len(c.due) > 0 {
		l := heap.Pop(&c.due).(later)
		now := c.engine.Now()
		switch {
		case l.job != nil && l.job.attempts == 0: // not even begun
			res := send.Result{Done: now, Err: record.ErrDrain, Unsent: true}
			c.finish(l.job, &res, record.Dropped, record.ErrDrain)
		case l.job != nil: // between attempts: it ends as the last attempt left it, unfinished
			j := l.job
			res := send.Result{Done: now, Sent: j.firstSent, Err: record.ErrDrain}
			c.finish(j, &res, record.Unfinished, record.ErrDrain)
		case l.fl != nil:
			c.endFlow(l.fl, now, record.Unfinished, record.ErrDrain)
		}
	}
}
