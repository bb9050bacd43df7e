package std

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"headroom/runner/send"
	"headroom/store/record"
)

// mischief does to each request what its path asks for.
func mischief(s *server, c net.Conn, r *bufio.Reader) {
	for {
		line, _, err := s.request(r)
		if err != nil {
			return
		}
		switch path := strings.Fields(line)[1]; path {
		case "/ok":
			io.WriteString(c, okAnswer)
		case "/slow":
			time.Sleep(3 * time.Millisecond)
			io.WriteString(c, okAnswer)
		case "/chunked":
			io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
			io.WriteString(c, "2\r\nde\r\n0\r\n\r\n")
		case "/announced":
			io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			return
		case "/close":
			io.WriteString(c, okAnswer)
			return
		case "/extra":
			io.WriteString(c, okAnswer+okAnswer)
		case "/old":
			io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\nhello")
			return
		case "/truncated":
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
			return
		case "/reset":
			reset(c)
			return
		case "/vanish":
			return
		case "/hang":
			hang(c)
			return
		case "/garbage":
			io.WriteString(c, "\x16\x03\x01\x02\x00")
			return
		case "/pieces":
			for _, piece := range []string{okAnswer[:9], okAnswer[9:30], okAnswer[30:]} {
				io.WriteString(c, piece)
				time.Sleep(200 * time.Microsecond)
			}
		case "/large":
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n"+strings.Repeat("z", 300000))
		}
	}
}

// TestLaw: whatever the server does, whatever the limits are, and whenever the
// run is cut off, every request ends exactly once, and the server never sees
// more requests than were sent.
func TestLaw(t *testing.T) {
	paths := []string{"/ok", "/ok", "/ok", "/slow", "/chunked", "/announced", "/close", "/extra", "/old", "/truncated", "/reset", "/vanish", "/hang", "/garbage", "/pieces", "/large", "/bad path"}
	rapid.Check(t, func(rt *rapid.T) {
		s := serve(t, mischief)
		if rapid.IntRange(0, 9).Draw(rt, "gone") == 0 {
			s.Close()
		}
		cfg := config(s.Addr().String())
		cfg.KeepAlive = rapid.IntRange(0, 4).Draw(rt, "keep-alive") > 0
		cfg.MaxConns = rapid.SampledFrom([]int{0, 0, 1, 3, 10}).Draw(rt, "connections")
		cfg.MaxPerConn = rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(rt, "per connection")
		cfg.IdleTimeout = rapid.SampledFrom([]int64{0, 1e6}).Draw(rt, "idle")
		n := rapid.IntRange(1, 120).Draw(rt, "requests")
		gap := rapid.SampledFrom([]int64{0, 20e3, 300e3}).Draw(rt, "gap")
		retries := rapid.IntRange(0, 2).Draw(rt, "retries")
		cut := rapid.SampledFrom([]int64{0, 0, 1e6, 20e6}).Draw(rt, "cut")
		reqs := many(n, gap)
		for _, r := range reqs {
			r.Path = []byte(rapid.SampledFrom(paths).Draw(rt, "path"))
			r.Timeout = rapid.SampledFrom([]int64{2e6, 15e6, 15e6, 40e6}).Draw(rt, "timeout")
			r.KeepBody = rapid.SampledFrom([]int{0, 4, 1000}).Draw(rt, "keep")
			if rapid.IntRange(0, 9).Draw(rt, "post") == 0 {
				r.Method, r.Body = "POST", make([]byte, rapid.SampledFrom([]int{0, 10, 40000}).Draw(rt, "body"))
			}
		}
		e, err := newEngine(cfg, time.Now())
		if err != nil {
			rt.Fatal(err)
		}
		defer e.Close()
		f := &feed{t: t, queue: reqs}
		f.later = func(req *send.Request, res *send.Result) *send.Request {
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
			if err := e.Drive(context.Background(), f, cut, false); err != nil {
				rt.Fatal(err)
			}
			if st := e.Stats(); cfg.MaxConns > 0 && st.ConnsOpen > cfg.MaxConns || st.InFlight+len(f.got)+len(f.queue) != len(reqs) {
				rt.Errorf("%+v, %d ended, %d not yet due, of %d", st, len(f.got), len(f.queue), len(reqs))
			}
			reqs = notYetDue(reqs, f.queue)
			f.queue = nil
			e.Abandon(f)
		} else if err := driveAll(e, f); err != nil {
			rt.Fatal(err)
		}
		f.law(reqs)
		sent := int64(0)
		for _, o := range f.got {
			if !o.res.Unsent {
				sent++
			}
		}
		if seen := s.requests.Load(); seen > sent {
			rt.Errorf("%d requests sent, %d seen by the server", sent, seen)
		}
		if st := e.Stats(); st.InFlight != 0 || st.Waiting != 0 {
			rt.Errorf("%+v", st)
		}
		if t.Failed() {
			rt.FailNow()
		}
	})
}

