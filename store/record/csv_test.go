package record

import (
	"encoding/csv"
	"strings"
	"testing"
)

func TestIntervalsCSV(t *testing.T) {
	ok, shed := NewHistogram(DefaultMaxUS), NewHistogram(DefaultMaxUS)
	ok.Record(10_000_000) // 10 ms
	ok.Record(20_000_000)
	shed.Record(1_000_000)
	c := Cell{Class: 1, OKResponse: ok, OtherResponse: shed, Service: ok}
	c.Counts = Counts{Scheduled: 4, Sent: 3, Attempts: 3}
	c.Counts.By[OK], c.Counts.By[Shed], c.Counts.By[Dropped] = 2, 1, 1
	m := &Memory{
		H:  Header{Classes: []Class{{Name: "view"}, {Name: "=HYPERLINK(1)"}}},
		P:  []Phase{{Index: 0, Kind: Warmup, Step: -1}, {Index: 1, Kind: Step, Step: 3}},
		Iv: []*Interval{{Phase: 0}, {Phase: 1, Index: 2, StartNS: 1_500_000_000, WidthNS: 250_000_000, Cells: []Cell{c}}},
	}
	var b strings.Builder
	if err := WriteIntervalsCSV(&b, m); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%v, %v", rows, err)
	}
	got := map[string]string{}
	for i, name := range rows[0] {
		got[name] = rows[1][i]
	}
	for name, want := range map[string]string{
		"phase": "step", "step": "3", "start_s": "1.5", "width_s": "0.25", "class": "'=HYPERLINK(1)", "scheduled": "4", "sent": "3",
		"ok": "2", "late": "0", "shed": "1", "wrong": "0", "http_error": "0", "timeout": "0", "connect_error": "0",
		"generator_error": "0", "dropped": "1", "unfinished": "0", "attempts": "3",
		"response_p50_us": "10007", "response_p99_us": "20000", "response_max_us": "20000",
		"service_max_us": "20000", "lag_p99_us": "",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if !strings.HasPrefix(b.String(), "phase,step,start_s,width_s,class,scheduled,sent,ok,late,shed,") {
		t.Errorf("header %q", rows[0])
	}
}

func TestDefuse(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "view": "view", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "a=1": "a=1",
	} {
		if got := Defuse(in); got != want {
			t.Errorf("Defuse(%q) = %q, want %q", in, got, want)
		}
	}
}
