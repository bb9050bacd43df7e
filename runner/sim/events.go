package sim

import (
	"cmp"
	"slices"
)

// before orders events by instant, kind and the order in which they were scheduled.
func (a event) before(b event) bool {
	if a.at != b.at {
		return a.at < b.at
	}
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.seq < b.seq
}

func (e *Engine) schedule(at int64, kind eventKind, f *flight) {
	e.seq++
	h := append(e.events, event{at, kind, e.seq, f})
	i := len(h) - 1
	for i > 0 {
		p := (i - 1) / 2
		if !h[i].before(h[p]) {
			break
		}
		h[i], h[p] = h[p], h[i]
		i = p
	}
	e.events = h
}

func (e *Engine) pop() event {
	h := e.events
	top, last := h[0], len(h)-1
	h[0], h[last] = h[last], event{}
	h = h[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].before(h[c]) {
			c++
		}
		if !h[c].before(h[i]) {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	e.events = h
	return top
}

// inOrder is what is in flight, in the order of Fire.
func (e *Engine) inOrder() []*flight {
	all := make([]*flight, 0, len(e.live))
	for f := range e.live {
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b *flight) int { return cmp.Compare(a.number, b.number) })
	return all
}

const refusedBody = "{\"error\":\"refused\"}\n"

func headerValue(name string) string {
	switch name {
	case "Content-Type", "content-type":
		return "application/json"
	}
	return ""
}
