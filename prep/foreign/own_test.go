package foreign_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"headroom/prep/foreign"
	"headroom/store"
	"headroom/store/record"
)

// Inputs of our own, one for each format: what a row becomes, and what a
// damaged row is counted as.
func TestOwnInputs(t *testing.T) {
	type outcomes map[record.Outcome]uint64
	for _, c := range []struct {
		file, from string
		want       outcomes
		classes    map[string]uint64
		damage     map[string]uint64
	}{
		{
			"jtl_no_header.jtl", "jtl",
			outcomes{record.OK: 1, record.HTTPError: 1, record.Timeout: 1, record.ConnectError: 1, record.Wrong: 1, record.Shed: 1},
			map[string]uint64{"home": 3, "/users/{}/cart": 3},
			map[string]uint64{"bad_instant": 1, "too_few_cells": 1, "bad_duration": 1},
		},
		{"jtl_nested.xml", "jtl", outcomes{record.OK: 1, record.ConnectError: 1}, map[string]uint64{"checkout": 2}, map[string]uint64{"bad_duration": 1}},
		{"jtl_quotes.csv", "jtl", outcomes{record.OK: 2, record.Wrong: 1}, map[string]uint64{"a": 3}, map[string]uint64{"unclosed_quote": 1}},
		{
			"k6.json", "k6-json",
			outcomes{record.OK: 1, record.HTTPError: 1, record.Timeout: 1, record.Dropped: 2},
			map[string]uint64{"GET /items/{}": 3, "dropped_iterations": 2},
			map[string]uint64{"bad_json": 1, "bad_instant": 1},
		},
		{"k6.csv", "k6-csv", outcomes{record.OK: 1, record.ConnectError: 1, record.Wrong: 1}, map[string]uint64{"GET /": 3}, map[string]uint64{"bad_duration": 1}},
		{"vegeta.csv", "vegeta", outcomes{record.OK: 1, record.Shed: 1, record.Timeout: 1}, map[string]uint64{"GET /item": 3}, map[string]uint64{"bad_number": 1, "too_few_cells": 1}},
		{"locust.csv", "locust", outcomes{record.OK: 1, record.HTTPError: 1, record.ConnectError: 1}, map[string]uint64{"GET /": 3}, map[string]uint64{"bad_duration": 1}},
		{"gatling.log", "gatling", outcomes{record.OK: 1, record.HTTPError: 1, record.Wrong: 1, record.Timeout: 1}, map[string]uint64{"view": 4}, map[string]uint64{"bad_request_line": 1, "unknown_line": 1}},
	} {
		t.Run(c.file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			m, im := imported(t, string(b), foreign.Options{From: c.from})
			s := total(t, m)
			got := outcomes{}
			for o, n := range s.counts.By {
				if n > 0 {
					got[record.Outcome(o)] = n
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("outcomes: %s", d)
			}
			if d := cmp.Diff(c.classes, s.classes); d != "" {
				t.Errorf("classes: %s", d)
			}
			damage := map[string]uint64{}
			for _, r := range im.Damage.Reasons() {
				damage[r] = im.Damage.Count(r)
			}
			if d := cmp.Diff(c.damage, damage); d != "" {
				t.Errorf("damage: %s", d)
			}
			if !hasNote(m, "damaged_rows") {
				t.Errorf("the evidence does not say that rows were damaged: %v", m.N)
			}
		})
	}
}

// Neither hosts, queries nor keys become part of a class.
func TestClassNames(t *testing.T) {
	for label, want := range map[string]string{
		"https://user:secret@shop.example:8443/orders/4711?token=x#y": "/orders/{}",
		"GET http://10.0.0.1/":                  "GET /",
		"http://10.0.0.1":                       "/",
		"/api/v2/items/9f86d081884c7d65":        "/api/v2/items/{}",
		"/?q=1":                                 "/",
		"Checkout 2":                            "Checkout 2",
		"САП.Аутентификатор":                    "САП.Аутентификатор",
		"":                                      "request",
		"a\x00b\nc":                             "abc",
		strings.Repeat("x", 500):                strings.Repeat("x", 120),
		"POST /very/" + strings.Repeat("y", 60): "POST /very/{}",
	} {
		text := "timeStamp,elapsed,label,responseCode,success\n1700000000000,5,\"" + label + "\",200,true\n"
		if strings.ContainsAny(label, "\n") {
			continue
		}
		m, _ := imported(t, text, foreign.Options{From: "jtl"})
		if got := m.H.Classes[0].Name; got != want {
			t.Errorf("%q: class %q, want %q", label, got, want)
		}
	}
}

// A thousand names are two hundred classes and one for the rest.
func TestManyNames(t *testing.T) {
	var b strings.Builder
	b.WriteString("timeStamp,elapsed,label,responseCode,success\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "%d,5,name %c%c%c,200,true\n", 1700000000000+i, 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
	}
	m, _ := imported(t, b.String(), foreign.Options{From: "jtl"})
	s := total(t, m)
	if len(m.H.Classes) != 201 || s.classes["(other)"] != 800 || !hasNote(m, "classes_folded") {
		t.Errorf("%d classes, %d of the rest", len(m.H.Classes), s.classes["(other)"])
	}
}

