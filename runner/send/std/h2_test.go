package std

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/runner/send/sendtest"
	"headroom/runner/sim/faulty"
	"headroom/store/record"
)

// TestProtocols: what is asked for is spoken, and known afterwards.
func TestProtocols(t *testing.T) {
	a := newAuthority(t)
	pair := a.pair(time.Hour, "test.example")
	for _, c := range []struct {
		name     string
		secure   bool
		version  string
		server   func(*http.Server)
		proto    string
		protocol string
		kind     record.ErrorKind
	}{
		{"1.1 over TLS", true, "1.1", nil, "HTTP/1.1", "HTTP/1.1", 0},
		{"auto over TLS", true, "auto", nil, "HTTP/2.0", "HTTP/2", 0},
		{"2", true, "2", nil, "HTTP/2.0", "HTTP/2", 0},
		{"auto, server without HTTP/2", true, "auto", func(s *http.Server) { s.Protocols.SetHTTP2(false) }, "HTTP/1.1", "HTTP/1.1", 0},
		{"2, server without HTTP/2", true, "2", func(s *http.Server) { s.Protocols.SetHTTP2(false) }, "", "", record.ErrTLS},
		{"h2c", false, "h2c", nil, "HTTP/2.0", "HTTP/2 without TLS", 0},
		{"h2c, server without HTTP/2", false, "h2c", func(s *http.Server) { s.Protocols.SetUnencryptedHTTP2(false) }, "", "", record.ErrClosed},
		{"1.1", false, "1.1", nil, "HTTP/1.1", "HTTP/1.1", 0},
		{"auto", false, "auto", nil, "HTTP/1.1", "HTTP/1.1", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var config *tls.Config
			if c.secure {
				config = &tls.Config{Certificates: []tls.Certificate{pair}}
			}
			w := serveHTTP(t, config, c.server, fine)
			cfg := secure(w, a, c.version)
			if !c.secure {
				cfg = h2c(w)
				cfg.HTTPVersion = c.version
			}
			req := sendtest.Get("/a?b=c")
			req.KeepBody = 10
			f, st := sendtest.Drive(t, New, cfg, req)
			o := f.Got[0]
			if o.Result.Err != c.kind {
				t.Fatalf("%v, want %v", o.Result.Err, c.kind)
			}
			if c.kind != 0 {
				return
			}
			if w.protos[c.proto] != 1 || st.Negotiated["protocol"] != c.protocol || o.Body != "ok" || o.Header != "yes" || o.Result.Status != 200 || o.Result.BytesIn != 2 {
				t.Errorf("%v, %v, %+v", w.protos, st.Negotiated, o)
			}
		})
	}
}

// TestStreams: fifty requests at once on a server that allows ten streams. All
// are answered; those that wait are seen to wait, and no stream is asked for
// that is not free.
func TestStreams(t *testing.T) {
	p, wait := pause(t)
	w := serveHTTP(t, nil, func(s *http.Server) { s.HTTP2.MaxConcurrentStreams = 10 }, func(rw http.ResponseWriter, r *http.Request) {
		wait(r.Context())
		fine(rw, r)
	})
	cfg := h2c(w)
	cfg.MaxConns = 1
	e := open(t, cfg)
	reqs := sendtest.Many(50, 0)
	f := sendtest.NewFeed(t, reqs...)
	for w.requests.Load() < 10 {
		f.Run(e, e.Now()+1e6)
	}
	f.Run(e, e.Now()+20e6)
	st := e.Stats()
	if st.InFlight != 50 || st.Waiting != 40 || st.ConnsOpen != 1 || st.LimitedNS < 20e6 || w.requests.Load() != 10 || st.Negotiated["streams_per_connection"] != "10" {
		t.Errorf("%+v, %d requests", st, w.requests.Load())
	}
	stalled := e.Now()
	p.release()
	f.DriveAll(e)
	f.Law(reqs)
	before, fresh := 0, 0
	for _, o := range f.Got {
		if o.Result.Sent < stalled {
			before++
		}
		if o.Result.NewConn {
			fresh++
		}
	}
	st = e.Stats()
	if f.Kinds()[record.ErrNone] != 50 || before != 10 || fresh != 1 || st.Opened != 1 || st.Reused != 49 || w.accepted.Load() != 1 || w.requests.Load() != 50 {
		t.Errorf("%v; %d sent before, %d on a new connection; %+v; %d accepted", f.Kinds(), before, fresh, st, w.accepted.Load())
	}
}

// TestMoreConnections: where all streams are taken and nothing forbids it,
// another connection is opened.
func TestMoreConnections(t *testing.T) {
	p, wait := pause(t)
	w := serveHTTP(t, nil, func(s *http.Server) { s.HTTP2.MaxConcurrentStreams = 10 }, func(rw http.ResponseWriter, r *http.Request) {
		wait(r.Context())
		fine(rw, r)
	})
	e := open(t, h2c(w))
	reqs := sendtest.Many(50, 0)
	f := sendtest.NewFeed(t, reqs...)
	for w.requests.Load() < 50 {
		f.Run(e, e.Now()+1e6)
	}
	if st := e.Stats(); st.ConnsOpen != 5 || st.Waiting != 0 || st.LimitedNS != 0 || w.accepted.Load() != 5 {
		t.Errorf("%+v, %d accepted", st, w.accepted.Load())
	}
	p.release()
	f.DriveAll(e)
	f.Law(reqs)
	if f.Kinds()[record.ErrNone] != 50 {
		t.Errorf("%v", f.Kinds())
	}
}

