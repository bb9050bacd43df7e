package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	bolt "go.etcd.io/bbolt"

	"headroom/store/record"
)

// seal is the last record of a run.
type seal struct {
	Algorithm string         `json:"algorithm"` // sha256
	Digest    string         `json:"digest"`    // hexadecimal
	Records   map[string]int `json:"records"`   // values in each bucket, the seal itself not counted
}

const sealAlgorithm = "sha256"

// digest computes the seal over everything in a file but the seal itself.
func digest(tx *bolt.Tx) (seal, error) {
	s := seal{Algorithm: sealAlgorithm, Records: map[string]int{}}
	h := sha256.New()
	var u unwrapper
	err := tx.ForEach(func(name []byte, b *bolt.Bucket) error {
		bucket := string(name)
		s.Records[bucket] = 0
		return b.ForEach(func(key, value []byte) error {
			if bucket == bucketRun && string(key) == keySeal {
				return nil
			}
			plain := value
			if bucket != bucketRun || string(key) != keyFormat {
				var err error
				if plain, err = u.unwrap(bucket, key, value); err != nil {
					return err
				}
			}
			s.Records[bucket]++
			hashRecord(h, name, key, plain)
			return nil
		})
	})
	s.Digest = hex.EncodeToString(h.Sum(nil))
	return s, err
}

// hashRecord adds one record: each part after its length, so that no two lists
// of records look the same.
func hashRecord(h hash.Hash, parts ...[]byte) {
	var size [8]byte
	for _, p := range parts {
		binary.BigEndian.PutUint64(size[:], uint64(len(p)))
		h.Write(size[:])
		h.Write(p)
	}
}

// putSeal writes the end, where there is none yet, and the seal.
func putSeal(tx *bolt.Tx, e record.End) error {
	var w wrapper
	if tx.Bucket([]byte(bucketRun)).Get([]byte(keyEnd)) == nil {
		if err := putEnd(tx, &w, e); err != nil {
			return err
		}
	}
	s, err := digest(tx)
	if err != nil {
		return err
	}
	return store(tx, &w, put{bucket: bucketRun, key: []byte(keySeal), encode: func() ([]byte, error) { return json.Marshal(s) }})
}

func putEnd(tx *bolt.Tx, w *wrapper, e record.End) error {
	return store(tx, w, put{bucket: bucketRun, key: []byte(keyEnd), encode: func() ([]byte, error) { return record.EncodeJSON(e) }})
}

// Finish ends the run: it writes what waits, the end and the seal, makes the
// file read-only and gives it its final name, which it returns. Where storage
// failed, before or now, it returns that error and the path of the .part file,
// which is left as it is but for the end, where that still fits.
func (r *Recorder) Finish(e record.End) (path string, err error) {
	if err := r.stop(); err != nil {
		e = record.End{State: record.Failed, Reason: "storage: " + err.Error(), AtNS: e.AtNS, Conns: e.Conns}
		var w wrapper
		_ = r.db.Update(func(tx *bolt.Tx) error { return putEnd(tx, &w, e) }) // storage is failing: a kindness, not a need
		_ = r.db.Close()
		return r.part, err
	}
	r.db.NoSync, r.db.NoGrowSync = false, false
	err = guard(func() error { return r.db.Update(func(tx *bolt.Tx) error { return putSeal(tx, e) }) })
	if err = errors.Join(err, r.db.Close()); err != nil {
		return r.part, fmt.Errorf("recording %s: %w", r.part, err)
	}
	if err := settle(r.part, r.final); err != nil {
		return r.part, fmt.Errorf("recording %s: %w", r.part, err)
	}
	return r.final, nil
}

// stop ends the writer and returns the first error of storage.
func (r *Recorder) stop() error {
	if r.closed {
		return fmt.Errorf("recording %s: already ended", r.part)
	}
	r.closed = true
	close(r.queue)
	<-r.done
	return r.Err()
}

// Abort ends a recording that is not wanted, because the run never began, and
// removes its file. After Finish it does nothing.
func (r *Recorder) Abort() error {
	if r.closed {
		return nil
	}
	_ = r.stop() // the file goes away, whatever is in it
	return errors.Join(r.db.Close(), os.Remove(r.part))
}

// settle gives a sealed and closed file its final size, mode and name.
func settle(part, final string) error {
	if err := trim(part); err != nil {
		return err
	}
	if err := os.Chmod(part, 0o444); err != nil {
		return err
	}
	if _, err := os.Lstat(final); err == nil {
		return fmt.Errorf("%s: %w; a run is never overwritten", final, fs.ErrExist)
	}
	if err := os.Rename(part, final); err != nil {
		return err
	}
	return syncDir(final)
}

// trim cuts off what a file grew ahead of its pages.
func trim(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil // read-only already: it was trimmed
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		var m meta
		if m, _, err = metas(f, info.Size()); err == nil {
			err = f.Truncate(int64(max(m.pages, 4)) * pageSize)
		}
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the name of a file durable.
func syncDir(path string) error {
	if runtime.GOOS == "windows" { // folders cannot be opened for this there
		return nil
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
