package schedule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxFileBytes is the largest file of values that a source loads.
const MaxFileBytes = 1 << 28

// lines are the values of a file, held once in one piece of memory.
type lines struct {
	keyed
	text  []byte
	ends  []uint32 // of each line in text
	order Order
}

// newLines reads a file to its end. Line ends are \n or \r\n, a byte order mark
// is left out, empty lines are skipped.
func newLines(k keyed, spec SourceSpec) (Source, error) {
	if spec.Order != Sequential && spec.Order != Random {
		return nil, fmt.Errorf("order %q; it must be sequential or random", spec.Order)
	}
	if spec.Lines == nil {
		return nil, errors.New("it has no file")
	}
	text, err := io.ReadAll(io.LimitReader(spec.Lines, MaxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	if len(text) > MaxFileBytes {
		return nil, fmt.Errorf("the file is larger than %d MB; give a part of it, or a range or a zipf of identifiers", MaxFileBytes>>20)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	l := &lines{keyed: k, order: spec.Order}
	l.ends = make([]uint32, 0, bytes.Count(text, []byte{'\n'})+1)
	kept := text[:0]
	for rest := text; len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(line) == 0 {
			continue
		}
		kept = append(kept, line...)
		l.ends = append(l.ends, uint32(len(kept)))
	}
	if len(l.ends) == 0 {
		return nil, errors.New("the file has no values; write one on each line")
	}
	l.text = bytes.Clone(kept)
	return l, nil
}

// Append implements Source.
func (l *lines) Append(dst []byte, seed, arrival uint64) []byte {
	return l.AppendNth(dst, seed, arrival, 0)
}

// AppendNth implements Source. In sequential order occurrence n of an arrival
// is the line n further down.
func (l *lines) AppendNth(dst []byte, seed, arrival, occurrence uint64) []byte {
	n := uint64(len(l.ends))
	var i uint64
	if l.order == Sequential {
		i = (arrival%n + occurrence%n) % n
	} else {
		s := draw(l.key(seed), arrival, occurrence)
		i = s.Below(n)
	}
	var from uint32
	if i > 0 {
		from = l.ends[i-1]
	}
	return append(dst, l.text[from:l.ends[i]]...)
}

// Distinct implements Source.
func (l *lines) Distinct() uint64 { return uint64(len(l.ends)) }

// Probability implements Source.
func (l *lines) Probability(rank uint64) float64 {
	if rank < 1 || rank > l.Distinct() {
		return 0
	}
	return 1 / float64(len(l.ends))
}
