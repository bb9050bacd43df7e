package sim

import (
	"fmt"
	"math"
	"time"
)

// Job is one request in a Queue. Instants are ns on the clock of its owner.
type Job struct {
	Number   uint64 // in order of admission, from 0
	Arrived  int64
	Departed int64 // set by Depart
	Slow     bool  // costs the slow factor
	Wrong    bool  // is to be answered with wrong content
	Owner    any   // the caller's own

	work  int64 // ns of a worker
	end   int64 // on the work clock, once in service
	state jobState
}

type jobState uint8

const (
	waiting jobState = iota
	serving
	held // worked, but the worker waits for Release
	gone
)

// Refusal says why a job was not admitted.
type Refusal uint8

// The refusals.
const (
	Admitted    Refusal = iota
	QueueFull           // no place left to wait
	WaitTooLong         // expected wait above ShedAfter
)

// Counters account for every request that a Queue was offered.
type Counters struct {
	Received    uint64 `json:"received"`
	Admitted    uint64 `json:"admitted"`
	RefusedFull uint64 `json:"refused_queue_full"`
	RefusedWait uint64 `json:"refused_wait"`
	Departed    uint64 `json:"departed"`
	Abandoned   uint64 `json:"abandoned"` // left the queue before service, because the client had left
	Waiting     int    `json:"waiting"`
	InService   int    `json:"in_service"`
	MaxWaiting  int    `json:"max_waiting"`
	Slow        uint64 `json:"slow"`  // of the admitted
	Wrong       uint64 `json:"wrong"` // of the admitted
}

// Check asserts that every request is accounted for.
func (c Counters) Check() error {
	if c.Received != c.Admitted+c.RefusedFull+c.RefusedWait {
		return fmt.Errorf("received %d, but admitted %d + refused %d + %d", c.Received, c.Admitted, c.RefusedFull, c.RefusedWait)
	}
	if c.Admitted != c.Departed+c.Abandoned+uint64(c.Waiting)+uint64(c.InService) {
		return fmt.Errorf("admitted %d, but departed %d + abandoned %d + waiting %d + in service %d",
			c.Admitted, c.Departed, c.Abandoned, c.Waiting, c.InService)
	}
	return nil
}

// Queue is a FIFO queue in front of a number of workers, on a virtual clock:
// a worker that becomes free at an instant takes the next job at that very
// instant, however late the caller asks, so its capacity is exact. It holds no
// clock; its methods must be called with instants that never fall. It is not
// safe for concurrent use.
type Queue struct {
	o       Options
	mean    float64 // ns, the slow share included
	service *stream
	slow    *stream
	wrong   *stream
	noise   uint64
	origin  int64

	busy  []*Job // heap by end, then number
	held  int
	fifo  ring // waiting, with those that left still in it
	left  int  // of those, how many left
	out   ring // worked; delayed by a latency leak
	count Counters
}

// NewQueue returns an idle queue with the workers, service times, limits and
// faults of o, whose Freezes count from instant 0.
func NewQueue(o Options) *Queue {
	o = o.filled()
	return &Queue{
		o: o, mean: o.meanNS(),
		service: newStream(o.Seed, forService),
		slow:    newStream(o.Seed, forSlow),
		wrong:   newStream(o.Seed, forWrong),
		noise:   mix(o.Seed ^ forNoise<<32),
	}
}

// Counters returns the counts so far, as of the last instant that the queue was told of.
func (q *Queue) Counters() Counters {
	c := q.count
	c.Waiting = q.waiting()
	c.InService = len(q.busy) + q.held
	if !q.o.Hold {
		c.InService += q.out.n
	}
	return c
}

// Begin makes freezes and a latency leak count from the instant origin instead
// of 0. It must be called before the first job.
func (q *Queue) Begin(origin int64) {
	for i := range q.o.Freezes {
		q.o.Freezes[i].At += time.Duration(origin)
	}
	q.origin = origin
}

func (q *Queue) waiting() int { return q.fifo.n - q.left }

// ExpectedWait is the expected time until a job that arrived now would start,
// in ns: 0 with an idle worker, else (waiting + 1) x mean / workers.
func (q *Queue) ExpectedWait() float64 {
	if len(q.busy)+q.held < q.o.Workers {
		return 0
	}
	return float64(q.waiting()+1) * q.mean / float64(q.o.Workers)
}

// Admit offers a job that arrives now. A refusal is decided and answered at
// once, also during a freeze, and returns no job.
func (q *Queue) Admit(now int64, owner any) (*Job, Refusal) {
	q.step(now)
	q.count.Received++
	idle := len(q.busy)+q.held < q.o.Workers
	if !idle {
		if q.o.Queue == NoQueue || q.o.Queue > 0 && q.waiting() >= q.o.Queue {
			q.count.RefusedFull++
			return nil, QueueFull
		}
		if q.o.ShedAfter > 0 && q.ExpectedWait() > float64(q.o.ShedAfter) {
			q.count.RefusedWait++
			return nil, WaitTooLong
		}
	}
	j := &Job{Number: q.count.Admitted, Arrived: now, Owner: owner}
	q.count.Admitted++
	q.draw(j)
	if idle {
		q.begin(j, q.workClock(now))
		return j, Admitted
	}
	q.fifo.push(j)
	q.count.MaxWaiting = max(q.count.MaxWaiting, q.waiting())
	return j, Admitted
}

