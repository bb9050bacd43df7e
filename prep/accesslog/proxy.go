package accesslog

import "bytes"

// haproxy reads HAProxy's HTTP log. The stamp is from when the request came,
// in the machine's own time, which is taken for UTC.
type haproxy struct{ clock clock }

// Name implements Reader.
func (*haproxy) Name() string { return "haproxy" }

// Parse implements Reader.
func (r *haproxy) Parse(line []byte, e *Entry) Reason {
	w := words{rest: line}
	client, _ := w.next()
	if bytes.IndexByte(client, ':') < 1 || len(w.rest) < 24 || w.rest[1] != '[' || w.rest[22] != '.' {
		return Unrecognised
	}
	stamp, _ := w.next()
	w.skip(1)
	backend, _ := w.next()
	times, ok := w.next()
	if !ok || bytes.Count(times, []byte{'/'}) != 4 || bytes.IndexByte(backend, '/') < 0 {
		return NotRequest // a failed handshake, or the log of TCP
	}
	var good bool
	if e.At, e.Fraction, good = r.clock.common(stamp); !good {
		return BadTime
	}
	status, _ := w.next()
	if reason := e.setStatus(status); reason != "" {
		return reason
	}
	size, ok := w.next()
	if !ok {
		return Malformed
	}
	if n, ok := number(bytes.TrimPrefix(size, []byte{'+'})); ok {
		e.Bytes = n
	}
	total := bytes.TrimPrefix(times[bytes.LastIndexByte(times, '/')+1:], []byte{'+'})
	if n, ok := scaled(total, 1_000_000); ok {
		e.Service = n
	}
	q := bytes.LastIndex(w.rest, []byte(` "`)) // captured headers may come before
	if q < 0 {
		return Malformed
	}
	request := w.rest[q+2:]
	if end := bytes.IndexByte(request, '"'); end >= 0 {
		request = request[:end]
	}
	e.setClient(client)
	e.setRequest(request)
	return ""
}

// proxyManager reads the log of nginx proxy manager, of hosts with a proxy and
// of its fallback.
type proxyManager struct{ clock clock }

// Name implements Reader.
func (*proxyManager) Name() string { return "nginx_proxy_manager" }

// Parse implements Reader.
func (r *proxyManager) Parse(line []byte, e *Entry) Reason {
	if len(line) < 40 || line[0] != '[' || line[3] != '/' {
		return Unrecognised
	}
	w := words{rest: line}
	stamp, ok := w.next()
	if !ok {
		return Unrecognised
	}
	var status, method, last []byte
	for n := 0; ; n++ { // cache, upstream status and status, or the status alone, then -
		f, ok := w.next()
		if !ok || n > 5 {
			return Unrecognised
		}
		if string(last) == "-" && isMethod(f) && n >= 2 {
			method = f
			break
		}
		status, last = last, f
	}
	w.skip(2)
	target, ok := w.next()
	if !ok {
		return Malformed
	}
	var good bool
	if e.At, e.Fraction, good = r.clock.common(stamp); !good {
		return BadTime
	}
	if reason := e.setStatus(status); reason != "" {
		return reason
	}
	for {
		f, ok := w.next()
		if !ok {
			break
		}
		if v, ok := bytes.CutPrefix(f, []byte("Client ")); ok {
			e.setClient(v)
		} else if v, ok := bytes.CutPrefix(f, []byte("Length ")); ok {
			if n, ok := number(v); ok {
				e.Bytes = n
			}
			break
		}
	}
	e.setMethod(method)
	e.setTarget(target)
	return ""
}

// envoy reads the text that Envoy and Istio write unless told otherwise. The
// stamp is from when the request came.
type envoy struct{}

// Name implements Reader.
func (envoy) Name() string { return "envoy" }

// Parse implements Reader.
func (envoy) Parse(line []byte, e *Entry) Reason {
	if len(line) < 40 || line[0] != '[' || line[5] != '-' || line[11] != 'T' {
		return Unrecognised
	}
	w := words{rest: line}
	stamp, _ := w.next()
	if len(w.rest) < 3 || w.rest[1] != '"' {
		return Unrecognised
	}
	request, ok := w.next()
	if !ok {
		return Malformed
	}
	var good bool
	if e.At, e.Fraction, good = iso(stamp); !good {
		return BadTime
	}
	status, _ := w.next()
	if reason := e.setStatus(status); reason != "" {
		return reason
	}
	w.skip(1) // flags
	var received []byte
	for range 5 { // details of answer and connection, which newer versions add
		f, ok := w.next()
		if !ok {
			return Malformed
		}
		if _, ok := number(f); ok {
			received = f
			break
		}
	}
	sent, _ := w.next()
	total, ok := w.next()
	if received == nil || !ok {
		return Malformed
	}
	if n, ok := number(sent); ok {
		e.Bytes = n
	}
	if n, ok := scaled(total, 1_000_000); ok {
		e.Service = n
	}
	w.skip(1) // service time of the upstream
	if client, ok := w.next(); ok {
		e.setClient(client)
	}
	e.setRequest(request)
	return ""
}
