package profile

import "headroom/prep/accesslog"

// clocks watches the stamps of one file. Lines are written when answers are
// complete, so stamps of arrivals may lie a little out of order; what must not
// happen is a clock that was set back, or stamps that something rewrote.
type clocks struct {
	lines, back uint64 // back: earlier than the line before by more than two seconds
	steps       uint64 // the clock went back by more than a minute and stayed there
	any         bool
	last        int64 // seconds
	most, least int64
	behind      int // lines in a row behind most by more than a minute
	since       int64
	seconds     [60]uint64 // by second of the minute
	minutes     [60]uint64 // by minute of the hour
}

const (
	backS = 2
	stepS = 60
	stay  = 5 // lines
)

func (c *clocks) see(e *accesslog.Entry) {
	at := e.At
	if !e.Ends && e.Service > 0 {
		at += e.Service // lines are in the order in which answers end
	}
	sec := at / 1e9
	raw := e.At / 1e9
	c.seconds[raw%60]++
	c.minutes[raw/60%60]++
	c.lines++
	if !c.any {
		c.any, c.last, c.most, c.least = true, sec, sec, sec
		return
	}
	if sec < c.last-backS {
		c.back++
	}
	c.last = sec
	switch {
	case sec >= c.most-stepS:
		c.most = max(c.most, sec)
		c.behind = 0
		return
	case c.behind == 0:
		c.since = sec
	}
	c.behind++
	if c.behind < stay {
		return
	}
	// It stays there: another log behind this one, if it begins before all
	// that was seen, or else a clock that was set back.
	if c.since >= c.least {
		c.steps++
	}
	c.least = min(c.least, c.since)
	c.most, c.behind = sec, 0
}

// goesBack reports whether the order of lines says that the clock is not to be
// trusted.
func (c *clocks) goesBack() bool {
	return c.steps > 0 || (c.lines >= 20 && c.back*5 > c.lines)
}

// wholeMinutes reports whether stamps have no seconds.
func (c *clocks) wholeMinutes() bool {
	return c.lines >= 20 && most(c.seconds[:])*100 >= c.lines*95 && c.most-c.least >= 120
}

// fixedMinute reports whether all stamps are of the same minute of the hour,
// over some hours: they were rewritten.
func (c *clocks) fixedMinute() bool {
	return c.lines >= 20 && most(c.minutes[:])*100 >= c.lines*95 && c.most-c.least >= 3*3600
}

func most(n []uint64) uint64 {
	var m uint64
	for _, v := range n {
		m = max(m, v)
	}
	return m
}
