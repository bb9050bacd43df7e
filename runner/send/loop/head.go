package loop

import (
	"bytes"

	"headroom/store/record"
)

// takeHead reads lines until the empty one.
func (a *answer) takeHead(p []byte) (int, record.ErrorKind) {
	before := len(a.own)
	text := p
	if before > 0 {
		a.own = append(a.own, p...)
		text = a.own
	}
	for {
		i := bytes.IndexByte(text[a.scan:], '\n')
		if i < 0 {
			if len(text) > a.maxHead {
				return len(p), record.ErrProtocol
			}
			a.scan = len(text)
			if before == 0 {
				a.own = append(a.pool.get(), text...)
			}
			return len(p), record.ErrNone
		}
		end := a.scan + i
		line := text[a.line:end]
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		first := a.line == 0
		a.line = end + 1
		a.scan = a.line
		if a.line > a.maxHead {
			return a.line - before, record.ErrProtocol
		}
		var good bool
		switch {
		case first:
			good = a.statusLine(line)
		case len(line) > 0:
			good = a.field(line)
		case a.status < 200:
			n := a.line - before
			return n, a.skipInterim()
		default:
			a.text, a.alias = text[:a.line], before == 0
			if before > 0 {
				a.own = a.own[:a.line]
			}
			return a.line - before, a.frame()
		}
		if !good {
			a.status = 0
			return a.line - before, record.ErrProtocol
		}
	}
}

// skipInterim forgets a 1xx answer. 101 would hand the connection over to a
// protocol that nobody asked for.
func (a *answer) skipInterim() record.ErrorKind {
	if a.interim++; a.interim > maxInterim || a.status == 101 {
		a.status = 0
		return record.ErrProtocol
	}
	if a.own != nil {
		a.pool.put(a.own)
	}
	interim := a.interim
	a.begin(a.noBody, a.keep, a.maxBody)
	a.interim = interim
	return record.ErrNone
}

// statusLine reads HTTP/1.x, one space, three digits, and what follows a space.
func (a *answer) statusLine(line []byte) bool {
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || line[8] != ' ' || len(line) > 12 && line[12] != ' ' {
		return false
	}
	a.minor = line[7] - '0'
	d1, d2, d3 := line[9]-'0', line[10]-'0', line[11]-'0'
	if a.minor > 9 || d1 > 9 || d2 > 9 || d3 > 9 || d1 == 0 || bytes.IndexByte(line, '\r') >= 0 {
		return false
	}
	a.status = int(d1)*100 + int(d2)*10 + int(d3)
	return true
}

func (a *answer) field(line []byte) bool {
	n := bytes.IndexByte(line, ':')
	if n <= 0 {
		return false
	}
	for _, b := range line[:n] {
		if !token[b] {
			return false
		}
	}
	if bytes.IndexByte(line, '\r') >= 0 || bytes.IndexByte(line, 0) >= 0 {
		return false
	}
	value := line[n+1:]
	switch n {
	case len("connection"):
		if fold(line[:n], "connection") {
			a.connection(value)
		} else if fold(line[:n], "keep-alive") {
			a.keepAliveField(value)
		}
	case len("content-length"):
		if fold(line[:n], "content-length") {
			length, ok := number(trim(value))
			if !ok || a.length != unknownLength && a.length != length {
				return false
			}
			a.length = length
		}
	case len("transfer-encoding"):
		if fold(line[:n], "transfer-encoding") {
			if a.coding || !fold(trim(value), "chunked") {
				return false
			}
			a.coding, a.chunked = true, true
		}
	}
	return true
}

func (a *answer) connection(value []byte) {
	for len(value) > 0 {
		var item []byte
		item, value, _ = bytes.Cut(value, comma)
		item = trim(item)
		if fold(item, "close") {
			a.close = true
		} else if fold(item, "keep-alive") {
			a.keepAlive = true
		}
	}
}

func (a *answer) keepAliveField(value []byte) {
	for len(value) > 0 {
		var item []byte
		item, value, _ = bytes.Cut(value, comma)
		name, arg, _ := bytes.Cut(item, equals)
		n, ok := number(trim(arg))
		if !ok {
			continue
		}
		switch name = trim(name); {
		case fold(name, "timeout"):
			a.idleFor = n
		case fold(name, "max"):
			a.idleMax = n
		}
	}
}

// frame decides where the body ends (RFC 9112, 6.3).
func (a *answer) frame() record.ErrorKind {
	if a.coding && (a.length != unknownLength || a.minor == 0) {
		return record.ErrProtocol
	}
	if a.minor == 0 && !a.keepAlive {
		a.close = true
	}
	switch {
	case a.noBody || a.status == 204 || a.status == 304 || a.length == 0:
		a.stage = complete
	case a.chunked:
		a.stage = chunkSize
	case a.length > 0:
		a.stage, a.left = inBody, a.length
		if a.maxBody > 0 && a.length > a.maxBody {
			return record.ErrTooLarge
		}
	default:
		a.stage, a.close = toClose, true
	}
	return record.ErrNone
}

var (
	comma  = []byte{','}
	equals = []byte{'='}
)

// number reads decimal digits and nothing else.
func number(p []byte) (int64, bool) {
	if len(p) == 0 || len(p) > maxLength {
		return 0, false
	}
	var n int64
	for _, b := range p {
		if b < '0' || b > '9' {
			return 0, false
		}
		n = n*10 + int64(b-'0')
	}
	return n, true
}

func trim(p []byte) []byte {
	for len(p) > 0 && (p[0] == ' ' || p[0] == '\t') {
		p = p[1:]
	}
	for len(p) > 0 && (p[len(p)-1] == ' ' || p[len(p)-1] == '\t') {
		p = p[:len(p)-1]
	}
	return p
}

// fold compares ASCII without regard to case.
func fold(p []byte, s string) bool {
	if len(p) != len(s) {
		return false
	}
	for i := range p {
		if lower(p[i]) != lower(s[i]) {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b | 0x20
	}
	return b
}

// token marks the bytes of a field name (RFC 9110, 5.6.2).
var token = func() (t [256]bool) {
	for b := byte('0'); b <= '9'; b++ {
		t[b] = true
	}
	for b := byte('a'); b <= 'z'; b++ {
		t[b], t[b&^0x20] = true, true
	}
	for _, b := range []byte("!#$%&'*+-.^_`|~") {
		t[b] = true
	}
	return t
}()

var hexDigit = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for i := range 10 {
		t['0'+i] = int8(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = int8(10+i), int8(10+i)
	}
	return t
}()
