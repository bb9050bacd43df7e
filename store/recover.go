package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"headroom/store/record"
)

// Orphans lists the files that an earlier, killed recorder left in a folder:
// .part files that nobody is recording, damaged ones included, and .new files
// that never became evidence.
func Orphans(dir string) ([]string, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var left []string
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		switch filepath.Ext(f.Name()) {
		case newSuffix:
			if f.Type().IsRegular() && strings.TrimSuffix(f.Name(), newSuffix) != "" {
				left = append(left, path)
			}
		case partSuffix:
			r, err := open(path, time.Nanosecond, bucketRun)
			if errors.Is(err, ErrRecording) || errors.Is(err, ErrForeign) || errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err == nil {
				err = r.Close()
			} else if errors.Is(err, ErrDamaged) || errors.Is(err, ErrTooNew) {
				err = nil
			}
			if err != nil {
				return nil, err
			}
			left = append(left, path)
		}
	}
	return left, nil
}

// SealInterrupted seals a .part file that a killed recorder left, as
// interrupted, and returns its final path. A file that a recorder sealed but
// did not rename is only renamed. A damaged one is an error and stays as it is.
func SealInterrupted(path string) (string, error) {
	if !strings.HasSuffix(path, partSuffix) {
		return "", fmt.Errorf("%s: only %s files are recovered", path, partSuffix)
	}
	run, err := Open(path)
	if err != nil {
		return "", err
	}
	final := strings.TrimSuffix(path, partSuffix) + fileSuffix
	end, sealed := run.End(), run.Sealed()
	if err := run.Close(); err != nil {
		return "", err
	}
	if _, err := os.Lstat(final); err == nil {
		return "", fmt.Errorf("%s: %w; a run is never overwritten", final, os.ErrExist)
	}
	if !sealed {
		if end.State == record.Interrupted {
			end.Reason = "killed: the recorder was stopped; sealed afterwards"
		}
		if err := at(path, sealAs(path, end)); err != nil {
			return "", err
		}
	}
	return final, settle(path, final)
}

func sealAs(path string, end record.End) error {
	return guard(func() error {
		db, err := bolt.Open(path, 0o644, writeOptions())
		if err != nil {
			return err
		}
		return errors.Join(db.Update(func(tx *bolt.Tx) error { return putSeal(tx, end) }), db.Close())
	})
}
