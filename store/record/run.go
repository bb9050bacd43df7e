package record

import "iter"

// Evidence is a run that can be read. The store's files and Memory satisfy it.
type Evidence interface {
	Header() Header
	Facts() Facts
	Phases() []Phase
	Notes() []Note
	FaultEvents() []FaultEvent
	// End is the run's end; State is Recording where none was written.
	End() End
	// Digest is the SHA-256 seal in hexadecimal, "" where there is none.
	Digest() string
	// Intervals yields every interval in time order. It may be called again.
	Intervals() iter.Seq2[*Interval, error]
	// SendSamples yields the windows of send instants.
	SendSamples() iter.Seq2[*SendSample, error]
	// Samples yields the readings of all resource series in time order.
	Samples() iter.Seq2[Sample, error]
}

// Sink takes what a run records. Implementations take ownership of what they
// are given and are called from one goroutine.
type Sink interface {
	PutPhase(Phase) error
	PutInterval(*Interval) error
	PutSendSample(*SendSample) error
	PutSamples([]Sample) error
	PutNote(Note) error
	PutFault(FaultEvent) error
	PutFacts(Facts) error
}

// Memory is evidence held in memory: what a simulation or a running run has so far.
type Memory struct {
	H          Header
	F          Facts
	P          []Phase
	N          []Note
	Ev         []FaultEvent
	E          End
	Iv         []*Interval
	Sends      []*SendSample
	Res        []Sample
	SealDigest string
}

var (
	_ Evidence = (*Memory)(nil)
	_ Sink     = (*Memory)(nil)
)

// Header returns the header.
func (m *Memory) Header() Header { return m.H }

// Facts returns the facts.
func (m *Memory) Facts() Facts { return m.F }

// Phases returns the phases.
func (m *Memory) Phases() []Phase { return m.P }

// Notes returns the notes.
func (m *Memory) Notes() []Note { return m.N }

// FaultEvents returns the fault events.
func (m *Memory) FaultEvents() []FaultEvent { return m.Ev }

// End returns the end.
func (m *Memory) End() End {
	if m.E.State == "" {
		return End{State: Recording}
	}
	return m.E
}

// Digest returns the seal.
func (m *Memory) Digest() string { return m.SealDigest }

// Intervals yields the intervals in time order.
func (m *Memory) Intervals() iter.Seq2[*Interval, error] { return each(m.Iv) }

// SendSamples yields the send samples.
func (m *Memory) SendSamples() iter.Seq2[*SendSample, error] { return each(m.Sends) }

// Samples yields the readings.
func (m *Memory) Samples() iter.Seq2[Sample, error] { return each(m.Res) }

func each[T any](all []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range all {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// PutPhase adds a phase or replaces the one with the same index.
func (m *Memory) PutPhase(p Phase) error {
	for i := range m.P {
		if m.P[i].Index == p.Index {
			m.P[i] = p
			return nil
		}
	}
	m.P = append(m.P, p)
	return nil
}

// PutInterval adds an interval.
func (m *Memory) PutInterval(iv *Interval) error { m.Iv = append(m.Iv, iv); return nil }

// PutSendSample adds a window of send instants.
func (m *Memory) PutSendSample(s *SendSample) error { m.Sends = append(m.Sends, s); return nil }

// PutSamples adds readings.
func (m *Memory) PutSamples(s []Sample) error { m.Res = append(m.Res, s...); return nil }

// PutNote adds a note.
func (m *Memory) PutNote(n Note) error { m.N = append(m.N, n); return nil }

// PutFault adds a fault event.
func (m *Memory) PutFault(e FaultEvent) error { m.Ev = append(m.Ev, e); return nil }

// PutFacts replaces the facts.
func (m *Memory) PutFacts(f Facts) error { m.F = f; return nil }
