package store

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"headroom/store/record"
)

var update = flag.Bool("update", false, "write the files in testdata/runs that do not exist yet; existing ones never change")

const goldenDir = "../testdata/runs"

// golden is a file of a version that was written once and opens for ever.
type golden struct {
	file      string
	format    int
	state     record.State
	digest    string
	scheduled uint64
	ok        uint64
	p99us     float64 // response time of the valid answers, whole run
	findings  int     // harmless ones, other than that git made the file writable
}

var goldens = []golden{
	{
		file: "v1-step.db", format: 1, state: record.Complete, scheduled: 1427, ok: 1400, p99us: 127039,
		digest: "c8458e675fda78e5b1dfaac3ed2c349ae5e2cd896294e9fa847688804460a591",
	},
	{file: "v1-interrupted.part", format: 1, state: record.Interrupted, scheduled: 805, ok: 790, p99us: 108863, findings: 1},
	{
		file: "v1-recovered.db", format: 1, state: record.Interrupted, scheduled: 805, ok: 790, p99us: 108863,
		digest: "ec2ca9339aefa7f16897ccddc20d35702c74bf8bb2bce8bfb8bf3f8b1933dcd3",
	},
}

// version1 makes the run of the version-1 files, with something of everything.
func version1(id string) *record.Memory {
	s := small
	s.id = id
	m := s.memory()
	m.H.Classes = append(m.H.Classes, record.Class{Name: "checkout", Weight: 1, Flow: true})
	m.H.Faults = []record.Fault{{Name: "payments slow", Kind: "latency", On: "payments", AtNS: 1e9, ForNS: 2e9}}
	m.H.Limits = map[string]float64{"process.open_fds": 1024}
	c := &m.Iv[2].Cells[0]
	c.Counts.Scheduled += 4
	c.Counts.By[record.Dropped] += 2
	c.Counts.By[record.GeneratorError]++
	c.Counts.Unsent++
	c.Errors[record.ErrPorts] = 1
	c.LateSends = [4]uint64{5, 2, 1, 0}
	c.Counts.Sent++
	c.Counts.Attempts++
	c.Counts.By[record.Timeout]++
	c.Errors[record.ErrAnswerTimeout] = 1
	c.OtherResponse.Record(120e9) // beyond the highest value: clamped
	c.Service.Record(120e9)
	c.Lag.Record(15e6)
	flow := record.NewHistogram(m.H.MaxUS)
	flow.Record(350e6)
	m.Iv[3].Flows = []record.Cell{{Class: 2, OKResponse: flow, AtOrBelow: []uint64{0}, Counts: record.Counts{
		Scheduled: 1, Sent: 1, Attempts: 2, By: [record.NumOutcomes]uint64{record.OK: 1},
	}}}
	m.Iv[3].Moment = record.Moment{
		InFlight: 7, Waiting: 1, Sends: 190, PeakSent100ms: 31, LimitedNS: 5e6, ConnsOpen: 8,
		Done: [record.NumOutcomes]uint64{record.OK: 180}, Gen: record.Generator{CPUNS: 4e8, CapacityNS: 2e9, MachineBusy: 0.25},
	}
	return m
}

func writeGoldens(t *testing.T) {
	for _, g := range goldens {
		path := filepath.Join(goldenDir, g.file)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		id := g.file[:len(g.file)-len(filepath.Ext(g.file))]
		m := version1(id)
		if g.state == record.Interrupted {
			m.Iv = m.Iv[:4]
			m.P[len(m.P)-1].Ended = false
			m.P = m.P[:2]
			m.P[1].Ended = false
			path := part(t, goldenDir, m)
			if filepath.Ext(g.file) == fileSuffix {
				if _, err := SealInterrupted(path); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		sealed(t, goldenDir, m)
	}
}

// Files of every version ever written open, and say what they said then.
func TestGolden(t *testing.T) {
	if *update {
		writeGoldens(t)
	}
	for _, g := range goldens {
		r := reopen(t, filepath.Join(goldenDir, g.file))
		var total record.Counts
		response := record.NewHistogram(r.Header().MaxUS)
		for iv, err := range r.Intervals() {
			if err != nil {
				t.Fatal(err)
			}
			c := iv.Total()
			total.Add(&c)
			for _, c := range iv.Cells {
				if err := response.Merge(c.OKResponse); err != nil {
					t.Fatal(err)
				}
			}
		}
		if r.Format() != g.format || r.End().State != g.state || r.Digest() != g.digest ||
			total.Scheduled != g.scheduled || total.By[record.OK] != g.ok || response.QuantileUS(0.99) != g.p99us {
			t.Errorf("%s: format %d, state %s, digest %q, scheduled %d, ok %d, p99 %v µs; want %+v",
				g.file, r.Format(), r.End().State, r.Digest(), total.Scheduled, total.By[record.OK], response.QuantileUS(0.99), g)
		}
		rep, err := Verify(r.Path())
		if err != nil || rep.Err() != nil {
			t.Errorf("%s: %v, %v", g.file, err, rep.Err())
			continue
		}
		n := 0
		for _, f := range rep.Findings {
			if f.Code != "writable" { // git does not keep the mode
				n++
			}
		}
		if n != g.findings {
			t.Errorf("%s: findings %+v", g.file, rep.Findings)
		}
	}
	// Every file there is tested.
	files, err := os.ReadDir(goldenDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		known := filepath.Ext(f.Name()) == ".md"
		for _, g := range goldens {
			known = known || g.file == f.Name()
		}
		if !known {
			t.Errorf("%s: not in the list of this test", f.Name())
		}
	}
}
