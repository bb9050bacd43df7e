package send

import "strconv"

const (
	// PromptClose is how long after an answer, in ns, a close belongs to it.
	PromptClose = 20_000_000
	// SettleFor is after how many ns such a close would probably have been seen.
	SettleFor = 1_000_000
	// ClosesToTell is how often a habit is seen before it is told as a fact.
	ClosesToTell = 3
)

// Habits is what is known of how a server closes HTTP/1.1 connections without
// saying so. Some close one after so many answers, some when it has been unused
// for so long; a request that is written at that moment is lost. The zero value
// knows nothing.
//
// A connection that has given as many answers as the server seems to allow
// rests for PromptClose before it is used again: if the server closes it,
// nothing is lost; if not, the habit is refuted and forgotten. One that has been
// unused for four fifths of the shortest time after which the server closed one
// is not used again. It is kept, though: one that lives half as long again
// refutes the limit.
type Habits struct {
	most        int // answers of any connection
	after       int // answers after which the server closes, 0 = not known
	afterTimes  int
	unused      int64 // ns after which the server closes, 0 = not known
	unusedTimes int
}

// Answered is told that a connection has given its nth answer, and is in use no
// longer. It reports whether the connection must rest.
func (h *Habits) Answered(n int) (rest bool) {
	h.most = max(h.most, n)
	return n == h.after && n == h.most
}

// Untried reports whether no connection has given more than n answers, so that
// nobody knows whether the server keeps one that has given n.
func (h *Habits) Untried(n int) bool { return n >= h.most }

// ClosedAfter is told that the server closed a connection right after its nth
// answer.
func (h *Habits) ClosedAfter(n int) {
	if n < h.most {
		return // another connection has given more than that
	}
	if n != h.after {
		h.after, h.afterTimes = n, 0
	}
	h.afterTimes++
}

// Rested is told that a connection that had given n answers was not closed
// while it rested.
func (h *Habits) Rested(n int) {
	if n == h.after {
		h.after, h.afterTimes = 0, 0
	}
}

// ClosedUnused is told that the server closed a connection that had given n
// answers and been unused for so many ns since.
func (h *Habits) ClosedUnused(n int, ns int64) {
	if ns < PromptClose {
		h.ClosedAfter(n)
		return
	}
	h.unusedTimes++
	if h.unused == 0 || ns < h.unused || ns > h.unused/2*3 {
		h.unused = ns
	}
}

// Stale reports whether the server may be about to close a connection that has
// been unused for so many ns.
func (h *Habits) Stale(ns int64) bool { return h.unused > 0 && ns >= h.unused/5*4 }

// Outlived reports whether a connection that is still open after so many unused
// ns refutes what is known of the limit; see ForgetUnused.
func (h *Habits) Outlived(ns int64) bool { return h.unused > 0 && ns > h.unused/2*3 }

// ForgetUnused forgets the limit of unused connections.
func (h *Habits) ForgetUnused() { h.unused, h.unusedTimes = 0, 0 }

// Facts adds what is certain to the facts of a run.
func (h *Habits) Facts(facts map[string]string) {
	if h.afterTimes >= ClosesToTell {
		facts["closes_after_answers"] = strconv.Itoa(h.after)
	}
	if h.unused > 0 && h.unusedTimes >= ClosesToTell {
		facts["closes_idle_after_ms"] = strconv.FormatInt(h.unused/1e6, 10)
	}
}
