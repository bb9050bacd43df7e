package sim

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

const (
	ms  = int64(time.Millisecond)
	sec = int64(time.Second)
)

// feed offers arrivals at given instants and keeps what became of them.
type feed struct {
	at      []int64 // of first attempts
	timeout int64
	retries int // immediate, after a timeout
	again   []*send.Request
	open    map[*send.Request]bool
	ends    []end
}

type end struct {
	scheduled, sent, done int64
	attempt, status       int
	err                   record.ErrorKind
	unsent, fresh         bool
	body                  string
}

func (e end) response() int64 { return e.done - e.scheduled }

func even(rate float64, length time.Duration) *feed {
	f := &feed{timeout: 60 * sec}
	for i := 1; ; i++ {
		at := int64(float64(i) * 1e9 / rate)
		if at > int64(length) {
			return f
		}
		f.at = append(f.at, at)
	}
}

func poisson(seed uint64, rate float64, length time.Duration) *feed {
	f := &feed{timeout: 60 * sec}
	r := newStream(seed, 99)
	for at := 0.0; ; {
		at -= math.Log(r.uniform()) / rate * 1e9
		if at > float64(length) {
			return f
		}
		f.at = append(f.at, int64(at))
	}
}

func (f *feed) Due() (int64, bool) {
	if len(f.again) > 0 {
		return f.again[0].Due, true
	}
	if len(f.at) > 0 {
		return f.at[0], true
	}
	return 0, false
}

func (f *feed) Fire(now int64) *send.Request {
	var r *send.Request
	if len(f.again) > 0 {
		r, f.again = f.again[0], f.again[1:]
	} else {
		r = &send.Request{
			Scheduled: f.at[0], Due: f.at[0], Timeout: f.timeout, KeepBody: 1000,
			Method: "GET", Path: []byte("/customers/42/orders?limit=20"),
		}
		f.at = f.at[1:]
	}
	if now < r.Due {
		panic("fired early")
	}
	if f.open == nil {
		f.open = map[*send.Request]bool{}
	}
	f.open[r] = true
	return r
}

func (f *feed) Done(r *send.Request, res *send.Result) {
	if !f.open[r] {
		panic("done twice")
	}
	delete(f.open, r)
	f.ends = append(f.ends, end{r.Scheduled, res.Sent, res.Done, r.Attempt, res.Status, res.Err, res.Unsent, res.NewConn, string(res.Body)})
	if res.Err == record.ErrAnswerTimeout && r.Attempt < f.retries {
		f.again = append(f.again, &send.Request{Scheduled: r.Scheduled, Due: res.Done, Timeout: r.Timeout, Attempt: r.Attempt + 1, Method: r.Method, Path: r.Path})
	}
}

func (f *feed) values(of func(end) int64) []int64 {
	var all []int64
	for _, e := range f.ends {
		all = append(all, of(e))
	}
	return all
}

func run(t *testing.T, o EngineOptions, f *feed) *Engine {
	t.Helper()
	e := NewEngine(o)
	if err := e.Drive(t.Context(), f, math.MaxInt64/2, true); err != nil {
		t.Fatal(err)
	}
	if len(f.open) > 0 || e.Stats().InFlight != 0 || e.Stats().Waiting != 0 {
		t.Fatalf("%d open, stats %+v", len(f.open), e.Stats())
	}
	if err := e.Queue().Counters().Check(); err != nil {
		t.Fatal(err)
	}
	return e
}

func mmc(workers int, mean time.Duration) Options {
	return Options{Workers: workers, Service: Service{Mean: mean, Shape: Exponential}, Seed: 4}
}

func TestEngineAgainstTheory(t *testing.T) {
	f := poisson(1, 720, 600*time.Second)
	e := run(t, EngineOptions{Service: mmc(8, 10*time.Millisecond), Delay: time.Millisecond}, f)
	all := f.values(end.response)
	// M/M/8 at 720/s, and a round trip of 2 ms.
	near(t, "mean", meanMS(all), 18.769162+2, .04)
	near(t, "p99", quantileMS(all, .99), 70.873474+2, .10)
	if c := e.Queue().Counters(); c.Departed != uint64(len(f.ends)) {
		t.Errorf("%d departures, %d answers", c.Departed, len(f.ends))
	}
	if want := `{"id":"42","method":"GET","path":"/customers/42/orders","customer":"42","limit":"20"}` + "\n"; f.ends[0].body != want {
		t.Errorf("body %q, want %q", f.ends[0].body, want)
	}
	if s := e.Stats(); s.Opened+s.Reused != uint64(len(f.ends)) || s.Opened > 200 {
		t.Errorf("connections %+v", s.Connections)
	}
}

