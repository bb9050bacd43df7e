package store

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"headroom/store/record"
)

// second is a second in nanoseconds.
const second = int64(time.Second)

// shape is a made-up run. The same shape and seed make the same run.
type shape struct {
	id       string
	classes  int
	rate     int // requests per second
	interval int64
	plateaus int
	length   int64 // of a plateau
}

// small is a step run of a few seconds.
var small = shape{id: "step-1", classes: 2, rate: 200, interval: second, plateaus: 2, length: 3 * second}

func (s shape) header() record.Header {
	h := record.Header{
		RunID: s.id, Name: "checkout", Release: "v1.42.0", Model: record.Open, Format: "step",
		Started: time.Date(2026, 11, 20, 9, 30, 0, 250e6, time.UTC), Seed: 7, IntervalNS: s.interval,
		TimeoutNS: 2 * second, DeadlineNS: 2 * second, MaxUS: record.DefaultMaxUS, Arrivals: "poisson",
		MaxInFlight: 20000, KeepAlive: true, HTTPVersion: "1.1", ToolVersion: "0.1.0", PlanDigest: "aa", Comparable: "bb", Shards: 1,
		Thresholds: []record.Threshold{{Name: "response<=150ms", Clock: record.Response, LimitNS: 150e6}},
		Gates:      []string{"response(p99) <= 150ms"},
		Load:       record.Load{FromRPS: float64(s.rate), ByRPS: float64(s.rate), PlateauNS: s.length},
		Production: &record.Production{PeakRPS: 100, WindowDays: 90, ResolutionS: 1, Taken: "2026-11-01", Source: "edge counter"},
		Observed:   []record.SeriesInfo{{ID: 0, Name: "process.open_fds", Source: "process", Unit: "1"}},
	}
	for c := range s.classes {
		h.Classes = append(h.Classes, record.Class{Name: []string{"view", "export", "buy", "find"}[c%4], Weight: 1})
	}
	return h
}

// memory makes the whole run.
func (s shape) memory() *record.Memory {
	rng := rand.New(rand.NewPCG(1, uint64(s.rate)))
	m := &record.Memory{H: s.header()}
	m.F = record.Facts{Generator: map[string]string{"cpu": "2"}, Target: map[string]string{"server": "test"}}
	at := int64(0)
	add := func(kind record.PhaseKind, step int, length int64) {
		p := record.Phase{Index: len(m.P), Kind: kind, Step: step, TargetRPS: float64(s.rate), StartNS: at, EndNS: at + length, Ended: true}
		for i := 0; at < p.EndNS; i++ {
			width := min(s.interval, p.EndNS-at)
			m.Iv = append(m.Iv, s.makeInterval(rng, p, i, at, width))
			m.Sends = append(m.Sends, sends(rng, p.Index, i, at, width))
			m.Res = append(m.Res, record.Sample{Series: 0, AtNS: at, Value: 12 + float64(i)})
			at += width
		}
		m.P = append(m.P, p)
	}
	add(record.Warmup, -1, s.interval)
	for i := range s.plateaus {
		add(record.Step, i, s.length)
		add(record.Drain, -1, s.interval/2)
	}
	m.N = []record.Note{{AtNS: 5, Code: "plain_timer", Severity: record.NoteSeverity, Phase: -1, Measured: 1, Limit: 0.5, Text: "timer"}}
	m.Ev = []record.FaultEvent{{Fault: 0, Event: "acknowledged", AtNS: 9}}
	m.E = record.End{State: record.Complete, AtNS: at, Conns: record.Connections{Opened: 10, Reused: 990}}
	return m
}

func (s shape) makeInterval(rng *rand.Rand, p record.Phase, i int, at, width int64) *record.Interval {
	iv := &record.Interval{Phase: p.Index, Index: i, StartNS: at, WidthNS: width}
	iv.Moment.Gen = record.Generator{CPUNS: width / 10, CapacityNS: 2 * width, SleeperNS: 70_000, Descriptors: 40, HeapBytes: 20 << 20, MachineBusy: math.NaN()}
	if p.Kind == record.Drain {
		return iv
	}
	perClass := float64(s.rate) / float64(s.classes) * float64(width) / 1e9
	for class := range s.classes {
		n := int(perClass + rng.NormFloat64()*math.Sqrt(perClass))
		if n <= 0 {
			continue
		}
		c := record.Cell{Class: class, AtOrBelow: make([]uint64, 1), Status: map[int]uint64{}, Errors: map[record.ErrorKind]uint64{}}
		hists := []**record.Histogram{&c.OKResponse, &c.OtherResponse, &c.Service, &c.Lag}
		for _, h := range hists {
			*h = record.NewHistogram(record.DefaultMaxUS)
		}
		for range n {
			service := int64(20e6 * math.Exp(0.8*rng.NormFloat64()))
			lag := int64(40e3 * math.Exp(0.5*rng.NormFloat64()))
			c.Counts.Scheduled++
			c.Counts.Sent++
			c.Counts.Attempts++
			c.Counts.BytesIn += 512
			c.Service.Record(service)
			c.Lag.Record(lag)
			if rng.IntN(50) == 0 {
				c.OtherResponse.Record(service + lag)
				c.Counts.By[record.Shed]++
				c.Status[429]++
				c.Errors[record.ErrStatus]++
				continue
			}
			c.OKResponse.Record(service + lag)
			c.Counts.By[record.OK]++
			c.Status[200]++
			if service+lag <= 150e6 {
				c.AtOrBelow[0]++
			}
		}
		iv.Moment.Sends += c.Counts.Sent
		iv.Cells = append(iv.Cells, c)
	}
	return iv
}

func sends(rng *rand.Rand, phase, window int, at, width int64) *record.SendSample {
	s := &record.SendSample{Phase: phase, Window: window}
	for range 20 {
		at += 1 + int64(float64(width)/40*rng.ExpFloat64())
		s.Scheduled = append(s.Scheduled, at)
		s.Sent = append(s.Sent, at+30_000+int64(rng.IntN(20_000)))
	}
	return s
}

// sealed records a run in a folder and returns the sealed file.
func sealed(t testing.TB, dir string, m *record.Memory) string {
	t.Helper()
	r, err := CreateWith(dir, m.H, Options{Bulk: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := Copy(m, r); err != nil {
		t.Fatal(err)
	}
	path, err := r.Finish(m.E)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// part records a run and leaves it as a crash would.
func part(t testing.TB, dir string, m *record.Memory) string {
	t.Helper()
	r, err := Create(dir, m.H)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.P {
		if err := r.PutPhase(p); err != nil {
			t.Fatal(err)
		}
	}
	for _, iv := range m.Iv {
		if err := r.PutInterval(iv); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := r.db.Close(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, m.H.RunID+partSuffix)
}

// collect reads a whole run into memory.
func collect(t testing.TB, ev record.Evidence) *record.Memory {
	t.Helper()
	m := &record.Memory{H: ev.Header(), SealDigest: ev.Digest()}
	if err := Copy(ev, m); err != nil {
		t.Fatal(err)
	}
	m.E = ev.End()
	return m
}

func reopen(t testing.TB, path string) *Run {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

var sameRun = cmp.Options{cmpopts.EquateNaNs(), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(record.Memory{}, "SealDigest")}

var nan = math.NaN()

// sortPhases puts the phases of a model into the order in which a file has them.
func sortPhases(m *record.Memory) {
	slices.SortFunc(m.P, func(a, b record.Phase) int { return a.Index - b.Index })
}
