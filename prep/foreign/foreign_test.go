package foreign_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"headroom/prep/foreign"
	"headroom/store/record"
)

// dataDir is the folder of real inputs, or the test is skipped.
func dataDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("HEADROOM_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "B")); err != nil {
		t.Skip("no real inputs: set HEADROOM_DATA to the folder that holds TRUTH.json and A to D")
	}
	return filepath.Join(dir, "B")
}

// imported reads and writes a file and checks the laws that all evidence obeys.
func imported(t testing.TB, text string, o foreign.Options) (*record.Memory, *foreign.Import) {
	t.Helper()
	m, im, err := tryImport(text, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, im
}

func tryImport(text string, o foreign.Options) (*record.Memory, *foreign.Import, error) {
	im, err := foreign.Read(context.Background(), strings.NewReader(text), o)
	if err != nil {
		return nil, nil, err
	}
	defer im.Close()
	m := &record.Memory{H: im.Header()}
	m.H.RunID = "import-test"
	if m.E, err = im.Write(m); err != nil {
		return nil, nil, err
	}
	if err := obeys(m); err != nil {
		return nil, nil, fmt.Errorf("law broken: %w", err)
	}
	return m, im, nil
}

// obeys checks the header, the law of accounting, the histograms' counts, that
// intervals follow on each other and fill the phase, and the running backlog.
func obeys(m *record.Memory) error {
	if err := m.H.Check(); err != nil {
		return err
	}
	next, until := map[int]int{}, map[int]int64{}
	for _, p := range m.P {
		until[p.Index] = p.StartNS
		if !p.Ended {
			return fmt.Errorf("phase %d has not ended", p.Index)
		}
	}
	var backlog int64
	for _, iv := range m.Iv {
		if iv.Index != next[iv.Phase] || iv.StartNS != until[iv.Phase] || iv.WidthNS <= 0 {
			return fmt.Errorf("interval %d of phase %d at %d, width %d; expected %d at %d", iv.Index, iv.Phase, iv.StartNS, iv.WidthNS, next[iv.Phase], until[iv.Phase])
		}
		next[iv.Phase]++
		until[iv.Phase] += iv.WidthNS
		if err := m.H.Fits(iv); err != nil {
			return err
		}
		for i := range iv.Cells {
			c := &iv.Cells[i]
			if err := c.Counts.Check(); err != nil {
				return err
			}
			if c.OKResponse.Count() != c.Counts.By[record.OK] {
				return fmt.Errorf("%d ok, histogram of %d", c.Counts.By[record.OK], c.OKResponse.Count())
			}
		}
		total := iv.Total()
		backlog += int64(total.Scheduled)
		for _, n := range iv.Moment.Done {
			backlog -= int64(n)
		}
		if got := iv.Moment.InFlight + iv.Moment.Waiting; m.H.Imported != "hdrhistogram" && m.H.Imported != "headroom" && got != backlog {
			return fmt.Errorf("interval %d of phase %d: backlog %d, want %d", iv.Index, iv.Phase, got, backlog)
		}
		if _, err := record.AppendInterval(nil, iv); err != nil {
			return err
		}
	}
	for _, p := range m.P {
		if until[p.Index] != p.EndNS {
			return fmt.Errorf("phase %d ends at %d, its intervals at %d", p.Index, p.EndNS, until[p.Index])
		}
	}
	return nil
}

// sum is everything that was imported, taken together.
type sum struct {
	counts                     record.Counts
	ok, other, service, answer *record.Histogram
	status                     map[int]uint64
	classes                    map[string]uint64
}

func total(t testing.TB, m *record.Memory) sum {
	t.Helper()
	s := sum{
		ok: record.NewHistogram(m.H.MaxUS), other: record.NewHistogram(m.H.MaxUS), service: record.NewHistogram(m.H.MaxUS),
		answer: record.NewHistogram(m.H.MaxUS), status: map[int]uint64{}, classes: map[string]uint64{},
	}
	for _, iv := range m.Iv {
		for i := range iv.Cells {
			c := &iv.Cells[i]
			s.counts.Add(&c.Counts)
			for _, p := range []struct{ to, from *record.Histogram }{
				{s.ok, c.OKResponse}, {s.other, c.OtherResponse}, {s.service, c.Service}, {s.answer, c.OKResponse}, {s.answer, c.OtherResponse},
			} {
				if err := p.to.Merge(p.from); err != nil {
					t.Fatal(err)
				}
			}
			for k, n := range c.Status {
				s.status[k] += n
			}
			s.classes[m.H.Classes[c.Class].Name] += c.Counts.Scheduled
		}
	}
	return s
}

// near reports whether a value is what was wanted, to a relative tolerance and
// half a microsecond.
func near(got, want, rel float64) bool { return math.Abs(got-want) <= rel*math.Abs(want)+0.5 }

func code(err error) string {
	var r *foreign.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	if err == nil {
		return ""
	}
	return "error: " + err.Error()
}
