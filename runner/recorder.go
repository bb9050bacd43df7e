package runner

import (
	"sync/atomic"

	"headroom/store/record"
)

// Watch samples the generator itself. Its methods are called off the loop.
type Watch interface {
	// Sample covers the time since the sample before.
	Sample() record.Generator
	// Resources reads the observed series, at ns since origin.
	Resources(at int64) []record.Sample
}

// recorder hands what a run makes to the sink, in order, on a goroutine of its
// own, so that neither storage nor /proc is ever waited for by the loop.
type recorder struct {
	sink   record.Sink
	watch  Watch
	in     chan any
	done   chan struct{}
	failed atomic.Pointer[error]
	gen    map[[2]int]record.Generator
	mirror func(*record.Interval)
}

// tick says that an interval's time has passed: the moment to look at the generator.
type tick struct {
	phase, index int
	at           int64
}

// queueLimit is how many intervals and notes may wait for the storage before
// the run is failed.
const queueLimit = 4096

func newRecorder(sink record.Sink, w Watch, mirror func(*record.Interval)) *recorder {
	r := &recorder{
		sink: sink, watch: w, mirror: mirror,
		in: make(chan any, queueLimit), done: make(chan struct{}),
		gen: map[[2]int]record.Generator{},
	}
	go r.loop()
	return r
}

func (r *recorder) loop() {
	defer close(r.done)
	for v := range r.in {
		if err := r.put(v); err != nil && r.failed.Load() == nil {
			r.failed.Store(&err)
		}
	}
}

func (r *recorder) put(v any) error {
	switch v := v.(type) {
	case tick:
		if r.watch == nil {
			return nil
		}
		r.gen[[2]int{v.phase, v.index}] = r.watch.Sample()
		if s := r.watch.Resources(v.at); len(s) > 0 {
			return r.sink.PutSamples(s)
		}
		return nil
	case *record.Interval:
		key := [2]int{v.Phase, v.Index}
		if g, ok := r.gen[key]; ok {
			v.Moment.Gen = g
			delete(r.gen, key)
		}
		if r.mirror != nil {
			r.mirror(v)
		}
		return r.sink.PutInterval(v)
	case *record.SendSample:
		return r.sink.PutSendSample(v)
	case record.Phase:
		return r.sink.PutPhase(v)
	case record.Note:
		return r.sink.PutNote(v)
	case record.FaultEvent:
		return r.sink.PutFault(v)
	case record.Facts:
		return r.sink.PutFacts(v)
	case chan struct{}:
		close(v)
	}
	return nil
}

// send queues something for the sink. It never blocks: when the storage is so
// far behind that the queue is full, the run has failed.
func (r *recorder) send(v any) {
	select {
	case r.in <- v:
	default:
		err := errStorageBehind
		r.failed.CompareAndSwap(nil, &err)
	}
}

// err is the first failure of the storage.
func (r *recorder) err() error {
	if e := r.failed.Load(); e != nil {
		return *e
	}
	return nil
}

// wait returns when everything queued so far has reached the sink.
func (r *recorder) wait() {
	c := make(chan struct{})
	r.in <- c
	<-c
}

// close hands over the rest and stops.
func (r *recorder) close() error {
	close(r.in)
	<-r.done
	return r.err()
}
