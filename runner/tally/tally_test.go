package tally_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"headroom/runner/tally"
	"headroom/store/record"
)

const second = 1_000_000_000

func header(classes ...record.Class) record.Header {
	if len(classes) == 0 {
		classes = []record.Class{{Name: "view", Weight: 1}}
	}
	return record.Header{
		IntervalNS: second, MaxUS: record.DefaultMaxUS, Classes: classes, DeadlineNS: 2 * second,
		Thresholds: []record.Threshold{
			{Name: "response<=150ms", Clock: record.Response, LimitNS: 150e6},
			{Name: "lag<=1ms", Clock: record.Lag, LimitNS: 1e6},
		},
	}
}

type sink struct {
	iv      []*record.Interval
	samples []*record.SendSample
}

func newTally(h record.Header) (*tally.Tally, *sink) {
	var s sink
	return tally.New(h, func(iv *record.Interval) { s.iv = append(s.iv, iv) }, func(w *record.SendSample) { s.samples = append(s.samples, w) }), &s
}

// tickTo closes the moments of all intervals that end at or before the instant.
func tickTo(t *tally.Tally, at int64) {
	for {
		b, ok := t.Boundary()
		if !ok || b > at {
			return
		}
		t.Tick(0, 0, 0)
	}
}

// A request belongs to the interval in which it was scheduled, although it was
// sent in the next and answered in the one after; the clock's own counts say so.
func TestRequestBelongsToItsSchedule(t *testing.T) {
	tl, got := newTally(header())
	tl.Begin(record.Phase{Kind: record.Steady, StartNS: 0, EndNS: 3 * second})
	o := tl.Scheduled(0, second-1)
	tickTo(tl, 2*second)
	if len(got.iv) != 0 {
		t.Fatalf("an interval with a request in flight was closed")
	}
	tl.Attempt(second + 5)
	tl.Ended(o, &tally.End{Scheduled: second - 1, FirstSent: second + 5, Sent: second + 5, Done: 2*second + 7, Attempts: 1, Status: 200})
	tickTo(tl, 3*second)
	tl.EndPhase(3*second, 0, 0, 0)
	tl.Close()
	if len(got.iv) != 3 {
		t.Fatalf("%d intervals, want 3", len(got.iv))
	}
	type summary struct {
		Scheduled, OK, Sends, Done uint64
		Backlog                    int64
	}
	var all []summary
	for _, iv := range got.iv {
		c := iv.Total()
		all = append(all, summary{c.Scheduled, c.By[record.OK], iv.Moment.Sends, iv.Moment.Done[record.OK], iv.Moment.InFlight + iv.Moment.Waiting})
	}
	want := []summary{{1, 1, 0, 0, 1}, {0, 0, 1, 0, 1}, {0, 0, 0, 1, 0}}
	if d := cmp.Diff(want, all); d != "" {
		t.Error(d)
	}
	cell := got.iv[0].Cells[0]
	if cell.Lag.MaxNS() != 6 || cell.OKResponse.MaxNS() != second+8 {
		t.Errorf("lag %d ns, response %d ns, want 6 and %d", cell.Lag.MaxNS(), cell.OKResponse.MaxNS(), second+8)
	}
}

// 150.2 ms is not at or below 150 ms, although both lie in one histogram bucket.
func TestThresholdsAreExact(t *testing.T) {
	for _, c := range []struct {
		response int64
		outcome  record.Outcome
		want     uint64
	}{
		{150_000_000, record.OK, 1},
		{150_000_001, record.OK, 0},
		{150_200_000, record.OK, 0},
		{10_000_000, record.Shed, 0}, // not a valid answer, however fast
		{10_000_000, record.Late, 1},
	} {
		tl, got := newTally(header())
		tl.Begin(record.Phase{Kind: record.Steady, EndNS: second})
		o := tl.Scheduled(0, 0)
		tl.Ended(o, &tally.End{Done: c.response, Attempts: 1, Outcome: c.outcome})
		tickTo(tl, second)
		tl.EndPhase(second, 0, 0, 0)
		tl.Close()
		if n := got.iv[0].Cells[0].AtOrBelow[0]; n != c.want {
			t.Errorf("%v after %d ns: counted %d, want %d", c.outcome, c.response, n, c.want)
		}
	}
}

// A whole flow is counted apart from the requests that it consists of.
func TestFlowsAreKeptApart(t *testing.T) {
	h := header(record.Class{Name: "buy", Flow: true}, record.Class{Name: "buy/1", Step: "buy"})
	tl, got := newTally(h)
	tl.Begin(record.Phase{Kind: record.Steady, EndNS: second})
	flow, step := tl.Scheduled(0, 0), tl.Scheduled(1, 0)
	tl.Ended(step, &tally.End{Class: 1, Done: 5, Attempts: 1})
	tl.Ended(flow, &tally.End{Class: 0, Done: 5, Attempts: 1})
	tickTo(tl, second)
	tl.EndPhase(second, 0, 0, 0)
	tl.Close()
	iv := got.iv[0]
	if total := iv.Total(); total.Scheduled != 1 || len(iv.Flows) != 1 || iv.Moment.Done[record.OK] != 1 {
		t.Errorf("scheduled %d, %d flow cells, %d done; want one of each", total.Scheduled, len(iv.Flows), iv.Moment.Done[record.OK])
	}
}

