package loop

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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
		e, err := newEngine(cfg, time.Now(), true)
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
			reqs = without(reqs, f.queue)
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

func without(all, gone []*send.Request) []*send.Request {
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

// TestDescriptors runs out of descriptors in a process of its own.
func TestDescriptors(t *testing.T) {
	const role = "HEADROOM_LOOP_TEST_ADDR"
	if addr := os.Getenv(role); addr != "" {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 40, Max: 40}); err != nil {
			t.Fatal(err)
		}
		reqs := many(100, 0)
		for _, r := range reqs {
			r.Timeout = 500e6
		}
		f, st := drive(t, config(addr), reqs...)
		k := f.kinds()
		fmt.Printf("descriptors=%d others=%d opened=%d\n", k[record.ErrDescriptors], k[record.ErrAnswerTimeout], st.Opened)
		if k[record.ErrDescriptors] == 0 || k[record.ErrDescriptors]+k[record.ErrAnswerTimeout] != 100 {
			t.Errorf("%v", k)
		}
		return
	}
	s := serve(t, func(_ *server, c net.Conn, _ *bufio.Reader) { hang(c) })
	cmd := exec.Command(os.Args[0], "-test.run=^TestDescriptors$", "-test.v")
	cmd.Env = append(os.Environ(), role+"="+s.Addr().String())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "descriptors=") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestPorts runs out of local ports in a network of its own, which has 20.
func TestPorts(t *testing.T) {
	const role = "HEADROOM_LOOP_TEST_PORTS"
	if os.Getenv(role) != "" {
		up(t)
		if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40019"), 0o644); err != nil {
			t.Fatal(err)
		}
		s := serveOn(t, "tcp", "127.0.0.1:9000", func(_ *server, c net.Conn, _ *bufio.Reader) { hang(c) })
		reqs := many(50, 0)
		for _, r := range reqs {
			r.Timeout = 500e6
		}
		f, _ := drive(t, config(s.Addr().String()), reqs...)
		k := f.kinds()
		fmt.Printf("ports=%d\n", k[record.ErrPorts])
		if k[record.ErrPorts] != 30 || k[record.ErrAnswerTimeout] != 20 {
			t.Errorf("%v, want 30 without a port and 20 timed out", k)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPorts$", "-test.v")
	cmd.Env = append(os.Environ(), role+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("needs a network namespace: run as root, or allow unprivileged user namespaces: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "ports=30") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// up brings the loopback interface of a new network up.
func up(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	ifr.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr); err != nil {
		t.Fatal(err)
	}
}

// TestNoAllocation: a request in steady state costs no memory. The server is
// another process.
func TestNoAllocation(t *testing.T) {
	e, err := newEngine(config(echoServer(t)), time.Now(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	req := get("/a/path?with=query")
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
