package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

var discardLog = log.New(io.Discard, "", 0)

// Server is a running service.
type Server struct {
	*core
	URL string

	stop func()
	err  chan error
}

// Start starts the service that o describes. GET /truth is answered with what
// it is and did; every other request is work.
func Start(o Options) (*Server, error) {
	if err := o.Check(); err != nil {
		return nil, fmt.Errorf("built-in service: %w", err)
	}
	o = o.filled()
	o.Hold = o.Depends != ""
	ln, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("built-in service: %w", err)
	}
	c, err := newCore(o)
	if err != nil {
		ln.Close()
		return nil, err
	}
	s := &Server{core: c, URL: "http://" + ln.Addr().String(), err: make(chan error, 1)}
	if !o.TLS && !o.H2C && !o.Hold {
		p := &plain{core: c, ln: ln, conns: map[*plainConn]struct{}{}}
		s.stop = p.close
		go func() { s.err <- p.serve() }()
		return s, nil
	}
	f := &full{core: c, client: &http.Client{
		Timeout:   30 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: o.Workers, IdleConnTimeout: time.Minute},
	}}
	h, err := f.server()
	if err != nil {
		ln.Close()
		return nil, errors.Join(err, c.close())
	}
	s.stop = func() {
		h.Close()
		f.client.CloseIdleConnections()
	}
	if o.TLS {
		s.URL = "https://" + ln.Addr().String()
	}
	go func() {
		if o.TLS {
			s.err <- h.ServeTLS(ln, "", "")
			return
		}
		s.err <- h.Serve(ln)
	}()
	return s, nil
}

// Truth is what GET /truth answers.
func (s *Server) Truth() Truth { return s.truth() }

// Close ends the service at once; requests in it are cut off. It returns what
// was wrong with the log of arrivals.
func (s *Server) Close() error {
	s.stop()
	return s.core.close()
}

// Serve runs headroom target: it starts the service, prints
// "listening on URL" to stdout, and serves until ctx ends or, with
// o.WithParent, standard input is closed. It returns nil then.
func Serve(ctx context.Context, o Options, stdout io.Writer) error {
	s, err := Start(o)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "listening on %s\n", s.URL); err != nil {
		return errors.Join(err, s.Close())
	}
	var orphaned chan struct{}
	if o.WithParent {
		orphaned = make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // its end is what matters, however it comes
			close(orphaned)
		}()
	}
	select {
	case <-ctx.Done():
	case <-orphaned:
	case err = <-s.err:
		err = fmt.Errorf("built-in service: %w", err)
	}
	return errors.Join(err, s.Close())
}
