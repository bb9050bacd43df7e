package sim

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"headroom/store/record"
)

// client is one request that waits for its departure.
type client interface {
	// depart is called at the job's departure and must not block. It returns
	// false where the client has left.
	depart(*Job) bool
}

// core keeps a Queue in real time: it admits, sleeps until the next departure
// and releases what departs. A late wake-up delays an answer, not the queue.
type core struct {
	o      Options
	origin time.Time
	shift  int64 // of the machine's clock against now

	mu      sync.Mutex
	q       *Queue
	alarm   *alarm
	armed   int64 // instant that the alarm is set to
	begun   int64 // instant of the first request of work
	last    int64 // instant of the last departure
	closed  bool
	late    *record.Histogram // of the release of departures
	left    uint64            // departed after their client had left
	log     []byte
	logging bool

	opened, open atomic.Int64
	leaked       leaked
	done         chan struct{}
	wg           sync.WaitGroup
	failure      error // of the log; under mu
}

func newCore(o Options) (*core, error) {
	a, err := newAlarm()
	if err != nil {
		return nil, fmt.Errorf("built-in service: %w", err)
	}
	c := &core{
		o: o, origin: time.Now(), q: NewQueue(o), alarm: a, armed: math.MaxInt64, begun: -1,
		late: record.NewHistogram(record.DefaultMaxUS), done: make(chan struct{}),
	}
	c.shift = machineClock() - c.now()
	if o.Log != "" {
		f, err := os.Create(o.Log)
		if err != nil {
			a.close()
			return nil, fmt.Errorf("built-in service: log of arrivals: %w", err)
		}
		c.logging = true
		c.log = append(c.log, "# headroom target arrivals 1: instant (ns, monotonic clock of this machine), number, connection, method, target\n"...)
		c.wg.Go(func() { c.writeLog(f) })
	}
	c.wg.Go(c.dispatch)
	return c, nil
}

func (c *core) now() int64 { return int64(time.Since(c.origin)) }

// admit offers a request of work. The owner may be asked to depart before
// admit returns.
func (c *core) admit(owner client, conn uint64, method string, target []byte) (*Job, Refusal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.begun < 0 {
		c.begin(now)
	}
	if c.logging {
		c.log = strconv.AppendInt(c.log, now+c.shift, 10)
		c.log = append(c.log, ' ')
		c.log = strconv.AppendUint(c.log, c.q.count.Received, 10)
		c.log = append(c.log, ' ')
		c.log = strconv.AppendUint(c.log, conn, 10)
		c.log = append(c.log, ' ')
		c.log = append(c.log, method...)
		c.log = append(c.log, ' ')
		c.log = append(c.log, target...)
		c.log = append(c.log, '\n')
	}
	j, why := c.q.Admit(now, owner)
	c.arm(now)
	return j, why
}

func (c *core) begin(now int64) {
	c.begun = now
	c.q.Begin(now)
	if k := c.o.Leak.Kind; (k == LeakConnections || k == LeakMemory) && !c.closed {
		c.wg.Go(func() { c.leaked.run(c.o.Leak, c.done) })
	}
}

// arm sets the alarm to the next departure where that is earlier than what it is set to.
func (c *core) arm(now int64) {
	if at, ok := c.q.Next(); ok && at < c.armed && !c.closed {
		c.armed = at
		// The descriptor is open and the value is valid, so this cannot fail.
		_ = c.alarm.set(time.Duration(at - now))
	}
}

// cancel tells the queue that the client of j has left.
func (c *core) cancel(j *Job) {
	if c.o.KeepWorking {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.q.Cancel(now, j)
	c.arm(now)
}

// release frees the worker of j, in a service with a dependency.
func (c *core) release(j *Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.q.Release(now, j)
	c.arm(now)
}

func (c *core) dispatch() {
	var batch []*Job
	for c.alarm.wait() {
		c.mu.Lock()
		now := c.now()
		for j := c.q.Depart(now); j != nil; j = c.q.Depart(now) {
			c.late.Record(now - j.Departed)
			c.last = j.Departed
			batch = append(batch, j)
		}
		c.armed = math.MaxInt64
		c.arm(now)
		c.mu.Unlock()
		var left uint64
		for i, j := range batch {
			if !j.Owner.(client).depart(j) {
				left++
			}
			batch[i] = nil
		}
		batch = batch[:0]
		if left > 0 {
			c.mu.Lock()
			c.left += left
			c.mu.Unlock()
		}
	}
}

// writeLog moves the log from memory to f until the core is closed.
func (c *core) writeLog(f *os.File) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for last := false; !last; {
		select {
		case <-tick.C:
		case <-c.done:
			last = true
		}
		c.mu.Lock()
		b := c.log
		c.log = nil
		c.mu.Unlock()
		if _, err := f.Write(b); err != nil {
			c.fail(err)
		}
	}
	if err := f.Close(); err != nil {
		c.fail(err)
	}
}

func (c *core) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failure = fmt.Errorf("built-in service: log of arrivals: %w", err)
	c.logging = false
}

// close ends dispatching; what is in the queue is not answered any more.
func (c *core) close() error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	c.alarm.close()
	close(c.done)
	c.mu.Unlock()
	c.wg.Wait()
	c.leaked.free()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failure
}
