package store

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"headroom/store/record"
)

// Entry is one file of a folder's history.
type Entry struct {
	Path     string
	Bytes    int64
	Modified time.Time
	RunID    string // from the file's name where the file cannot be read
	State    record.State
	Format   int
	Sealed   bool
	Digest   string
	Header   record.Header // zero where Err is not nil
	End      record.End
	Err      error // why the file cannot be read; it wraps ErrRecording while it is being recorded
}

// List reads the history of a folder: every .db and .part file in it, oldest
// run first. A file that cannot be read is listed with its reason. Only the
// header, the end and the seal of each file are read and checked.
func List(dir string) ([]Entry, error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, f := range files {
		ext := filepath.Ext(f.Name())
		if ext != fileSuffix && ext != partSuffix || f.IsDir() {
			continue
		}
		e := Stat(filepath.Join(dir, f.Name()))
		if errors.Is(e.Err, os.ErrNotExist) {
			continue // a recorder has just renamed or removed it
		}
		all = append(all, e)
	}
	SortEntries(all)
	return all, nil
}

// SortEntries sorts a history, the oldest run first.
func SortEntries(all []Entry) {
	slices.SortStableFunc(all, func(a, b Entry) int {
		return cmp.Or(a.when().Compare(b.when()), strings.Compare(a.Path, b.Path))
	})
}

// when is the instant at which the run began, or the best guess at it.
func (e *Entry) when() time.Time {
	if e.Err != nil {
		return e.Modified
	}
	return e.Header.Started
}

// Stat reads what List says of one file.
func Stat(path string) Entry {
	e := Entry{Path: path, RunID: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	info, err := os.Stat(path)
	if err != nil {
		e.Err = err
		return e
	}
	e.Bytes, e.Modified = info.Size(), info.ModTime()
	r, err := open(path, time.Nanosecond, bucketRun)
	if err != nil {
		e.Err = err
		if errors.Is(err, ErrRecording) {
			e.State = record.Recording
		}
		return e
	}
	e.Header, e.End, e.Format = r.header, r.end, r.format
	e.RunID, e.State, e.Sealed, e.Digest = r.header.RunID, r.end.State, r.Sealed(), r.Digest()
	e.Err = r.Close()
	return e
}
