package loop

import "headroom/runner/send"

// waiting is a request that has no connection yet.
type waiting struct {
	req   *send.Request
	since int64
}

// line is a queue of waiting requests, a ring that grows.
type line struct {
	ring []waiting
	head int
	n    int
}

func (l *line) push(w waiting) {
	if l.n == len(l.ring) {
		grown := make([]waiting, max(64, 2*l.n))
		k := copy(grown, l.ring[l.head:])
		copy(grown[k:], l.ring[:l.head])
		l.ring, l.head = grown, 0
	}
	l.ring[(l.head+l.n)&(len(l.ring)-1)] = w
	l.n++
}

func (l *line) first() waiting { return l.ring[l.head] }

func (l *line) pop() waiting {
	w := l.ring[l.head]
	l.ring[l.head] = waiting{}
	l.head = (l.head + 1) & (len(l.ring) - 1)
	l.n--
	return w
}
