package sendtest

import (
	"bufio"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

const long = 3_000_000

// post makes a request one with a long body.
func post(r *send.Request) { r.Method, r.Body = "POST", make([]byte, 20<<20) }

// faults sends one request to servers that misbehave in one way each.
func (s *suite) faults(t *testing.T) {
	twoFramings := record.ErrNone
	if s.can.StrictFraming {
		twoFramings = record.ErrProtocol
	}
	for _, c := range []struct {
		name   string
		handle Handler
		change func(*send.Request)
		kind   record.ErrorKind
		status int
		in     int64 // -1 = any number
	}{
		{name: "none", handle: Always(OK), status: 200, in: 2},
		{name: "hang", handle: Hang, kind: record.ErrAnswerTimeout},
		{name: "hang in the head", handle: started("HTTP/1.1 200 OK\r\nX: ", Hang), kind: record.ErrAnswerTimeout},
		{name: "hang in the body", handle: started("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", Hang), kind: record.ErrAnswerTimeout, status: 200, in: 3},
		{name: "trickle", handle: started("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", func(_ *Server, c net.Conn, _ *bufio.Reader) {
			for {
				if _, err := c.Write([]byte("x")); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}), kind: record.ErrAnswerTimeout, status: 200, in: -1},
		{name: "close at once", handle: func(*Server, net.Conn, *bufio.Reader) {}, kind: record.ErrClosed},
		{name: "close after the request", handle: Once(""), kind: record.ErrClosed},
		{name: "close in the head", handle: Once("HTTP/1.1 200 OK\r\nConte"), kind: record.ErrClosed},
		{name: "close in the body", handle: Once("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"), kind: record.ErrTruncated, status: 200, in: 3},
		{name: "close in a chunk", handle: Once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"), kind: record.ErrTruncated, status: 200, in: 3},
		{name: "to the close", handle: Once("HTTP/1.0 200 OK\r\n\r\nabcdef"), status: 200, in: 6},
		{name: "reset", handle: func(s *Server, c net.Conn, r *bufio.Reader) {
			_, _, _ = s.Read(r)
			reset(c)
		}, kind: record.ErrReset},
		{name: "reset in the body", handle: func(s *Server, c net.Conn, r *bufio.Reader) {
			_, _, _ = s.Read(r)
			write(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
			time.Sleep(50 * time.Millisecond)
			reset(c)
		}, kind: record.ErrReset, status: 200, in: 3},
		{name: "not HTTP", handle: Once("220 mail.example ESMTP\r\n"), kind: record.ErrProtocol},
		{name: "two framings", handle: Once("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), kind: twoFramings, status: 200},
		{name: "bad chunk", handle: Once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"), kind: record.ErrProtocol, status: 200},
		{name: "too large", handle: Always(OK), change: func(r *send.Request) { r.MaxBody = 1 }, kind: record.ErrTooLarge, status: 200},
		{name: "head in single bytes", handle: func(s *Server, c net.Conn, r *bufio.Reader) {
			_, _, _ = s.Read(r)
			for i := range len(OK) {
				write(c, OK[i:i+1])
				if i%8 == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			Hang(s, c, r)
		}, status: 200, in: 2},
		{name: "long body", handle: Always("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + strings.Repeat("x", long)), status: 200, in: long},
		{name: "long body and close", handle: Once("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", long)), status: 200, in: long},
		{name: "bad path", handle: Always(OK), change: func(r *send.Request) { r.Path = []byte("/a\r\nX: y") }, kind: record.ErrRequest},
		{name: "bad field", handle: Always(OK), change: func(r *send.Request) { r.Fields = []send.Field{field("X", "a\nb")} }, kind: record.ErrRequest},
		{name: "head request", handle: Always("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), change: func(r *send.Request) { r.Method = "HEAD" }, status: 200},
		{name: "long request", handle: Always(OK), change: post, status: 200, in: 2},
		{name: "answer before the request was read", handle: started("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", Hang), change: post, status: 413},
		{name: "request never read", handle: func(*Server, net.Conn, *bufio.Reader) { time.Sleep(400 * time.Millisecond) }, change: post, kind: record.ErrAnswerTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			srv := Serve(t, c.handle)
			req := Get("/")
			if c.kind == record.ErrAnswerTimeout {
				req.Timeout = 150e6
			}
			if c.change != nil {
				c.change(req)
			}
			f, _ := s.drive(t, Config(srv.Addr()), req)
			r := &f.Got[0].Result
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

// refused connects to where nobody listens.
func (s *suite) refused(t *testing.T) {
	srv := Serve(t, Always(OK))
	srv.Close()
	f, st := s.drive(t, Config(srv.Addr()), Many(20, 1e6)...)
	if n := f.Kinds()[record.ErrRefused]; n != 20 {
		t.Errorf("%v, want 20 refused", f.Kinds())
	}
	if st.Opened != 0 {
		t.Errorf("%d connections opened", st.Opened)
	}
	cfg := Config(filepath.Join(t.TempDir(), "absent"))
	cfg.Network = "unix"
	if f, _ := s.drive(t, cfg, Get("/")); f.Got[0].Result.Err != record.ErrRefused {
		t.Errorf("absent Unix socket: %v", f.Got[0].Result.Err)
	}
}
