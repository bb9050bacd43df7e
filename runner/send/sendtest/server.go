package sendtest

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// OK is an answer.
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Test: yes\r\n\r\nok"

// Server is a server of raw connections that counts what reaches it.
type Server struct {
	Accepted atomic.Int64 // connections
	Requests atomic.Int64 // that were read whole

	listener net.Listener
	wg       sync.WaitGroup
	mu       sync.Mutex
	open     map[net.Conn]bool
	over     bool
}

// Handler serves one connection, which is closed when it returns.
type Handler func(s *Server, c net.Conn, r *bufio.Reader)

// Serve serves on a port of its own until the test is over.
func Serve(t testing.TB, handle Handler) *Server {
	t.Helper()
	return ServeOn(t, "tcp", "127.0.0.1:0", handle)
}

// ServeOn is Serve with an address.
func ServeOn(t testing.TB, network, addr string, handle Handler) *Server {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{listener: l, open: map[net.Conn]bool{}}
	s.wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.Accepted.Add(1)
			s.mu.Lock()
			if s.over {
				c.Close()
			}
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
		s.Close()
		s.mu.Lock()
		s.over = true
		s.mu.Unlock()
		s.CloseConns()
		s.wg.Wait()
	})
	return s
}

// Addr is where the server listens.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close ends listening; open connections stay.
func (s *Server) Close() { s.listener.Close() }

// Saw reports whether n connections were opened to the server, as it counts
// them; it waits for those that it has yet to accept.
func (s *Server) Saw(n uint64) bool {
	for end := time.Now().Add(5 * time.Second); uint64(s.Accepted.Load()) < n && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return uint64(s.Accepted.Load()) == n
}

// CloseConns closes all open connections.
func (s *Server) CloseConns() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.open {
		c.Close()
	}
}

// Read reads one request and returns its first line and its fields.
func (s *Server) Read(r *bufio.Reader) (line string, fields []string, err error) {
	line, err = r.ReadString('\n')
	if err != nil {
		return "", nil, err
	}
	length := int64(0)
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
			if length, err = strconv.ParseInt(v, 10, 64); err != nil {
				return "", nil, err
			}
		}
		fields = append(fields, l)
	}
	if _, err := io.CopyN(io.Discard, r, length); err != nil {
		return "", nil, err
	}
	s.Requests.Add(1)
	return strings.TrimRight(line, "\r\n"), fields, nil
}

// Always answers each request with the same bytes.
func Always(answer string) Handler {
	return Each(func(c net.Conn) { write(c, answer) })
}

// Each lets answer write the answer to each request.
func Each(answer func(net.Conn)) Handler {
	return func(s *Server, c net.Conn, r *bufio.Reader) {
		for {
			if _, _, err := s.Read(r); err != nil {
				return
			}
			answer(c)
		}
	}
}

// Once answers the first request with the bytes and closes.
func Once(answer string) Handler {
	return func(s *Server, c net.Conn, r *bufio.Reader) {
		if _, _, err := s.Read(r); err == nil {
			write(c, answer)
		}
	}
}

// Hang reads and never answers.
func Hang(_ *Server, c net.Conn, _ *bufio.Reader) { _, _ = io.Copy(io.Discard, c) }

// started writes the beginning of an answer when a request begins to come, and
// lets rest do the rest.
func started(answer string, rest Handler) Handler {
	return func(s *Server, c net.Conn, r *bufio.Reader) {
		if _, err := r.Peek(1); err == nil {
			write(c, answer)
			rest(s, c, r)
		}
	}
}

// reset closes c so that the far side gets a reset.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	c.Close()
}

// write writes text. That the far side is gone is what some tests are about.
func write(c net.Conn, text string) { _, _ = io.WriteString(c, text) }
