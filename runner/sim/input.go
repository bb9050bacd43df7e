package sim

import (
	"bytes"
	"errors"
	"net"
	"strconv"
)

const maxHead = 64 << 10

var errHead = errors.New("not a request that the built-in service understands")

// input reads requests of HTTP/1.1 from a connection.
type input struct {
	c    net.Conn
	buf  []byte
	r, w int // unread is buf[r:w]
}

// head is what the service needs of a request. Its slices are valid until the
// next call of head.
type head struct {
	method   string
	target   []byte
	length   int64 // of the body; -1 = chunked
	close    bool
	proceed  bool // the client waits for 100 Continue
	version0 bool // HTTP/1.0
}

// fill reads once more.
func (in *input) fill() error {
	if in.w == len(in.buf) {
		if in.r > 0 && in.w-in.r < len(in.buf)/2 {
			in.w = copy(in.buf, in.buf[in.r:in.w])
			in.r = 0
		} else {
			if len(in.buf) >= 2*maxHead {
				return errHead
			}
			in.buf = append(in.buf, make([]byte, max(2048, len(in.buf)))...)
		}
	}
	n, err := in.c.Read(in.buf[in.w:])
	in.w += n
	if n > 0 {
		return nil
	}
	return err
}

// until returns what comes up to and including sep, consumed.
func (in *input) until(sep string) ([]byte, error) {
	for from := 0; ; {
		have := in.buf[in.r:in.w]
		if i := bytes.Index(have[from:], []byte(sep)); i >= 0 {
			i += from + len(sep)
			in.r += i
			return have[:i], nil
		}
		if len(have) > maxHead {
			return nil, errHead
		}
		from = max(0, len(have)-len(sep)+1)
		if err := in.fill(); err != nil {
			return nil, err
		}
	}
}

func (in *input) head() (h head, err error) {
	if in.r == in.w {
		in.r, in.w = 0, 0
	}
	raw, err := in.until("\r\n\r\n")
	if err != nil {
		return h, err
	}
	raw = bytes.TrimLeft(raw, "\r\n")
	line, rest, _ := bytes.Cut(raw, []byte("\r\n"))
	method, line, ok1 := bytes.Cut(line, []byte{' '})
	target, version, ok2 := bytes.Cut(line, []byte{' '})
	if !ok1 || !ok2 || !bytes.HasPrefix(version, []byte("HTTP/1.")) || len(target) == 0 {
		return h, errHead
	}
	h.method, h.target = methodName(method), target
	if i := bytes.Index(target, []byte("://")); i > 0 && target[0] != '/' { // absolute form
		if i = bytes.IndexByte(target[i+3:], '/'); i >= 0 {
			h.target = target[bytes.Index(target, []byte("://"))+3+i:]
		} else {
			h.target = []byte("/")
		}
	}
	h.version0 = version[len(version)-1] == '0'
	h.close = h.version0
	for len(rest) > 2 {
		var field []byte
		field, rest, _ = bytes.Cut(rest, []byte("\r\n"))
		name, value, _ := bytes.Cut(field, []byte{':'})
		if !interesting(len(name)) {
			continue
		}
		value = bytes.TrimSpace(value)
		switch {
		case equal(name, "content-length"):
			if h.length, err = strconv.ParseInt(string(value), 10, 64); err != nil || h.length < 0 {
				return h, errHead
			}
		case equal(name, "transfer-encoding"):
			h.length = -1
		case equal(name, "connection"):
			h.close = equal(value, "close") || h.version0 && !equal(value, "keep-alive")
		case equal(name, "expect"):
			h.proceed = equal(value, "100-continue")
		}
	}
	return h, nil
}

func interesting(n int) bool { return n == 14 || n == 17 || n == 10 || n == 6 }

func equal(a []byte, b string) bool {
	return len(a) == len(b) && bytes.EqualFold(a, []byte(b))
}

func methodName(b []byte) string {
	switch string(b) {
	case "GET":
		return "GET"
	case "POST":
		return "POST"
	}
	return string(b)
}

// skip reads a body and forgets it. A body that is not all here overwrites the
// buffer, so h.target is copied before.
func (in *input) skip(h *head) error {
	if h.length == 0 {
		return nil
	}
	h.target = bytes.Clone(h.target)
	if h.length > 0 {
		return in.discard(h.length)
	}
	for {
		line, err := in.until("\r\n")
		if err != nil {
			return err
		}
		text, _, _ := bytes.Cut(line, []byte{';'})
		n, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 16, 64)
		if err != nil || n < 0 || n > 1<<40 {
			return errHead
		}
		if n > 0 {
			if err := in.discard(n + 2); err != nil {
				return err
			}
			continue
		}
		for { // trailers
			line, err := in.until("\r\n")
			if err != nil || len(line) == 2 {
				return err
			}
		}
	}
}

func (in *input) discard(n int64) error {
	for {
		have := int64(in.w - in.r)
		if have >= n {
			in.r += int(n)
			return nil
		}
		n -= have
		in.r, in.w = 0, 0
		if err := in.fill(); err != nil {
			return err
		}
	}
}
