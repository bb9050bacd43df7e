package sendtest

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"headroom/runner/send"
	"headroom/store/record"
)

// mischief does to each request what its path asks for.
func mischief(s *Server, c net.Conn, r *bufio.Reader) {
	for {
		line, _, err := s.Read(r)
		if err != nil {
			return
		}
		switch path := strings.Fields(line)[1]; path {
		case "/ok":
			write(c, OK)
		case "/slow":
			time.Sleep(3 * time.Millisecond)
			write(c, OK)
		case "/chunked":
			write(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
			write(c, "2\r\nde\r\n0\r\n\r\n")
		case "/announced":
			write(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			return
		case "/close":
			write(c, OK)
			return
		case "/extra":
			write(c, OK+OK)
		case "/old":
			write(c, "HTTP/1.0 200 OK\r\n\r\nhello")
			return
		case "/truncated":
			write(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
			return
		case "/reset":
			reset(c)
			return
		case "/vanish":
			return
		case "/hang":
			Hang(s, c, r)
			return
		case "/garbage":
			write(c, "\x16\x03\x01\x02\x00")
			return
		case "/pieces":
			for _, piece := range []string{OK[:9], OK[9:30], OK[30:]} {
				write(c, piece)
				time.Sleep(200 * time.Microsecond)
			}
		case "/large":
			write(c, "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n"+strings.Repeat("z", 300000))
		}
	}
}

// Draw draws requests for the paths, with limits and bodies of several sizes.
func Draw(rt *rapid.T, most int, paths []string) []*send.Request {
	n := rapid.IntRange(1, most).Draw(rt, "requests")
	reqs := Many(n, rapid.SampledFrom([]int64{0, 20e3, 300e3}).Draw(rt, "gap"))
	for _, r := range reqs {
		r.Path = []byte(rapid.SampledFrom(paths).Draw(rt, "path"))
		r.Timeout = rapid.SampledFrom([]int64{2e6, 15e6, 15e6, 40e6}).Draw(rt, "timeout")
		r.KeepBody = rapid.SampledFrom([]int{0, 4, 1000}).Draw(rt, "keep")
		if rapid.IntRange(0, 9).Draw(rt, "post") == 0 {
			r.Method, r.Body = "POST", make([]byte, rapid.SampledFrom([]int{0, 10, 40000}).Draw(rt, "body"))
		}
	}
	return reqs
}

// DrawLimits draws limits of connections.
func DrawLimits(rt *rapid.T, cfg *send.Config) {
	cfg.MaxConns = rapid.SampledFrom([]int{0, 0, 1, 3, 10}).Draw(rt, "connections")
	cfg.MaxPerConn = rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(rt, "per connection")
	cfg.IdleTimeout = rapid.SampledFrom([]int64{0, 1e6}).Draw(rt, "idle")
}

// law: whatever the server does, whatever the limits are, and whenever the run
// is cut off, every request ends exactly once, and the server never sees more
// requests than were sent.
func (s *suite) law(t *testing.T) {
	paths := []string{"/ok", "/ok", "/ok", "/slow", "/chunked", "/announced", "/close", "/extra", "/old", "/truncated", "/reset", "/vanish", "/hang", "/garbage", "/pieces", "/large", "/bad path"}
	rapid.Check(t, func(rt *rapid.T) {
		srv := Serve(t, mischief)
		if rapid.IntRange(0, 9).Draw(rt, "gone") == 0 {
			srv.Close()
		}
		cfg := Config(srv.Addr())
		cfg.KeepAlive = rapid.IntRange(0, 4).Draw(rt, "keep-alive") > 0
		DrawLimits(rt, &cfg)
		retries := rapid.IntRange(0, 2).Draw(rt, "retries")
		Law(t, rt, s.engine, cfg, Draw(rt, 120, paths), retries, srv.Requests.Load)
	})
}

// Law drives reqs on an engine of their own, each retried at most so often, to
// their end or to a drawn instant, and asserts that every request ends exactly
// once, and that the server has not seen more requests than were sent. seen is
// how many it has seen.
func Law(t *testing.T, rt *rapid.T, engine Make, cfg send.Config, reqs []*send.Request, retries int, seen func() int64) {
	cut := rapid.SampledFrom([]int64{0, 0, 1e6, 20e6}).Draw(rt, "cut")
	e, err := engine(cfg, time.Now())
	if err != nil {
		rt.Fatal(err)
	}
	defer e.Close()
	f := NewFeed(t, reqs...)
	f.Later = func(req *send.Request, res *send.Result) *send.Request {
		if res.Err == record.ErrNone || res.Err == record.ErrDrain || res.Err == record.ErrNoConnection || req.Attempt >= retries {
			return nil
		}
		again := *req
		again.Attempt++
		again.Due = e.Now()
		reqs = append(reqs, &again)
		return &again
	}
	if cut > 0 {
		f.Run(e, cut)
		if st := e.Stats(); cfg.MaxConns > 0 && st.ConnsOpen > cfg.MaxConns || st.InFlight+len(f.Got)+len(f.Queue) != len(reqs) {
			rt.Errorf("%+v, %d ended, %d not yet due, of %d", st, len(f.Got), len(f.Queue), len(reqs))
		}
		reqs = f.Cut(e, cut, reqs)
	} else {
		f.DriveAll(e)
	}
	f.Law(reqs)
	sent := f.Sent()
	if n := seen(); n > sent {
		rt.Errorf("%d requests sent, %d seen by the server", sent, n)
	}
	if st := e.Stats(); st.InFlight != 0 || st.Waiting != 0 || cfg.MaxConns > 0 && st.ConnsOpen > cfg.MaxConns {
		rt.Errorf("%+v", st)
	}
	if t.Failed() {
		rt.FailNow()
	}
}
