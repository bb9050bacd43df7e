package sendtest

import (
	"context"
	"testing"

	"headroom/runner/send"
	"headroom/store/record"
)

// Feed is a schedule of requests and a record of how they ended.
type Feed struct {
	Queue []*send.Request // not yet fired, rising Due
	Got   []Outcome       // in the order of their ends
	// Later makes a follow-up of a request that has ended, which is fired
	// before everything else in Queue; nil makes none.
	Later func(*send.Request, *send.Result) *send.Request

	t     testing.TB
	ended map[*send.Request]int
}

// Outcome is how one request ended.
type Outcome struct {
	Request *send.Request
	Result  send.Result
	Body    string // what was kept of it
	Header  string // of the field X-Test
}

// NewFeed is a feed of the given requests.
func NewFeed(t testing.TB, reqs ...*send.Request) *Feed {
	return &Feed{t: t, Queue: reqs, ended: map[*send.Request]int{}}
}

// Add adds requests whose Due counts from the given instant.
func (f *Feed) Add(from int64, reqs ...*send.Request) {
	for _, r := range reqs {
		r.Due, r.Scheduled = r.Due+from, r.Scheduled+from
	}
	f.Queue = append(f.Queue, reqs...)
}

// Due implements send.Feed.
func (f *Feed) Due() (int64, bool) {
	if len(f.Queue) == 0 {
		return 0, false
	}
	return f.Queue[0].Due, true
}

// Fire implements send.Feed.
func (f *Feed) Fire(now int64) *send.Request {
	r := f.Queue[0]
	f.Queue = f.Queue[1:]
	if now < r.Due {
		f.t.Errorf("fired %d ns before it was due", r.Due-now)
	}
	return r
}

// Done implements send.Feed.
func (f *Feed) Done(req *send.Request, res *send.Result) {
	f.ended[req]++
	o := Outcome{Request: req, Result: *res, Body: string(res.Body)}
	if res.HeaderValue != nil {
		o.Header = res.HeaderValue("x-test")
	}
	f.Got = append(f.Got, o)
	if f.Later != nil {
		if next := f.Later(req, res); next != nil {
			f.Queue = append([]*send.Request{next}, f.Queue...)
		}
	}
}

// Law asserts that each of the requests ended exactly once, with a result that
// does not contradict itself.
func (f *Feed) Law(reqs []*send.Request) {
	f.t.Helper()
	for i, r := range reqs {
		if n := f.ended[r]; n != 1 {
			f.t.Errorf("request %d ended %d times", i, n)
		}
	}
	if len(f.Got) != len(f.ended) {
		f.t.Errorf("%d results for %d requests", len(f.Got), len(f.ended))
	}
	for _, o := range f.Got {
		r, due, timeout := &o.Result, o.Request.Due, o.Request.Timeout
		switch {
		case r.Unsent && (r.Sent != 0 || r.Status != 0 || !r.Err.Own()):
			f.t.Errorf("unsent, but %+v", *r)
		case !r.Unsent && (r.Sent < due || r.Done < r.Sent):
			f.t.Errorf("due %d, sent %d, done %d (%v)", due, r.Sent, r.Done, r.Err)
		case r.FirstByte != 0 && (r.FirstByte < r.Sent || r.FirstByte > r.Done):
			f.t.Errorf("sent %d, first byte %d, done %d", r.Sent, r.FirstByte, r.Done)
		case r.Err == record.ErrNone && (r.Status == 0 || r.FirstByte == 0):
			f.t.Errorf("no error and no answer: %+v", *r)
		case (r.Err == record.ErrAnswerTimeout || r.Err == record.ErrConnectTimeout) && r.Done-r.Sent < timeout:
			f.t.Errorf("timed out after %d ns of %d", r.Done-r.Sent, timeout)
		}
	}
}

// Kinds counts the outcomes by error kind.
func (f *Feed) Kinds() map[record.ErrorKind]int {
	m := map[record.ErrorKind]int{}
	for _, o := range f.Got {
		m[o.Result.Err]++
	}
	return m
}

// Sent counts the requests that were sent.
func (f *Feed) Sent() int64 { return f.count(func(r *send.Result) bool { return !r.Unsent }) }

// Fresh counts the requests that were the first of their connection.
func (f *Feed) Fresh() int64 { return f.count(func(r *send.Result) bool { return r.NewConn }) }

func (f *Feed) count(is func(*send.Result) bool) int64 {
	n := int64(0)
	for i := range f.Got {
		if is(&f.Got[i].Result) {
			n++
		}
	}
	return n
}

// Run drives e until the given instant.
func (f *Feed) Run(e send.Engine, until int64) {
	f.t.Helper()
	if err := e.Drive(context.Background(), f, until, false); err != nil {
		f.t.Fatal(err)
	}
}

// DriveAll drives e until the schedule and what is in flight have ended.
func (f *Feed) DriveAll(e send.Engine) {
	f.t.Helper()
	for len(f.Queue) > 0 {
		until := int64(0)
		for _, r := range f.Queue {
			until = max(until, r.Due)
		}
		f.Run(e, until)
	}
	limit := e.Now() + 60e9
	if err := e.Drive(context.Background(), f, limit, true); err != nil {
		f.t.Fatal(err)
	}
	if e.Now() >= limit {
		f.t.Fatal("not idle after a minute")
	}
}

// Cut drives e until the given instant and abandons what is then in flight. It
// returns those of reqs that had become due.
func (f *Feed) Cut(e send.Engine, until int64, reqs []*send.Request) []*send.Request {
	f.t.Helper()
	f.Run(e, until)
	gone := map[*send.Request]bool{}
	for _, r := range f.Queue {
		gone[r] = true
	}
	var rest []*send.Request
	for _, r := range reqs {
		if !gone[r] {
			rest = append(rest, r)
		}
	}
	f.Queue = nil
	e.Abandon(f)
	return rest
}

// Chain drives n requests, each after the end of the one before, to their end.
func Chain(t testing.TB, e send.Engine, n int) *Feed {
	t.Helper()
	f := NewFeed(t, Get("/"))
	f.Later = func(*send.Request, *send.Result) *send.Request {
		if n--; n <= 0 {
			return nil
		}
		r := Get("/")
		r.Due = e.Now()
		return r
	}
	f.DriveAll(e)
	return f
}

// Get is a request that is due at 0, with a timeout of 5 s.
func Get(path string) *send.Request {
	return &send.Request{Method: "GET", Path: []byte(path), Timeout: 5e9}
}

// Many makes n requests, due one after another every gap ns.
func Many(n int, gap int64) []*send.Request {
	reqs := make([]*send.Request, n)
	for i := range reqs {
		reqs[i] = Get("/")
		reqs[i].Due = int64(i) * gap
		reqs[i].Scheduled = reqs[i].Due
	}
	return reqs
}

// Within gives each of the requests a timeout, in ns.
func Within(timeout int64, reqs []*send.Request) []*send.Request {
	for _, r := range reqs {
		r.Timeout = timeout
	}
	return reqs
}
