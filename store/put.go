package store

import (
	"encoding/binary"
	"fmt"
	"math"

	"headroom/store/record"
)

// PutPhase writes a phase, or replaces the one with the same index.
func (r *Recorder) PutPhase(p record.Phase) error {
	if p.Index < 0 || p.Index > math.MaxInt32 {
		return fmt.Errorf("phase %d: the index must be in [0, 2^31)", p.Index)
	}
	return putJSON(r, bucketPhases, key64(uint64(p.Index)), p)
}

// PutFacts writes the facts, or replaces them.
func (r *Recorder) PutFacts(f record.Facts) error {
	return putJSON(r, bucketRun, []byte(keyFacts), f)
}

// PutFault adds a fault event.
func (r *Recorder) PutFault(e record.FaultEvent) error {
	r.faults++
	return putJSON(r, bucketFaults, key64(r.faults), e)
}

// PutNote adds a note. One with a number that is not finite is refused, and the
// recording goes on.
func (r *Recorder) PutNote(n record.Note) error {
	b, err := record.EncodeJSON(n)
	if err != nil {
		return err
	}
	r.notes++
	return r.put(put{bucket: bucketNotes, key: key64(r.notes), encode: func() ([]byte, error) { return b, nil }})
}

// putJSON encodes at once, so that the caller may change what the value refers
// to, and has it committed at once: these records are few.
func putJSON[T record.Phase | record.Facts | record.FaultEvent](r *Recorder, bucket string, key []byte, v T) error {
	b, err := record.EncodeJSON(v)
	if err != nil {
		return err
	}
	return r.put(put{bucket: bucket, key: key, encode: func() ([]byte, error) { return b, nil }, commit: true})
}

// PutInterval writes an interval, with all that waits, in one transaction. It
// is encoded later: the interval belongs to the recorder from now on.
func (r *Recorder) PutInterval(iv *record.Interval) error {
	return r.put(put{
		bucket: bucketIntervals, key: key32(iv.Phase, iv.Index), deflate: true, once: true, commit: true,
		encode: func() ([]byte, error) {
			if err := r.header.Fits(iv); err != nil {
				return nil, err
			}
			return record.AppendInterval(nil, iv)
		},
	})
}

// PutSendSample writes a window of send instants, which belongs to the recorder
// from now on.
func (r *Recorder) PutSendSample(s *record.SendSample) error {
	return r.put(put{
		bucket: bucketSends, key: key32(s.Phase, s.Window), deflate: true, once: true,
		encode: func() ([]byte, error) { return record.AppendSendSample(nil, s) },
	})
}

// PutSamples writes a batch of readings in time order. A batch with a value
// that is not finite is refused, and the recording goes on.
func (r *Recorder) PutSamples(batch []record.Sample) error {
	if len(batch) == 0 {
		return nil
	}
	b, err := record.AppendSamples(nil, batch)
	if err != nil {
		return err
	}
	// Batches sort by their first instant; instants before the origin come first.
	key := key64(uint64(batch[0].AtNS) ^ 1<<63)
	key = binary.BigEndian.AppendUint32(key, r.batches)
	r.batches++
	return r.put(put{
		bucket: bucketSamples, key: key, deflate: true, once: true,
		encode: func() ([]byte, error) { return b, nil },
	})
}

// Sync waits until everything put so far is in the file.
func (r *Recorder) Sync() error {
	ack := make(chan struct{})
	if err := r.put(put{ack: ack}); err != nil {
		return err
	}
	<-ack
	return r.Err()
}
