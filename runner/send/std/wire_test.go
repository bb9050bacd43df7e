package std

import (
	"bufio"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"headroom/runner/send"
	"headroom/store/record"
)

// TestWire looks at what the server gets.
func TestWire(t *testing.T) {
	lines := make(chan string, 1)
	s := serve(t, func(s *server, c net.Conn, r *bufio.Reader) {
		for {
			line, fields, err := s.request(r)
			if err != nil {
				return
			}
			slices.Sort(fields)
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
		{send.Request{Method: "GET", Path: []byte("/a/é%2F?b=c")}, true, "GET /a/é%2F?b=c HTTP/1.1|Host: test.example|User-Agent: headroom"},
		{send.Request{Method: "GET", Path: []byte("//a%2Fb/c?"), Fields: []send.Field{field("Accept", "a"), field("accept-ENCODING", "br"), field("Accept", "b")}}, true, "GET //a%2Fb/c? HTTP/1.1|Accept: a|Accept: b|Host: test.example|User-Agent: headroom|accept-ENCODING: br"},
		{send.Request{Method: "GET", Path: []byte("/")}, false, "GET / HTTP/1.1|Connection: close|Host: test.example|User-Agent: headroom"},
		{
			send.Request{Method: "POST", Path: []byte("/"), Body: []byte("abc"), Fields: []send.Field{field("content-type", "text/plain"), field("Content-Length", "77"), field("host", "other"), field("user-agent", "x")}},
			true,
			"POST / HTTP/1.1|Content-Length: 3|Host: other|User-Agent: x|content-type: text/plain",
		},
		{send.Request{Method: "DELETE", Path: []byte("/"), Fields: []send.Field{field("Connection", "close")}}, true, "DELETE / HTTP/1.1|Connection: close|Host: test.example|User-Agent: headroom"},
		{send.Request{Method: "PUT", Path: []byte("/")}, true, "PUT / HTTP/1.1|Content-Length: 0|Host: test.example|User-Agent: headroom"},
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
}

// TestLocalhost falls back to the address family that the server listens on.
func TestLocalhost(t *testing.T) {
	s := serve(t, always(okAnswer))
	_, port, _ := net.SplitHostPort(s.Addr().String())
	f, _ := drive(t, config("localhost:"+port), many(3, 1e6)...)
	if f.kinds()[record.ErrNone] != 3 {
		t.Error(f.kinds())
	}
}
