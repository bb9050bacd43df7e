package accesslog

import (
	"bytes"
	"fmt"
	"strings"
)

// Format reads lines by a format string, as nginx's log_format and Apache's
// LogFormat give it.
type Format struct {
	cols columns
	text string
	ops  []op
	ends bool
}

// op is a fixed text and the field behind it.
type op struct {
	before []byte
	field  field
	quoted bool // ends at a quote that is not escaped
}

// Name implements Reader.
func (*Format) Name() string { return "format_string" }

// Compile reads a format string: `$remote_addr [$time_iso8601] "$request" …` of
// nginx, or `%h %l %u %t "%r" …` of Apache. What stands around it in the
// server's configuration may stay: the directive, its name, quotes over
// several lines. It is an error where there is no time, no status or no
// request in it, since nothing could be learned.
func Compile(format string) (*Format, error) {
	text := strip(format)
	f := &Format{text: text}
	var err error
	if strings.Contains(text, "$") && !strings.Contains(text, "%h") {
		f.ends = true
		err = f.nginx(text)
	} else {
		err = f.apache(text)
	}
	if err != nil {
		return nil, fmt.Errorf("format string: %w", err)
	}
	have := map[field]bool{}
	for i, o := range f.ops {
		have[o.field] = true
		if i > 0 && i < len(f.ops)-1 && len(o.before) == 0 {
			return nil, fmt.Errorf("format string: two fields without anything between them cannot be told apart")
		}
	}
	switch {
	case !have[fieldStamp]:
		return nil, fmt.Errorf("format string: no time in it ($time_local, $time_iso8601, $msec or %%t)")
	case !have[fieldStatus]:
		return nil, fmt.Errorf("format string: no status in it ($status or %%>s)")
	case !have[fieldRequest] && !have[fieldTarget] && !have[fieldPath]:
		return nil, fmt.Errorf("format string: no request in it ($request, $request_uri, %%r or %%U)")
	}
	return f, nil
}

// strip takes the directive of a configuration file off.
func strip(s string) string {
	s = strings.TrimSpace(s)
	s = strings.TrimSpace(strings.TrimSuffix(s, ";"))
	if rest, ok := strings.CutPrefix(s, "log_format"); ok {
		if i := strings.IndexByte(rest, '\''); i >= 0 {
			s = rest[i:]
		} else {
			s = rest
		}
	}
	if strings.HasPrefix(s, "'") && strings.HasSuffix(s, "'") { // parts in single quotes
		var parts []string
		for i, p := range strings.Split(s, "'") {
			if i%2 == 1 {
				parts = append(parts, p)
			}
		}
		return strings.Join(parts, "")
	}
	rest, ok := strings.CutPrefix(s, "LogFormat")
	if !ok {
		rest = s
	}
	rest = strings.TrimSpace(rest)
	if strings.HasPrefix(rest, `"`) && strings.Contains(rest, `\"`) {
		for i := len(rest) - 1; i > 0; i-- { // the quote that is not escaped; a nickname may follow
			if rest[i] == '"' && rest[i-1] != '\\' {
				rest = rest[1:i]
				break
			}
		}
		rest = strings.ReplaceAll(rest, `\"`, `"`)
	}
	return rest
}

var nginxFields = map[string]field{
	"remote_addr": fieldClient, "realip_remote_addr": skip, "http_x_forwarded_for": skip,
	"time_local": fieldStamp, "time_iso8601": fieldStamp, "msec": fieldStamp,
	"request": fieldRequest, "request_method": fieldMethod, "request_uri": fieldTarget,
	"uri": fieldPath, "document_uri": fieldPath, "args": fieldQuery, "query_string": fieldQuery,
	"status": fieldStatus, "bytes_sent": fieldBytes, "body_bytes_sent": fieldBytes, "request_time": fieldSeconds,
}

