package accesslog

import (
	"bytes"
	"slices"
)

// common reads the Common and Combined formats of Apache and nginx, with a
// virtual host before them and durations behind them, and Traefik's variant.
type common struct {
	clock clock
	tail  tailUnit
}

// Name implements Reader.
func (*common) Name() string { return "combined" }

// Parse implements Reader.
func (r *common) Parse(line []byte, e *Entry) Reason {
	open := bytes.IndexByte(line, '[')
	for open > 0 && line[open-1] != ' ' {
		next := bytes.IndexByte(line[open+1:], '[')
		if next < 0 {
			return Unrecognised
		}
		open += 1 + next
	}
	if open < 1 || len(line) < open+22 {
		return Unrecognised
	}
	end := bytes.IndexByte(line[open:], ']')
	if end < 0 {
		return Unrecognised
	}
	rest := line[open+end+1:]
	if len(rest) < 3 || rest[0] != ' ' || rest[1] != '"' {
		return Unrecognised
	}
	if reason := setWho(e, line[:open-1]); reason != "" {
		return reason
	}
	var ok bool
	e.At, e.Fraction, ok = r.clock.common(line[open+1 : open+end])
	if !ok {
		return BadTime
	}
	rest = rest[2:]
	q := quotedEnd(rest)
	if q < 0 || q+4 > len(rest) || rest[q+1] != ' ' {
		return Malformed
	}
	e.setRequest(rest[:q])
	status, rest, _ := bytes.Cut(rest[q+2:], []byte{' '})
	if reason := e.setStatus(status); reason != "" {
		return reason
	}
	size, rest, _ := bytes.Cut(rest, []byte{' '})
	if n, ok := number(size); ok {
		e.Bytes = n
	} else if string(size) != "-" {
		return Malformed
	}
	for range 2 { // referer and user agent
		if len(rest) == 0 || rest[0] != '"' {
			break
		}
		q := quotedEnd(rest[1:])
		if q < 0 {
			return ""
		}
		rest = bytes.TrimLeft(rest[q+2:], " ")
	}
	if len(rest) > 0 {
		r.duration(rest, e)
	}
	return ""
}

// setWho reads client, ident and user, or a virtual host before them. A user's
// name may hold blanks.
func setWho(e *Entry, head []byte) Reason {
	first, rest, ok := bytes.Cut(head, []byte{' '})
	if !ok || len(first) == 0 {
		return Malformed
	}
	last := first
	for last[len(last)-1] == ',' { // addresses of a chain of proxies
		if last, rest, ok = bytes.Cut(rest, []byte{' '}); !ok || len(last) == 0 {
			return Malformed
		}
	}
	second, rest, ok := bytes.Cut(rest, []byte{' '})
	if !ok || len(second) == 0 {
		return Malformed
	}
	if third, _, more := bytes.Cut(rest, []byte{' '}); more && string(second) != "-" && string(third) == "-" {
		e.Client = second // first is the virtual host
		return ""
	}
	if i := len(first) - 1; first[i] == ',' {
		first = first[:i]
	}
	e.Client = first
	return ""
}

// tailUnit is what a bare whole number behind the user agent means. Apache
// writes microseconds (%D) or seconds (%T) there; the first values tell.
type tailUnit struct {
	seen  []int64
	known bool
	micro bool
}

const tailSample = 20

func (t *tailUnit) add(v int64) {
	if t.known {
		return
	}
	if t.seen = append(t.seen, v); len(t.seen) == tailSample {
		slices.Sort(t.seen)
		t.known, t.micro = true, t.seen[tailSample/2] >= 100
		t.seen = nil
	}
}

// duration finds the time taken in what follows the user agent: 0.123 is
// nginx's $request_time, rt=0.123 the same with a label, 42ms is Traefik's.
func (r *common) duration(rest []byte, e *Entry) {
	if n := len(rest); n > 2 && rest[n-1] == 's' && rest[n-2] == 'm' {
		last := rest[bytes.LastIndexByte(rest, ' ')+1 : n-2]
		if v, ok := number(last); ok {
			e.Service = v * 1_000_000
		}
		return
	}
	for len(rest) > 0 {
		if rest[0] == '"' {
			q := quotedEnd(rest[1:])
			if q < 0 {
				return
			}
			text := rest[1 : q+1]
			rest = bytes.TrimLeft(rest[q+2:], " ")
			if v, ok := seconds(text); ok {
				e.Service, e.Ends = v, true
				return
			}
			continue
		}
		var word []byte
		word, rest, _ = bytes.Cut(rest, []byte{' '})
		if name, value, ok := bytes.Cut(word, []byte{'='}); ok {
			if s := string(name); s == "rt" || s == "request_time" || s == "duration" {
				if v, ok := seconds(bytes.Trim(value, `"`)); ok {
					e.Service, e.Ends = v, true
					return
				}
			}
			continue
		}
		if v, ok := seconds(word); ok {
			e.Service, e.Ends = v, true
			return
		}
		if v, ok := number(word); ok {
			r.tail.add(v)
			if r.tail.micro {
				e.Service = v * 1000
			}
			return
		}
	}
}

// seconds reads a number of seconds that has a decimal point.
func seconds(b []byte) (int64, bool) {
	if bytes.IndexByte(b, '.') < 1 {
		return 0, false
	}
	return scaled(b, 1_000_000_000)
}
