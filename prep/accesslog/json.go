package accesslog

import "bytes"

// jsonLines reads one JSON object a line, as Caddy, Traefik, nginx, Envoy,
// Cloudflare, Fastly and Google's load balancer write them. Fields are known by
// name; everything else is skipped.
type jsonLines struct {
	clock   clock
	scratch []byte
	inner   []byte // a line that another logger wrapped in JSON
	v       jsonValues
}

// jsonValues are the texts of one line. Which of several stamps and addresses
// counts is decided when all have been seen.
type jsonValues struct {
	stamp, start, end         []byte // of a kind that depends on the writer; of the arrival; of the end
	client, clientNext        []byte
	forwarded                 []byte // Envoy's: its peer is often a balancer
	method, target, path, qry []byte
	request                   []byte
	status, bytes             []byte
	duration                  []byte // unit depends on the writer
	scaled                    []byte // with the scale beside it
	scale                     int64
	nested                    bool // Caddy: method and target in an object "request"
	envoy                     bool
	wrapped                   []byte
	stream                    bool
}

// Name implements Reader.
func (*jsonLines) Name() string { return "json" }

// Parse implements Reader.
func (r *jsonLines) Parse(line []byte, e *Entry) Reason {
	line = bytes.TrimSpace(line)
	if len(line) < 2 || line[0] != '{' {
		return Unrecognised
	}
	r.v = jsonValues{}
	if cap(r.scratch) < len(line) {
		r.scratch = make([]byte, 0, len(line)+1024)
	}
	r.scratch = r.scratch[:0]
	n := r.object(line, 0)
	if n < 0 || len(bytes.TrimSpace(line[n:])) > 0 {
		return BadJSON
	}
	return r.assemble(e)
}

// wrapped returns the line that Docker's or another logger put into a JSON
// object, if that is what the last line was.
func (r *jsonLines) wrapped() []byte {
	if r.v.wrapped == nil || !r.v.stream {
		return nil
	}
	r.inner = append(r.inner[:0], bytes.TrimRight(r.v.wrapped, "\r\n")...)
	return r.inner
}

func (r *jsonLines) assemble(e *Entry) Reason {
	v := &r.v
	switch {
	case len(v.request) > 0:
		e.setRequest(v.request)
		if e.Odd && len(v.method) > 0 && len(v.target) > 0 {
			e.Odd = false
			e.setMethod(v.method)
			e.setTarget(v.target)
		}
	case len(v.method) == 0 || (v.target == nil && v.path == nil):
		return NotRequest
	default:
		e.setMethod(v.method)
		if len(v.target) > 0 {
			e.setTarget(v.target)
		} else {
			e.setTarget(v.path)
			if len(v.qry) > 0 && string(v.qry) != "-" && !e.Odd {
				e.Query = bytes.TrimPrefix(v.qry, []byte{'?'})
			}
		}
	}
	if v.status == nil {
		return NotRequest
	}
	if reason := e.setStatus(v.status); reason != "" {
		return reason
	}
	var ok bool
	switch {
	case v.start != nil:
		e.At, e.Fraction, ok = r.clock.stamp(v.start)
		if ok && v.end != nil {
			if end, fraction, good := r.clock.stamp(v.end); good && fraction && e.Fraction && end >= e.At {
				e.Service = end - e.At
			}
		}
	case v.end != nil:
		e.At, e.Fraction, ok = r.clock.stamp(v.end)
		e.Ends = true
	default:
		e.At, e.Fraction, ok = r.clock.stamp(v.stamp)
		e.Ends = true
	}
	if !ok {
		return BadTime
	}
	if len(v.client) == 0 {
		v.client = v.clientNext
	}
	if v.envoy && len(v.forwarded) > 0 {
		v.client = v.forwarded
	}
	e.setClient(v.client)
	if n, ok := number(v.bytes); ok {
		e.Bytes = n
	}
	switch {
	case v.scaled != nil:
		if n, ok := scaled(v.scaled, v.scale); ok {
			e.Service = n
		}
	case v.duration != nil:
		r.duration(e)
	}
	return ""
}

// duration reads a number whose unit is the writer's: Caddy's seconds, Envoy's
// milliseconds; otherwise a decimal point means seconds.
func (r *jsonLines) duration(e *Entry) {
	text := r.v.duration
	scale := int64(1_000_000_000)
	for _, u := range units {
		if head, ok := bytes.CutSuffix(text, []byte(u.suffix)); ok {
			text, scale = head, u.scale
			break
		}
	}
	if len(text) == len(r.v.duration) && (r.v.envoy || (!r.v.nested && bytes.IndexByte(text, '.') < 0)) {
		scale = 1_000_000
	}
	if n, ok := scaled(text, scale); ok {
		e.Service = n
	}
}

var units = []struct {
	suffix string
	scale  int64
}{{"ms", 1e6}, {"µs", 1e3}, {"us", 1e3}, {"ns", 1}, {"s", 1e9}}