func TestEngineDeterministic(t *testing.T) {
	o := EngineOptions{Service: mmc(2, 20*time.Millisecond), Delay: 100 * time.Microsecond, MaxConns: 30, Lag: 20 * time.Microsecond, MaxRate: 500}
	o.Service.Noise.Sigma = .05
	o.Service.Wrong = .01
	o.Service.Queue = 50
	var before []end
	for i := range 2 {
		f := poisson(3, 110, 20*time.Second)
		f.timeout, f.retries = 400*ms, 2
		run(t, o, f)
		if i == 1 && !slices.Equal(before, f.ends) {
			t.Error("the same options gave different results")
		}
		before = f.ends
	}
	f := poisson(3, 110, 20*time.Second)
	f.timeout, f.retries = 400*ms, 2
	o.Service.Seed++
	if run(t, o, f); slices.Equal(before, f.ends) {
		t.Error("another seed gave the same results")
	}
}

// A timeout ends at exactly sent + timeout. Past the knee a service that works
// for clients that left answers nobody in time. One that drops their work does
// better, though not well: in a FIFO queue those who are served next have
// waited almost as long as those who just left.
func TestEngineTimeout(t *testing.T) {
	goodput := func(keep bool) float64 {
		f := poisson(1, 1200, 60*time.Second)
		f.timeout = 500 * ms
		o := mmc(8, 10*time.Millisecond)
		o.KeepWorking = keep
		run(t, EngineOptions{Service: o, Delay: wire}, f)
		good := 0
		for _, e := range f.ends {
			switch {
			case e.status == 200:
				good++
			case e.err != record.ErrAnswerTimeout || e.done != e.sent+f.timeout:
				t.Fatalf("ended as %+v", e)
			}
		}
		return float64(good) / 60
	}
	dropped, kept := goodput(false), goodput(true)
	t.Logf("goodput %.1f/s with dropped work, %.1f/s without", dropped, kept)
	if kept > 40 || dropped < 3*kept {
		t.Errorf("goodput %.1f/s with dropped work, %.1f/s without: want a collapse without", dropped, kept)
	}
}

const wire = 100 * time.Microsecond

func TestEngineRefusal(t *testing.T) {
	f := poisson(1, 1200, 60*time.Second)
	o := mmc(8, 10*time.Millisecond)
	o.Queue = 100
	e := run(t, EngineOptions{Service: o, Delay: wire}, f)
	var refused uint64
	for _, e := range f.ends {
		if e.status == 503 {
			refused++
		}
	}
	if c := e.Queue().Counters(); c.RefusedFull != refused {
		t.Errorf("%d answers of 503, the service counted %d", refused, c.RefusedFull)
	}
	near(t, "refused", float64(refused)/float64(len(f.ends)), 1./3, .03)
}

// A service frozen for 6 s of 60 s at 100/s: response p95 is 3 s and p99 5.4 s
// on both clocks. With 10 connections the service clock sees next to nothing.
func TestEngineFreezeAndOmission(t *testing.T) {
	for _, conns := range []int{0, 10} {
		o := EngineOptions{Service: Options{Workers: 20, Service: Service{Mean: time.Millisecond, Shape: Constant}}, MaxConns: conns, Delay: wire}
		o.Service.Freezes = []Freeze{{At: 20 * time.Second, For: 6 * time.Second}}
		f := even(100, 60*time.Second)
		e := run(t, o, f)
		response := f.values(end.response)
		near(t, "response p95", quantileMS(response, .95), 3000, .02)
		near(t, "response p99", quantileMS(response, .99), 5400, .02)
		service := quantileMS(f.values(func(e end) int64 { return e.done - e.sent }), .99)
		if conns == 0 {
			near(t, "service p99", service, 5400, .01)
			continue
		}
		if service > 80 {
			t.Errorf("service p99 %g ms through 10 connections", service)
		}
		near(t, "limit reached for s", float64(e.Stats().LimitedNS)/1e9, 5.9, .02)
		if s := e.Stats(); s.Opened != 10 {
			t.Errorf("%d connections opened, want 10", s.Opened)
		}
	}
}

