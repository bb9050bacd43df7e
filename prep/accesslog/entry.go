package accesslog

import (
	"bytes"
	"math"
)

// Entry is one request of a log.
type Entry struct {
	At       int64  // the stamp, nanoseconds since 1970
	Fraction bool   // the stamp has digits below a second
	Ends     bool   // the stamp is from the end of the answer, not from the arrival of the request
	Client   []byte // address or name, without a port; empty where it is not logged
	Method   []byte // empty for an odd request
	Path     []byte // as sent, without query; empty for an odd request
	Query    []byte // what follows the first question mark
	Status   int    // 0 where none was sent or logged
	Bytes    int64  // of the answer as logged, -1 where unknown
	Service  int64  // time taken in nanoseconds, -1 where unknown
	// Odd is set where what came was not an HTTP request: "-", TLS on a plain
	// port, binary junk.
	Odd bool
}

func (e *Entry) reset() { *e = Entry{Bytes: -1, Service: -1} }

// Arrival is when the request came, nanoseconds since 1970: the stamp, or the
// stamp less the time taken where the stamp is from the end. A stamp of whole
// seconds from the end is taken to be from the middle of its second.
func (e *Entry) Arrival() int64 {
	if !e.Ends || e.Service <= 0 {
		return e.At
	}
	at := e.At
	if !e.Fraction {
		at += 500_000_000
	}
	return at - e.Service
}

// setRequest takes apart a request line: GET /path?query HTTP/1.1. A target
// may hold blanks, and the version may be missing.
func (e *Entry) setRequest(r []byte) {
	sp := bytes.IndexByte(r, ' ')
	if sp < 1 || !isMethod(r[:sp]) {
		e.Odd = true
		return
	}
	target := r[sp+1:]
	if last := bytes.LastIndexByte(target, ' '); last >= 0 && bytes.HasPrefix(target[last+1:], []byte("HTTP/")) {
		target = target[:last]
	}
	if len(target) == 0 {
		e.Odd = true
		return
	}
	e.Method = r[:sp]
	e.setTarget(target)
}

// setTarget splits a target into path and query and takes scheme and host off.
// An odd request has none.
func (e *Entry) setTarget(t []byte) {
	if e.Odd {
		return
	}
	if len(t) > 7 && t[0] == 'h' && bytes.HasPrefix(t, []byte("http")) {
		if i := bytes.Index(t, []byte("://")); i == 4 || i == 5 {
			t = t[i+3:]
			if slash := bytes.IndexAny(t, "/?"); slash >= 0 {
				t = t[slash:]
			} else {
				t = root
			}
		}
	}
	if q := bytes.IndexByte(t, '?'); q >= 0 {
		e.Path, e.Query = t[:q], t[q+1:]
		return
	}
	e.Path = t
}

var root = []byte("/")

// setMethod takes a method from a column of its own.
func (e *Entry) setMethod(m []byte) {
	if isMethod(m) {
		e.Method = m
	} else {
		e.Odd = true
	}
}

func isMethod(m []byte) bool {
	if len(m) < 3 || len(m) > 20 {
		return false
	}
	for _, c := range m {
		if (c < 'A' || c > 'Z') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func (e *Entry) setStatus(s []byte) Reason {
	switch {
	case len(s) == 3 && s[0] >= '1' && s[0] <= '9' && isDigit(s[1]) && isDigit(s[2]):
		e.Status = int(s[0]-'0')*100 + int(s[1]-'0')*10 + int(s[2]-'0')
		return ""
	case len(s) == 1 && (s[0] == '-' || s[0] == '0'), string(s) == "-1", string(s) == "000":
		e.Status = 0
		return ""
	}
	return BadStatus
}

// setClient takes an address that may carry a port: 1.2.3.4:80, [::1]:80. A
// list of addresses, as a proxy writes it, stands for its first one.
func (e *Entry) setClient(c []byte) {
	if i := bytes.IndexByte(c, ','); i >= 0 {
		c = c[:i]
	}
	if len(c) > 0 && c[0] == '[' {
		if i := bytes.IndexByte(c, ']'); i > 0 {
			e.Client = c[1:i]
			return
		}
	}
	if i := bytes.IndexByte(c, ':'); i >= 0 && bytes.IndexByte(c[i+1:], ':') < 0 {
		c = c[:i]
	}
	if len(c) == 1 && c[0] == '-' {
		c = nil
	}
	e.Client = c
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// number reads a whole number of at most 18 digits.
func number(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// scaled reads a decimal number times the scale: seconds as nanoseconds with a
// scale of 1e9. Digits beyond the resolution are dropped. It is not ok for
// anything else, such as a negative number, or what does not fit.
func scaled(b []byte, scale int64) (n int64, ok bool) {
	whole, fraction, point := bytes.Cut(b, []byte{'.'})
	if exp := bytes.IndexAny(b, "eE"); exp > 0 {
		return exponent(b[:exp], b[exp+1:], scale)
	}
	n, ok = number(whole)
	if !ok || n > (1<<62)/scale {
		return 0, false
	}
	n *= scale
	if !point {
		return n, true
	}
	if len(fraction) == 0 {
		return 0, false
	}
	for _, c := range fraction {
		if !isDigit(c) {
			return 0, false
		}
		scale /= 10
		n += int64(c-'0') * scale
	}
	return n, true
}

// exponent reads 2.701e-06, as JSON writers print small numbers.
func exponent(mantissa, exp []byte, scale int64) (int64, bool) {
	down := len(exp) > 0 && exp[0] == '-'
	if len(exp) > 0 && (exp[0] == '-' || exp[0] == '+') {
		exp = exp[1:]
	}
	e, ok := number(exp)
	if !ok || e > 40 {
		return 0, false
	}
	m, ok := scaled(mantissa, 1_000_000_000)
	if !ok {
		return 0, false
	}
	if down {
		e = -e
	}
	v := float64(m) / 1e9 * math.Pow10(int(e)) * float64(scale)
	if v > 1<<62 {
		return 0, false
	}
	return int64(math.Round(v)), true
}

// quotedEnd returns the index of the quote that ends a quoted text, text
// beginning after the opening quote; a quote behind a backslash does not end
// it. It is -1 where there is none.
func quotedEnd(b []byte) int {
	from := 0
	for {
		i := bytes.IndexByte(b[from:], '"')
		if i < 0 {
			return -1
		}
		i += from
		n := 0
		for n < i && b[i-1-n] == '\\' {
			n++
		}
		if n%2 == 0 {
			return i
		}
		from = i + 1
	}
}
