package foreign_test

import (
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"headroom/prep/foreign"
)

// The servers' own logs of the stall runs are tables whose columns are found by
// their names.
func TestServerLogs(t *testing.T) {
	for _, name := range []string{"ab_c1", "fortio_c4", "hey_c1", "k6_open", "vegeta_open"} {
		var w struct {
			Requests uint64
			Over     uint64  `json:"service_over_100ms"`
			Max      float64 `json:"service_max_ms"`
		}
		truth(t, "stall/"+name+".server.csv", &w)
		m, _ := imported(t, file(t, "stall/"+name+".server.csv"), foreign.Options{From: "csv", Gates: []string{"service(p50) <= 100ms"}})
		s := total(t, m)
		var within uint64
		for _, iv := range m.Iv {
			for i := range iv.Cells {
				within += iv.Cells[i].AtOrBelow[0]
			}
		}
		if s.counts.Scheduled != w.Requests || s.counts.Scheduled-within != w.Over || math.Abs(float64(s.service.MaxNS())/1e6-w.Max) > 0.06 {
			t.Errorf("%s: %d requests, %d over 100 ms, max %v ms; want %+v", name, s.counts.Scheduled, s.counts.Scheduled-within, float64(s.service.MaxNS())/1e6, w)
		}
	}
}

// Every file of the collection is read as something, or refused by every
// reader: the tests above say what each gives.
func TestEveryFile(t *testing.T) {
	readers := map[string]string{ // by the beginning of the path
		"gatling/known": "gatling", "gatling/taurus_gatling-2": "gatling", "gatling/taurus_gatling-3": "gatling", "gatling/taurus_gatling-4": "gatling",
		"gatling/taurus_gatling-6": "", "ghz/": "ghz", "hdr/j": "hlog", "hdr/tagged": "hlog", "hdr/test": "", "jmeter/": "jtl", "k6/": "k6-csv",
		"locust/bitcoin": "locust-stats", "locust/taurus_locust-kpi": "locust", "locust/taurus_locust-workers": "locust-workers",
		"misc/siege": "", "misc/weighttp": "weighttp", "nighthawk/fortio": "fortio", "nighthawk/hdr": "nighthawk",
		"nighthawk/output_formatter.csv": "", "nighthawk/output_formatter.txt": "", "nighthawk/output_formatter.json": "nighthawk",
		"nighthawk/output_formatter.medium": "fortio", "omb/": "omb", "stall/ab_c1.csv": "ab-percentiles", "stall/ab_c1.tsv": "ab", "stall/ab_c1.txt": "ab-summary",
		"stall/artillery_open.json": "artillery", "stall/autocannon_R100_uncorrected.json": "autocannon", "stall/fortio_c4.json": "fortio", "stall/fortio_c4.txt": "",
		"stall/hey_c1.csv": "hey", "stall/k6_open.csv": "k6-csv", "stall/k6_open.json": "k6-json", "stall/k6_open.summary": "k6-summary", "stall/k6_open.txt": "",
		"stall/vegeta_open.csv": "vegeta", "stall/vegeta_open.gob": "vegeta", "stall/vegeta_open.json": "vegeta", "stall/vegeta_open.hdrplot": "vegeta-hdrplot",
		"stall/vegeta_open.report": "vegeta-report", "wrk2/nodemysql": "wrk2-json", "wrk2/": "wrk",
	}
	seen := 0
	dir := dataDir(t)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		rel = filepath.ToSlash(rel)
		best, from, known := "", "", strings.HasSuffix(rel, ".server.csv")
		if known {
			from = "csv"
		} else {
			for prefix, reader := range readers {
				if strings.HasPrefix(rel, prefix) && len(prefix) > len(best) {
					best, from, known = prefix, reader, true
				}
			}
		}
		if !known {
			t.Errorf("%s: nobody says what this file gives", rel)
			return nil
		}
		seen++
		text := file(t, rel)
		for _, f := range append(foreign.Formats(), foreign.PointFormats()...) {
			if from != "" && f != from {
				continue
			}
			_, _, err := tryImport(text, foreign.Options{From: f})
			if code(err) == foreign.AggregatesOnly && strings.Contains(err.Error(), "trend") {
				_, err = foreign.ReadPoints(strings.NewReader(text), foreign.Options{From: f})
			}
			switch c := code(err); {
			case from != "" && c != "":
				t.Errorf("%s as %s: %v", rel, f, err)
			case from == "" && c == "":
				t.Errorf("%s was read as %s", rel, f)
			case strings.HasPrefix(c, "error:"):
				t.Errorf("%s as %s: an error that is no refusal: %v", rel, f, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 70 {
		t.Errorf("only %d files", seen)
	}
}
