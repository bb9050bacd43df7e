package accesslog

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipNested returns the index behind the array or object at i.
func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			end := quotedEnd(b[i+1:])
			if end < 0 {
				return -1
			}
			i += end + 1
		}
		i++
	}
	return -1
}

// unescape returns the text of a JSON string, in place where nothing is escaped.
func (r *jsonLines) unescape(s []byte) []byte {
	if bytes.IndexByte(s, '\\') < 0 {
		return s
	}
	from := len(r.scratch)
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			r.scratch = append(r.scratch, s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			r.scratch = append(r.scratch, '\n')
		case 't':
			r.scratch = append(r.scratch, '\t')
		case 'r':
			r.scratch = append(r.scratch, '\r')
		case 'b':
			r.scratch = append(r.scratch, '\b')
		case 'f':
			r.scratch = append(r.scratch, '\f')
		case 'u':
			c, n := unicodeEscape(s[i+1:])
			r.scratch = utf8.AppendRune(r.scratch, c)
			i += n
		default:
			r.scratch = append(r.scratch, s[i])
		}
	}
	return r.scratch[from:len(r.scratch):len(r.scratch)]
}

// unicodeEscape reads the digits behind \u, and a second half where there is
// one, and returns how many bytes it took.
func unicodeEscape(s []byte) (rune, int) {
	c, ok := hex4(s)
	if !ok {
		return utf8.RuneError, 0
	}
	if utf16.IsSurrogate(c) && len(s) >= 10 && s[4] == '\\' && s[5] == 'u' {
		if d, ok := hex4(s[6:]); ok {
			return utf16.DecodeRune(c, d), 10
		}
	}
	return c, 4
}

func hex4(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(s[:4]), 16, 32)
	return rune(v), err == nil
}
