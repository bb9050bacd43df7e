package std

import (
	"bufio"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"headroom/runner/send"
	"headroom/store/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
		{name: "hang in the head", handle: func(_ *server, c net.Conn, r *bufio.Reader) {
			r.Peek(1)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ")
			hang(c)
		}, kind: record.ErrAnswerTimeout},
		{name: "hang in the body", handle: func(_ *server, c net.Conn, r *bufio.Reader) {
			r.Peek(1)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
			hang(c)
		}, kind: record.ErrAnswerTimeout, status: 200, in: 3},
		{name: "trickle", handle: func(_ *server, c net.Conn, r *bufio.Reader) {
			r.Peek(1)
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
		{name: "answer before the request was read", handle: func(_ *server, c net.Conn, r *bufio.Reader) {
			r.Peek(1)
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
