package std

import "headroom/runner/send"

// waiting is a request that has no connection or stream yet.
type waiting struct {
	req   *send.Request
	since int64
	seq   uint64 // order of arrival
	back  int    // how often it came back unsent
}

// line is the queue of waiting requests, a ring that grows.
type line struct {
	ring []waiting
	head int
	n    int
}

func (l *line) at(i int) *waiting { return &l.ring[(l.head+i)&(len(l.ring)-1)] }

func (l *line) grow() {
	if l.n < len(l.ring) {
		return
	}
	grown := make([]waiting, max(64, 2*l.n))
	k := copy(grown, l.ring[l.head:])
	copy(grown[k:], l.ring[:l.head])
	l.ring, l.head = grown, 0
}

func (l *line) push(w waiting) {
	l.grow()
	l.n++
	*l.at(l.n - 1) = w
}

// putBack puts w where it was: before everything that came after it.
func (l *line) putBack(w waiting) {
	l.grow()
	l.head = (l.head - 1) & (len(l.ring) - 1)
	l.n++
	i := 0
	for ; i+1 < l.n && l.at(i+1).seq < w.seq; i++ {
		*l.at(i) = *l.at(i + 1)
	}
	*l.at(i) = w
}

func (l *line) first() waiting { return l.ring[l.head] }

func (l *line) pop() waiting {
	w := l.ring[l.head]
	l.ring[l.head] = waiting{}
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.n--
	return w
}
