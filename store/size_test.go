package store

import (
	"os"
	"testing"

	"headroom/store/record"
)

// The budgets of the specification for a soak of 4 hours, 44 classes and 1,000
// requests per second. A file of a few minutes is extrapolated: evidence grows
// with time only.
func TestSizeOfASoak(t *testing.T) {
	for _, c := range []struct {
		name      string
		interval  int64
		intervals int64 // recorded here
		budget    float64
	}{
		{"intervals of 1 s", second, 240, 400e6},
		{"intervals of 10 s", 10 * second, 60, 60e6},
	} {
		length := c.intervals * c.interval
		s := shape{id: "soak", classes: 44, rate: 1000, interval: c.interval, plateaus: 1, length: length}
		m := s.memory()
		r, err := Create(t.TempDir(), m.H) // a transaction for each interval costs pages
		if err != nil {
			t.Fatal(err)
		}
		var encoded int
		for _, iv := range m.Iv {
			b, err := record.AppendInterval(nil, iv)
			if err != nil {
				t.Fatal(err)
			}
			encoded += len(b)
		}
		for i, iv := range m.Iv {
			if err := r.PutInterval(iv); err != nil {
				t.Fatal(err)
			}
			if err := r.PutSendSample(m.Sends[i]); err != nil {
				t.Fatal(err)
			}
		}
		path, err := r.Finish(m.E)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		full := float64(info.Size()) * 4 * 3600 * float64(second) / float64(length)
		t.Logf("%s: %d bytes per interval in the file, %d encoded; 4 hours are %.0f MB of %.0f MB",
			c.name, info.Size()/int64(len(m.Iv)), encoded/len(m.Iv), full/1e6, c.budget/1e6)
		if full > c.budget {
			t.Errorf("%s: 4 hours are %.0f MB, the budget is %.0f MB", c.name, full/1e6, c.budget/1e6)
		}
	}
}

func BenchmarkDecodeInterval(b *testing.B) {
	s := shape{id: "soak", classes: 44, rate: 1000, interval: second, plateaus: 1, length: second}
	m := s.memory()
	plain, err := record.AppendInterval(nil, m.Iv[1])
	if err != nil {
		b.Fatal(err)
	}
	var w wrapper
	var u unwrapper
	value, err := w.wrap("intervals", nil, plain, true)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		plain, err := u.unwrap("intervals", nil, value)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := record.DecodeInterval(plain); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeInterval(b *testing.B) {
	s := shape{id: "soak", classes: 44, rate: 1000, interval: second, plateaus: 1, length: second}
	m := s.memory()
	var w wrapper
	b.ReportAllocs()
	for b.Loop() {
		plain, err := record.AppendInterval(nil, m.Iv[1])
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.wrap("intervals", nil, plain, true); err != nil {
			b.Fatal(err)
		}
	}
}
