package runner

import (
	"headroom/runner/send"
	"headroom/runner/tally"
	"headroom/store/record"
)

// Traffic makes requests and judges answers. Everything it decides is a
// function of the seed and the arrival's number.
type Traffic interface {
	// Class picks the class of an arrival: a plain class, or a flow.
	Class(arrival uint64) int
	// Steps is the number of steps of a class: 0 for a plain one.
	Steps(class int) int
	// Step is the class that a flow's step is counted in, and the think time in
	// ns before it.
	Step(flow, step int) (class int, think int64)
	// Prepare fills in the request of a plain class or of a flow's step; vars
	// holds what earlier steps captured.
	Prepare(r *send.Request, class int, arrival uint64, vars map[string]string) record.ErrorKind
	// Judge says how an attempt ended.
	Judge(class int, arrival uint64, scheduled int64, r *send.Result, vars map[string]string) (record.Outcome, record.ErrorKind)
	// Capture reads the values that a step keeps for the later ones; false
	// where one is missing.
	Capture(class int, r *send.Result, vars map[string]string) bool
	// Retry is the pause in ns before the next attempt; ok is false where there
	// is none.
	Retry(class int, arrival uint64, attempt int, o record.Outcome, e record.ErrorKind, status int) (pause int64, ok bool)
}

// job is one request from its scheduled instant to its end, over all attempts.
type job struct {
	req       send.Request
	class     int
	slot      *tally.Open
	number    int64 // within the phase's schedule; -1: not an arrival
	arrival   uint64
	scheduled int64
	firstSent int64
	attempts  int
	flow      *flow
	user      *user
	probe     bool
	bytesIn   int64
	bytesOut  int64
}

// flow is one user's walk through the steps of a flow class.
type flow struct {
	class     int
	slot      *tally.Open
	number    int64
	arrival   uint64
	scheduled int64
	firstSent int64
	lastSent  int64
	step      int
	late      bool // a step was: the deadline is judged on each, as a flow has think times in it
	attempts  int
	vars      map[string]string
	user      *user
}

// user is one member of a closed population.
type user struct {
	number  uint64
	cycle   uint64
	started int64
	retired bool
}

// later is something that becomes due by itself.
type later struct {
	at  int64
	seq uint64 // keeps the order of equals
	job *job   // an attempt to send, or
	fl  *flow  // a flow's next step, or
	usr *user  // a user's next cycle
}

type laterHeap []later

func (h laterHeap) Len() int { return len(h) }
func (h laterHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h laterHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *laterHeap) Push(x any)   { *h = append(*h, x.(later)) }
func (h *laterHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}
