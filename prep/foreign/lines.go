package foreign

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line, and a row of several lines, in bytes.
const maxLine = 1 << 20

// raw returns the next line without its end, valid until the next call. A line
// that is too long is counted as damaged and skipped.
func (s *source) raw() ([]byte, error) {
	if n := len(s.back); n > 0 {
		line := s.back[0]
		s.back = s.back[1:]
		s.line++
		return line, nil
	}
	for {
		s.buf = s.buf[:0]
		long := false
		for {
			part, err := s.in.ReadSlice('\n')
			if len(s.buf)+len(part) > maxLine {
				long = true
			} else {
				s.buf = append(s.buf, part...)
			}
			if err == nil {
				break
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err == io.EOF && (len(s.buf) > 0 || long) {
				break
			}
			if err == io.EOF {
				return nil, io.EOF
			}
			if cutShort(err) {
				s.damage.add("file_cut_short", s.line+1)
				return nil, io.EOF
			}
			return nil, fmt.Errorf("reading line %d: %w", s.line+1, err)
		}
		s.line++
		if long {
			s.damage.add("line_too_long", s.line)
			continue
		}
		if s.line&4095 == 0 {
			if err := s.ctx.Err(); err != nil {
				return nil, err
			}
		}
		return bytes.TrimRight(s.buf, "\r\n"), nil
	}
}

// record returns the cells of the next row of a table that is not blank. A
// quoted cell may hold line breaks; a quote that is never closed damages its
// first line only.
func (s *source) record(sep byte) ([]string, error) {
	for {
		line, err := s.raw()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		cells, open := splitCells(string(line), sep)
		if !open {
			return cells, nil
		}
		first, at := string(line), s.line
		text := first
		var taken [][]byte
		for open && len(text) < maxLine && len(taken) < 1000 {
			more, err := s.raw()
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			taken = append(taken, bytes.Clone(more))
			text += "\n" + string(more)
			// Only a line with a quote in it can close one.
			if bytes.IndexByte(more, '"') >= 0 {
				cells, open = splitCells(text, sep)
			}
		}
		if !open {
			return cells, nil
		}
		s.damage.add("unclosed_quote", at)
		s.back = append(taken, s.back...)
		s.line = at
	}
}

// splitCells splits a row; open means that a quoted cell was not closed.
func splitCells(line string, sep byte) (cells []string, open bool) {
	for {
		if line == "" || line[0] != '"' {
			i := indexByte(line, sep)
			if i < 0 {
				return append(cells, line), false
			}
			cells, line = append(cells, line[:i]), line[i+1:]
			continue
		}
		var b []byte
		i := 1
		for {
			if i >= len(line) {
				return append(cells, string(b)), true
			}
			if line[i] != '"' {
				b = append(b, line[i])
				i++
				continue
			}
			if i+1 < len(line) && line[i+1] == '"' {
				b = append(b, '"')
				i += 2
				continue
			}
			i++
			break
		}
		// What stands between the closing quote and the separator is kept.
		j := indexByte(line[i:], sep)
		if j < 0 {
			return append(cells, string(b)+line[i:]), false
		}
		cells, line = append(cells, string(b)+line[i:i+j]), line[i+j+1:]
	}
}

func indexByte(s string, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return -1
}

// separator guesses the separator of a header line.
func separator(line []byte) byte {
	best, most := byte(','), 0
	for _, c := range []byte{',', '\t', ';'} {
		if n := bytes.Count(line, []byte{c}); n > most {
			best, most = c, n
		}
	}
	return best
}

// push gives a line back.
func (s *source) push(line []byte) {
	s.back = append([][]byte{bytes.Clone(line)}, s.back...)
	s.line--
}

// cutShort reports whether a compressed file ended or broke in its middle: what
// came before is still good.
func cutShort(err error) bool {
	var corrupt flate.CorruptInputError
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) || errors.As(err, &corrupt)
}
