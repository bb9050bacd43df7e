package accesslog

import "bytes"

// words cuts a line into fields at blanks; text in quotes or in brackets is
// one field, without them.
type words struct {
	rest []byte
	bad  bool // a quote or a bracket that does not end
}

// next returns the next field; it is not ok at the end.
func (w *words) next() (f []byte, ok bool) {
	b := w.rest
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	if len(b) == 0 {
		w.rest = nil
		return nil, false
	}
	end := -1
	switch b[0] {
	case '"':
		b = b[1:]
		end = quotedEnd(b)
	case '[':
		b = b[1:]
		end = bytes.IndexByte(b, ']')
	default:
		if end = bytes.IndexByte(b, ' '); end < 0 {
			end = len(b)
		}
		w.rest = b[end:]
		return b[:end], true
	}
	if end < 0 {
		w.bad, w.rest = true, nil
		return nil, false
	}
	w.rest = b[end+1:]
	return b[:end], true
}

// skip leaves out n fields.
func (w *words) skip(n int) {
	for range n {
		w.next()
	}
}

// loadBalancer reads the logs of AWS application and classic load balancers.
// The stamp is from when the answer was sent; three times say how long the
// balancer, the target and the answer took, −1 where there was none.
type loadBalancer struct{}

// Name implements Reader.
func (loadBalancer) Name() string { return "aws_elb" }

// Parse implements Reader.
func (loadBalancer) Parse(line []byte, e *Entry) Reason {
	w := words{rest: line}
	first, _ := w.next()
	application := true
	switch string(first) {
	case "http", "https", "h2", "grpcs", "ws", "wss":
	default:
		if len(first) < 20 || !isDigit(line[0]) || first[4] != '-' || first[10] != 'T' || first[len(first)-1] != 'Z' {
			return Unrecognised
		}
		application = false
	}
	stamp := first
	if application {
		stamp, _ = w.next()
	}
	var ok bool
	if e.At, e.Fraction, ok = iso(stamp); !ok {
		if application {
			return Unrecognised
		}
		return BadTime
	}
	w.skip(1)
	client, _ := w.next()
	w.skip(1)
	var total int64
	answered := true
	for range 3 {
		t, _ := w.next()
		v, ok := scaled(t, 1_000_000_000)
		if !ok {
			if string(t) != "-1" {
				return Unrecognised
			}
			answered = false
		}
		total += v
	}
	status, _ := w.next()
	w.skip(2)
	size, _ := w.next()
	request, ok := w.next()
	if !ok {
		return Malformed
	}
	if reason := e.setStatus(status); reason != "" {
		return reason
	}
	if n, ok := number(size); ok {
		e.Bytes = n
	}
	if answered {
		e.Service, e.Ends = total, true
	}
	e.setClient(client)
	e.setRequest(request)
	return ""
}

// s3 reads the server access logs of S3. The stamp is from when the request
// came; the path is the key, without the bucket.
type s3 struct{ clock clock }

// Name implements Reader.
func (*s3) Name() string { return "s3" }

// Parse implements Reader.
func (r *s3) Parse(line []byte, e *Entry) Reason {
	w := words{rest: line}
	owner, _ := w.next()
	bucket, _ := w.next()
	if len(owner) < 1 || len(w.rest) < 3 || w.rest[1] != '[' {
		return Unrecognised
	}
	stamp, _ := w.next()
	client, _ := w.next()
	w.skip(2)
	operation, _ := w.next()
	if bytes.IndexByte(operation, '.') < 1 {
		return Unrecognised
	}
	w.skip(1)
	request, ok := w.next()
	if !ok {
		return Malformed
	}
	var good bool
	if e.At, e.Fraction, good = r.clock.common(stamp); !good {
		return BadTime
	}
	status, _ := w.next()
	if reason := e.setStatus(status); reason != "" {
		return reason
	}
	w.skip(1)
	size, _ := w.next()
	w.skip(1)
	total, ok := w.next()
	if !ok {
		return Malformed
	}
	if n, ok := number(size); ok {
		e.Bytes = n
	}
	if n, ok := scaled(total, 1_000_000); ok {
		e.Service = n
	}
	e.setClient(client)
	e.setRequest(request)
	if p, ok := bytes.CutPrefix(e.Path, []byte{'/'}); ok {
		if p, ok := bytes.CutPrefix(p, bucket); ok && len(p) > 0 && p[0] == '/' {
			e.Path = p
		}
	}
	return ""
}
