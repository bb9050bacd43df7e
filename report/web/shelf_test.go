package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"headroom/report/web"
	"headroom/runner"
	"headroom/runner/plan"
	"headroom/runner/sim"
	"headroom/store"
	"headroom/store/record"
)

// checkout is a step run against a service of 800 requests per second.
const checkout = `
name: %s
seed: %d
target: {builtin: {workers: 8, service: 10ms exponential, queue: 80}}
http: {timeout: 2s}
load: {step: {from: 400, factor: 1.25, to: 1500, plateau: 20s, settle: 4s, drain: 4s, stop_after: 2, refine: 1, beyond: [1.5]}}
requests:
  - {class: view, weight: 4, get: /view}
  - {class: find, weight: 1, get: /find}
production: {peak: 300, window: 90d, resolution: 1s, taken: 2026-11-20, source: edge counter}
gates: [margin >= 2.0, post_saturation(1.5) >= 0.70, omission <= 2, "response(p99) <= 150ms"]
`

const steady = `
name: %s
seed: %d
target: {builtin: {workers: 8, service: 10ms exponential}}
load: {steady: {rate: 300, length: 20s}}
requests: [{class: view, weight: 1, get: /view}]
`

// simulate executes a plan against the model of a service in virtual time.
func simulate(t testing.TB, text, id, release string, started time.Time) *record.Memory {
	t.Helper()
	p, err := plan.Parse("test.yaml", []byte(text), func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	h := p.Header()
	h.RunID, h.Release, h.BuiltIn, h.Started, h.ToolVersion = id, release, true, started, "test"
	m := &record.Memory{H: h}
	m.F = record.Facts{Generator: map[string]string{"cpus": "2", "kernel": "6.1"}, Target: map[string]string{"image": "shop:" + release, "text": `<script>alert("x")</script>`}}
	script, err := runner.ScriptOf(p)
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := runner.NewTraffic(p, h)
	if err != nil {
		t.Fatal(err)
	}
	o := sim.EngineOptions{Service: sim.Options{Workers: 8, Service: sim.Service{Mean: 10 * time.Millisecond, Shape: sim.Exponential}, Queue: 80, Seed: h.Seed}}
	cfg := runner.Config{Header: h, Facts: m.F, Script: script, Traffic: traffic, Engine: sim.NewEngine(o), Sink: m, Arrivals: runner.ArrivalsOf(p, h.Seed)}
	m.E = cfg.Record(context.Background(), context.Background())
	if m.E.State != record.Complete {
		t.Fatalf("%s: %s", m.E.State, m.E.Reason)
	}
	// Names may hold anything: a plan can't, but a file can.
	m.H.Classes = slices.Clone(m.H.Classes)
	m.H.Observed = []record.SeriesInfo{{ID: 0, Name: "open_fds <&>", Source: "process", Unit: "1"}}
	for _, iv := range m.Iv {
		m.Res = append(m.Res, record.Sample{AtNS: iv.StartNS, Value: float64(20 + iv.Moment.InFlight)})
	}
	m.H.Classes[len(m.H.Classes)-1].Name = "find <b>&\"it\"</b>"
	return m
}

func write(t testing.TB, dir string, m *record.Memory) {
	t.Helper()
	r, err := store.CreateWith(dir, m.H, store.Options{Bulk: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Copy(m, r); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Finish(m.E); err != nil {
		t.Fatal(err)
	}
}

var day = time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC)

// samples are made once for all tests.
var samples = sync.OnceValue(func() func(t testing.TB) []*record.Memory {
	var once sync.Once
	var all []*record.Memory
	return func(t testing.TB) []*record.Memory {
		once.Do(func() {
			for i := range 3 {
				all = append(all, simulate(t, fmt.Sprintf(checkout, "checkout", 7+i), fmt.Sprintf("checkout-%d", i+1), fmt.Sprintf("v1.%d", 40+i), day.AddDate(0, 0, 7*i)))
			}
			all = append(all, simulate(t, fmt.Sprintf(steady, "look", 3), "steady-1", "v2", day.AddDate(0, 0, 3)))
		})
		return all
	}
})

// shelf is a library over a folder, as tests want it.
type shelf struct {
	dir   string
	inbox *store.Inbox
	live  *web.LiveStatus
}

// newShelf has complete runs, one that a crash left, one that is damaged, one
// that is no run, and one that is being recorded.
func newShelf(t testing.TB) *shelf {
	t.Helper()
	s := &shelf{dir: t.TempDir()}
	for _, m := range samples()(t) {
		write(t, s.dir, m)
	}
	copied := *samples()(t)[3]
	copied.H.RunID = "left-1"
	write(t, s.dir, &copied)
	leave(t, s.dir)
	b, err := os.ReadFile(filepath.Join(s.dir, "steady-1.db"))
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string][]byte{"damaged-1.db": append(b[:len(b)/2:len(b)/2], make([]byte, 4096)...), "foreign <i>.db": []byte("not a run"), "empty.part": nil} {
		if err := os.WriteFile(filepath.Join(s.dir, name), body, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s.inbox, err = store.OpenInbox(s.dir, store.DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	s.live = liveStatus()
	return s
}

// leave makes of the run left-1 what a killed recorder leaves.
func leave(t testing.TB, dir string) {
	t.Helper()
	m := samples()(t)[3]
	h := m.H
	h.RunID = "left-2"
	r, err := store.Create(dir, h)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.P {
		if err := r.PutPhase(p); err != nil {
			t.Fatal(err)
		}
	}
	for _, iv := range m.Iv[:10] {
		if err := r.PutInterval(iv); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Sync(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(r.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Abort(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "left-2.part"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func liveStatus() *web.LiveStatus {
	us := func(v float64) *float64 { return &v }
	counts := map[string]uint64{"ok": 5120, "shed": 3}
	s := &web.LiveStatus{
		Schema: "headroom.live/1", RunID: "now-1", Name: "checkout", Release: "v1.44", Format: "step", Model: "open", State: "recording",
		Started: "2026-11-29T10:00:00Z", ElapsedS: 31.5, IntervalS: 1, TimeoutS: 2,
		Phase:  web.LivePhase{Index: 2, Kind: "step", Step: 1, TargetRPS: 200, StartS: 20, EndS: 40},
		Recent: web.LiveRecent{WindowS: 10, OfferedRPS: 201, SentRPS: 201, GoodputRPS: 200, Outcomes: counts, ResponseP50US: us(9000), ResponseP99US: us(47000), ServiceP50US: us(8900), ServiceP99US: us(46000), LagP99US: us(80)},
		Total:  web.LiveTotal{Scheduled: 5123, Sent: 5123, Attempts: 5123, Outcomes: counts}, InFlight: 3,
		SoFar:   web.LiveSoFar{Plateaus: 1, HighestHeldRPS: us(100)},
		Classes: []web.LiveClass{{Name: "view", Scheduled: 5123, Outcomes: counts}},
		Phases:  []web.LivePhase{{Index: 0, Kind: "warmup", Step: -1, TargetRPS: 50, EndS: 10}, {Index: 1, Kind: "step", TargetRPS: 100, StartS: 10, EndS: 20}, {Index: 2, Kind: "step", Step: 1, TargetRPS: 200, StartS: 20, EndS: 40}},
	}
	for i := range 31 {
		s.Rows = append(s.Rows, web.LiveRow{StartS: float64(i), WidthS: 1, OfferedRPS: 100, GoodputRPS: 99, InFlight: 2, LagP99US: us(90)})
	}
	return s
}

func (s *shelf) List(context.Context) ([]web.Entry, error) {
	all, err := store.List(s.dir)
	if err != nil {
		return nil, err
	}
	var out []web.Entry
	for _, e := range all {
		name := filepath.Base(e.Path)
		w := web.Entry{
			Key: strings.TrimSuffix(name, filepath.Ext(name)), Version: e.Digest, RunID: e.RunID, State: e.State, Started: e.Header.Started,
			Bytes: e.Bytes, Digest: e.Digest, Header: e.Header, End: e.End,
		}
		if w.Version == "" {
			w.Version = fmt.Sprint(name, e.Bytes)
		}
		if e.Err != nil {
			w.Refused, w.Started = strings.ReplaceAll(e.Err.Error(), s.dir+"/", ""), e.Modified
		}
		out = append(out, w)
	}
	if s.live != nil {
		out = append(out, web.Entry{
			Key: "now-1", RunID: "now-1", Version: "now-1", State: record.Recording, Started: day.AddDate(0, 1, 0), Recording: true, Feed: true,
			Header: record.Header{Name: "checkout", Release: "v1.44", Format: "step"},
		})
	}
	return out, nil
}

func (s *shelf) Open(_ context.Context, e web.Entry) (web.Evidence, error) {
	for _, ext := range []string{".db", ".part"} {
		if _, err := os.Stat(filepath.Join(s.dir, e.Key+ext)); err == nil {
			return store.Open(filepath.Join(s.dir, e.Key+ext))
		}
	}
	return nil, os.ErrNotExist
}

func (s *shelf) Live(_ context.Context, e web.Entry) (*web.LiveStatus, error) {
	if !e.Recording || s.live == nil {
		return nil, web.ErrNoFeed
	}
	return s.live, nil
}

func (s *shelf) Receive(_ context.Context, from io.Reader) (web.Receipt, error) {
	got, err := s.inbox.Receive(from, nil)
	for kind, code := range map[error]string{store.ErrStream: "not_a_run", store.ErrTooLarge: "too_large", store.ErrInterrupted: "interrupted"} {
		if errors.Is(err, kind) {
			return web.Receipt{}, errors.Join(&web.Refusal{Code: code, Text: err.Error()}, err)
		}
	}
	return web.Receipt{RunID: got.RunID, Digest: got.Digest, Already: got.Already}, err
}
