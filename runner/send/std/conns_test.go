package std

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

// TestReuse counts connections as the server counts them.
func TestReuse(t *testing.T) {
	closing := strings.Replace(okAnswer, "X-Test", "Connection: close\r\nX-Test", 1)
	for _, c := range []struct {
		name   string
		handle func(*server, net.Conn, *bufio.Reader)
		change func(*send.Config)
		conns  int64
	}{
		{"one at a time", always(okAnswer), nil, 1},
		{"no keep-alive", always(okAnswer), func(c *send.Config) { c.KeepAlive = false }, 40},
		{"server closes", always(closing), nil, 40},
		{"server says max=0", always(strings.Replace(okAnswer, "X-Test", "Keep-Alive: max=0\r\nX-Test", 1)), nil, 40},
		{"seven a connection", always(okAnswer), func(c *send.Config) { c.MaxPerConn = 7 }, 6},
		{"extra bytes", always(okAnswer + "?"), nil, 40},
		{"old HTTP", once("HTTP/1.0 200 OK\r\n\r\nhello"), nil, 40},
		{"idle time-out", always(okAnswer), func(c *send.Config) { c.IdleTimeout = 1 }, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.handle)
			cfg := config(s.Addr().String())
			if c.change != nil {
				c.change(&cfg)
			}
			e, err := newEngine(cfg, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			// Each request follows the end of the one before.
			f := &feed{t: t, queue: []*send.Request{get("/")}}
			left := 39
			f.later = func(*send.Request, *send.Result) *send.Request {
				if left--; left < 0 {
					return nil
				}
				r := get("/")
				r.Due = e.Now()
				return r
			}
			if err := driveAll(e, f); err != nil {
				t.Fatal(err)
			}
			st := e.Stats()
			if f.kinds()[record.ErrNone] != 40 {
				t.Errorf("%v", f.kinds())
			}
			if int64(st.Opened) != c.conns || s.accepted.Load() != c.conns || s.requests.Load() != 40 || int64(st.Reused) != 40-c.conns {
				t.Errorf("opened %d, reused %d; the server saw %d and %d requests; want %d connections", st.Opened, st.Reused, s.accepted.Load(), s.requests.Load(), c.conns)
			}
			fresh := int64(0)
			for _, o := range f.got {
				if o.res.NewConn {
					fresh++
				}
			}
			if fresh != c.conns {
				t.Errorf("%d requests say that theirs was a new connection, want %d", fresh, c.conns)
			}
		})
	}
}

// TestMaxConns: with a limit of our own the wait is lag, and the limit is seen.
func TestMaxConns(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(s *server, c net.Conn, r *bufio.Reader) {
		for {
			if _, _, err := s.request(r); err != nil {
				return
			}
			<-release
			io.WriteString(c, okAnswer)
		}
	})
	cfg := config(s.Addr().String())
	cfg.MaxConns = 4
	e, err := newEngine(cfg, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	reqs := many(100, 1e6)
	f := &feed{t: t, queue: reqs}
	if err := e.Drive(context.Background(), f, 150e6, false); err != nil {
		t.Fatal(err)
	}
	st := e.Stats()
	if st.InFlight != 100 || st.Waiting != 96 || st.ConnsOpen != 4 || st.LimitedNS < 50e6 || s.requests.Load() != 4 {
		t.Fatalf("stalled: %+v, %d requests seen", st, s.requests.Load())
	}
	stalled := e.Now()
	close(release)
	if err := driveAll(e, f); err != nil {
		t.Fatal(err)
	}
	f.law(reqs)
	before := 0
	for _, o := range f.got {
		if o.res.Err != record.ErrNone {
			t.Fatalf("%+v", o.res)
		}
		if o.res.Sent < stalled {
			before++
		}
	}
	if before != 4 || s.accepted.Load() != 4 {
		t.Errorf("%d were sent during the stall, over %d connections; want 4 and 4", before, s.accepted.Load())
	}
}

// TestOrder: who waits is served first come, first served.
func TestOrder(t *testing.T) {
	s := serve(t, always(okAnswer))
	cfg := config(s.Addr().String())
	cfg.MaxConns = 1
	f, _ := drive(t, cfg, many(200, 1e4)...)
	for i := 1; i < len(f.got); i++ {
		if f.got[i].req.Due < f.got[i-1].req.Due || f.got[i].res.Sent < f.got[i-1].res.Done {
			t.Fatalf("answer %d is that of a request due at %d, sent at %d, after one due at %d that was done at %d",
				i, f.got[i].req.Due, f.got[i].res.Sent, f.got[i-1].req.Due, f.got[i-1].res.Done)
		}
	}
}

// TestAbandon ends what is in flight, by how far it had got.
func TestAbandon(t *testing.T) {
	s := serve(t, func(_ *server, c net.Conn, _ *bufio.Reader) { hang(c) })
	cfg := config(s.Addr().String())
	cfg.MaxConns = 3
	e, err := newEngine(cfg, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	reqs := many(10, 0)
	f := &feed{t: t, queue: reqs}
	if err := e.Drive(context.Background(), f, 50e6, true); err != nil {
		t.Fatal(err)
	}
	e.Abandon(f)
	f.law(reqs)
	if k := f.kinds(); k[record.ErrDrain] != 3 || k[record.ErrNoConnection] != 7 {
		t.Errorf("%v, want 3 drained and 7 without a connection", k)
	}
	if st := e.Stats(); st.InFlight != 0 || st.ConnsOpen != 0 {
		t.Errorf("%+v", st)
	}
	// The engine goes on.
	f.queue = many(1, 0)
	f.queue[0].Timeout = 50e6
	if err := driveAll(e, f); err != nil {
		t.Fatal(err)
	}
}

// TestCancel: Drive returns at once, and leaves what is in flight.
func TestCancel(t *testing.T) {
	s := serve(t, func(_ *server, c net.Conn, _ *bufio.Reader) { hang(c) })
	e, err := newEngine(config(s.Addr().String()), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	f := &feed{t: t, queue: many(2, 0)}
	f.queue[0].Timeout, f.queue[1].Timeout = 600e9, 600e9
	f.queue[1].Due = 600e9
	before := s.accepted.Load()
	go func() {
		for s.accepted.Load() == before {
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
	e.Close()
	if err := e.Drive(context.Background(), f, 0, false); err == nil {
		t.Error("Drive after Close")
	}
}