// 160/s of capacity, 50/s offered, 200 ms timeout, a freeze of 0.9 s: without
// retries it recovers, with three immediate ones 4 x 50 > 160 keeps it down.
func TestEngineRetrySpiral(t *testing.T) {
	for _, retries := range []int{0, 3} {
		o := EngineOptions{Service: Options{Workers: 4, Service: Service{Mean: 25 * time.Millisecond, Shape: Constant}, KeepWorking: true}, Delay: wire}
		o.Service.Freezes = []Freeze{{At: 20 * time.Second, For: 900 * time.Millisecond}}
		f := even(50, 60*time.Second)
		f.timeout, f.retries = 200*ms, retries
		run(t, o, f)
		var late, good int
		for _, e := range f.ends {
			if e.scheduled < 24*sec {
				continue
			}
			if e.err == record.ErrAnswerTimeout {
				late++
			} else {
				good++
			}
		}
		if retries == 0 && (late > 0 || good != 50*36+1) {
			t.Errorf("without retries, from 3 s after the freeze: %d good, %d timeouts", good, late)
		}
		if retries == 3 && good > late/10 {
			t.Errorf("with retries: %d good, %d timeouts: want it to stay down", good, late)
		}
	}
}

func TestEngineGeneratorLimits(t *testing.T) {
	free := Options{Workers: 100, Service: Service{Mean: time.Millisecond, Shape: Constant}}
	f := even(1000, 10*time.Second)
	run(t, EngineOptions{Service: free, MaxRate: 500}, f)
	if last := f.ends[len(f.ends)-1]; last.sent < 19*sec || last.sent > 21*sec {
		t.Errorf("10,000 sends at 500/s ended at %s", time.Duration(last.sent))
	}
	f = even(1000, 10*time.Second)
	run(t, EngineOptions{Service: free, Stalls: []Freeze{{At: 5 * time.Second, For: time.Second}}}, f)
	for _, e := range f.ends {
		want := e.scheduled
		if want >= 5*sec && want < 6*sec {
			want = 6 * sec
		}
		if e.sent != want {
			t.Fatalf("scheduled %d, sent %d, want %d", e.scheduled, e.sent, want)
		}
	}
}

func TestEngineAbandon(t *testing.T) {
	o := EngineOptions{Service: Options{Workers: 1, Service: Service{Mean: time.Second, Shape: Constant}}, MaxConns: 3, Delay: wire}
	e := NewEngine(o)
	f := even(10, 800*time.Millisecond)
	if err := e.Drive(t.Context(), f, sec, false); err != nil || e.Now() != sec {
		t.Fatal(err, e.Now())
	}
	if s := e.Stats(); s.InFlight != 8 || s.Waiting != 5 || s.ConnsOpen != 3 {
		t.Fatalf("%+v", s)
	}
	e.Abandon(f)
	drained, unsent := 0, 0
	for i, end := range f.ends {
		if end.scheduled != int64(i+1)*100*ms {
			t.Errorf("%d ended out of order", i)
		}
		switch {
		case end.err == record.ErrDrain && !end.unsent && end.sent > 0 && end.done == sec:
			drained++
		case end.err == record.ErrNoConnection && end.unsent && end.sent == 0:
			unsent++
		default:
			t.Errorf("%+v", end)
		}
	}
	if drained != 3 || unsent != 5 || e.Stats().InFlight != 0 {
		t.Errorf("%d drained, %d unsent, %+v", drained, unsent, e.Stats())
	}
	// The service forgets what waited and finishes what it had begun.
	if err := e.Drive(t.Context(), f, 5*sec, false); err != nil {
		t.Fatal(err)
	}
	if c := e.Queue().Counters(); c.Abandoned != 2 || c.Departed != 1 || c.Check() != nil {
		t.Errorf("%+v", c)
	}
}

func TestEngineCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewEngine(EngineOptions{}).Drive(ctx, even(10, time.Second), sec, true); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
