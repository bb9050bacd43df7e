package send_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"headroom/runner/send"
)

const ms = 1_000_000

// stale is the time, in ms, from which a connection is not used again; 0 = any.
func stale(h *send.Habits) int64 {
	for t := range int64(1000) {
		if h.Stale(t * ms) {
			return t
		}
	}
	return 0
}

// TestClosedUnused: the limit is the shortest time seen, until the server has
// clearly become more patient, or a connection outlives it.
func TestClosedUnused(t *testing.T) {
	var h send.Habits
	if h.Stale(1<<62) || h.Outlived(1<<62) {
		t.Error("stale before anything is known")
	}
	for _, step := range []struct{ closed, stale int64 }{{120, 96}, {100, 80}, {104, 80}, {149, 80}, {300, 240}, {100, 80}} {
		if h.ClosedUnused(1, step.closed*ms); stale(&h) != step.stale {
			t.Errorf("closed after %d ms: stale after %d, want %d", step.closed, stale(&h), step.stale)
		}
	}
	facts := map[string]string{}
	h.Facts(facts)
	if want := map[string]string{"closes_idle_after_ms": "100"}; !cmp.Equal(facts, want) {
		t.Errorf("told %v, want %v", facts, want)
	}
	if h.Outlived(149*ms) || !h.Outlived(151*ms) {
		t.Error("the limit is outlived from one and a half times on")
	}
	h.ForgetUnused()
	if stale(&h) != 0 {
		t.Error("not forgotten")
	}
}

// TestClosedAfter: a connection rests where the server may close it, and only
// there; a connection that survives refutes the habit.
func TestClosedAfter(t *testing.T) {
	var h send.Habits
	if !h.Untried(0) || h.Answered(1) || !h.Untried(1) || h.Untried(0) {
		t.Error("the first answer")
	}
	for n := 2; n <= 10; n++ {
		if h.Answered(n) {
			t.Errorf("rests after %d answers, before anything is known", n)
		}
	}
	h.ClosedUnused(10, 19*ms) // so soon after the answer that it belongs to it
	h.ClosedAfter(3)          // another has given more
	facts := map[string]string{}
	if h.Facts(facts); len(facts) > 0 {
		t.Errorf("told %v after one time", facts)
	}
	h.ClosedAfter(10)
	h.ClosedAfter(10)
	h.Facts(facts)
	if want := map[string]string{"closes_after_answers": "10"}; !cmp.Equal(facts, want) {
		t.Errorf("told %v, want %v", facts, want)
	}
	if h.Answered(9) || !h.Answered(10) {
		t.Error("rests after 10 answers, not after 9")
	}
	h.Rested(9)
	if !h.Answered(10) {
		t.Error("refuted by another number")
	}
	h.Rested(10)
	if h.Answered(10) {
		t.Error("not refuted")
	}
	if stale(&h) != 0 {
		t.Error("prompt closes are no limit of unused time")
	}
}
