package store

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"headroom/store/record"
)

func exported(t *testing.T, ev record.Evidence, as string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Export(ev, as, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestExportLogReadsBackWithTheLibrary(t *testing.T) {
	m := small.memory()
	m.H.Classes[1].Name = "a, b\nc"
	type line struct {
		tag   string
		start int64
	}
	want := map[line]uint64{}
	response := record.NewHistogram(m.H.MaxUS)
	for _, iv := range m.Iv {
		for _, c := range iv.Cells {
			at := m.H.Started.UnixMilli() + iv.StartNS/1e6
			tag := []string{"view", "a__b_c"}[c.Class]
			want[line{tag, at}] = c.OKResponse.Count() + c.OtherResponse.Count()
			want[line{tag + "/service", at}] = c.Service.Count()
			want[line{tag + "/lag", at}] = c.Lag.Count()
			if c.Class == 0 {
				if err := response.Merge(c.OKResponse); err != nil {
					t.Fatal(err)
				}
				if err := response.Merge(c.OtherResponse); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	sum := hdr.New(1, m.H.MaxUS, 3)
	log := hdr.NewHistogramLogReader(bytes.NewReader(exported(t, m, "hlog")))
	lines := 0
	for {
		h, err := log.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		lines++
		start := h.StartTimeMs()
		n, ok := want[line{h.Tag(), start}]
		if !ok { // the reader cuts where it should round
			start++
			n, ok = want[line{h.Tag(), start}]
		}
		if !ok || int64(n) != h.TotalCount() {
			t.Errorf("tag %s at %d ms has %d values, want %d", h.Tag(), h.StartTimeMs(), h.TotalCount(), n)
		}
		if h.Tag() == "view" {
			if dropped := sum.Merge(h); dropped != 0 {
				t.Errorf("%d values dropped", dropped)
			}
		}
	}
	if lines != len(want) {
		t.Errorf("%d lines, want %d", lines, len(want))
	}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		if got, want := float64(sum.ValueAtQuantile(samePlace(q, response.Count()))), response.QuantileUS(q); math.Abs(got-want) > want/1000 {
			t.Errorf("quantile %v: %v µs through the log, %v µs before", q, got, want)
		}
	}
}

func TestExportJSON(t *testing.T) {
	m := small.memory()
	kinds := map[string]int{}
	var scheduled uint64
	s := bufio.NewScanner(bytes.NewReader(exported(t, m, "json")))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var v struct {
			Record string
			Value  struct {
				Cells []struct {
					Scheduled uint64
					Service   struct {
						Count   uint64
						Buckets [][3]int64 `json:"buckets_us"`
					}
				}
			}
		}
		if err := json.Unmarshal(s.Bytes(), &v); err != nil {
			t.Fatalf("%v: %s", err, s.Bytes())
		}
		kinds[v.Record]++
		for _, c := range v.Value.Cells {
			scheduled += c.Scheduled
			var n int64
			for _, b := range c.Service.Buckets {
				n += b[2]
			}
			if uint64(n) != c.Service.Count {
				t.Errorf("buckets have %d values, not %d", n, c.Service.Count)
			}
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	var want uint64
	for _, iv := range m.Iv {
		total := iv.Total()
		want += total.Scheduled
	}
	if scheduled != want || kinds["interval"] != len(m.Iv) || kinds["phase"] != len(m.P) || kinds["sends"] != len(m.Sends) ||
		kinds["sample"] != len(m.Res) || kinds["header"] != 1 || kinds["end"] != 1 || kinds["note"] != 1 || kinds["fault"] != 1 || kinds["facts"] != 1 {
		t.Errorf("%d scheduled of %d; %v", scheduled, want, kinds)
	}
}

func TestExportCSVHasARowPerIntervalAndClass(t *testing.T) {
	m := small.memory()
	rows, err := csv.NewReader(bytes.NewReader(exported(t, m, "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := 1
	for _, iv := range m.Iv {
		want += len(iv.Cells)
	}
	if len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
}

func TestExportUnknownFormat(t *testing.T) {
	if err := Export(small.memory(), "xml", &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "csv, json, hlog") {
		t.Error(err)
	}
}

// Our histogram must be an HdrHistogram: same buckets, same quantiles.
func TestHistogramAgreesWithTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ours, theirs := record.NewHistogram(record.DefaultMaxUS), hdr.New(1, record.DefaultMaxUS, 3)
		us := rapid.SliceOfN(rapid.OneOf(rapid.Int64Range(0, 5000), rapid.Int64Range(0, record.DefaultMaxUS)), 1, 200).Draw(t, "us")
		for _, v := range us {
			ours.Record(1000 * v)
			if err := theirs.RecordValue(v); err != nil {
				t.Fatal(err)
			}
			low, high := record.BucketRange(record.BucketIndex(v))
			if v < low || v > high {
				t.Fatalf("%d µs is in a bucket from %d to %d", v, low, high)
			}
			if !theirs.ValuesAreEquivalent(low, v) || !theirs.ValuesAreEquivalent(high, v) || theirs.ValuesAreEquivalent(high+1, v) {
				t.Fatalf("%d µs: our bucket is from %d to %d, theirs is another", v, low, high)
			}
		}
		if ours.Count() != uint64(theirs.TotalCount()) || ours.MinNS()/1000 != minOf(us) || ours.MaxNS()/1000 != maxOf(us) {
			t.Fatal("totals differ")
		}
		for _, q := range []float64{0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999} {
			got, want := ours.QuantileUS(q), float64(theirs.ValueAtQuantile(samePlace(q, ours.Count())))
			// Ours never exceeds the exact maximum, theirs is the bucket's upper edge.
			if got != math.Min(want, float64(maxOf(us))) {
				t.Fatalf("quantile %v of %v: %v, the library says %v", q, us, got, want)
			}
		}
	})
}

// samePlace is the percentage for which the library, which rounds q*n where we
// take the next whole rank, looks at our rank.
func samePlace(q float64, n uint64) float64 {
	return 100 * math.Ceil(q*float64(n)-1e-9) / float64(n)
}

func minOf(vs []int64) int64 {
	m := vs[0]
	for _, v := range vs {
		m = min(m, v)
	}
	return m
}

func maxOf(vs []int64) int64 {
	m := vs[0]
	for _, v := range vs {
		m = max(m, v)
	}
	return m
}
