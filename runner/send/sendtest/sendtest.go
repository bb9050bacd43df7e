// Package sendtest tests engines of package send: the suite that every engine
// passes, and the feed and the servers that it and the engines' own tests use.
// Only tests import it.
package sendtest

import (
	"testing"
	"time"

	"headroom/runner/send"
)

// Make makes the engine under test, as the New of its package does. Its
// instants count from origin.
type Make func(cfg send.Config, origin time.Time) (send.Engine, error)

// Capabilities is where engines may differ.
type Capabilities struct {
	// StrictFraming: an answer with both a Content-Length and chunks is not
	// HTTP to the engine. Others take the chunks.
	StrictFraming bool
	// LooksFirst: the engine asks the system right before each use whether a
	// connection has been closed. Others may hear of a close too late.
	LooksFirst bool
}

// Run runs the suite over plain HTTP/1.1. Its tests are named as subtests of t.
func Run(t *testing.T, engine Make, can Capabilities) {
	s := &suite{engine, can}
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"Faults", s.faults},
		{"Refused", s.refused},
		{"Wire", s.wire},
		{"UnixSocket", s.unixSocket},
		{"SourceAddress", s.sourceAddress},
		{"Localhost", s.localhost},
		{"Reuse", s.reuse},
		{"MaxConns", s.maxConns},
		{"Order", s.order},
		{"Abandon", s.abandon},
		{"Cancel", s.cancel},
		{"ClosesIdle", s.closesIdle},
		{"ClosedInStall", s.closedInStall},
		{"AllStale", s.allStale},
		{"ClosingServers", s.closingServers},
		{"ClosesAfterTen", s.closesAfterTen},
		{"NoFalseLesson", s.noFalseLesson},
		{"Law", s.law},
	} {
		t.Run(c.name, c.test)
	}
	s.limits(t)
}

type suite struct {
	engine Make
	can    Capabilities
}

func (s *suite) drive(t testing.TB, cfg send.Config, reqs ...*send.Request) (*Feed, send.Stats) {
	t.Helper()
	return Drive(t, s.engine, cfg, reqs...)
}

func (s *suite) open(t testing.TB, cfg send.Config) send.Engine {
	t.Helper()
	return Open(t, s.engine, cfg)
}

// Config is that of an engine for a server at addr, over HTTP/1.1.
func Config(addr string) send.Config {
	return send.Config{Scheme: "http", Address: addr, Host: "test.example", HTTPVersion: "1.1", KeepAlive: true}
}

// Open makes an engine that is closed when the test is over.
func Open(t testing.TB, engine Make, cfg send.Config) send.Engine {
	t.Helper()
	e, err := engine(cfg, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// Drive runs all requests to their end on an engine of their own, and Law over
// them.
func Drive(t testing.TB, engine Make, cfg send.Config, reqs ...*send.Request) (*Feed, send.Stats) {
	t.Helper()
	e, err := engine(cfg, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	f := NewFeed(t, reqs...)
	f.DriveAll(e)
	s := e.Stats()
	if s.InFlight != 0 || s.Waiting != 0 || s.Resends != 0 {
		t.Errorf("after the end: %+v", s)
	}
	f.Law(reqs)
	return f, s
}
