package sendtest

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

// reuse counts connections as the server counts them.
func (s *suite) reuse(t *testing.T) {
	with := func(f string) Handler { return Always(strings.Replace(OK, "X-Test", f+"\r\nX-Test", 1)) }
	for _, c := range []struct {
		name   string
		handle Handler
		change func(*send.Config)
		conns  int64
	}{
		{"one at a time", Always(OK), nil, 1},
		{"no keep-alive", Always(OK), func(c *send.Config) { c.KeepAlive = false }, 40},
		{"server closes", with("Connection: close"), nil, 40},
		{"server says max=0", with("Keep-Alive: max=0"), nil, 40},
		{"seven a connection", Always(OK), func(c *send.Config) { c.MaxPerConn = 7 }, 6},
		{"extra bytes", Always(OK + "?"), nil, 40},
		{"old HTTP", Once("HTTP/1.0 200 OK\r\n\r\nhello"), nil, 40},
		{"idle time-out", Always(OK), func(c *send.Config) { c.IdleTimeout = 1 }, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := Serve(t, c.handle)
			cfg := Config(srv.Addr())
			if c.change != nil {
				c.change(&cfg)
			}
			e := s.open(t, cfg)
			f := Chain(t, e, 40)
			st := e.Stats()
			if f.Kinds()[record.ErrNone] != 40 {
				t.Errorf("%v", f.Kinds())
			}
			if int64(st.Opened) != c.conns || !srv.Saw(st.Opened) || srv.Requests.Load() != 40 || int64(st.Reused) != 40-c.conns {
				t.Errorf("opened %d, reused %d; the server saw %d and %d requests; want %d connections", st.Opened, st.Reused, srv.Accepted.Load(), srv.Requests.Load(), c.conns)
			}
			if n := f.Fresh(); n != c.conns {
				t.Errorf("%d requests say that theirs was a new connection, want %d", n, c.conns)
			}
		})
	}
}

// maxConns: with a limit of our own the wait is lag, and the limit is seen.
func (s *suite) maxConns(t *testing.T) {
	release := make(chan struct{})
	srv := Serve(t, Each(func(c net.Conn) {
		<-release
		write(c, OK)
	}))
	cfg := Config(srv.Addr())
	cfg.MaxConns = 4
	e := s.open(t, cfg)
	reqs := Many(100, 1e6)
	f := NewFeed(t, reqs...)
	f.Run(e, 150e6)
	st := e.Stats()
	stalled := e.Now()
	close(release)
	if st.InFlight != 100 || st.Waiting != 96 || st.ConnsOpen != 4 || st.LimitedNS < 50e6 || srv.Requests.Load() != 4 {
		t.Fatalf("stalled: %+v, %d requests seen", st, srv.Requests.Load())
	}
	f.DriveAll(e)
	f.Law(reqs)
	before := 0
	for _, o := range f.Got {
		if o.Result.Err != record.ErrNone {
			t.Fatalf("%+v", o.Result)
		}
		if o.Result.Sent < stalled {
			before++
		}
	}
	if before != 4 || srv.Accepted.Load() != 4 {
		t.Errorf("%d were sent during the stall, over %d connections; want 4 and 4", before, srv.Accepted.Load())
	}
}

// order: who waits is served first come, first served.
func (s *suite) order(t *testing.T) {
	srv := Serve(t, Always(OK))
	cfg := Config(srv.Addr())
	cfg.MaxConns = 1
	f, _ := s.drive(t, cfg, Many(200, 1e4)...)
	for i := 1; i < len(f.Got); i++ {
		a, b := f.Got[i-1], f.Got[i]
		if b.Request.Due < a.Request.Due || b.Result.Sent < a.Result.Done {
			t.Fatalf("answer %d is that of a request due at %d, sent at %d, after one due at %d that was done at %d",
				i, b.Request.Due, b.Result.Sent, a.Request.Due, a.Result.Done)
		}
	}
}

// abandon ends what is in flight, by how far it had got.
func (s *suite) abandon(t *testing.T) {
	srv := Serve(t, Hang)
	cfg := Config(srv.Addr())
	cfg.MaxConns = 3
	e := s.open(t, cfg)
	reqs := Many(10, 0)
	f := NewFeed(t, reqs...)
	f.Cut(e, 50e6, reqs)
	f.Law(reqs)
	if k := f.Kinds(); k[record.ErrDrain] != 3 || k[record.ErrNoConnection] != 7 {
		t.Errorf("%v, want 3 drained and 7 without a connection", k)
	}
	if st := e.Stats(); st.InFlight != 0 || st.ConnsOpen != 0 {
		t.Errorf("%+v", st)
	}
	f.Queue = Within(50e6, Many(1, 0)) // the engine goes on
	f.DriveAll(e)
}

func (s *suite) cancel(t *testing.T) { Cancel(t, s.engine) }

// Cancel is the test of the suite by which Drive returns at once when its
// context ends, and leaves what is in flight.
func Cancel(t *testing.T, engine Make) {
	srv := Serve(t, Hang)
	e, err := engine(Config(srv.Addr()), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := NewFeed(t, Within(600e9, Many(2, 600e9))...)
	go func() {
		for srv.Accepted.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if err := e.Drive(ctx, f, 600e9, false); err != context.Canceled {
		t.Errorf("Drive returned %v", err)
	}
	if st := e.Stats(); st.InFlight != 1 {
		t.Errorf("%+v", st)
	}
	if err := e.Drive(ctx, f, 600e9, false); err != context.Canceled {
		t.Errorf("a second Drive returned %v", err)
	}
	e.Abandon(f)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := e.Drive(context.Background(), f, 0, false); err == nil {
		t.Error("Drive after Close")
	}
}