func (f *Format) nginx(s string) error {
	var before []byte
	var last field
	for i := 0; i < len(s); {
		if s[i] != '$' {
			before = append(before, s[i])
			i++
			continue
		}
		i++
		braced := i < len(s) && s[i] == '{'
		if braced {
			i++
		}
		start := i
		for i < len(s) && (s[i] == '_' || isDigit(s[i]) || (s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z')) {
			i++
		}
		name := s[start:i]
		if name == "" {
			return fmt.Errorf("a $ without a name at column %d", start)
		}
		if braced {
			if i == len(s) || s[i] != '}' {
				return fmt.Errorf("${%s is not closed", name)
			}
			i++
		}
		last = nginxFields[name]
		f.add(before, last)
		before = nil
	}
	f.add(before, skip)
	return nil
}

func (f *Format) apache(s string) error {
	var before []byte
	for i := 0; i < len(s); {
		if s[i] != '%' {
			before = append(before, s[i])
			i++
			continue
		}
		i++
		for i < len(s) && (s[i] == '>' || s[i] == '<' || s[i] == '!' || s[i] == ',' || isDigit(s[i])) {
			i++
		}
		arg := ""
		if i < len(s) && s[i] == '{' {
			end := strings.IndexByte(s[i:], '}')
			if end < 0 {
				return fmt.Errorf("%%{ at column %d is not closed", i)
			}
			arg = s[i+1 : i+end]
			i += end + 1
		}
		if i < len(s) && (s[i] == '>' || s[i] == '<') {
			i++
		}
		if i == len(s) {
			return fmt.Errorf("a %% at the end")
		}
		letter := s[i]
		i++
		if letter == '%' {
			before = append(before, '%')
			continue
		}
		if letter == '^' { // three letters: bytes and times of trailers
			i = min(i+2, len(s))
		}
		if letter == 't' && arg == "" {
			before = append(before, '[')
			f.add(before, fieldStamp)
			before = []byte{']'}
			continue
		}
		field, err := apacheField(letter, arg)
		if err != nil {
			return err
		}
		f.ends = f.ends || strings.HasPrefix(arg, "end:")
		f.add(before, field)
		before = nil
	}
	f.add(before, skip)
	return nil
}

func apacheField(letter byte, arg string) (field, error) {
	switch letter {
	case 'h', 'a':
		if arg == "" || arg == "c" {
			return fieldClient, nil
		}
	case 't':
		switch strings.TrimPrefix(strings.TrimPrefix(arg, "begin:"), "end:") {
		case "sec", "msec", "usec", "%s", "%FT%T%z", "%Y-%m-%dT%H:%M:%S%z", "%d/%b/%Y:%H:%M:%S %z", "%d/%b/%Y:%T %z":
			return fieldStamp, nil
		case "msec_frac", "usec_frac":
			return skip, nil
		}
		return 0, fmt.Errorf("the time format %%{%s}t is not known; known are %%t, %%{sec}t, %%{msec}t, %%{usec}t, %%{%%FT%%T%%z}t", arg)
	case 'r':
		return fieldRequest, nil
	case 'm':
		return fieldMethod, nil
	case 'U':
		return fieldPath, nil
	case 'q':
		return fieldQuery, nil
	case 's':
		return fieldStatus, nil
	case 'b', 'B', 'O':
		return fieldBytes, nil
	case 'D':
		return fieldMicros, nil
	case 'T':
		switch arg {
		case "ms":
			return fieldMillis, nil
		case "us":
			return fieldMicros, nil
		}
		return fieldSeconds, nil
	}
	return skip, nil
}

func (f *Format) add(before []byte, field field) {
	o := op{before: before, field: field}
	if n := len(before); n > 0 && before[n-1] == '"' {
		o.quoted = true
	}
	f.ops = append(f.ops, o)
}

// Parse implements Reader.
func (f *Format) Parse(line []byte, e *Entry) Reason {
	f.cols.start()
	rest, ok := bytes.CutPrefix(line, f.ops[0].before)
	if !ok {
		return Unrecognised
	}
	for i, o := range f.ops[:len(f.ops)-1] {
		next := f.ops[i+1]
		var v []byte
		end := len(rest)
		switch {
		case o.quoted && len(next.before) > 0 && next.before[0] == '"':
			end = quotedEnd(rest)
		case len(next.before) == 1:
			end = bytes.IndexByte(rest, next.before[0])
		case len(next.before) > 1:
			end = bytes.Index(rest, next.before)
		}
		if end < 0 {
			if i < 3 {
				return Unrecognised
			}
			return Malformed
		}
		v, rest = rest[:end], rest[end:]
		if rest, ok = bytes.CutPrefix(rest, next.before); !ok {
			return Malformed
		}
		if reason := f.cols.set(o.field, v, e); reason != "" {
			return reason
		}
	}
	e.Ends = f.ends
	return f.cols.finish(e, -1)
}