// Rows in any order, sorted in memory or on disk, give the same evidence.
func TestSortOnDisk(t *testing.T) {
	var rows []string
	for i := range 5000 {
		start := int64(1700000000)*1e9 + int64(i)*3e6
		rows = append(rows, fmt.Sprintf("%d,%d,%d,200,%d\n", start, start+int64(i%97)*1e5, start-int64(i%7)*1e5, i))
	}
	const header = "start_ns,end_ns,due_ns,status,seq\n"
	sorted := header + strings.Join(rows, "")
	r := rand.New(rand.NewPCG(1, 2))
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	shuffled := header + strings.Join(rows, "")
	for _, o := range []foreign.Options{{}, {ScheduledColumn: "due_ns"}, {ExpectedIntervalNS: 3e6}} {
		o.From = "csv"
		want, _ := imported(t, sorted, o)
		o.TempDir, o.MemoryRows = t.TempDir(), 300
		got, _ := imported(t, shuffled, o)
		if !hasNote(got, "rows_sorted") {
			t.Errorf("no note that rows were sorted: %v", got.N)
		}
		if d := cmp.Diff(want.Iv, got.Iv, cmp.Comparer((*record.Histogram).Equal), cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); d != "" {
			t.Errorf("%+v: %s", o, d)
		}
		if d := cmp.Diff(want.E, got.E); d != "" {
			t.Errorf("%+v: %s", o, d)
		}
		if left, _ := os.ReadDir(o.TempDir); len(left) != 0 {
			t.Errorf("%d files were left behind", len(left))
		}
	}
}

// What cannot be read is refused; files are not left behind.
func TestRefusals(t *testing.T) {
	jtl := "timeStamp,elapsed,label,responseCode,success\n"
	for name, c := range map[string]struct {
		text string
		o    foreign.Options
		want string
	}{
		"empty":               {"", foreign.Options{From: "jtl"}, foreign.Empty},
		"header only":         {jtl, foreign.Options{From: "jtl"}, foreign.Empty},
		"mostly damaged":      {jtl + "x,1,a,200,true\ny,1,a,200,true\n1700000000000,1,a,200,true\n", foreign.Options{From: "jtl"}, foreign.NotThisFormat},
		"three columns":       {"1700000000000,1,a\n", foreign.Options{From: "jtl"}, foreign.NotThisFormat},
		"forty years":         {jtl + "1,5,a,200,true\n1700000000000,5,a,200,true\n", foreign.Options{From: "jtl"}, foreign.SpanTooLong},
		"not XML":             {"<html><body>", foreign.Options{From: "jtl"}, foreign.NotThisFormat},
		"no such column":      {jtl + "1700000000000,5,a,200,true\n", foreign.Options{From: "jtl", ScheduledColumn: "timestamp2"}, foreign.NoScheduledColumn},
		"no columns in JSON":  {`{"seq":0}`, foreign.Options{From: "vegeta", ScheduledColumn: "seq"}, foreign.NoScheduledColumn},
		"no unit":             {"a,b\n1,2\n", foreign.Options{From: "csv", Columns: []string{"start=a:ms", "duration=b"}}, foreign.BadColumns},
		"unknown field":       {"a,b\n1,2\n", foreign.Options{From: "csv", Columns: []string{"begin=a:ms"}}, foreign.BadColumns},
		"no duration":         {"a,b\n1,2\n", foreign.Options{From: "csv", Columns: []string{"start=a:ms"}}, foreign.BadColumns},
		"random bytes as gob": {"\x07\xff\x81\x03\x01\x01\x02\xff", foreign.Options{From: "vegeta"}, foreign.NotThisFormat},
		"a huge gob message":  {"\xfc\x7f\xff\xff\xff", foreign.Options{From: "vegeta"}, foreign.NotThisFormat},
		"log without lines":   {"#[StartTime: 1.0 (seconds since epoch)]\n", foreign.Options{From: "hlog"}, foreign.Empty},
		"log with a schedule": {"#[StartTime: 1.0 ]\n", foreign.Options{From: "hlog", ExpectedIntervalNS: 1}, foreign.AggregatesOnly},
		"dropped only":        {`{"metric":"dropped_iterations","type":"Point","data":{"time":"2026-01-01T00:00:00Z","value":1,"tags":{}}}`, foreign.Options{From: "k6-json"}, foreign.Empty},
		"broken gzip":         {"\x1f\x8b\x08\x00garbage", foreign.Options{From: "k6-json"}, foreign.NotThisFormat},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := tryImport(c.text, c.o); code(err) != c.want {
				t.Errorf("%q, want %q (%v)", code(err), c.want, err)
			}
		})
	}
}

