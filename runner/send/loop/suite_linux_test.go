package loop

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/runner/send/sendtest"
	"headroom/store/record"
)

func TestSuite(t *testing.T) {
	sendtest.Run(t, New, sendtest.Capabilities{StrictFraming: true, LooksFirst: true})
}

// coarse makes an engine as on kernels before 5.11, without epoll_pwait2.
func coarse(cfg send.Config, origin time.Time) (send.Engine, error) {
	return newEngine(cfg, origin, false)
}

func TestWithoutPwait2(t *testing.T) {
	s := sendtest.Serve(t, sendtest.Always(sendtest.OK))
	f, _ := sendtest.Drive(t, coarse, sendtest.Config(s.Addr()), sendtest.Many(200, 5e5)...)
	if f.Kinds()[record.ErrNone] != 200 {
		t.Errorf("%v", f.Kinds())
	}
	t.Run("Cancel", func(t *testing.T) { sendtest.Cancel(t, coarse) })
}

// TestBurst: ten thousand requests at once, on a server that answers each
// after all of a wave have come, need many connections; none is lost.
func TestBurst(t *testing.T) {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil || lim.Cur < 8192 {
		t.Skipf("needs 8192 descriptors, has %d: raise ulimit -n", lim.Cur)
	}
	const n = 10000
	s := sendtest.Serve(t, sendtest.Each(func(c net.Conn) {
		time.Sleep(20 * time.Millisecond)
		io.WriteString(c, sendtest.OK)
	}))
	f, st := sendtest.Drive(t, New, sendtest.Config(s.Addr()), sendtest.Within(30e9, sendtest.Many(n, 0))...)
	if f.Kinds()[record.ErrNone] != n || !s.Saw(st.Opened) || s.Requests.Load() != n {
		t.Errorf("%v, opened %d, accepted %d, %d requests", f.Kinds(), st.Opened, s.Accepted.Load(), s.Requests.Load())
	}
	t.Logf("%d connections", st.Opened)
}

// TestFields: fields are written in the order and with the names that they
// have, before those that are added.
func TestFields(t *testing.T) {
	lines := make(chan string, 1)
	s := sendtest.Serve(t, func(s *sendtest.Server, c net.Conn, r *bufio.Reader) {
		_, fields, _ := s.Read(r)
		lines <- strings.Join(fields, "|")
		io.WriteString(c, sendtest.OK)
	})
	req := sendtest.Get("/")
	for _, name := range []string{"user-agent", "accept", "Accept", "hOST"} {
		req.Fields = append(req.Fields, send.Field{Name: name, Value: []byte("x")})
	}
	req.Method, req.Body = "POST", []byte("abc")
	sendtest.Drive(t, New, sendtest.Config(s.Addr()), req)
	if got, want := <-lines, "user-agent: x|accept: x|Accept: x|hOST: x|Content-Length: 3"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// TestKeepAliveTimeout stops using a connection before the server closes it.
func TestKeepAliveTimeout(t *testing.T) {
	e := &Engine{cfg: send.Config{IdleTimeout: 90e9}}
	for seconds, want := range map[int64]int64{-1: 90e9, 0: 0, 1: 500e6, 2: 1e9, 5: 4e9, 1000: 90e9, 1 << 40: 90e9} {
		if got := e.idleTimeout(seconds); got != want {
			t.Errorf("Keep-Alive: timeout=%d: %d ns, want %d", seconds, got, want)
		}
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
		cfg := sendtest.Config("127.0.0.1:80")
		change(&cfg)
		if e, err := New(cfg, time.Now()); err == nil || e != nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
	if !Supports(sendtest.Config("127.0.0.1:80")) || Supports(send.Config{Scheme: "https"}) {
		t.Error("Supports")
	}
}

// TestNoAllocation: a request in steady state costs no memory. The server is
// another process.
func TestNoAllocation(t *testing.T) {
	e := sendtest.Open(t, New, sendtest.Config(echoServer(t)))
	req := sendtest.Get("/a/path?with=query")
	req.Fields = []send.Field{{Name: "Accept", Value: []byte("application/json")}}
	req.KeepBody = 100
	f := &circle{req: req, left: 100}
	if err := e.Drive(context.Background(), f, never, true); err != nil {
		t.Fatal(err)
	}
	f.left = 2000
	before := mallocs()
	if err := e.Drive(context.Background(), f, never, true); err != nil {
		t.Fatal(err)
	}
	if made := mallocs() - before; made > 100 {
		t.Errorf("%d objects for 2000 requests", made)
	}
	if f.failed > 0 {
		t.Errorf("%d failed", f.failed)
	}
}
