package accesslog

import (
	"bytes"
	"testing"
)

// check fails where an entry breaks what Entry promises.
func check(t *testing.T, e *Entry) {
	t.Helper()
	if e.Status != 0 && (e.Status < 100 || e.Status > 999) {
		t.Errorf("status %d", e.Status)
	}
	if e.Bytes < -1 || e.Service < -1 {
		t.Errorf("bytes %d, service %d", e.Bytes, e.Service)
	}
	if e.Odd && len(e.Method)+len(e.Path) > 0 {
		t.Errorf("odd, but %q %q", e.Method, e.Path)
	}
	if !e.Odd && !isMethod(e.Method) {
		t.Errorf("method %q", e.Method)
	}
	if e.At < 0 {
		t.Errorf("stamp %d", e.At)
	}
}

// FuzzParser feeds several lines to one parser, so that what one line leaves
// behind meets the next.
func FuzzParser(f *testing.F) {
	for _, c := range formatCases {
		var all []byte
		for _, l := range c.lines {
			all = append(append(all, l...), '\n')
		}
		f.Add(all)
	}
	f.Add([]byte("a - - [01/Jan/2024:00:00:09 +0000] \"GET / HTTP/1.1\" 200 5\n{\"a\":[}\n#Fields: time\n1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := NewParser(nil)
		var e Entry
		lines, parsed := 0, 0
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			lines++
			if p.Parse(line, &e) == "" {
				parsed++
				check(t, &e)
			}
		}
		var counted uint64
		for _, n := range p.Formats() {
			counted += n
		}
		if counted != uint64(parsed) || parsed > lines {
			t.Errorf("%d requests, %d counted by format, in %d lines", parsed, counted, lines)
		}
	})
}

// FuzzReaders gives one line to each reader alone.
func FuzzReaders(f *testing.F) {
	for _, c := range formatCases {
		f.Add([]byte(c.lines[len(c.lines)-1]))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		w := &w3c{day: -1}
		w.directive([]byte("#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status time-taken"))
		tab := &table{}
		tab.header([]byte("host\ttime\tmethod\turl\tstatus"))
		for _, r := range []Reader{&common{}, &jsonLines{}, loadBalancer{}, &haproxy{}, &proxyManager{}, envoy{}, &s3{}, w, tab, &w3c{}} {
			var e Entry
			e.reset()
			if r.Parse(line, &e) == "" {
				check(t, &e)
			}
		}
	})
}

// FuzzCompile gives any format string any line.
func FuzzCompile(f *testing.F) {
	f.Add(`$remote_addr [$time_local] "$request" $status`, `192.0.2.1 [01/Jan/2024:00:00:09 +0000] "GET / HTTP/1.1" 200`)
	f.Add(`LogFormat "%h %t \"%r\" %>s %^FB" x`, `192.0.2.1 [01/Jan/2024:00:00:09 +0000] "GET / HTTP/1.1" 200 1`)
	f.Add("log_format a '${status} $msec' '$request_uri';", "200 1 /")
	f.Fuzz(func(t *testing.T, format, line string) {
		c, err := Compile(format)
		if err != nil {
			return
		}
		var e Entry
		if NewParser(c).Parse([]byte(line), &e) == "" {
			check(t, &e)
		}
	})
}