// A long line and a file that ends in its middle cost the rows they hold, not
// the file.
func TestDamageInTheMiddle(t *testing.T) {
	row := "1700000000000,5,a,200,true\n"
	m, im := imported(t, "timeStamp,elapsed,label,responseCode,success\n"+row+strings.Repeat("x", 2<<20)+"\n"+row+row, foreign.Options{From: "jtl"})
	if s := total(t, m); s.counts.Scheduled != 3 || im.Damage.Count("line_too_long") != 1 {
		t.Errorf("%d rows, damage %s", s.counts.Scheduled, im.Damage)
	}
}

// Units and instants are exact to the nanosecond.
func TestExactTimes(t *testing.T) {
	for _, c := range []struct {
		columns []string
		row     string
		ns      int64
	}{
		{[]string{"start=1:s", "duration=2:s"}, "1700000000.123456789,0.000000001\n", 1},
		{[]string{"start=1:ms", "duration=2:us"}, "1700000000123.5,0.25\n", 250},
		{[]string{"start=1:rfc3339", "end=2:rfc3339"}, "2026-01-02T03:04:05.000000001Z,2026-01-02T04:04:05.000000003+01:00\n", 2},
		{[]string{"start=1", "end=2"}, "1700000000,1700000001\n", 1e9},
		{[]string{"end=1:ns", "duration=2:ns"}, "1700000000000000007;7\n", 7},
	} {
		m, _ := imported(t, c.row, foreign.Options{From: "csv", Columns: c.columns})
		if got := total(t, m).service.MaxNS(); got != c.ns {
			t.Errorf("%v of %q: %d ns, want %d", c.columns, c.row, got, c.ns)
		}
	}
}

// An import is evidence like any other: sealed, verified, and exported as a
// histogram log that gives back every bucket of both clocks and the omission
// factor.
func TestStoreAndBack(t *testing.T) {
	im, err := foreign.Read(context.Background(), strings.NewReader(table(openRun(fifo(500, 500)))), foreign.Options{From: "csv", ScheduledColumn: "scheduled_us", Gates: []string{"response(p99) <= 600ms"}})
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	h := im.Header()
	h.RunID, h.Started = "import-1", time.Date(2026, 11, 29, 1, 2, 3, 456e6, time.UTC)
	dir := t.TempDir()
	rec, err := store.CreateWith(dir, h, store.Options{Bulk: true})
	if err != nil {
		t.Fatal(err)
	}
	end, err := im.Write(rec)
	if err != nil {
		t.Fatal(err)
	}
	path, err := rec.Finish(end)
	if err != nil {
		t.Fatal(err)
	}
	report, err := store.Verify(path)
	if err != nil || report.Err() != nil || len(report.Findings) != 0 || report.Scheduled != 100_000 {
		t.Fatalf("%v: %+v", err, report)
	}
	run, err := store.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var log bytes.Buffer
	if err := store.Export(run, "hlog", &log); err != nil {
		t.Fatal(err)
	}
	back, _ := imported(t, log.String(), foreign.Options{From: "hlog"})
	if back.H.Arrivals != record.ArrivalsRecorded || back.H.Model != record.Open || !back.H.Started.Equal(time.Date(2026, 11, 29, 1, 2, 3, 456e6, time.UTC)) {
		t.Errorf("arrivals %s, model %s, started %s", back.H.Arrivals, back.H.Model, back.H.Started)
	}
	var first []*record.Interval
	for iv, err := range run.Intervals() {
		if err != nil {
			t.Fatal(err)
		}
		if len(iv.Cells) > 0 {
			first = append(first, iv)
		}
	}
	if len(back.Iv) != len(first) {
		t.Fatalf("%d intervals came back of %d", len(back.Iv), len(first))
	}
	buckets := func(h *record.Histogram) (all []record.Bucket) {
		if h != nil {
			h.Each(func(b record.Bucket) bool { all = append(all, b); return true })
		}
		return all
	}
	for i, iv := range back.Iv {
		a, b := &first[i].Cells[0], &iv.Cells[0]
		for _, p := range [][2]*record.Histogram{{a.OKResponse, b.OKResponse}, {a.Service, b.Service}, {a.Lag, b.Lag}} {
			if d := cmp.Diff(buckets(p[0]), buckets(p[1])); d != "" {
				t.Fatalf("interval %d: %s", i, d)
			}
		}
	}
}

// Gates of an import are counted exactly, at the nanosecond.
func TestGatesOfImports(t *testing.T) {
	rows := "start_ns,end_ns\n1700000000000000000,1700000000150000000\n1700000001000000000,1700000001150000001\n"
	m, _ := imported(t, rows, foreign.Options{From: "csv", Gates: []string{"response(p99) <= 150ms"}})
	var n uint64
	for _, iv := range m.Iv {
		for i := range iv.Cells {
			n += iv.Cells[i].AtOrBelow[0]
		}
	}
	if n != 1 {
		t.Errorf("%d at or below 150 ms, want 1", n)
	}
}

// Reading ends when the context does.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	text := "timeStamp,elapsed,label,responseCode,success\n" + strings.Repeat("1700000000000,5,a,200,true\n", 10_000)
	if _, err := foreign.Read(ctx, strings.NewReader(text), foreign.Options{From: "jtl"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
