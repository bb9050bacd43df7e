package sendtest

import (
	"bufio"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

// closing is a server that closes a connection after so many answers, and after
// it has been idle for so long, and says neither.
func closing(answers int, idle time.Duration) Handler {
	return func(s *Server, c net.Conn, r *bufio.Reader) {
		for range answers {
			if c.SetReadDeadline(time.Now().Add(idle)) != nil {
				return
			}
			if _, _, err := s.Read(r); err != nil {
				return
			}
			write(c, OK)
		}
	}
}

// bear is how many requests a server may cost an engine that has to learn its
// ways by the clock: on a busy machine it closes later than it should, and then
// perhaps when a request is on its way.
const bear = 1

// closesIdle: a server that closes what is idle for 20 ms fails no request, none
// of which comes at about that time.
func (s *suite) closesIdle(t *testing.T) {
	srv := Serve(t, closing(1<<30, 20*time.Millisecond))
	reqs := Many(30, 0)
	for i, r := range reqs { // ten groups of three, 100 ms apart
		r.Due = int64(i/3) * 100e6
	}
	f, st := s.drive(t, Config(srv.Addr()), reqs...)
	failed := 30 - f.Kinds()[record.ErrNone]
	if failed > bear || !srv.Saw(st.Opened) || int(srv.Requests.Load()) != 30-failed {
		t.Errorf("%v, opened %d, accepted %d, %d requests", f.Kinds(), st.Opened, srv.Accepted.Load(), srv.Requests.Load())
	}
	if st.Opened < 10 {
		t.Errorf("only %d connections", st.Opened)
	}
}

// closedInStall: connections that the server closes while nobody drives the
// engine cost no request.
func (s *suite) closedInStall(t *testing.T) {
	if !s.can.LooksFirst {
		t.Skip("this engine cannot ask the system whether a connection has been closed; on Linux it can")
	}
	const n = 20
	release := make(chan struct{})
	srv := Serve(t, Each(func(c net.Conn) {
		<-release
		write(c, OK)
	}))
	e := s.open(t, Config(srv.Addr()))
	first, second := Many(n, 0), Many(n, 0)
	f := NewFeed(t, first...)
	for srv.Requests.Load() < n { // each on a connection of its own
		f.Run(e, e.Now()+1e6)
	}
	close(release)
	f.DriveAll(e)
	if st := e.Stats(); f.Kinds()[record.ErrNone] != n || st.ConnsOpen != n {
		t.Fatalf("%v, %+v", f.Kinds(), st)
	}
	srv.CloseConns()
	f.Add(e.Now(), second...)
	f.DriveAll(e)
	f.Law(append(first, second...))
	if st := e.Stats(); f.Kinds()[record.ErrNone] != 2*n || srv.Requests.Load() != 2*n || !srv.Saw(st.Opened) {
		t.Errorf("%v; %+v; the server saw %d requests on %d connections", f.Kinds(), st, srv.Requests.Load(), srv.Accepted.Load())
	}
}

// allStale: where the limit of connections is reached and none of them is used
// any more, because the server is expected to close it, a request does not wait
// until it does.
func (s *suite) allStale(t *testing.T) {
	const limit = 200 * time.Millisecond
	var closes atomic.Bool
	closes.Store(true)
	srv := Serve(t, func(s *Server, c net.Conn, r *bufio.Reader) {
		idle := time.Hour
		if closes.Swap(false) { // only the first connection
			idle = limit
		}
		closing(1<<30, idle)(s, c, r)
	})
	cfg := Config(srv.Addr())
	cfg.MaxConns = 1
	e := s.open(t, cfg)
	f := NewFeed(t, Get("/"))
	f.DriveAll(e)
	for e.Stats().ConnsOpen > 0 { // until the limit has been learned
		f.Run(e, e.Now()+5e6)
	}
	f.Add(e.Now(), Get("/"))
	f.DriveAll(e)
	// Later than four fifths of the limit, and earlier than it is refuted.
	f.Run(e, e.Now()+int64(limit)*9/10)
	f.Add(e.Now(), Many(3, 1e6)...)
	f.DriveAll(e)
	if st := e.Stats(); f.Kinds()[record.ErrNone] != 5 || st.ConnsOpen > 1 {
		t.Errorf("%v; %+v", f.Kinds(), st)
	}
}

// closingServers: 200 a second on a server that closes after ten answers, and
// on one that closes what is idle for 100 ms, neither saying so. For 2 s;
// HEADROOM_LONG=1 makes it 40 s, and then no request at all may fail.
func (s *suite) closingServers(t *testing.T) {
	n, bear := 400, bear
	if os.Getenv("HEADROOM_LONG") != "" {
		n, bear = 8000, 0
	}
	for _, c := range []struct {
		name   string
		handle Handler
	}{
		{"after ten answers", closing(10, time.Hour)},
		{"idle for 100 ms", closing(1<<30, 100*time.Millisecond)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := Serve(t, c.handle)
			rng := rand.New(rand.NewPCG(3, 4))
			reqs := Many(n, 0)
			at := 0.0
			for _, r := range reqs {
				r.Due, r.Scheduled = int64(at), int64(at)
				at += rng.ExpFloat64() * 5e6
			}
			f, st := s.drive(t, Config(srv.Addr()), reqs...)
			for _, o := range f.Got {
				if r := o.Result; r.Err != record.ErrNone {
					t.Logf("%v: due %d, sent %d, done %d, new %v", r.Err, o.Request.Due, r.Sent, r.Done, r.NewConn)
				}
			}
			failed := n - f.Kinds()[record.ErrNone]
			if failed > bear || int(srv.Requests.Load()) != n-failed || !srv.Saw(st.Opened) {
				t.Errorf("%v; %d requests seen; opened %d, accepted %d", f.Kinds(), srv.Requests.Load(), st.Opened, srv.Accepted.Load())
			}
			t.Logf("%d connections, %v", st.Opened, st.Negotiated)
		})
	}
}

