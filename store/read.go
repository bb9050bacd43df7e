package store

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	bolt "go.etcd.io/bbolt"

	"headroom/store/record"
)

// Path is the file's path as given to Open.
func (r *Run) Path() string { return r.path }

// Format is the version of the file's format.
func (r *Run) Format() int { return r.format }

// Sealed reports whether the file has a seal. It is compared by Verify only.
func (r *Run) Sealed() bool { return r.seal != nil }

// Header returns the header.
func (r *Run) Header() record.Header { return r.header }

// Facts returns the facts, empty where none were written.
func (r *Run) Facts() record.Facts { return r.facts }

// Phases returns the phases in order.
func (r *Run) Phases() []record.Phase { return slices.Clone(r.phases) }

// Notes returns the notes in the order in which they were written.
func (r *Run) Notes() []record.Note { return slices.Clone(r.notes) }

// FaultEvents returns the fault events in the order in which they were written.
func (r *Run) FaultEvents() []record.FaultEvent { return slices.Clone(r.faults) }

// End is the run's end. A file without one is of an interrupted run, which
// ended with its last interval.
func (r *Run) End() record.End { return r.end }

// Digest is the seal, SHA-256 in hexadecimal, "" where there is none.
func (r *Run) Digest() string {
	if r.seal == nil {
		return ""
	}
	return r.seal.Digest
}

// kv is a record as read; its slices are valid until the next one.
type kv struct {
	key, plain []byte
}

const (
	pageValues = 64      // values copied in one transaction
	pageBytes  = 1 << 20 // bytes after which a transaction ends
)

// values yields the records of a bucket in key order. It reads in short
// transactions and yields outside of them.
func (r *Run) values(bucket string) iter.Seq2[kv, error] {
	return func(yield func(kv, error) bool) {
		var u unwrapper
		var arena, last []byte
		type span struct{ key, value, end int }
		for {
			arena = arena[:0]
			var spans []span
			more := false
			err := guard(func() error {
				return r.db.View(func(tx *bolt.Tx) error {
					b := tx.Bucket([]byte(bucket))
					if b == nil {
						return nil
					}
					c := b.Cursor()
					k, v := c.First()
					if last != nil {
						if k, v = c.Seek(last); bytes.Equal(k, last) {
							k, v = c.Next()
						}
					}
					for ; k != nil; k, v = c.Next() {
						if len(spans) >= pageValues || len(arena) >= pageBytes {
							more = true
							return nil
						}
						s := span{key: len(arena)}
						arena = append(arena, k...)
						s.value = len(arena)
						arena = append(arena, v...)
						s.end = len(arena)
						spans = append(spans, s)
					}
					return nil
				})
			})
			if err != nil {
				yield(kv{}, at(r.path, err))
				return
			}
			for _, s := range spans {
				key := arena[s.key:s.value]
				plain, err := u.unwrap(bucket, key, arena[s.value:s.end])
				if !yield(kv{key, plain}, at(r.path, err)) || err != nil {
					return
				}
			}
			if !more {
				return
			}
			s := spans[len(spans)-1]
			last = append(last[:0], arena[s.key:s.value]...)
		}
	}
}

// decoded yields the records of a bucket, decoded. After an error there is
// nothing more.
func decoded[T any](r *Run, bucket string, decode func(kv) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for kv, err := range r.values(bucket) {
			if err != nil {
				yield(none, err)
				return
			}
			v, err := decode(kv)
			if err != nil {
				yield(none, refuse(r.path, ErrDamaged, "%v", err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
	}
}

// Intervals yields every interval in time order. It may be called again. After
// an error there is nothing more.
func (r *Run) Intervals() iter.Seq2[*record.Interval, error] {
	return decoded(r, bucketIntervals, r.interval)
}

func (r *Run) interval(v kv) (*record.Interval, error) {
	iv, err := record.DecodeInterval(v.plain)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(v.key, key32(iv.Phase, iv.Index)) {
		return nil, fmt.Errorf("interval %d of phase %d is under another key", iv.Index, iv.Phase)
	}
	return iv, r.header.Fits(iv)
}

// SendSamples yields the windows of send instants.
func (r *Run) SendSamples() iter.Seq2[*record.SendSample, error] {
	return decoded(r, bucketSends, func(v kv) (*record.SendSample, error) { return record.DecodeSendSample(v.plain) })
}

// Samples yields the readings of all resource series, batch by batch in time
// order.
func (r *Run) Samples() iter.Seq2[record.Sample, error] {
	batches := decoded(r, bucketSamples, func(v kv) ([]record.Sample, error) { return record.DecodeSamples(v.plain) })
	return func(yield func(record.Sample, error) bool) {
		for batch, err := range batches {
			if err != nil {
				yield(record.Sample{}, err)
				return
			}
			for _, s := range batch {
				if !yield(s, nil) {
					return
				}
			}
		}
	}
}

// lastInstant is the end of the last interval, 0 without any.
func (r *Run) lastInstant() (int64, error) {
	var u unwrapper
	var end int64
	err := guard(func() error {
		return r.db.View(func(tx *bolt.Tx) error {
			b := tx.Bucket([]byte(bucketIntervals))
			if b == nil {
				return nil
			}
			key, value := b.Cursor().Last()
			if key == nil {
				return nil
			}
			plain, err := u.unwrap(bucketIntervals, key, value)
			if err != nil {
				return err
			}
			iv, err := record.DecodeInterval(plain)
			if err != nil {
				return damage("%v", err)
			}
			end = iv.StartNS + iv.WidthNS
			return nil
		})
	})
	return end, err
}