// TestGoAway: a server that says GOAWAY every fifty answers. No request fails,
// none is sent twice, and the connections are those that the server saw. At 200
// a second for 2 s; HEADROOM_LONG=1 makes it 40 s.
func TestGoAway(t *testing.T) {
	for _, gap := range []int64{5e6, 100e3, 0} {
		s, err := faulty.StartH2(50)
		if err != nil {
			t.Fatal(err)
		}
		cfg := send.Config{Scheme: "http", Address: s.Address, HTTPVersion: "h2c", KeepAlive: true}
		n := 400
		if gap == 5e6 && os.Getenv("HEADROOM_LONG") != "" {
			n = 8000
		}
		f, st := sendtest.Drive(t, New, cfg, sendtest.Many(n, gap)...)
		conns, requests := s.Counts()
		fresh := 0
		for _, o := range f.Got {
			if o.Result.NewConn {
				fresh++
			}
		}
		if f.Kinds()[record.ErrNone] != n || requests != int64(n) || uint64(conns) != st.Opened || int(st.Reused) != n-fresh || fresh > int(st.Opened) {
			t.Errorf("gap %d: %v; the server saw %d requests on %d connections; %+v", gap, f.Kinds(), requests, conns, st)
		}
		if gap == 5e6 && st.Opened < 8 {
			t.Errorf("only %d connections", st.Opened)
		}
		s.Close()
	}
}

// TestH2Faults: how a stream's failures are told.
func TestH2Faults(t *testing.T) {
	abort := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		change func(*send.Request)
		kind   record.ErrorKind
		status int
		in     int64
	}{
		{"reset", abort, nil, record.ErrReset, 0, 0},
		{"reset in the body", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "abc")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, nil, record.ErrReset, 200, -1},
		{"hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(r *send.Request) { r.Timeout = 50e6 }, record.ErrAnswerTimeout, 0, 0},
		{"hang in the body", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "abc")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, func(r *send.Request) { r.Timeout = 50e6 }, record.ErrAnswerTimeout, 200, 3},
		{"too large", fine, func(r *send.Request) { r.MaxBody = 1 }, record.ErrTooLarge, 200, -1},
		{"long", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", 3_000_000)) }, nil, record.ErrNone, 200, 3_000_000},
		{"posted", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }, func(r *send.Request) { r.Method, r.Body = "POST", make([]byte, 1_000_000) }, record.ErrNone, 200, 1_000_000},
		{"status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, nil, record.ErrNone, 503, 0},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusFound) }, nil, record.ErrNone, 302, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := serveHTTP(t, nil, nil, c.handle)
			req := sendtest.Get("/")
			if c.change != nil {
				c.change(req)
			}
			f, _ := sendtest.Drive(t, New, h2c(w), req)
			r := f.Got[0].Result
			if r.Err != c.kind || r.Status != c.status || c.in >= 0 && r.BytesIn != c.in {
				t.Errorf("%+v, want %v %d, %d bytes", r, c.kind, c.status, c.in)
			}
			if c.kind == record.ErrNone && r.BytesOut != int64(len(req.Body)) {
				t.Errorf("%d bytes out of %d", r.BytesOut, len(req.Body))
			}
			if n := w.requests.Load(); n != 1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// TestStreamTimeout: a request that times out takes its stream along, and not
// the others on its connection.
func TestStreamTimeout(t *testing.T) {
	p, wait := pause(t)
	w := serveHTTP(t, nil, nil, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			return
		}
		wait(r.Context())
		fine(rw, r)
	})
	e := open(t, h2c(w))
	reqs := sendtest.Many(10, 0)
	for _, r := range reqs[:5] {
		r.Path, r.Timeout = []byte("/hang"), 30e6
	}
	f := sendtest.NewFeed(t, reqs...)
	for len(f.Got) < 5 {
		f.Run(e, e.Now()+1e6)
	}
	p.release()
	f.DriveAll(e)
	f.Law(reqs)
	if k := f.Kinds(); k[record.ErrAnswerTimeout] != 5 || k[record.ErrNone] != 5 || w.accepted.Load() != 1 {
		t.Errorf("%v over %d connections", k, w.accepted.Load())
	}
}

// TestH2Limits: requests per connection, and connections closed for idleness.
func TestH2Limits(t *testing.T) {
	w := serveHTTP(t, nil, nil, fine)
	cfg := h2c(w)
	cfg.MaxPerConn = 7
	e := open(t, cfg)
	f := sendtest.Chain(t, e, 40)
	if st := e.Stats(); f.Kinds()[record.ErrNone] != 40 || st.Opened != 6 || w.accepted.Load() != 6 || st.Reused != 34 {
		t.Errorf("%v, %+v, %d accepted", f.Kinds(), st, w.accepted.Load())
	}
	w = serveHTTP(t, nil, nil, fine)
	cfg = h2c(w)
	cfg.IdleTimeout = 1
	e = open(t, cfg)
	f = sendtest.Chain(t, e, 5)
	if st := e.Stats(); f.Kinds()[record.ErrNone] != 5 || st.Opened != 5 || w.accepted.Load() != 5 {
		t.Errorf("idle: %v, %+v, %d accepted", f.Kinds(), st, w.accepted.Load())
	}
}
