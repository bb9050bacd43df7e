package runner

import (
	"headroom/runner/send"
)

// populate makes a closed population of n users who begin spread evenly over
// one pacing cycle after start. Each waits for its answer, then for the rest of
// its pacing cycle, counted from the actual start and without catching up, or
// for its think time.
func (c *conductor) populate(n int, start, pacing, think int64) {
	for _, u := range c.population {
		u.retired = true
	}
	c.pacing, c.think = pacing, think
	cycle := pacing
	if cycle == 0 {
		cycle = max(think, 1_000_000_000)
	}
	c.population = make([]*user, n)
	for i := range c.population {
		u := &user{number: uint64(i)}
		c.population[i] = u
		c.push(later{at: start + int64(float64(cycle)*float64(i)/float64(n)), usr: u})
	}
}

// cycle begins a user's next cycle.
func (c *conductor) cycle(u *user, at, now int64) *send.Request {
	if u.retired || at >= c.limit {
		return nil
	}
	u.started = now
	u.cycle++
	number := c.number
	c.number++
	return c.arrive(c.base+uint64(number), number, at, now, u)
}

func (c *conductor) afterCycle(u *user, done int64) {
	if u.retired {
		return
	}
	next := done + c.think
	if c.pacing > 0 {
		next = max(done, u.started+c.pacing)
	}
	if next < c.limit {
		c.push(later{at: next, usr: u})
	}
}
