package runner_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"headroom/analyze"
	"headroom/runner/send"
	"headroom/store/record"
)

func retryPlan(seed int, retries string) string {
	return fmt.Sprintf(`
name: retries
seed: %d
target: {builtin: {workers: 64, service: 10ms}}
http: {timeout: 2s}
arrivals: constant
load: {steady: {rate: 100, length: 20s}}
%s
%s`, seed, retries, getView)
}

type attempt struct{ due, done int64 }

// refuse lets a service refuse so many attempts of every nth request, and says
// what was tried.
func refuse(every uint64, times int) (*spy, map[uint64][]attempt) {
	tried := map[uint64][]attempt{}
	s := &spy{}
	s.fired = func(r *send.Request, _ int64) { tried[r.Arrival] = append(tried[r.Arrival], attempt{due: r.Due}) }
	s.done = func(r *send.Request, res *send.Result) {
		res.Status = 200
		if r.Arrival%every == 0 && r.Attempt < times {
			res.Status = 503
		}
		a := tried[r.Arrival]
		a[len(a)-1].done = res.Done
	}
	return s, tried
}

// Attempts and requests are counted apart, and the pauses between attempts are
// those of the plan.
func TestRetries(t *testing.T) {
	o := constant(10 * time.Millisecond)
	for _, c := range []struct {
		retries       string
		refused       int // attempts of every fourth request
		ok, shed      uint64
		attempts      uint64
		amplification float64
	}{
		{"", 1, 1500, 500, 2000, 1},
		{"retries: {max: 2, on: [timeout], backoff: 100ms}", 1, 1500, 500, 2000, 1},
		{`retries: {max: 2, on: ["503"], backoff: 100ms, factor: 2, jitter: none}`, 1, 2000, 0, 2500, 1.25},
		{`retries: {max: 2, on: ["503"], backoff: 100ms, factor: 2, jitter: none}`, 2, 2000, 0, 3000, 1.5},
		{`retries: {max: 2, on: [shed], backoff: 100ms, factor: 2, jitter: none}`, 9, 1500, 500, 3000, 1.5},
	} {
		s, tried := refuse(4, c.refused)
		m := execute(t, parse(t, retryPlan(1, c.retries)), o, context.Background(), context.Background(), watched(s, o))
		view := counts(m, "view").Counts
		if view.Scheduled != 2000 || view.Sent != 2000 || view.By[record.OK] != c.ok || view.By[record.Shed] != c.shed || view.Attempts != c.attempts {
			t.Errorf("%s: %+v", c.retries, view)
		}
		var sends uint64
		for _, iv := range m.Iv {
			sends += iv.Moment.Sends
		}
		if sends != c.attempts {
			t.Errorf("%s: %d attempts written by the clock, %d by the schedule", c.retries, sends, c.attempts)
		}
		for n, a := range tried {
			for i := 1; i < len(a); i++ {
				if pause := a[i].due - a[i-1].done; pause != 100*ms<<(i-1) {
					t.Fatalf("%s: request %d, pause %d of %v", c.retries, n, i, time.Duration(pause))
				}
			}
		}
		a, err := analyze.Run(m, analyze.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Accounting.Amplification; got == nil || math.Abs(*got-c.amplification) > 1e-9 {
			t.Errorf("%s: amplification %s, want %g", c.retries, text(got), c.amplification)
		}
	}
}

// Full jitter spreads a pause evenly from nothing to all of it, the same way
// for the same seed; a budget bounds how many retries there are.
func TestRetryJitterAndBudget(t *testing.T) {
	o := constant(10 * time.Millisecond)
	pauses := func(seed int, retries string) (sum float64, n int, first int64) {
		s, tried := refuse(1, 1)
		execute(t, parse(t, retryPlan(seed, retries)), o, context.Background(), context.Background(), watched(s, o))
		for _, a := range tried {
			for i := 1; i < len(a); i++ {
				pause := a[i].due - a[i-1].done
				if pause < 0 || pause >= 100*ms {
					t.Fatalf("a pause of %v", time.Duration(pause))
				}
				sum += float64(pause)
				n++
			}
		}
		if a := tried[7]; len(a) > 1 {
			first = a[1].due - a[0].done
		}
		return sum, n, first
	}
	sum, n, first := pauses(1, `retries: {max: 1, on: ["503"], backoff: 100ms}`)
	// Uniform on 100 ms: mean 50 ms, standard error of the mean of 2000 0.65 ms.
	if n != 2000 || math.Abs(sum/float64(n)-50e6) > 3*0.65e6 {
		t.Errorf("%d pauses, %.2f ms on average, want 2000 and 50", n, sum/float64(n)/1e6)
	}
	if _, _, again := pauses(1, `retries: {max: 1, on: ["503"], backoff: 100ms}`); again != first {
		t.Errorf("the same seed paused %d and %d ns", first, again)
	}
	if _, _, other := pauses(2, `retries: {max: 1, on: ["503"], backoff: 100ms}`); other == first {
		t.Error("another seed paused as long")
	}
	if _, n, _ := pauses(1, `retries: {max: 1, on: ["503"], backoff: 100ms, budget: 0.1}`); n < 190 || n > 210 {
		t.Errorf("%d retries of 2000 requests under a budget of 0.1", n)
	}
}