func notYetDue(all, gone []*send.Request) []*send.Request {
	var rest []*send.Request
	for _, r := range all {
		keep := true
		for _, g := range gone {
			keep = keep && g != r
		}
		if keep {
			rest = append(rest, r)
		}
	}
	return rest
}

// chaos does over HTTP/2 what mischief does over HTTP/1.1.
func chaos(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/large" {
		io.Copy(io.Discard, r.Body) // only then a server hears that the client is gone
	}
	switch r.URL.Path {
	case "/slow":
		time.Sleep(3 * time.Millisecond)
	case "/reset":
		panic(http.ErrAbortHandler)
	case "/truncated":
		w.Header().Set("Content-Length", "9")
		io.WriteString(w, "abc")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case "/hang":
		<-r.Context().Done()
		return
	case "/hang-body":
		io.WriteString(w, "abc")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	case "/goaway":
		w.Header().Set("Connection", "close")
	case "/large":
		io.WriteString(w, strings.Repeat("z", 300000))
	}
	fine(w, r)
}

// TestLawH2: the same law over HTTP/2, with few streams, with and without TLS.
func TestLawH2(t *testing.T) {
	a := newAuthority(t)
	pair := a.pair(time.Hour, "test.example")
	paths := []string{"/ok", "/ok", "/ok", "/slow", "/reset", "/truncated", "/hang", "/hang-body", "/goaway", "/goaway", "/large", "/bad path"}
	rapid.Check(t, func(rt *rapid.T) {
		var config *tls.Config
		if rapid.Bool().Draw(rt, "tls") {
			config = &tls.Config{Certificates: []tls.Certificate{pair}}
		}
		streams := rapid.SampledFrom([]int{1, 3, 100}).Draw(rt, "streams")
		w := serveHTTP(t, config, func(s *http.Server) { s.HTTP2.MaxConcurrentStreams = streams }, chaos)
		defer w.server.Close()
		cfg := h2c(w)
		if config != nil {
			cfg = secure(w, a, rapid.SampledFrom([]string{"2", "auto", "1.1"}).Draw(rt, "version"))
		}
		cfg.MaxConns = rapid.SampledFrom([]int{0, 0, 1, 3}).Draw(rt, "connections")
		cfg.MaxPerConn = rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(rt, "per connection")
		cfg.IdleTimeout = rapid.SampledFrom([]int64{0, 1e6}).Draw(rt, "idle")
		reqs := many(rapid.IntRange(1, 80).Draw(rt, "requests"), rapid.SampledFrom([]int64{0, 20e3, 300e3}).Draw(rt, "gap"))
		for _, r := range reqs {
			r.Path = []byte(rapid.SampledFrom(paths).Draw(rt, "path"))
			r.Timeout = rapid.SampledFrom([]int64{2e6, 15e6, 40e6}).Draw(rt, "timeout")
			r.KeepBody = rapid.SampledFrom([]int{0, 4, 1000}).Draw(rt, "keep")
			if rapid.IntRange(0, 9).Draw(rt, "post") == 0 {
				r.Method, r.Body = "POST", make([]byte, rapid.SampledFrom([]int{0, 10, 40000}).Draw(rt, "body"))
			}
		}
		e, err := newEngine(cfg, time.Now())
		if err != nil {
			rt.Fatal(err)
		}
		defer e.Close()
		f := &feed{t: t, queue: reqs}
		if cut := rapid.SampledFrom([]int64{0, 0, 1e6, 20e6}).Draw(rt, "cut"); cut > 0 {
			if err := e.Drive(context.Background(), f, cut, false); err != nil {
				rt.Fatal(err)
			}
			reqs = notYetDue(reqs, f.queue)
			f.queue = nil
			e.Abandon(f)
		} else if err := driveAll(e, f); err != nil {
			rt.Fatal(err)
		}
		f.law(reqs)
		sent := int64(0)
		for _, o := range f.got {
			if !o.res.Unsent {
				sent++
			}
		}
		st := e.Stats()
		if seen := w.requests.Load(); seen > sent || st.InFlight != 0 || st.Waiting != 0 || cfg.MaxConns > 0 && st.ConnsOpen > cfg.MaxConns {
			rt.Errorf("%d requests sent, %d seen by the server; %+v", sent, seen, st)
		}
		if t.Failed() {
			rt.FailNow()
		}
	})
}
