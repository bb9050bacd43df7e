package std

import (
	"bufio"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"headroom/store/record"
)

// TestClosesIdle: a server that closes what is idle for 20 ms fails no request.
func TestClosesIdle(t *testing.T) {
	s := serve(t, func(s *server, c net.Conn, r *bufio.Reader) {
		for {
			c.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
			if _, _, err := s.request(r); err != nil {
				return
			}
			io.WriteString(c, okAnswer)
		}
	})
	reqs := many(30, 0)
	for i, r := range reqs { // ten groups of three, 50 ms apart
		r.Due = int64(i/3) * 50e6
	}
	f, st := drive(t, config(s.Addr().String()), reqs...)
	if f.kinds()[record.ErrNone] != 30 || st.Opened != uint64(s.accepted.Load()) || s.requests.Load() != 30 {
		t.Errorf("%v, opened %d, accepted %d, %d requests", f.kinds(), st.Opened, s.accepted.Load(), s.requests.Load())
	}
	if st.Opened < 10 {
		t.Errorf("only %d connections", st.Opened)
	}
}

// TestClosingServers: 200 a second on a server that closes after ten answers,
// and on one that closes what is idle for 100 ms, neither saying so. For 2 s;
// HEADROOM_LONG=1 makes it 40 s, and then no request at all may fail.
func TestClosingServers(t *testing.T) {
	n, bear := 400, 1
	if os.Getenv("HEADROOM_LONG") != "" {
		n, bear = 8000, 0
	}
	for _, c := range []struct {
		name    string
		answers int
		idle    time.Duration
	}{{"after ten answers", 10, time.Hour}, {"idle for 100 ms", 1 << 30, 100 * time.Millisecond}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(s *server, conn net.Conn, r *bufio.Reader) {
				for range c.answers {
					conn.SetReadDeadline(time.Now().Add(c.idle))
					if _, _, err := s.request(r); err != nil {
						return
					}
					io.WriteString(conn, okAnswer)
				}
			})
			rng := rand.New(rand.NewPCG(3, 4))
			reqs := many(n, 0)
			at := 0.0
			for _, r := range reqs {
				r.Due, r.Scheduled = int64(at), int64(at)
				at += rng.ExpFloat64() * 5e6
			}
			f, st := drive(t, config(s.Addr().String()), reqs...)
			for _, o := range f.got {
				if o.res.Err != record.ErrNone {
					t.Logf("%v: due %d, sent %d, done %d, new %v", o.res.Err, o.req.Due, o.res.Sent, o.res.Done, o.res.NewConn)
				}
			}
			failed := n - f.kinds()[record.ErrNone]
			if failed > bear || int(s.requests.Load()) != n-failed || int64(st.Opened) != s.accepted.Load() {
				t.Errorf("%v; %d requests seen; opened %d, accepted %d", f.kinds(), s.requests.Load(), st.Opened, s.accepted.Load())
			}
			t.Logf("%d connections, %v", st.Opened, st.Negotiated)
		})
	}
}

// TestClosesAfterTen: the server closes after ten answers and does not say so.
// It closes right behind the answer, so that the close is seen with it or right
// after it; the loop learns, and no request is ever sent twice.
func TestClosesAfterTen(t *testing.T) {
	s := serve(t, func(s *server, c net.Conn, r *bufio.Reader) {
		for range 10 {
			if _, _, err := s.request(r); err != nil {
				return
			}
			io.WriteString(c, okAnswer)
		}
	})
	f, st := drive(t, config(s.Addr().String()), many(600, 1e6)...)
	failed := 600 - f.kinds()[record.ErrNone]
	if failed > closesToTell {
		t.Errorf("%v", f.kinds())
	}
	if st.Opened != uint64(s.accepted.Load()) || int(s.requests.Load()) != 600-failed {
		t.Errorf("opened %d, accepted %d, %d requests, %d failed", st.Opened, s.accepted.Load(), s.requests.Load(), failed)
	}
	if got := st.Negotiated["closes_after_answers"]; got != "10" {
		t.Errorf("learned %q, want 10", got)
	}
}

// TestNoFalseLesson: a server that closed some connections after two answers,
// and then no longer does, gets its connections used again.
func TestNoFalseLesson(t *testing.T) {
	var closing atomic.Bool
	closing.Store(true)
	s := serve(t, func(s *server, c net.Conn, r *bufio.Reader) {
		for n := 1; ; n++ {
			if _, _, err := s.request(r); err != nil {
				return
			}
			io.WriteString(c, okAnswer)
			if n == 2 && closing.Load() {
				return
			}
		}
	})
	e, err := newEngine(config(s.Addr().String()), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	f := &feed{t: t, queue: many(20, 3e6)}
	if err := driveAll(e, f); err != nil {
		t.Fatal(err)
	}
	closing.Store(false)
	f.queue = many(100, 1e6)
	for _, r := range f.queue {
		r.Due += e.Now()
	}
	before := e.Stats().Opened
	if err := driveAll(e, f); err != nil {
		t.Fatal(err)
	}
	st := e.Stats()
	if n := st.Opened - before; n > 40 {
		t.Errorf("%d connections for 100 requests after the server had changed its ways", n)
	}
	if got := st.Negotiated["closes_after_answers"]; got != "" {
		t.Errorf("still says that the server closes after %s answers", got)
	}
}
