// Package store keeps evidence: one file per run, written while the run goes
// on and sealed at its end.
//
// A [Recorder] writes, [Open] reads, [Verify] judges a file, [List] reads a
// folder's history, [Export] tells a run in other formats and [Merge] makes one
// run of the shards of a plan. The layout of a file, what a reader must check,
// and the promise that files of every version open for ever are in FORMAT.md.
package store

import (
	"errors"
	"fmt"
)

// Why a file is refused. Errors of this package wrap one of these where the
// file itself is the reason; anything else, a missing file or a permission, is
// the operating system's error.
var (
	// ErrDamaged is evidence that was truncated, garbled or changed.
	ErrDamaged = errors.New("damaged evidence")
	// ErrForeign is a file that is not evidence.
	ErrForeign = errors.New("not evidence")
	// ErrTooNew is evidence in a format that this version does not know.
	ErrTooNew = errors.New("evidence of a newer version")
	// ErrRecording is evidence that is being recorded.
	ErrRecording = errors.New("still being recorded")
	// ErrBehind is a recorder whose storage does not keep up.
	ErrBehind = errors.New("storage fell behind")
)

// refusal is an error about a file, in one sentence.
type refusal struct {
	path string
	kind error
	text string
}

func (r *refusal) Error() string { return fmt.Sprintf("%s: %v: %s", r.path, r.kind, r.text) }

func (r *refusal) Unwrap() error { return r.kind }

func refuse(path string, kind error, format string, args ...any) error {
	return &refusal{path: path, kind: kind, text: fmt.Sprintf(format, args...)}
}

// damage is an error about a file's contents that does not know the path yet.
func damage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// at puts the path in front of an error from reading a file's contents.
func at(path string, err error) error {
	var r *refusal
	if err == nil || errors.As(err, &r) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
