package loop

import "math"

const never = int64(math.MaxInt64)

// deadlines keeps connections by the instant at which they time out. Requests
// share a few timeouts, so there is one queue for each: what is armed later in
// a queue ends later, and every operation is a few pointers.
type deadlines struct {
	queues []deadlineQueue
}

type deadlineQueue struct {
	after      int64
	head, tail *conn
}

// arm sets c's deadline to now + after; after ≤ 0 sets none. now never goes
// back between calls.
func (d *deadlines) arm(c *conn, now, after int64) {
	d.disarm(c)
	if after <= 0 || now > never-after {
		return
	}
	i := d.queue(after)
	q := &d.queues[i]
	c.deadline, c.queue = now+after, i
	c.sooner, c.later = q.tail, nil
	if q.tail != nil {
		q.tail.later = c
	} else {
		q.head = c
	}
	q.tail = c
}

func (d *deadlines) queue(after int64) int {
	empty := -1
	for i := range d.queues {
		if d.queues[i].after == after {
			return i
		}
		if d.queues[i].head == nil {
			empty = i
		}
	}
	if empty < 0 {
		d.queues = append(d.queues, deadlineQueue{})
		empty = len(d.queues) - 1
	}
	d.queues[empty].after = after
	return empty
}

func (d *deadlines) disarm(c *conn) {
	if c.deadline == 0 {
		return
	}
	q := &d.queues[c.queue]
	if c.sooner != nil {
		c.sooner.later = c.later
	} else {
		q.head = c.later
	}
	if c.later != nil {
		c.later.sooner = c.sooner
	} else {
		q.tail = c.sooner
	}
	c.sooner, c.later, c.deadline = nil, nil, 0
}

// first is the connection with the earliest deadline, nil where there is none.
func (d *deadlines) first() *conn {
	var first *conn
	for i := range d.queues {
		if h := d.queues[i].head; h != nil && (first == nil || h.deadline < first.deadline) {
			first = h
		}
	}
	return first
}
