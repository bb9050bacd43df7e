package schedule

import (
	"errors"
	"fmt"
	"math"
)

// Arrivals yields the instants of a phase in rising order, in nanoseconds from
// the phase's start. ok is false at the end of the phase, and stays so.
type Arrivals interface {
	Next() (at int64, ok bool)
}

// Process is the law of the arrivals.
type Process string

// The processes.
const (
	Poisson  Process = "poisson"
	Constant Process = "constant"
	Trace    Process = "trace"
)

// MaxRPS is the highest rate that a schedule accepts, in requests per second.
const MaxRPS = 1e8

// minRPS is the lowest rate apart from 0: one request in 11 days.
const minRPS = 1e-6

// maxLength bounds a segment, in nanoseconds: 100 days.
const maxLength = 100 * 24 * 3600 * second

const second = 1_000_000_000

// Segment is a span of the schedule over which the rate is constant or changes
// linearly.
type Segment struct {
	Length   int64   // ns
	From, To float64 // requests per second at its start and end
}

// count is the expected number of arrivals.
func (s Segment) count() float64 {
	return float64((s.From + s.To) / 2 * (float64(s.Length) / second))
}

// Steady is a constant rate.
func Steady(rps float64, length int64) []Segment {
	return []Segment{{Length: length, From: rps, To: rps}}
}

// Spec says how the requests of a phase arrive.
type Spec struct {
	Process Process
	Shape   []Segment // poisson, constant

	// Dispersion, where it is above 1, is the index of dispersion of the counts
	// per second: the rate of each second is multiplied by a gamma number of
	// mean 1 and squared coefficient of variation (Dispersion - 1) / rate.
	// Poisson only; 0 and 1 mean none.
	Dispersion float64

	// Instants are what a trace recorded, ns from its start, rising. They are
	// not copied.
	Instants []int64
	Scale    float64 // a trace's time is multiplied by it; 0 means 1
	Length   int64   // a trace is cut here, ns; 0 means at its last instant
}

// Validate returns all that is wrong with the spec.
func (s Spec) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch s.Process {
	case Poisson, Constant:
		if len(s.Shape) == 0 {
			bad("arrivals: no rate given")
		}
	case Trace:
		if len(s.Instants) == 0 {
			bad("arrivals: the trace has no instants")
		}
	default:
		bad("arrivals: unknown process %q; known are poisson, constant and trace", s.Process)
	}
	for i, seg := range s.Shape {
		if seg.Length <= 0 || seg.Length > maxLength {
			bad("arrivals: segment %d lasts %d ns; it must be above 0 and at most 100 days", i, seg.Length)
		}
		for _, r := range []float64{seg.From, seg.To} {
			if !(r == 0 || r >= minRPS && r <= MaxRPS) {
				bad("arrivals: segment %d has a rate of %v requests per second; it must be 0, or from %g to %g", i, r, minRPS, MaxRPS)
			}
		}
	}
	if s.Dispersion != 0 && s.Dispersion != 1 {
		if !(s.Dispersion > 1 && s.Dispersion <= 1e6) {
			bad("arrivals: an index of dispersion of %v; it must be from 1 (Poisson) to 1e6", s.Dispersion)
		}
		if s.Process != Poisson {
			bad("arrivals: an index of dispersion needs poisson arrivals, not %s", s.Process)
		}
	}
	if s.Scale != 0 && !(s.Scale > 0 && s.Scale <= 1e6) {
		bad("arrivals: a time scale of %v; it must be above 0 and at most 1e6", s.Scale)
	}
	if s.Length < 0 || s.Length > maxLength {
		bad("arrivals: a trace cut at %d ns; it must be from 0 to 100 days", s.Length)
	}
	for i := 1; i < len(s.Instants); i++ {
		if s.Instants[i] < s.Instants[i-1] {
			bad("arrivals: instant %d of the trace is before the one that precedes it; sort the trace by time", i)
			break
		}
	}
	return errors.Join(errs...)
}

// Expected is the number of arrivals to be expected: exact for constant
// arrivals and for a trace, the mean for Poisson.
func (s Spec) Expected() float64 {
	if s.Process == Trace {
		n, t := 0, newTrace(s)
		for _, ok := t.Next(); ok; _, ok = t.Next() {
			n++
		}
		return float64(n)
	}
	inv := newInverse(s.Shape)
	var n float64
	for _, seg := range s.Shape {
		n += seg.count()
	}
	if s.Process == Poisson {
		return n
	}
	k := uint64(max(math.Floor(n)-1, 0))
	for {
		if _, ok := inv.at(position{whole: k}); !ok {
			return float64(k)
		}
		k++
	}
}

// New returns the arrivals of a phase. The same spec, seed and phase index give
// the same arrivals; other phases do not change them.
func New(s Spec, seed uint64, phase int) (Arrivals, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Process == Trace {
		return newTrace(s), nil
	}
	inv := newInverse(s.Shape)
	if s.Dispersion > 1 {
		inv.next = modulated(inv.next, s.Dispersion, seed, phase)
	}
	if s.Process == Constant {
		return &constant{inv: inv}, nil
	}
	return &poisson{inv: inv, stream: Derive(seed, "arrivals", uint64(phase))}, nil
}

// poisson maps the points of a unit Poisson process through the inverse of the
// cumulative rate, which makes a Poisson process of that rate.
type poisson struct {
	inv    inverse
	stream Stream
	p      position
	ended  bool
}

// Next implements Arrivals.
func (a *poisson) Next() (int64, bool) {
	if a.ended {
		return 0, false
	}
	a.p.frac -= ln(a.stream.Float64())
	if a.p.frac >= 1 {
		whole := math.Floor(a.p.frac)
		a.p.frac -= whole
		a.p.whole += uint64(whole)
	}
	at, ok := a.inv.at(a.p)
	a.ended = !ok
	return at, ok
}

// constant puts arrival k where the cumulative rate reaches k.
type constant struct {
	inv   inverse
	k     uint64
	ended bool
}

// Next implements Arrivals.
func (a *constant) Next() (int64, bool) {
	if a.ended {
		return 0, false
	}
	at, ok := a.inv.at(position{whole: a.k})
	a.k++
	a.ended = !ok
	return at, ok
}

// trace replays recorded instants.
type trace struct {
	instants []int64
	scale    float64
	length   int64
	i        int
}

func newTrace(s Spec) *trace {
	t := &trace{instants: s.Instants, scale: s.Scale, length: s.Length}
	if t.length == 0 {
		t.length = math.MaxInt64
	}
	return t
}

// Next implements Arrivals.
func (t *trace) Next() (int64, bool) {
	if t.i == len(t.instants) {
		return 0, false
	}
	at := t.instants[t.i]
	if t.scale != 0 && t.scale != 1 {
		scaled := math.Round(float64(at) * t.scale)
		if scaled >= math.MaxInt64/2 {
			t.i = len(t.instants)
			return 0, false
		}
		at = int64(scaled)
	}
	if at >= t.length {
		t.i = len(t.instants)
		return 0, false
	}
	t.i++
	return at, true
}
