package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"headroom/analyze"
	"headroom/report/web"
	"headroom/runner"
	"headroom/runner/live"
	"headroom/store/record"
)

// ui shows a run while it goes on. A nil ui shows nothing.
type ui struct {
	feed     *live.Feed
	server   *http.Server
	remove   func() error
	plateaus int
	wait     sync.WaitGroup
	busy     atomic.Bool
}

// startUI serves the run at the address, and announces it beside the evidence.
func startUI(address, dir string, h record.Header, say func(string, ...any)) (*ui, error) {
	if address == "" {
		return nil, nil
	}
	here, err := onThisMachine(address)
	if err != nil {
		return nil, usagef("--ui %s: it is an address and a port, as in 127.0.0.1:8078", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--ui: %w; give another address", err)
	}
	u := &ui{feed: live.New(h)}
	site := web.New(web.Config{
		Library: &oneRun{u.feed, h}, Now: time.Now, Version: version,
		Extra: map[string]http.Handler{"/live.json": u.feed, "/metrics": u.feed},
	})
	u.server = newHTTPServer(site)
	go func() { _ = u.server.Serve(l) }() // ends with the run; a page less is no reason to end a run
	port := l.Addr().(*net.TCPAddr).Port
	local := fmt.Sprintf("http://127.0.0.1:%d", port)
	if ip := l.Addr().(*net.TCPAddr).IP; ip.IsLoopback() && ip.To4() == nil {
		local = fmt.Sprintf("http://[::1]:%d", port)
	}
	if u.remove, err = live.Announce(dir, h.RunID, local); err != nil {
		_ = u.server.Close()
		return nil, err
	}
	say("watch it at %s/", local)
	if !here {
		say("INSECURE: everyone who reaches %s can watch this run", address)
	}
	return u, nil
}

// sink is the sink with the feed in front of it.
func (u *ui) sink(to record.Sink) record.Sink {
	if u == nil {
		return to
	}
	return u.feed.Through(to)
}

// show is called on the sending loop once an interval: it hands over a few
// numbers and never waits.
func (u *ui) show(s runner.Status) {
	if u == nil {
		return
	}
	u.feed.Tick(live.Tick{AtNS: s.AtNS, Phase: s.Phase, InFlight: int64(s.InFlight)})
	if len(s.Plateaus) == u.plateaus || !u.busy.CompareAndSwap(false, true) {
		return
	}
	u.plateaus = len(s.Plateaus)
	ended := slices.Clone(s.Plateaus)
	u.wait.Go(func() {
		defer u.busy.Store(false)
		u.feed.SetSoFar(soFar(ended))
	})
}

// soFar is what the ended plateaus say, by the code that decides the next one.
func soFar(ended []analyze.Plateau) live.SoFar {
	s := live.SoFar{Plateaus: len(ended)}
	for i := range ended {
		p := &ended[i]
		for _, code := range p.Trust.Reasons {
			if p.Trust.Verdict == analyze.Untrusted && !slices.Contains(s.UntrustedReasons, code) {
				s.UntrustedReasons = append(s.UntrustedReasons, code)
			}
		}
	}
	k := analyze.FindKnee(ended, 1)
	s.HighestHeldRPS, s.LowestFailedRPS, s.KneeRPS = k.HighestHeld, k.LowestFailed, k.RPS
	return s
}

// end tells the readers how the run ended, and stops serving.
func (u *ui) end(e record.End) {
	if u == nil {
		return
	}
	u.wait.Wait()
	u.feed.End(e)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := u.server.Shutdown(ctx); err != nil {
		_ = u.server.Close() // readers that did not let go
	}
	_ = u.remove() // a stale announcement is not believed
}

// oneRun is the library of a recorder: the run that it records.
type oneRun struct {
	feed *live.Feed
	h    record.Header
}

// List returns the run.
func (o *oneRun) List(context.Context) ([]web.Entry, error) {
	return []web.Entry{{
		Key: o.h.RunID, Version: "live", RunID: o.h.RunID, State: record.Recording, Started: o.h.Started, Recording: true, Feed: true,
		Header: record.Header{Name: o.h.Name, Release: o.h.Release, Format: o.h.Format, Model: o.h.Model},
	}}, nil
}

// Open has nothing to open yet.
func (o *oneRun) Open(context.Context, web.Entry) (web.Evidence, error) {
	return nil, fmt.Errorf("this run is still being recorded")
}

// Live is what the feed says.
func (o *oneRun) Live(context.Context, web.Entry) (*web.LiveStatus, error) {
	b, err := json.Marshal(o.feed.Status())
	if err != nil {
		return nil, err
	}
	var s web.LiveStatus
	return &s, json.Unmarshal(b, &s)
}

// Receive receives nothing.
func (o *oneRun) Receive(context.Context, io.Reader) (web.Receipt, error) {
	return web.Receipt{}, &web.Refusal{Code: "read_only", Text: "a recorder receives no runs"}
}
