package runner_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"headroom/runner"
	"headroom/runner/plan"
	"headroom/runner/send"
	"headroom/runner/send/loop"
	"headroom/runner/sim/faulty"
	"headroom/store/record"
)

// ledger is a sink that keeps only what the laws are about.
type ledger struct {
	record.Memory
	total    record.Counts
	errors   map[record.ErrorKind]uint64
	status   map[int]uint64
	distinct int // most kinds of error and status in one cell
	backlog  int64
	broken   error
}

func (l *ledger) PutInterval(iv *record.Interval) error {
	c := iv.Total()
	l.total.Add(&c)
	if err := c.Check(); err != nil && l.broken == nil {
		l.broken = fmt.Errorf("phase %d interval %d: %w", iv.Phase, iv.Index, err)
	}
	l.backlog += int64(c.Scheduled)
	for _, n := range iv.Moment.Done {
		l.backlog -= int64(n)
	}
	if got := iv.Moment.InFlight + iv.Moment.Waiting; got != l.backlog && l.broken == nil {
		l.broken = fmt.Errorf("phase %d interval %d: backlog %d, the counts give %d", iv.Phase, iv.Index, got, l.backlog)
	}
	for i := range iv.Cells {
		l.distinct = max(l.distinct, len(iv.Cells[i].Errors)+len(iv.Cells[i].Status))
		for k, n := range iv.Cells[i].Errors {
			l.errors[k] += n
		}
		for k, n := range iv.Cells[i].Status {
			l.status[k] += n
		}
	}
	return nil
}

func (l *ledger) PutSendSample(*record.SendSample) error { return nil }

// drive runs a plan with the real loop against an address.
func drive(t *testing.T, p *plan.Plan, address string) (*ledger, record.End) {
	t.Helper()
	h := p.Header()
	h.RunID = "law"
	traffic, err := runner.NewTraffic(p, h)
	if err != nil {
		t.Fatal(err)
	}
	script, err := runner.ScriptOf(p)
	if err != nil {
		t.Fatal(err)
	}
	e, err := loop.New(send.Config{Scheme: "http", Address: address, KeepAlive: p.HTTP.KeepAlive, MaxConns: p.HTTP.MaxConns}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	l := &ledger{errors: map[record.ErrorKind]uint64{}, status: map[int]uint64{}}
	end := runner.Config{
		Header: h, Script: script, Traffic: traffic, Engine: e, Sink: l, Arrivals: runner.ArrivalsOf(p, h.Seed), Rules: p.Abort,
	}.Record(context.Background(), context.Background())
	switch {
	case end.State != record.Complete:
		t.Fatalf("%s: %s", end.State, end.Reason)
	case l.broken != nil:
		t.Fatal(l.broken)
	case l.backlog != 0:
		t.Fatalf("%d requests never ended", l.backlog)
	}
	return l, end
}

// Whatever a server does, each request ends in one outcome, in every interval.
func TestLawUnderEveryFault(t *testing.T) {
	s, err := faulty.Start(faulty.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		path    string
		outcome record.Outcome
	}{
		{"/ok", record.OK},
		{"/status/404", record.HTTPError},
		{"/status/503", record.Shed},
		{"/error", record.HTTPError},
		{"/large/100000", record.OK},
		{"/slow/20", record.OK},
		{"/slow-head/20", record.OK},
		{"/chunked", record.OK},
		{"/http10", record.OK},
		{"/until-close", record.OK},
		{"/continue", record.OK},
		{"/redirect/2", record.HTTPError},
		{"/hang", record.Timeout},
		{"/hang-body", record.Timeout},
		{"/reset", record.ConnectError},
		{"/close", record.ConnectError},
		{"/reset-body", record.ConnectError},
		{"/truncate", record.Wrong},
		{"/cut-chunk", record.Wrong},
		{"/extra", record.OK},
		{"/garbage", record.ConnectError},
		{"/lengths", record.ConnectError},
		{"/huge-head", record.ConnectError},
	} {
		t.Run(strings.Trim(c.path, "/"), func(t *testing.T) {
			l, _ := drive(t, parse(t, lawPlan(fmt.Sprintf("{class: one, weight: 1, get: %s}", c.path), 400, "400ms")), s.Address)
			// A busy machine may make some of them time out, but not most.
			got := l.total.By[c.outcome]
			if all := l.total.Scheduled; 2*got < all || got+l.total.By[record.Timeout] < all*9/10 {
				t.Errorf("%d of %d are %v: %v, errors %v, status %v", got, l.total.Scheduled, c.outcome, l.total.By, l.errors, l.status)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		address, err := faulty.Refused()
		if err != nil {
			t.Fatal(err)
		}
		l, _ := drive(t, parse(t, lawPlan("{class: one, weight: 1, get: /}", 200, "1s")), address)
		if got := l.total.By[record.ConnectError]; got != l.total.Scheduled {
			t.Errorf("%d of %d: %v", got, l.total.Scheduled, l.total.By)
		}
	})
}

func lawPlan(requests string, rate int, length string) string {
	return fmt.Sprintf(`
name: law
target: {url: "http://127.0.0.1:1"}
http: {timeout: 300ms}
load: {steady: {rate: %d, length: %s}}
interval: 250ms
data: {n: {range: [1, 5000]}}
requests: [%s]
`, rate, length, requests)
}

// Thirty thousand different error texts and five thousand different paths leave
// nothing behind: neither in the evidence nor in memory.
func TestMemoryIsFlat(t *testing.T) {
	s, err := faulty.Start(faulty.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	requests := "{class: error, weight: 9, get: '/error/{n}'}, {class: reset, weight: 0.1, get: '/reset/{n}'}, {class: ok, weight: 1, get: '/ok/{n}'}"
	live := func(length string) (uint64, *ledger) {
		l, _ := drive(t, parse(t, lawPlan(requests, 3000, length)), s.Address)
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, l
	}
	live("500ms")
	short, _ := live("1s")
	long, l := live("12s")
	if n := s.Counts().ByKind["error"]; n < 30000 {
		t.Skipf("only %d error texts in time", n)
	}
	if l.distinct > 8 {
		t.Errorf("%d kinds of error and status in one cell", l.distinct)
	}
	if long > short+4<<20 {
		t.Errorf("%d bytes live after 36,000 requests, %d after 3,000", long, short)
	}
	t.Logf("%d and %d bytes; %v %v", short, long, l.status, l.errors)
}
