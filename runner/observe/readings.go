package observe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"headroom/store/record"
)

// Collector reads some resource series. Its methods are called from one
// goroutine at a time.
type Collector interface {
	// Series names what it reads; ID is the position in the list, from 0. The
	// list does not change.
	Series() []record.SeriesInfo
	// Collect reads once, at an instant in ns since the run's origin. It may
	// return samples and an error: what could be read, and why not all.
	// A collector that holds something open is an io.Closer as well.
	Collect(ctx context.Context, at int64) ([]record.Sample, error)
}

// readingLimit is how long one reading may take.
const readingLimit = 5 * time.Second

// bufferLimit is how many samples wait to be taken; later ones are counted as
// failed readings.
const bufferLimit = 1 << 16

// Readings run collectors, each on a goroutine of its own, whenever Resources
// asks for it.
type Readings struct {
	series []record.SeriesInfo
	cancel context.CancelFunc
	jobs   []*job
	wait   sync.WaitGroup

	mu  sync.Mutex
	got []record.Sample
}

type job struct {
	c     Collector
	first int // id of its first series
	ask   chan request

	// Guarded by Readings.mu.
	tries, failed, skipped int
	reported               bool
}

type request struct {
	at    int64
	asked time.Time
}

// StartReadings starts the collectors' goroutines.
func StartReadings(collectors ...Collector) *Readings {
	ctx, cancel := context.WithCancel(context.Background())
	r := &Readings{cancel: cancel}
	for _, c := range collectors {
		j := &job{c: c, first: len(r.series), ask: make(chan request, 1)}
		for _, s := range c.Series() {
			s.ID += j.first
			r.series = append(r.series, s)
		}
		r.jobs = append(r.jobs, j)
		r.wait.Go(func() { r.run(ctx, j) })
	}
	return r
}

// Series lists all series, with the ids that samples carry.
func (r *Readings) Series() []record.SeriesInfo { return r.series }

// Resources asks every collector for a reading at this instant, in ns since the
// run's origin, and returns at once with what earlier readings brought. A
// collector that is still busy with the reading before skips one.
func (r *Readings) Resources(at int64) []record.Sample {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range r.jobs {
		select {
		case j.ask <- request{at, time.Now()}:
		default:
			j.skipped++
		}
	}
	return r.take()
}

// take is what was read and not yet taken, in order of time.
func (r *Readings) take() []record.Sample {
	got := r.got
	r.got = nil
	slices.SortStableFunc(got, func(a, b record.Sample) int { return cmp.Compare(a.AtNS, b.AtNS) })
	return got
}

func (r *Readings) run(ctx context.Context, j *job) {
	if c, ok := j.c.(io.Closer); ok {
		defer func() { _ = c.Close() }()
	}
	for {
		select {
		case <-ctx.Done():
			return
		case q := <-j.ask:
			at := q.at + int64(time.Since(q.asked))
			samples, err := collect(ctx, j.c, at)
			r.mu.Lock()
			if ctx.Err() == nil {
				j.tries++
				if err != nil || len(r.got)+len(samples) > bufferLimit {
					j.failed++
				}
			}
			if len(r.got)+len(samples) <= bufferLimit {
				for _, s := range samples {
					s.Series += j.first
					r.got = append(r.got, s)
				}
			}
			r.mu.Unlock()
		}
	}
}

// collect bounds a reading in time and turns a panic of a parser into an error.
func collect(ctx context.Context, c Collector, at int64) (samples []record.Sample, err error) {
	ctx, cancel := context.WithTimeout(ctx, readingLimit)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			samples, err = nil, fmt.Errorf("reading a series: %v", p)
		}
	}()
	return c.Collect(ctx, at)
}

// Notes says which collectors failed or fell behind, once the first time that
// it is asked after a failure, and for all in the end.
func (r *Readings) Notes(at int64, end bool) []record.Note {
	r.mu.Lock()
	defer r.mu.Unlock()
	var notes []record.Note
	for _, j := range r.jobs {
		bad := j.failed + j.skipped
		if bad == 0 || j.reported && !end {
			continue
		}
		j.reported = true
		source := "a series"
		if s := j.c.Series(); len(s) > 0 {
			source = s[0].Source
		}
		notes = append(notes, record.Note{
			AtNS: at, Code: "reading_failed", Severity: record.NoteSeverity, Phase: -1,
			Measured: float64(bad),
			Text: fmt.Sprintf("%s: %d of %d readings failed or were incomplete, %d were skipped because the one before took too long",
				source, j.failed, j.tries, j.skipped),
		})
	}
	return notes
}

// Stop ends the collectors' goroutines and returns what was read and not yet
// taken. It may be called twice.
func (r *Readings) Stop() []record.Sample {
	r.cancel()
	r.wait.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.take()
}
