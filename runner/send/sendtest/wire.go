package sendtest

import (
	"bufio"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

func field(name, value string) send.Field { return send.Field{Name: name, Value: []byte(value)} }

// wire looks at what the server gets: the request as it is, and what is added
// to it. The order of the fields and the case of Host and User-Agent are the
// engine's.
func (s *suite) wire(t *testing.T) {
	lines := make(chan string, 1)
	srv := Serve(t, func(s *Server, c net.Conn, r *bufio.Reader) {
		for {
			line, fields, err := s.Read(r)
			if err != nil {
				return
			}
			for i, f := range fields {
				for _, name := range []string{"Host: ", "User-Agent: "} {
					if len(f) > len(name) && strings.EqualFold(f[:len(name)], name) {
						fields[i] = name + f[len(name):]
					}
				}
			}
			slices.Sort(fields)
			lines <- line + "|" + strings.Join(fields, "|")
			write(c, OK)
		}
	})
	for _, c := range []struct {
		req  send.Request
		keep bool
		want string
	}{
		{send.Request{Method: "GET", Path: []byte("/a?b=c")}, true, "GET /a?b=c HTTP/1.1|Host: test.example|User-Agent: headroom"},
		{send.Request{Method: "GET", Path: []byte("/a/é%2F?b=c")}, true, "GET /a/é%2F?b=c HTTP/1.1|Host: test.example|User-Agent: headroom"},
		{
			send.Request{Method: "GET", Path: []byte("//a%2Fb/c?"), Fields: []send.Field{field("Accept", "a"), field("accept-ENCODING", "br"), field("Accept", "b")}},
			true,
			"GET //a%2Fb/c? HTTP/1.1|Accept: a|Accept: b|Host: test.example|User-Agent: headroom|accept-ENCODING: br",
		},
		{send.Request{Method: "GET", Path: []byte("/")}, false, "GET / HTTP/1.1|Connection: close|Host: test.example|User-Agent: headroom"},
		{
			send.Request{Method: "POST", Path: []byte("/"), Body: []byte("abc"), Fields: []send.Field{field("content-type", "text/plain"), field("Content-Length", "77"), field("host", "other"), field("user-agent", "x")}},
			true,
			"POST / HTTP/1.1|Content-Length: 3|Host: other|User-Agent: x|content-type: text/plain",
		},
		{send.Request{Method: "DELETE", Path: []byte("/"), Fields: []send.Field{field("Connection", "close")}}, true, "DELETE / HTTP/1.1|Connection: close|Host: test.example|User-Agent: headroom"},
		{send.Request{Method: "PUT", Path: []byte("/")}, true, "PUT / HTTP/1.1|Content-Length: 0|Host: test.example|User-Agent: headroom"},
	} {
		cfg := Config(srv.Addr())
		cfg.KeepAlive = c.keep
		c.req.Timeout, c.req.KeepBody = 5e9, 1
		f, _ := s.drive(t, cfg, &c.req)
		if got := <-lines; got != c.want {
			t.Errorf("sent %q, want %q", got, c.want)
		}
		o := f.Got[0]
		if o.Body != "o" || o.Header != "yes" || o.Result.BytesIn != 2 || o.Result.BytesOut != int64(len(c.req.Body)) || !o.Result.NewConn {
			t.Errorf("got %+v", o)
		}
	}
}

func (s *suite) unixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	srv := ServeOn(t, "unix", path, Always(OK))
	cfg := Config(path)
	cfg.Network = "unix"
	f, st := s.drive(t, cfg, Many(50, 1e5)...)
	if f.Kinds()[record.ErrNone] != 50 || !srv.Saw(st.Opened) {
		t.Errorf("%v, opened %d, accepted %d", f.Kinds(), st.Opened, srv.Accepted.Load())
	}
	cfg.SourceAddress = "127.0.0.1"
	if _, err := s.engine(cfg, time.Now()); err == nil {
		t.Error("a Unix socket with a source address was accepted")
	}
}

func (s *suite) sourceAddress(t *testing.T) {
	from := make(chan string, 10)
	srv := Serve(t, func(s *Server, c net.Conn, r *bufio.Reader) {
		from <- c.RemoteAddr().String()
		Always(OK)(s, c, r)
	})
	cfg := Config(srv.Addr())
	cfg.SourceAddress = "127.0.0.9"
	if l, err := net.Listen("tcp", "127.0.0.9:0"); err != nil {
		t.Skipf("needs a second loopback address: ifconfig lo0 alias 127.0.0.9: %v", err)
	} else {
		l.Close()
	}
	s.drive(t, cfg, Get("/"))
	if got := <-from; !strings.HasPrefix(got, "127.0.0.9:") {
		t.Errorf("came from %s", got)
	}
	cfg.SourceAddress = "192.0.2.1"
	if _, err := s.engine(cfg, time.Now()); err == nil {
		t.Error("a source address that is not ours was accepted")
	}
}

// localhost falls back to the address family that the server listens on.
func (s *suite) localhost(t *testing.T) {
	srv := Serve(t, Always(OK))
	_, port, _ := net.SplitHostPort(srv.Addr())
	f, _ := s.drive(t, Config("localhost:"+port), Many(3, 1e6)...)
	if f.Kinds()[record.ErrNone] != 3 {
		t.Error(f.Kinds())
	}
}
