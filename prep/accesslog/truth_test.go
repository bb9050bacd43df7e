package accesslog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dataFolder is where the real inputs for tests lie.
func dataFolder(t *testing.T) string {
	dir := os.Getenv("HEADROOM_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	if _, err := os.Stat(filepath.Join(dir, "TRUTH.json")); err != nil {
		t.Skip("no real logs here: set HEADROOM_DATA to the folder that holds TRUTH.json")
	}
	return dir
}

type truth struct {
	Lines      *int           `json:"lines"`
	CLF        *int           `json:"clf_lines"`
	JSON       *int           `json:"json_lines"`
	Data       *int           `json:"data_lines"`
	Directives *int           `json:"directive_lines"`
	Records    *int           `json:"records"`
	Clients    *int           `json:"clients"`
	Methods    map[string]int `json:"methods"`
	Paths      *int           `json:"paths_no_query"`
	URLs       *int           `json:"urls_with_query"`
	Status     map[string]int `json:"status"`
	Bytes      *int64         `json:"bytes_sum"`
	Dash       *int           `json:"bytes_dash"`
	First      *int64         `json:"first_unix"`
	Last       *int64         `json:"last_unix"`
	Nanos      *int64         `json:"duration_ns_sum"`
	Millis     *int64         `json:"time_taken_ms_sum"`
}

type seen struct {
	lines, parsed, directives, blank int
	clients, paths, urls             map[string]bool
	methods, status                  map[string]int
	formats                          map[string]uint64
	reasons                          map[Reason]int
	bytes, service, first, last      int64
	dash                             int
}

func readAll(t *testing.T, r io.Reader) seen {
	t.Helper()
	s := seen{
		clients: map[string]bool{}, paths: map[string]bool{}, urls: map[string]bool{},
		methods: map[string]int{}, status: map[string]int{}, reasons: map[Reason]int{},
	}
	p := NewParser(nil)
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	var e Entry
	for sc.Scan() {
		line := sc.Bytes()
		if s.lines == 0 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		s.lines++
		switch reason := p.Parse(line, &e); reason {
		case "":
		case Directive:
			s.directives++
			continue
		case Blank:
			s.blank++
			continue
		default:
			s.reasons[reason]++
			continue
		}
		s.parsed++
		if len(e.Client) > 0 {
			s.clients[string(e.Client)] = true
		}
		if e.Odd {
			s.methods["(odd request)"]++
		} else {
			s.methods[string(e.Method)]++
			s.paths[string(e.Path)] = true
			s.urls[string(e.Path)+"?"+string(e.Query)] = true
		}
		key := strconv.Itoa(e.Status)
		if e.Status == 0 {
			key = "-"
		}
		s.status[key]++
		if e.Bytes >= 0 {
			s.bytes += e.Bytes
		} else {
			s.dash++
		}
		s.service += max(e.Service, 0)
		at := e.At / 1e9
		if s.first == 0 || at < s.first {
			s.first = at
		}
		s.last = max(s.last, at)
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	s.formats = p.Formats()
	return s
}

func TestRealLogs(t *testing.T) {
	dir := dataFolder(t)
	raw, err := os.ReadFile(filepath.Join(dir, "TRUTH.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for name, text := range all {
		if !strings.HasPrefix(name, "A/") {
			continue
		}
		checked++
		t.Run(name[2:], func(t *testing.T) {
			var want truth
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var in io.Reader = f
			if strings.HasSuffix(name, ".gz") {
				if in, err = gzip.NewReader(f); err != nil {
					t.Fatal(err)
				}
			}
			got := readAll(t, in)
			t.Logf("%d lines, %d parsed, %d directives, %d blank, formats %v, reasons %v", got.lines, got.parsed, got.directives, got.blank, got.formats, got.reasons)
			compare(t, name[2:], got, want)
		})
	}
	if checked < 31 {
		t.Errorf("only %d logs in TRUTH.json", checked)
	}
}

func compare(t *testing.T, name string, got seen, want truth) {
	switch name {
	case "nginx_proxy_manager_mixed.log": // the truth knows its one line of Combined alone
		want = truth{Lines: want.Lines, CLF: want.CLF}
		if got.parsed != 12 || got.reasons[NotRequest] != 2 || got.status["444"] != 1 {
			t.Errorf("%d requests of 12, %d lines of errors of 2", got.parsed, got.reasons[NotRequest])
		}
	case "apache_mixed_vhost.log": // the truth takes two virtual hosts for clients; both lines are of 1.2.3.4
		*want.Clients = 5
	case "caddy_json_12.log":
		*want.Lines += got.blank // the truth counts lines that are not blank
	}
	count := func(what string, got int, want *int) {
		if want != nil && got != *want {
			t.Errorf("%s: %d, want %d", what, got, *want)
		}
	}
	big := func(what string, got int64, want *int64) {
		if want != nil && got != *want {
			t.Errorf("%s: %d, want %d", what, got, *want)
		}
	}
	count("lines", got.lines, want.Lines)
	big("first", got.first, want.First)
	big("last", got.last, want.Last)
	big("nanoseconds", got.service, want.Nanos)
	if want.Millis != nil {
		big("milliseconds", got.service/1e6, want.Millis)
	}
	if want.Data != nil {
		count("requests", got.parsed, want.Data)
	}
	count("directives", got.directives, want.Directives)
	if want.Records != nil {
		count("requests", got.parsed, want.Records)
	}
	count("CLF", int(got.formats["combined"]), want.CLF)
	count("clients", len(got.clients), want.Clients)
	count("paths", len(got.paths), want.Paths)
	count("urls", len(got.urls), want.URLs)
	big("bytes", got.bytes, want.Bytes)
	count("sizes missing", got.dash, want.Dash)
	if want.Methods != nil {
		if d := cmp.Diff(want.Methods, got.methods); d != "" {
			t.Errorf("methods (-want +got):\n%s", d)
		}
	}
	if want.Status != nil {
		if d := cmp.Diff(want.Status, got.status); d != "" {
			t.Errorf("status (-want +got):\n%s", d)
		}
	}
}
