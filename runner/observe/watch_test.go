package observe

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSleeperMeasuresLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSleeper()
		time.Sleep(time.Second + time.Millisecond)
		if got := s.take(); got != 0 {
			t.Errorf("%d ns late where nothing was late", got)
		}
		s.close()
	})
	synctest.Test(t, func(t *testing.T) {
		// A sleeper that nobody wakes is late by what has passed since it should.
		s := &sleeper{origin: time.Now()}
		s.planned.Store(int64(sleepFor))
		time.Sleep(200 * time.Millisecond)
		if got := time.Duration(s.take()); got != 150*time.Millisecond {
			t.Errorf("%v late, want 150ms", got)
		}
		// What is taken is not told again; the worst of several stays.
		s.planned.Store(int64(time.Hour))
		s.late(7)
		s.late(9)
		s.late(3)
		if got := s.take(); got != 9 {
			t.Errorf("%d ns late, want 9", got)
		}
		if got := s.take(); got != 0 {
			t.Errorf("%d ns late after taking, want 0", got)
		}
	})
}

func TestLongestPause(t *testing.T) {
	h := &metrics.Float64Histogram{
		Counts:  []uint64{5, 3, 0, 1},
		Buckets: []float64{0, 1e-6, 1e-5, 1e-4, math.Inf(1)},
	}
	for _, c := range []struct {
		name   string
		before []uint64
		want   int64
	}{
		{"first reading", nil, 100_000},
		{"nothing new", []uint64{5, 3, 0, 1}, 0},
		{"a short one", []uint64{4, 3, 0, 1}, 1000},
		{"a middle one", []uint64{4, 2, 0, 1}, 10_000},
		{"beyond the last bound", []uint64{5, 3, 0, 0}, 100_000},
	} {
		if got := longest(h, c.before); got != c.want {
			t.Errorf("%s: %d ns, want %d", c.name, got, c.want)
		}
	}
}

func TestWatchOfThisProcess(t *testing.T) {
	w := StartWatch()
	defer w.Stop()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w.ThisThread()
	w.Sample()
	runtime.GC()
	for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
	}
	g := w.Sample()
	if g.CapacityNS < int64(30*time.Millisecond)/100 {
		t.Errorf("capacity %d ns in 30 ms", g.CapacityNS)
	}
	if g.CPUNS <= 0 || g.HeapBytes <= 0 {
		t.Errorf("processor time %d ns, heap %d bytes; both must be above 0", g.CPUNS, g.HeapBytes)
	}
	if g.GCPauseNS <= 0 {
		t.Errorf("longest pause %d ns although the collector ran", g.GCPauseNS)
	}
	if g.StolenNS < 0 || g.SleeperNS < 0 {
		t.Errorf("stolen %d ns, sleeper %d ns late; neither may be below 0", g.StolenNS, g.SleeperNS)
	}
	if !(math.IsNaN(g.MachineBusy) || g.MachineBusy >= 0 && g.MachineBusy <= 1) {
		t.Errorf("machine busy %v", g.MachineBusy)
	}
	if runtime.GOOS == "linux" && g.Descriptors < 3 {
		t.Errorf("%d descriptors open", g.Descriptors)
	}
}

func TestFactsOfThisMachine(t *testing.T) {
	f := GeneratorFacts()
	for _, name := range []string{"os", "arch", "go_version", "gomaxprocs", "cpus"} {
		if f[name] == "" {
			t.Errorf("no fact %q in %v", name, f)
		}
	}
	for name, v := range f {
		if v == "" {
			t.Errorf("the fact %q is empty", name)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	w := StartWatch()
	defer w.Stop()
	w.ThisThread()
	for b.Loop() {
		w.Sample()
	}
}
