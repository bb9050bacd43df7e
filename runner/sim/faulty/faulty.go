// Package faulty is an HTTP server for tests that does what a load generator
// has to survive, and counts exactly what reached it.
//
// The first segment of a path chooses what happens to the request; the second,
// where there is one, is its number:
//
//	/ok            200 with a small JSON document (so does every unknown path)
//	/status/N      status N
//	/error         500 with a text that is different each time
//	/large/N       200 with N bytes
//	/slow/N        200 after N ms
//	/slow-head/N   200, its head a byte at a time over N ms
//	/chunked       200 in three chunks, with a trailer
//	/http10        HTTP/1.0, the body ends with the connection
//	/until-close   HTTP/1.1 without a length, the body ends with the connection
//	/continue      100 and 103 before the 200
//	/redirect/N    N redirects, then 200
//	/hang          no answer, ever
//	/hang-body     a head, a part of the body, then nothing
//	/reset         the connection is reset
//	/reset-body    a head, a part of the body, then a reset
//	/close         the connection is closed without an answer
//	/truncate      the connection is closed within the body
//	/cut-chunk     the connection is closed within a chunk
//	/extra         a whole answer and more bytes after it
//	/garbage       not HTTP
//	/lengths       two lengths that contradict each other
//	/huge-head     a head of 1 MB
package faulty

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Options say when the server closes connections by itself.
type Options struct {
	CloseIdle  time.Duration // an idle connection; 0 = never
	CloseAfter int           // after so many answers; 0 = never
	Silently   bool          // CloseAfter does not announce it with Connection: close
	Mute       bool          // takes connections and whatever is sent, and says nothing: a TLS handshake that hangs
	Listen     string        // default 127.0.0.1:0
}

// Counts is what reached a server.
type Counts struct {
	Connections int
	Open        int
	Requests    int            // whole requests read
	ByKind      map[string]int // by the first segment of the path
	Bytes       int64          // of request bodies
}

// Server is a running fault server.
type Server struct {
	URL     string
	Address string

	o      Options
	ln     net.Listener
	mu     sync.Mutex
	counts Counts
	conns  map[net.Conn]struct{}
	errors int
	done   chan struct{}
	wg     sync.WaitGroup
}

// Start starts a server.
func Start(o Options) (*Server, error) {
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("fault server: %w", err)
	}
	s := &Server{
		URL: "http://" + ln.Addr().String(), Address: ln.Addr().String(), o: o, ln: ln,
		counts: Counts{ByKind: map[string]int{}}, conns: map[net.Conn]struct{}{}, done: make(chan struct{}),
	}
	s.wg.Go(s.accept)
	return s, nil
}

// Refused is an address at which connections are refused: nothing listens there any more.
func Refused() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("fault server: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}

// Counts returns the counts so far.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.counts
	c.Open = len(s.conns)
	c.ByKind = make(map[string]int, len(s.counts.ByKind))
	for k, n := range s.counts.ByKind {
		c.ByKind[k] = n
	}
	return c
}

// Close closes every connection and waits for the server to end.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.done:
		s.mu.Unlock()
		return
	default:
	}
	close(s.done)
	s.ln.Close()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *Server) accept() {
	for {
		c, err := s.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		s.mu.Lock()
		select {
		case <-s.done:
			c.Close()
		default:
			s.counts.Connections++
			s.conns[c] = struct{}{}
			s.wg.Go(func() { s.serve(c) })
		}
		s.mu.Unlock()
	}
}

func (s *Server) serve(c net.Conn) {
	defer func() {
		c.Close()
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
	}()
	if s.o.Mute {
		_, _ = io.Copy(io.Discard, c) // until the client leaves
		return
	}
	r := bufio.NewReader(c)
	for n := 1; ; n++ {
		if s.o.CloseIdle > 0 && c.SetReadDeadline(time.Now().Add(s.o.CloseIdle)) != nil {
			return
		}
		if _, err := r.Peek(1); err != nil {
			return
		}
		if s.o.CloseIdle > 0 && c.SetReadDeadline(time.Time{}) != nil {
			return
		}
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		size, err := io.Copy(io.Discard, req.Body)
		if err != nil {
			return
		}
		kind, number := split(req.URL.Path)
		s.mu.Lock()
		s.counts.Requests++
		s.counts.Bytes += size
		s.counts.ByKind[known(kind)]++
		s.mu.Unlock()
		last := req.Close || s.o.CloseAfter > 0 && n >= s.o.CloseAfter
		x := exchange{s: s, c: c, close: req.Close || last && !s.o.Silently, kind: kind, n: number}
		if !x.answer() || last {
			return
		}
	}
}

// split takes "/slow/20" apart.
func split(path string) (kind string, n int) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(parts) > 1 {
		n, _ = strconv.Atoi(parts[1]) // 0 where it is not a number
	}
	return parts[0], max(n, 0)
}