// set takes a value by the name of its key; depth is 0, or 1 within the
// objects "request" and "httpRequest".
func (v *jsonValues) set(key, value []byte, depth int) {
	if depth == 1 {
		switch string(key) {
		case "client_ip", "remoteIp":
			v.client = value
		case "remote_ip", "remote_addr":
			v.clientNext = value
		case "method", "requestMethod":
			v.method, v.nested = value, string(key) == "method"
		case "uri", "requestUrl":
			v.target = value
		case "status":
			v.status = value
		case "responseSize":
			v.bytes = value
		case "latency":
			v.duration = value
		}
		return
	}
	switch string(key) {
	case "ts", "time", "@timestamp", "timestamp", "time_local", "time_iso8601", "msec", "datetime", "date":
		if v.stamp == nil || string(key) == "msec" {
			v.stamp = value
		}
	case "start_time", "StartUTC", "EdgeStartTimestamp":
		v.start = value
	case "StartLocal":
		if v.start == nil {
			v.start = value
		}
	case "EdgeEndTimestamp":
		v.end = value
	case "method", "request_method", "RequestMethod", "ClientRequestMethod", "verb", "http_method":
		v.method = value
	case "uri", "request_uri", "RequestPath", "ClientRequestURI", "url", "x-envoy-original-path", "x-envoy-origin-path", "requestURI":
		if len(value) > 0 && string(value) != "-" {
			v.target = value
		}
	case "path", "uri_path", "x_envoy_original_path", ":path":
		v.path = value
		if v.path == nil {
			v.path = []byte{}
		}
	case "query", "args", "query_string":
		v.qry = value
	case "request", "request_line", "httprequest":
		v.request = value
	case "status", "response_code", "DownstreamStatus", "EdgeResponseStatus", "response", "response_status", "status_code", "http_status":
		v.status = value
		v.envoy = v.envoy || string(key) == "response_code"
	case "size", "bytes_sent", "body_bytes_sent", "DownstreamContentSize", "EdgeResponseBytes", "bytes", "response_body_size", "response_size":
		v.bytes = value
	case "duration":
		v.duration = value
	case "Duration", "duration_ns":
		v.scaled, v.scale = value, 1
	case "request_time", "duration_s", "response_time_s":
		v.scaled, v.scale = value, 1_000_000_000
	case "duration_ms", "elapsed_ms", "latency_ms", "response_time_ms":
		v.scaled, v.scale = value, 1_000_000
	case "time_elapsed", "duration_us", "elapsed_us":
		v.scaled, v.scale = value, 1_000
	case "client_ip", "ClientIP", "ClientHost", "downstream_remote_address", "client":
		v.client = value
	case "remote_addr", "remote_ip", "ClientAddr", "clientip", "remote_host":
		v.clientNext = value
	case "x-forwarded-for", "x_forwarded_for":
		v.forwarded = value
	case "log", "message":
		v.wrapped = value
	case "stream":
		v.stream = true
	}
}

// object reads an object from b, which begins with its brace, and returns the
// index behind it, −1 where it is broken.
func (r *jsonLines) object(b []byte, depth int) int {
	i := skipBlank(b, 1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for i < len(b) {
		if b[i] != '"' {
			return -1
		}
		end := quotedEnd(b[i+1:])
		if end < 0 {
			return -1
		}
		key := b[i+1 : i+1+end]
		i = skipBlank(b, i+end+2)
		if i >= len(b) || b[i] != ':' {
			return -1
		}
		i = skipBlank(b, i+1)
		if i >= len(b) {
			return -1
		}
		if i = r.value(b, i, key, depth); i < 0 {
			return -1
		}
		i = skipBlank(b, i)
		switch {
		case i < len(b) && b[i] == '}':
			return i + 1
		case i < len(b) && b[i] == ',':
			i = skipBlank(b, i+1)
		default:
			return -1
		}
	}
	return -1
}

// value reads the value of a key and returns the index behind it.
func (r *jsonLines) value(b []byte, i int, key []byte, depth int) int {
	switch b[i] {
	case '"':
		end := quotedEnd(b[i+1:])
		if end < 0 {
			return -1
		}
		r.v.set(key, r.unescape(b[i+1:i+1+end]), depth)
		return i + end + 2
	case '{':
		if depth == 0 && (string(key) == "request" || string(key) == "httpRequest") {
			n := r.object(b[i:], 1)
			if n < 0 {
				return -1
			}
			return i + n
		}
		return skipNested(b, i)
	case '[':
		return skipNested(b, i)
	}
	end := i
	for end < len(b) && b[end] != ',' && b[end] != '}' && b[end] != ' ' && b[end] != '\t' {
		if c := b[end]; !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'z') && c != '+' && c != '-' && c != '.' {
			return -1
		}
		end++
	}
	if end == i {
		return -1
	}
	if text := b[i:end]; string(text) != "null" {
		r.v.set(key, text, depth)
	}
	return end
}
