package faulty

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
)

// H2 is an HTTP/2 server in plain text (h2c) that says GOAWAY, gracefully,
// after a number of answers on a connection.
type H2 struct {
	URL, Address string

	connections, requests atomic.Int64
	server                *http.Server
	done                  chan struct{}
}

type answersKey struct{}

// StartH2 starts one; every = 0 never says GOAWAY.
func StartH2(every int) (*H2, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("fault server: %w", err)
	}
	s := &H2{URL: "http://" + ln.Addr().String(), Address: ln.Addr().String(), done: make(chan struct{})}
	s.server = &http.Server{
		Protocols: new(http.Protocols),
		ErrorLog:  log.New(io.Discard, "", 0),
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context {
			s.connections.Add(1)
			return context.WithValue(ctx, answersKey{}, new(atomic.Int64))
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // a client that breaks off is its own loss
			s.requests.Add(1)
			answers := r.Context().Value(answersKey{}).(*atomic.Int64)
			if every > 0 && answers.Add(1)%int64(every) == 0 {
				w.Header().Set("Connection", "close") // over HTTP/2: a GOAWAY
			}
			_, _ = io.WriteString(w, document)
		}),
	}
	s.server.Protocols.SetUnencryptedHTTP2(true)
	s.server.Protocols.SetHTTP1(true)
	go func() {
		defer close(s.done)
		_ = s.server.Serve(ln) // ends with Close
	}()
	return s, nil
}

// Counts returns the connections and requests that reached the server.
func (s *H2) Counts() (connections, requests int64) { return s.connections.Load(), s.requests.Load() }

// Close ends the server.
func (s *H2) Close() {
	s.server.Close()
	<-s.done
}