func (q *Queue) draw(j *Job) {
	work := q.o.Service.draw(q.service)
	if s := q.o.Slow; s.Share > 0 && q.slow.uniform() < s.Share {
		j.Slow = true
		work *= s.Factor
		q.count.Slow++
	}
	if q.o.Wrong > 0 && q.wrong.uniform() < q.o.Wrong {
		j.Wrong = true
		q.count.Wrong++
	}
	j.work = int64(math.Round(work))
}

// Cancel takes j out of the queue because its client left, and reports whether
// it did: work that has begun goes on.
func (q *Queue) Cancel(now int64, j *Job) bool {
	q.step(now)
	if j.state != waiting {
		return false
	}
	j.state = gone
	q.left++
	q.count.Abandoned++
	if q.left > 64 && q.left > q.fifo.n/2 {
		q.fifo.keep(func(j *Job) bool { return j.state == waiting })
		q.left = 0
	}
	return true
}

// Next is the next instant at which Depart may return a job; ok is false when
// no job is in service.
func (q *Queue) Next() (at int64, ok bool) {
	if len(q.busy) > 0 {
		at, ok = q.wallClock(q.busy[0].end), true
	}
	if j := q.out.front(); j != nil && (!ok || j.Departed < at) {
		at, ok = j.Departed, true
	}
	return at, ok
}

// Depart returns the next job that departs at or before now, in the order of
// departures, or nil. In a queue with Hold the worker then waits for Release.
func (q *Queue) Depart(now int64) *Job {
	q.step(now)
	if j := q.out.front(); j == nil || j.Departed > now {
		return nil
	}
	if !q.o.Hold {
		q.count.Departed++
	}
	return q.out.pop()
}

// Release frees the worker of a job that a queue with Hold returned from Depart.
func (q *Queue) Release(now int64, j *Job) {
	q.step(now)
	if j.state != held {
		return
	}
	j.state = gone
	q.held--
	q.count.Departed++
	q.startNext(q.workClock(now))
}

// step lets the workers work until now.
func (q *Queue) step(now int64) {
	w := q.workClock(now)
	for len(q.busy) > 0 && q.busy[0].end <= w {
		j := q.popBusy()
		at := q.wallClock(j.end)
		if q.o.Leak.Kind == LeakLatency && at > q.origin {
			at += int64(q.o.Leak.PerSecond * float64(at-q.origin))
		}
		j.Departed = at
		q.out.push(j)
		if q.o.Hold {
			j.state = held
			q.held++
			continue
		}
		j.state = gone
		q.startNext(j.end)
	}
}

func (q *Queue) startNext(w int64) {
	for q.fifo.n > 0 {
		j := q.fifo.pop()
		if j.state == waiting {
			q.begin(j, w)
			return
		}
		q.left--
	}
}

func (q *Queue) begin(j *Job, w int64) {
	work := j.work
	if q.o.Noise.Sigma > 0 {
		work = int64(float64(work) / q.speed(w))
	}
	j.state = serving
	j.end = w + max(work, 1)
	q.pushBusy(j)
}

// speed is the factor by which workers are faster than their mean during the
// noise period that holds w: 1 on average.
func (q *Queue) speed(w int64) float64 {
	r := stream{mix(q.noise ^ uint64(w/int64(q.o.Noise.Period)))}
	return max(0.2, 1+q.o.Noise.Sigma*r.normal())
}

// workClock is the time that workers have worked by the instant t: it stands
// still during a freeze.
func (q *Queue) workClock(t int64) int64 {
	w := t
	for _, f := range q.o.Freezes {
		if t > int64(f.At) {
			w -= min(t-int64(f.At), int64(f.For))
		}
	}
	return w
}

// wallClock is the first instant at which workClock is w.
func (q *Queue) wallClock(w int64) int64 {
	for _, f := range q.o.Freezes {
		if w > int64(f.At) {
			w += int64(f.For)
		}
	}
	return w
}

func (q *Queue) before(a, b *Job) bool {
	return a.end < b.end || a.end == b.end && a.Number < b.Number
}

func (q *Queue) pushBusy(j *Job) {
	h := append(q.busy, j)
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !q.before(h[i], h[p]) {
			break
		}
		h[i], h[p] = h[p], h[i]
		i = p
	}
	q.busy = h
}

func (q *Queue) popBusy() *Job {
	h := q.busy
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], nil
	h = h[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && q.before(h[c+1], h[c]) {
			c++
		}
		if !q.before(h[c], h[i]) {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	q.busy = h
	return top
}
