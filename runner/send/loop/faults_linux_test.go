package loop

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"headroom/runner/send"
	"headroom/store/record"
)

func hang(c net.Conn) { io.Copy(io.Discard, c) }

// TestFaults sends one request to servers that misbehave in one way each.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		handle func(*server, net.Conn, *bufio.Reader)
		change func(*send.Request)
		kind   record.ErrorKind
		status int
		in     int64
	}{
		{name: "none", handle: always(okAnswer), status: 200, in: 2},
		{name: "hang", handle: func(_ *server, c net.Conn, _ *bufio.Reader) { hang(c) }, kind: record.ErrAnswerTimeout},
		{name: "hang in the head", handle: func(_ *server, c net.Conn, _ *bufio.Reader) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ")
			hang(c)
		}, kind: record.ErrAnswerTimeout},
		{name: "hang in the body", handle: func(_ *server, c net.Conn, _ *bufio.Reader) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
			hang(c)
		}, kind: record.ErrAnswerTimeout, status: 200, in: 3},
		{name: "trickle", handle: func(_ *server, c net.Conn, _ *bufio.Reader) {
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
			for {
				if _, err := io.WriteString(c, "x"); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}, kind: record.ErrAnswerTimeout, status: 200, in: -1},
		{name: "close at once", handle: func(*server, net.Conn, *bufio.Reader) {}, kind: record.ErrClosed},
		{name: "close after the request", handle: once(""), kind: record.ErrClosed},
		{name: "close in the head", handle: once("HTTP/1.1 200 OK\r\nConte"), kind: record.ErrClosed},
		{name: "close in the body", handle: once("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), kind: record.ErrTruncated, status: 200, in: 3},
		{name: "close in a chunk", handle: once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"), kind: record.ErrTruncated, status: 200, in: 3},
		{name: "to the close", handle: once("HTTP/1.0 200 OK\r\n\r\nabcdef"), status: 200, in: 6},
		{name: "reset", handle: func(s *server, c net.Conn, r *bufio.Reader) {
			s.request(r)
			reset(c)
		}, kind: record.ErrReset},
		{name: "reset in the body", handle: func(s *server, c net.Conn, r *bufio.Reader) {
			s.request(r)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
			time.Sleep(50 * time.Millisecond)
			reset(c)
		}, kind: record.ErrReset, status: 200, in: 3},
		{name: "not HTTP", handle: once("220 mail.example ESMTP\r\n"), kind: record.ErrProtocol},
		{name: "two framings", handle: once("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), kind: record.ErrProtocol, status: 200},
		{name: "bad chunk", handle: once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), kind: record.ErrProtocol, status: 200},
		{name: "too large", handle: always(okAnswer), change: func(r *send.Request) { r.MaxBody = 1 }, kind: record.ErrTooLarge, status: 200},
		{name: "head in single bytes", handle: func(s *server, c net.Conn, r *bufio.Reader) {
			s.request(r)
			for i := range len(okAnswer) {
				io.WriteString(c, okAnswer[i:i+1])
				if i%8 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			hang(c)
		}, status: 200, in: 2},
		{name: "long body", handle: always("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + strings.Repeat("x", 3000000)), status: 200, in: 3000000},
		{name: "long body and close", handle: once("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 3000000)), status: 200, in: 3000000},
		{name: "bad path", handle: always(okAnswer), change: func(r *send.Request) { r.Path = []byte("/a\r\nX: y") }, kind: record.ErrRequest},
		{name: "bad field", handle: always(okAnswer), change: func(r *send.Request) { r.Fields = []send.Field{{Name: "X", Value: []byte("a\nb")}} }, kind: record.ErrRequest},
		{name: "head request", handle: always("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), change: func(r *send.Request) { r.Method = "HEAD" }, status: 200},
		{name: "long request", handle: always(okAnswer), change: func(r *send.Request) { r.Method, r.Body = "POST", make([]byte, 20<<20) }, status: 200, in: 2},
		{name: "answer before the request was read", handle: func(_ *server, c net.Conn, _ *bufio.Reader) {
			io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
			hang(c)
		}, change: func(r *send.Request) { r.Method, r.Body = "POST", make([]byte, 20<<20) }, status: 413},
		{name: "request never read", handle: func(_ *server, c net.Conn, r *bufio.Reader) {
			time.Sleep(400 * time.Millisecond)
		}, change: func(r *send.Request) { r.Method, r.Body = "POST", make([]byte, 20<<20) }, kind: record.ErrAnswerTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.handle)
			req := get("/")
			if c.kind == record.ErrAnswerTimeout {
				req.Timeout = 150e6
			}
			if c.change != nil {
				c.change(req)
			}
			f, _ := drive(t, config(s.Addr().String()), req)
			r := &f.got[0].res
			if c.name == "close at once" && r.Err == record.ErrReset {
				return // the request came first and was not read
			}
			if r.Err != c.kind || r.Status != c.status {
				t.Errorf("%v %d, want %v %d", r.Err, r.Status, c.kind, c.status)
			}
			if c.in >= 0 && r.BytesIn != c.in {
				t.Errorf("%d bytes in, want %d", r.BytesIn, c.in)
			}
			if c.kind == record.ErrNone && c.status == 200 && r.BytesOut != int64(len(req.Body)) {
				t.Errorf("%d bytes out of %d", r.BytesOut, len(req.Body))
			}
		})
	}
}

func TestRefused(t *testing.T) {
	s := serve(t, always(okAnswer))
	addr := s.Addr().String()
	s.Close()
	f, st := drive(t, config(addr), many(20, 1e6)...)
	if n := f.kinds()[record.ErrRefused]; n != 20 {
		t.Errorf("%v, want 20 refused", f.kinds())
	}
	if st.Opened != 0 {
		t.Errorf("%d connections opened", st.Opened)
	}
	cfg := config(filepath.Join(t.TempDir(), "absent"))
	cfg.Network = "unix"
	if f, _ := drive(t, cfg, get("/")); f.got[0].res.Err != record.ErrRefused {
		t.Errorf("absent Unix socket: %v", f.got[0].res.Err)
	}
}

// TestConnectTimeout connects to a listener whose backlog is full.
func TestConnectTimeout(t *testing.T) {
	addr := fullBacklog(t)
	reqs := many(3, 20e6)
	for _, r := range reqs {
		r.Timeout = 200e6
	}
	f, _ := drive(t, config(addr), reqs...)
	if n := f.kinds()[record.ErrConnectTimeout]; n != 3 {
		t.Errorf("%v, want 3 connect timeouts", f.kinds())
	}
}

// TestWire looks at what the server gets.
func TestWire(t *testing.T) {
	lines := make(chan string, 1)
	s := serve(t, func(s *server, c net.Conn, r *bufio.Reader) {
		for {
			line, fields, err := s.request(r)
			if err != nil {
				return
			}
			lines <- line + "|" + strings.Join(fields, "|")
			io.WriteString(c, okAnswer)
		}
	})
	field := func(name, value string) send.Field { return send.Field{Name: name, Value: []byte(value)} }
	for _, c := range []struct {
		req  send.Request
		keep bool
		want string
	}{
		{send.Request{Method: "GET", Path: []byte("/a?b=c")}, true, "GET /a?b=c HTTP/1.1|Host: test.example|User-Agent: headroom"},
		{send.Request{Method: "GET", Path: []byte("/")}, false, "GET / HTTP/1.1|Host: test.example|User-Agent: headroom|Connection: close"},
		{send.Request{Method: "POST", Path: []byte("/"), Body: []byte("abc"), Fields: []send.Field{field("content-type", "text/plain"), field("Content-Length", "77"), field("host", "other"), field("user-agent", "x")}}, true,
			"POST / HTTP/1.1|content-type: text/plain|host: other|user-agent: x|Content-Length: 3"},
		{send.Request{Method: "DELETE", Path: []byte("/"), Fields: []send.Field{field("Connection", "close")}}, true, "DELETE / HTTP/1.1|Host: test.example|User-Agent: headroom|Connection: close"},
		{send.Request{Method: "PUT", Path: []byte("/")}, true, "PUT / HTTP/1.1|Host: test.example|User-Agent: headroom|Content-Length: 0"},
	} {
		cfg := config(s.Addr().String())
		cfg.KeepAlive = c.keep
		c.req.Timeout, c.req.KeepBody = 5e9, 1
		f, _ := drive(t, cfg, &c.req)
		if got := <-lines; got != c.want {
			t.Errorf("sent %q, want %q", got, c.want)
		}
		o := f.got[0]
		if o.body != "o" || o.header != "yes" || o.res.BytesIn != 2 || o.res.BytesOut != int64(len(c.req.Body)) || !o.res.NewConn {
			t.Errorf("got %+v", o)
		}
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s := serveOn(t, "unix", path, always(okAnswer))
	cfg := config(path)
	cfg.Network = "unix"
	f, st := drive(t, cfg, many(50, 1e5)...)
	if f.kinds()[record.ErrNone] != 50 || int64(st.Opened) != s.accepted.Load() {
		t.Errorf("%v, opened %d, accepted %d", f.kinds(), st.Opened, s.accepted.Load())
	}
}

// TestUnixBacklog: a server that does not accept fails requests by their
// timeout, and one that accepts again gets them.
func TestUnixBacklog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 1); err != nil {
		t.Fatal(err)
	}
	cfg := config(path)
	cfg.Network = "unix"
	reqs := many(10, 0)
	for _, r := range reqs {
		r.Timeout = 100e6
	}
	f, st := drive(t, cfg, reqs...)
	k := f.kinds()
	if k[record.ErrAnswerTimeout] != 2 || k[record.ErrConnectTimeout] != 8 || st.Opened != 2 {
		t.Errorf("%v, %d opened; want 2 answers and 8 connects timed out", k, st.Opened)
	}
}

func TestSourceAddress(t *testing.T) {
	from := make(chan string, 10)
	s := serve(t, func(s *server, c net.Conn, r *bufio.Reader) {
		from <- c.RemoteAddr().String()
		always(okAnswer)(s, c, r)
	})
	cfg := config(s.Addr().String())
	cfg.SourceAddress = "127.0.0.9"
	drive(t, cfg, get("/"))
	if got := <-from; !strings.HasPrefix(got, "127.0.0.9:") {
		t.Errorf("came from %s", got)
	}
	cfg.SourceAddress = "192.0.2.1"
	if _, err := New(cfg, time.Now()); err == nil {
		t.Error("a source address that is not ours was accepted")
	}
}

func TestNewRefuses(t *testing.T) {
	for _, change := range []func(*send.Config){
		func(c *send.Config) { c.Scheme = "https" },
		func(c *send.Config) { c.HTTPVersion = "2" },
		func(c *send.Config) { c.HTTPVersion = "h2c" },
		func(c *send.Config) { c.Network = "udp" },
		func(c *send.Config) { c.Address = "127.0.0.1" },
		func(c *send.Config) { c.Address = "127.0.0.1:0" },
		func(c *send.Config) { c.Address = "127.0.0.1:http" },
	} {
		cfg := config("127.0.0.1:80")
		change(&cfg)
		if e, err := New(cfg, time.Now()); err == nil || e != nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
	if !Supports(config("127.0.0.1:80")) || Supports(send.Config{Scheme: "https"}) {
		t.Error("Supports")
	}
}

// TestLocalhost falls back to the address family that the server listens on.
func TestLocalhost(t *testing.T) {
	s := serve(t, always(okAnswer))
	_, port, _ := net.SplitHostPort(s.Addr().String())
	f, _ := drive(t, config("localhost:"+port), many(3, 1e6)...)
	if f.kinds()[record.ErrNone] != 3 {
		t.Error(fmt.Sprint(f.kinds()))
	}
}
