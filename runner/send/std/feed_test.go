package std

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

// feed is a schedule of requests and a record of how they ended.
type feed struct {
	t     testing.TB
	now   func() int64
	queue []*send.Request // rising Due
	ended map[*send.Request]int
	got   []outcome
	later func(*send.Request, *send.Result) *send.Request // a follow-up, due at once
}

type outcome struct {
	req    *send.Request
	res    send.Result
	body   string
	header string // X-Test
}

func (f *feed) Due() (int64, bool) {
	if len(f.queue) == 0 {
		return 0, false
	}
	return f.queue[0].Due, true
}

func (f *feed) Fire(now int64) *send.Request {
	r := f.queue[0]
	f.queue = f.queue[1:]
	if now < r.Due {
		f.t.Errorf("fired %d ns before it was due", r.Due-now)
	}
	return r
}

func (f *feed) Done(req *send.Request, res *send.Result) {
	if f.ended == nil {
		f.ended = map[*send.Request]int{}
	}
	f.ended[req]++
	o := outcome{req: req, res: *res, body: string(res.Body)}
	if res.HeaderValue != nil {
		o.header = res.HeaderValue("x-test")
	}
	f.got = append(f.got, o)
	if f.later != nil {
		if next := f.later(req, res); next != nil {
			f.queue = append([]*send.Request{next}, f.queue...)
		}
	}
}

// law asserts that each of the requests ended exactly once, with a result that
// does not contradict itself.
func (f *feed) law(reqs []*send.Request) {
	f.t.Helper()
	for i, r := range reqs {
		if n := f.ended[r]; n != 1 {
			f.t.Errorf("request %d ended %d times", i, n)
		}
	}
	if len(f.got) != len(f.ended) {
		f.t.Errorf("%d results for %d requests", len(f.got), len(f.ended))
	}
	for _, o := range f.got {
		r := &o.res
		switch {
		case r.Unsent && (r.Sent != 0 || r.Status != 0 || !r.Err.Own()):
			f.t.Errorf("unsent, but %+v", *r)
		case !r.Unsent && (r.Sent < o.req.Due || r.Done < r.Sent):
			f.t.Errorf("due %d, sent %d, done %d (%v)", o.req.Due, r.Sent, r.Done, r.Err)
		case r.FirstByte != 0 && (r.FirstByte < r.Sent || r.FirstByte > r.Done):
			f.t.Errorf("sent %d, first byte %d, done %d", r.Sent, r.FirstByte, r.Done)
		case r.Err == record.ErrNone && (r.Status == 0 || r.FirstByte == 0):
			f.t.Errorf("no error and no answer: %+v", *r)
		case (r.Err == record.ErrAnswerTimeout || r.Err == record.ErrConnectTimeout) && r.Done-r.Sent < o.req.Timeout:
			f.t.Errorf("timed out after %d ns of %d", r.Done-r.Sent, o.req.Timeout)
		}
	}
}

func (f *feed) kinds() map[record.ErrorKind]int {
	m := map[record.ErrorKind]int{}
	for _, o := range f.got {
		m[o.res.Err]++
	}
	return m
}

func get(path string) *send.Request {
	return &send.Request{Method: "GET", Path: []byte(path), Timeout: 5e9}
}

// many makes n requests, due one after another every gap ns.
func many(n int, gap int64) []*send.Request {
	reqs := make([]*send.Request, n)
	for i := range reqs {
		reqs[i] = get("/")
		reqs[i].Due = int64(i) * gap
		reqs[i].Scheduled = reqs[i].Due
	}
	return reqs
}

func config(addr string) send.Config {
	return send.Config{Scheme: "http", Address: addr, Host: "test.example", HTTPVersion: "1.1", KeepAlive: true}
}

// drive runs all requests to their end, and the law over them.
func drive(t testing.TB, cfg send.Config, reqs ...*send.Request) (*feed, send.Stats) {
	t.Helper()
	e, err := newEngine(cfg, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	f := &feed{t: t, now: e.Now, queue: reqs}
	if err := driveAll(e, f); err != nil {
		t.Fatal(err)
	}
	s := e.Stats()
	if s.InFlight != 0 || s.Waiting != 0 || s.Resends != 0 {
		t.Errorf("after the end: %+v", s)
	}
	f.law(reqs)
	return f, s
}

// driveAll drives until the schedule and what is in flight have ended.
func driveAll(e *Engine, f *feed) error {
	for len(f.queue) > 0 {
		until := int64(0)
		for _, r := range f.queue {
			until = max(until, r.Due)
		}
		if err := e.Drive(context.Background(), f, until, false); err != nil {
			return err
		}
	}
	limit := e.Now() + 60e9
	if err := e.Drive(context.Background(), f, limit, true); err != nil {
		return err
	}
	if e.Now() >= limit {
		return errors.New("not idle after a minute")
	}
	return nil
}

// server answers raw connections.
type server struct {
	net.Listener
	accepted atomic.Int64
	requests atomic.Int64
	wg       sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool
}

func serve(t testing.TB, handle func(s *server, c net.Conn, r *bufio.Reader)) *server {
	return serveOn(t, "tcp", "127.0.0.1:0", handle)
}

func serveOn(t testing.TB, network, addr string, handle func(s *server, c net.Conn, r *bufio.Reader)) *server {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{Listener: l, open: map[net.Conn]bool{}}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.accepted.Add(1)
			s.mu.Lock()
			s.open[c] = true
			s.mu.Unlock()
			s.wg.Go(func() {
				handle(s, c, bufio.NewReader(c))
				c.Close()
				s.mu.Lock()
				delete(s.open, c)
				s.mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.mu.Lock()
		for c := range s.open {
			c.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

// request reads one request and returns its first line and its fields.
func (s *server) request(r *bufio.Reader) (line string, fields []string, err error) {
	line, err = r.ReadString('\n')
	if err != nil {
		return "", nil, err
	}
	length := 0
	for {
		l, err := r.ReadString('\n')
		if err != nil {
			return "", nil, err
		}
		l = strings.TrimRight(l, "\r\n")
		if l == "" {
			break
		}
		if v, ok := strings.CutPrefix(l, "Content-Length: "); ok {
			for _, d := range v {
				length = length*10 + int(d-'0')
			}
		}
		fields = append(fields, l)
	}
	if _, err := io.CopyN(io.Discard, r, int64(length)); err != nil {
		return "", nil, err
	}
	s.requests.Add(1)
	return strings.TrimRight(line, "\r\n"), fields, nil
}

// always answers each request with the same bytes.
func always(answer string) func(*server, net.Conn, *bufio.Reader) {
	return func(s *server, c net.Conn, r *bufio.Reader) {
		for {
			if _, _, err := s.request(r); err != nil {
				return
			}
			if _, err := io.WriteString(c, answer); err != nil {
				return
			}
		}
	}
}

// once answers the first request with the bytes and closes.
func once(answer string) func(*server, net.Conn, *bufio.Reader) {
	return func(s *server, c net.Conn, r *bufio.Reader) {
		if _, _, err := s.request(r); err == nil {
			io.WriteString(c, answer)
		}
	}
}

func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Test: yes\r\n\r\nok"