// closesAfterTen: the server closes after ten answers and does not say so. It
// closes right behind the answer, so that the close is seen with it or right
// after it; the engine learns, and no request is ever sent twice.
func (s *suite) closesAfterTen(t *testing.T) {
	srv := Serve(t, closing(10, time.Hour))
	f, st := s.drive(t, Config(srv.Addr()), Many(600, 1e6)...)
	failed := 600 - f.Kinds()[record.ErrNone]
	if failed > send.ClosesToTell {
		t.Errorf("%v", f.Kinds())
	}
	if !srv.Saw(st.Opened) || int(srv.Requests.Load()) != 600-failed {
		t.Errorf("opened %d, accepted %d, %d requests, %d failed", st.Opened, srv.Accepted.Load(), srv.Requests.Load(), failed)
	}
	if got := st.Negotiated["closes_after_answers"]; got != "10" {
		t.Errorf("learned %q, want 10", got)
	}
}

// noFalseLesson: a server that closed some connections after two answers, and
// then no longer does, gets its connections used again.
func (s *suite) noFalseLesson(t *testing.T) {
	var stopped atomic.Bool
	srv := Serve(t, func(s *Server, c net.Conn, r *bufio.Reader) {
		closing(2, time.Hour)(s, c, r)
		if stopped.Load() {
			Always(OK)(s, c, r)
		}
	})
	e := s.open(t, Config(srv.Addr()))
	f := NewFeed(t, Many(20, 3e6)...)
	f.DriveAll(e)
	stopped.Store(true)
	f.Add(e.Now(), Many(100, 1e6)...)
	before := e.Stats().Opened
	f.DriveAll(e)
	st := e.Stats()
	// Without the unlearning it is one a request. A machine that stands still
	// for a moment makes the engine catch up over new ones.
	if n := st.Opened - before; n > 80 {
		t.Errorf("%d connections for 100 requests after the server had changed its ways", n)
	}
	if got := st.Negotiated["closes_after_answers"]; got != "" {
		t.Errorf("still says that the server closes after %s answers", got)
	}
}
