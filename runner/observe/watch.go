package observe

import (
	"math"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"headroom/store/record"
)

// Watch is the generator's watch on itself. Sample may be called from any
// goroutine; it costs some tens of microseconds and is not for the loop.
type Watch struct {
	sleeper *sleeper
	thread  atomic.Int64
	stop    sync.Once

	mu       sync.Mutex
	system   system
	last     time.Time
	cpu      int64
	stolen   stolen
	busy     busy
	pauses   []uint64
	readings []metrics.Sample
}

// stolen is how long a thread had been runnable without running, in ns.
type stolen struct {
	thread int64
	ns     int64
	known  bool
}

// busy is how long processors had been busy, and existed, in any unit.
type busy struct {
	used, total float64
	known       bool
}

const (
	pausesMetric = "/sched/pauses/total/gc:seconds"
	heapMetric   = "/memory/classes/heap/objects:bytes"
)

// StartWatch starts watching. Stop ends the one goroutine that it needs.
func StartWatch() *Watch {
	w := &Watch{
		sleeper:  startSleeper(),
		system:   newSystem(),
		last:     time.Now(),
		readings: []metrics.Sample{{Name: pausesMetric}, {Name: heapMetric}},
	}
	w.cpu, _ = processCPU()
	w.busy = w.system.machine()
	w.runtime()
	return w
}

// Stop ends the watch's goroutine; it may be called twice.
func (w *Watch) Stop() { w.stop.Do(w.sleeper.close) }

// SetThread names the thread, by its id in the system, on which requests are
// sent: the one whose waiting for a processor counts.
func (w *Watch) SetThread(id int) { w.thread.Store(int64(id)) }

// ThisThread is SetThread with the calling thread, which the caller must be
// locked to. Where threads have no ids it does nothing.
func (w *Watch) ThisThread() { w.SetThread(thisThread()) }

// Sample says how the generator was since the sample before, or since the
// start. Numbers that the system does not tell are 0, MachineBusy is NaN.
func (w *Watch) Sample() record.Generator {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	elapsed := now.Sub(w.last)
	w.last = now

	g := record.Generator{
		SleeperNS:   w.sleeper.take(),
		CapacityNS:  int64(w.system.processors * float64(elapsed)),
		Descriptors: w.system.descriptors(),
		MachineBusy: math.NaN(),
	}
	if cpu, ok := processCPU(); ok {
		g.CPUNS = max(cpu-w.cpu, 0)
		w.cpu = cpu
	}
	g.GCPauseNS, g.HeapBytes = w.runtime()

	s := stolen{thread: w.thread.Load()}
	if s.thread != 0 {
		s.ns, s.known = w.system.waited(int(s.thread))
		if s.known && w.stolen.known && s.thread == w.stolen.thread {
			g.StolenNS = max(s.ns-w.stolen.ns, 0)
		}
	}
	w.stolen = s

	b := w.system.machine()
	if b.known && w.busy.known && b.total > w.busy.total {
		g.MachineBusy = min(max((b.used-w.busy.used)/(b.total-w.busy.total), 0), 1)
	}
	w.busy = b
	return g
}

// runtime reads the Go runtime: the longest pause since the last call, as the
// upper end of its bucket of the runtime's histogram, and the bytes of objects.
func (w *Watch) runtime() (pauseNS, heapBytes int64) {
	metrics.Read(w.readings)
	if v := w.readings[0].Value; v.Kind() == metrics.KindFloat64Histogram {
		h := v.Float64Histogram()
		pauseNS = longest(h, w.pauses)
		w.pauses = append(w.pauses[:0], h.Counts...)
	}
	if v := w.readings[1].Value; v.Kind() == metrics.KindUint64 {
		heapBytes = int64(v.Uint64())
	}
	return pauseNS, heapBytes
}

// longest is the upper end, in ns, of the highest bucket of which the count
// rose above what it was before; 0 where none did.
func longest(h *metrics.Float64Histogram, before []uint64) int64 {
	for i := len(h.Counts) - 1; i >= 0; i-- {
		if i < len(before) && h.Counts[i] == before[i] || h.Counts[i] == 0 {
			continue
		}
		end := h.Buckets[i+1]
		if math.IsInf(end, 1) {
			end = h.Buckets[i]
		}
		return int64(end * 1e9)
	}
	return 0
}
