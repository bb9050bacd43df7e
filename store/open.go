package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"headroom/store/record"
)

// Run is the evidence of a run, opened for reading. It satisfies
// record.Evidence and may be read from several goroutines. Close it.
type Run struct {
	path   string
	db     *bolt.DB
	format int
	seal   *seal
	counts map[string]int
	whole  bool // both first pages are
	bytes  int64

	header record.Header
	facts  record.Facts
	phases []record.Phase
	notes  []record.Note
	faults []record.FaultEvent
	end    record.End
}

var _ record.Evidence = (*Run)(nil)

// Reasons of an interrupted run that the reader gives, because nobody wrote one.
const reasonUnsealed = "recorder_stopped: the recorder stopped without ending the run"

// Open opens evidence for reading. It refuses a file that is damaged, foreign,
// too new or being recorded with an error that wraps ErrDamaged, ErrForeign,
// ErrTooNew or ErrRecording, the last one within a second. A .part file that a
// crash left is read up to its last committed interval.
func Open(path string) (*Run, error) {
	r, err := open(path, lockTimeout, "")
	if err != nil {
		return nil, err
	}
	if err := r.load(); err != nil {
		return nil, errors.Join(at(path, err), r.Close())
	}
	return r, nil
}

// open opens a file, checks the pages of all buckets or of only one, and reads
// the bucket run.
func open(path string, timeout time.Duration, only string) (*Run, error) {
	r := &Run{path: path}
	var file *os.File
	err := guard(func() error {
		if err := checkFront(path); err != nil {
			return err
		}
		var err error
		r.db, err = bolt.Open(path, 0, &bolt.Options{
			ReadOnly: true, Timeout: timeout, NoStatistics: true, FreelistType: bolt.FreelistMapType,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(name, flag, mode)
				file = f
				return f, err
			},
		})
		if err != nil {
			return err
		}
		return r.check(file, only)
	})
	switch {
	case err == nil:
		return r, nil
	case r.db != nil:
		_ = r.Close()
	case file != nil: // bbolt panicked, or has closed it already
		_ = file.Close()
	}
	if errors.Is(err, berrors.ErrTimeout) {
		return nil, refuse(path, ErrRecording, "another process has it open for writing; wait for the run to end")
	}
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrForeign) || errors.Is(err, ErrTooNew) {
		return nil, at(path, err)
	}
	var system *fs.PathError
	var number syscall.Errno
	if errors.As(err, &system) || errors.As(err, &number) {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return nil, refuse(path, ErrDamaged, "%v", err) // bbolt did not like it
}

// guard runs what touches mapped pages, and turns faults and panics into
// errors.
func guard(f func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if v := recover(); v != nil {
			err = damage("reading failed: %v", v)
		}
	}()
	return f()
}

// checkFront refuses most of what is not evidence before bbolt sees it.
func checkFront(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w: not a regular file", path, ErrForeign)
	}
	_, _, err = metas(f, info.Size())
	return err
}

// check examines the locked file before its pages are used.
func (r *Run) check(f *os.File, only string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	r.bytes = info.Size()
	m, both, err := metas(f, r.bytes)
	if err != nil {
		return err
	}
	r.whole = both
	if !both && !strings.HasSuffix(r.path, partSuffix) {
		return damage("one of its first pages is garbled")
	}
	if r.counts, err = checkPages(f, m, only); err != nil {
		return err
	}
	return r.db.View(r.loadRun)
}

// loadRun reads the bucket run.
func (r *Run) loadRun(tx *bolt.Tx) (err error) {
	if r.format, err = readFormat(tx); err != nil {
		return err
	}
	for _, name := range buckets() {
		if tx.Bucket([]byte(name)) == nil {
			return damage("it has no bucket %s", name)
		}
	}
	var u unwrapper
	b := tx.Bucket([]byte(bucketRun))
	// A key that is not known may be a garbled one that is: its checksum tells.
	err = b.ForEach(func(key, value []byte) error {
		if string(key) == keyFormat {
			return nil
		}
		_, err := u.unwrap(bucketRun, key, value)
		return err
	})
	if err != nil {
		return err
	}
	return r.decodeRun(func(key string) ([]byte, error) {
		v := b.Get([]byte(key))
		if v == nil {
			return nil, nil
		}
		return u.unwrap(bucketRun, []byte(key), v)
	})
}

// decodeRun decodes the records of the bucket run.
func (r *Run) decodeRun(get func(key string) ([]byte, error)) error {
	b, err := get(keyHeader)
	if err != nil {
		return err
	}
	if b == nil {
		return damage("it has no header")
	}
	if r.header, err = record.DecodeJSON[record.Header](b); err != nil {
		return damage("header: %v", err)
	}
	if b, err = get(keyFacts); err != nil {
		return err
	} else if b != nil {
		if r.facts, err = record.DecodeJSON[record.Facts](b); err != nil {
			return damage("facts: %v", err)
		}
	}
	if b, err = get(keyEnd); err != nil {
		return err
	} else if b != nil {
		if r.end, err = record.DecodeJSON[record.End](b); err != nil {
			return damage("end: %v", err)
		}
	}
	if b, err = get(keySeal); err != nil {
		return err
	} else if b != nil {
		r.seal = &seal{}
		if err = json.Unmarshal(b, r.seal); err != nil || r.seal.Algorithm != sealAlgorithm {
			return damage("its seal cannot be read")
		}
	}
	if r.seal == nil {
		if !strings.HasSuffix(r.path, partSuffix) {
			return damage("it has no seal")
		}
		if r.end.State == "" || r.end.State == record.Complete {
			r.end.State, r.end.Reason = record.Interrupted, reasonUnsealed
		}
		return nil
	}
	switch r.end.State {
	case record.Complete, record.Interrupted, record.Failed:
		return nil
	}
	return damage("it is sealed, but its state is %q", r.end.State)
}

// load reads the small buckets and compares the number of records with the seal.
func (r *Run) load() error {
	if r.seal != nil {
		for bucket, want := range r.seal.Records {
			got := r.counts[bucket]
			if bucket == bucketRun {
				got-- // the seal itself
			}
			if got != want {
				return damage("%d of %d records in %s", got, want, bucket)
			}
		}
	}
	var err error
	if r.phases, err = loadJSON[record.Phase](r, bucketPhases); err != nil {
		return err
	}
	if r.notes, err = loadJSON[record.Note](r, bucketNotes); err != nil {
		return err
	}
	if r.faults, err = loadJSON[record.FaultEvent](r, bucketFaults); err != nil {
		return err
	}
	if r.end.AtNS == 0 && r.end.State == record.Interrupted {
		r.end.AtNS, err = r.lastInstant()
	}
	return err
}

func loadJSON[T record.Phase | record.Note | record.FaultEvent](r *Run, bucket string) ([]T, error) {
	var all []T
	for kv, err := range r.values(bucket) {
		if err != nil {
			return nil, err
		}
		v, err := record.DecodeJSON[T](kv.plain)
		if err != nil {
			return nil, damage("%s: %v", bucket, err)
		}
		all = append(all, v)
	}
	return all, nil
}

// Close releases the file.
func (r *Run) Close() error { return r.db.Close() }