// A phase that ends early cuts its last interval; one that ends on a boundary
// leaves no empty one behind.
func TestEndPhaseCuts(t *testing.T) {
	for _, c := range []struct {
		at   int64
		want []int64
	}{
		{2*second + 400e6, []int64{second, second, 400e6}},
		{2 * second, []int64{second, second}},
	} {
		tl, got := newTally(header())
		tl.Begin(record.Phase{Kind: record.Drain, EndNS: 10 * second})
		tickTo(tl, c.at)
		tl.EndPhase(c.at, 0, 0, 0)
		tl.Close()
		var widths []int64
		for _, iv := range got.iv {
			widths = append(widths, iv.WidthNS)
		}
		if d := cmp.Diff(c.want, widths); d != "" {
			t.Errorf("ended at %d: %s", c.at, d)
		}
	}
}

// The highest number of sends in any 100 ms is kept.
func TestPeakOf100ms(t *testing.T) {
	tl, got := newTally(header())
	tl.Begin(record.Phase{Kind: record.Steady, EndNS: second})
	for _, sent := range []int64{10, 20, 350e6, 360e6, 370e6, 999e6} {
		o := tl.Scheduled(0, sent)
		tl.Attempt(sent)
		tl.Ended(o, &tally.End{Scheduled: sent, FirstSent: sent, Sent: sent, Done: sent + 1, Attempts: 1})
	}
	tickTo(tl, second)
	tl.EndPhase(second, 0, 0, 0)
	tl.Close()
	if n := got.iv[0].Moment.PeakSent100ms; n != 3 {
		t.Errorf("peak %d in 100 ms, want 3", n)
	}
}

// Whatever happens in whatever order: every interval obeys the law of
// accounting, the backlog is the running difference of what came and what
// ended, intervals come in time order, and as few are open as time demands.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := header(record.Class{Name: "a"}, record.Class{Name: "b"})
		tl, got := newTally(h)
		type pending struct {
			o     *tally.Open
			class int
			at    int64
		}
		var open []pending
		now := int64(0)
		var scheduled uint64
		end := func(i int) {
			p := open[i]
			open = append(open[:i], open[i+1:]...)
			e := tally.End{Class: p.class, Arrival: -1, Scheduled: p.at, Done: now}
			e.Outcome = record.Outcome(rapid.IntRange(0, record.NumOutcomes-1).Draw(t, "outcome"))
			switch {
			case e.Outcome == record.Dropped:
			case e.Outcome == record.GeneratorError && rapid.Bool().Draw(t, "unsent"):
			default:
				e.Attempts = 1
				e.FirstSent = rapid.Int64Range(p.at, now).Draw(t, "sent")
				e.Sent = e.FirstSent
				tl.Attempt(e.Sent)
			}
			tl.Ended(p.o, &e)
		}
		for phase := range rapid.IntRange(1, 3).Draw(t, "phases") {
			start := now
			length := rapid.Int64Range(second/4, 6*second).Draw(t, "length")
			tl.Begin(record.Phase{Index: phase, Kind: record.Steady, StartNS: start, EndNS: start + length})
			for now < start+length {
				now = min(now+rapid.Int64Range(1, second).Draw(t, "gap"), start+length-1)
				tickTo(tl, now)
				for range rapid.IntRange(0, 3).Draw(t, "arrivals") {
					class := rapid.IntRange(0, 1).Draw(t, "class")
					open = append(open, pending{tl.Scheduled(class, now), class, now})
					scheduled++
				}
				for len(open) > 0 && rapid.Bool().Draw(t, "answer") {
					end(rapid.IntRange(0, len(open)-1).Draw(t, "which"))
				}
				if now == start+length-1 {
					now++
				}
			}
			tickTo(tl, now)
			tl.EndPhase(now, 0, 0, 0)
		}
		drain := record.Phase{Index: 9, Kind: record.Drain, StartNS: now, EndNS: now + second}
		tl.Begin(drain)
		for len(open) > 0 {
			end(0)
		}
		now += second
		tickTo(tl, now)
		tl.EndPhase(now, 0, 0, 0)
		tl.Close()
		if tl.Depth() != 0 {
			t.Fatalf("%d intervals left open", tl.Depth())
		}
		var balance int64
		var total uint64
		last := int64(0)
		for _, iv := range got.iv {
			c := iv.Total()
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			if iv.StartNS != last {
				t.Fatalf("interval starts at %d, the one before ended at %d", iv.StartNS, last)
			}
			last = iv.StartNS + iv.WidthNS
			balance += int64(c.Scheduled)
			for _, n := range iv.Moment.Done {
				balance -= int64(n)
			}
			if got := iv.Moment.InFlight + iv.Moment.Waiting; got != balance {
				t.Fatalf("interval %d: backlog %d, but %d came and did not end", iv.Index, got, balance)
			}
			total += c.Scheduled
		}
		if total != scheduled {
			t.Fatalf("scheduled %d, counted %d", scheduled, total)
		}
	})
}
