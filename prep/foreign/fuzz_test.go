package foreign_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"headroom/prep/foreign"
	"headroom/store/record"
)

// seeds gives a fuzz target our own inputs, each with the number of its format.
func seeds(f *testing.F) map[string]string {
	f.Helper()
	all := map[string]string{}
	files, err := filepath.Glob(filepath.Join("testdata", "*.*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		all[filepath.Base(name)] = string(b)
	}
	all["hlog"] = "#[StartTime: 1441812279.474 (seconds since epoch)]\nTag=A,0.127,1.007,2.769,HISTFAAAAEV42pNpmSzMwMCgyAABTBDKT4GBgdnNYMcCBvsPEBEJISEuATEZMQ4uASkhIR4nrxg9v2lMaxhvMekILGZkKmcCAEf2CsI=\n"
	all["hlog1"] = "0.133,1.005,2.802,HISTIgAAAFd42pNpmazIwMAYxgABTBDKT4GBgdnNYMcCBvsPUBkeBkYGZqA8MwMbAzsDC5DFBCTZgJCDQY1BjkGLQZRBlUEPCB8zWDCYMxgDZZkZhgJgHDibAY8JB/A=\n"
	all["ghz"] = `{"count":3,"details":[{"timestamp":"2018-12-30T16:50:13.873937-04:00","latency":42462755,"error":"","status":"OK"}]}`
	all["hey"] = "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset\n0.0063,0,0,0,0,0,200,0.0123\n0.0054,0,0,0,0,0,200,0.0227\n"
	all["ab"] = "starttime\tseconds\tctime\tdtime\tttime\twait\nx\t1795981855\t0\t5\t5\t5\n"
	all["csv"] = "start_ns,end_ns,due_ns,status\n5,9,1,200\n"
	return all
}

// Whatever the bytes: a reader refuses, or what it gives obeys the laws of
// evidence.
func FuzzRead(f *testing.F) {
	names := foreign.Formats()
	for file, text := range seeds(f) {
		for i, from := range names {
			if strings.HasPrefix(file, from) || strings.HasPrefix(file, "jtl") && from == "jtl" || file == strings.Replace(from, "-", ".", 1) {
				f.Add(uint8(i), int64(0), text)
				f.Add(uint8(i), int64(10e6), text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, interval int64, text string) {
		readAndCheck(t, names[int(format)%len(names)], interval, text)
	})
}

// Readers with a decoder below them, each on its own.
func FuzzGob(f *testing.F) {
	type Result struct {
		Attack    string
		Seq       uint64
		Code      uint16
		Timestamp time.Time
		Latency   time.Duration
		BytesOut  uint64
		BytesIn   uint64
		Error     string
		Body      []byte
		Method    string
		URL       string
		Headers   map[string][]string
	}
	var b bytes.Buffer
	e := gob.NewEncoder(&b)
	for i := range 3 {
		if err := e.Encode(Result{Seq: uint64(i), Code: 200, Timestamp: time.Unix(1700000000, int64(i)*1e7), Latency: 5e6, Body: []byte("ok"), Method: "GET", URL: "http://shop.example/"}); err != nil {
			f.Fatal(err)
		}
	}
	if m, _, err := tryImport(b.String(), foreign.Options{From: "vegeta"}); err != nil || m.Iv[0].Total().Scheduled != 3 {
		f.Fatalf("the seed: %v", err)
	}
	f.Add(b.String())
	f.Fuzz(func(t *testing.T, text string) { readAndCheck(t, "vegeta", 10e6, text) })
}

func FuzzHistogramLog(f *testing.F) {
	all := seeds(f)
	f.Add(all["hlog"])
	f.Add(all["hlog1"])
	f.Add("1.000,1.000,0.5," + encode(0, []int64{0, 3, 0, 1}) + "\n")
	f.Fuzz(func(t *testing.T, text string) { readAndCheck(t, "hlog", 0, text) })
}

// The payload below base64 and zlib, which a fuzzer does not get through.
func FuzzHistogramPayload(f *testing.F) {
	f.Add(uint32(0x1c849303), int32(3), int64(1), int64(3_600_000_000), []byte{9, 2, 4, 0, 6})
	f.Add(uint32(0x1c849301|0x20), int32(2), int64(1), int64(10_000), []byte{0, 1, 0, 0, 0, 3})
	f.Add(uint32(0x1c849308|0x80), int32(1), int64(8), int64(1_000_000), make([]byte, 64))
	f.Fuzz(func(t *testing.T, cookie uint32, digits int32, lowest, highest int64, payload []byte) {
		var b bytes.Buffer
		for _, v := range []any{cookie, int32(len(payload)), int32(0), digits, lowest, highest, float64(1)} {
			_ = binary.Write(&b, binary.BigEndian, v)
		}
		b.Write(payload)
		readAndCheck(t, "hlog", 0, "1.000,1.000,0.5,"+base64.StdEncoding.EncodeToString(b.Bytes())+"\n")
	})
}

func FuzzXML(f *testing.F) {
	f.Add(seeds(f)["jtl_nested.xml"])
	f.Fuzz(func(t *testing.T, text string) { readAndCheck(t, "jtl", 0, text) })
}

// readAndCheck reads and writes an import and checks the laws of evidence.
func readAndCheck(t *testing.T, from string, interval int64, text string) {
	t.Helper()
	o := foreign.Options{From: from, MemoryRows: 10_000, TempDir: t.TempDir()}
	if interval > 0 && o.From != foreign.HistogramLog {
		o.ExpectedIntervalNS = interval
	}
	im, err := foreign.Read(context.Background(), strings.NewReader(text), o)
	if err != nil {
		var r *foreign.Refusal
		if !errors.As(err, &r) {
			t.Fatalf("an error that is no refusal: %v", err)
		}
		return
	}
	defer im.Close()
	m := &record.Memory{H: im.Header()}
	m.H.RunID = "fuzz"
	if m.E, err = im.Write(m); err != nil {
		var r *foreign.Refusal
		if !errors.As(err, &r) {
			t.Fatal(err)
		}
		return
	}
	if err := obeys(m); err != nil {
		t.Fatal(err)
	}
	if im.Rows != total(t, m).counts.Scheduled {
		t.Fatalf("%d rows, %d requests", im.Rows, total(t, m).counts.Scheduled)
	}
	if e := m.E.Omission; e != nil {
		for i := range e.Low {
			if !(e.Low[i] > 0 && e.Low[i] <= e.High[i]) {
				t.Fatalf("bounds %v to %v", e.Low, e.High)
			}
		}
	}
}

// Summaries: a refusal, or numbers that are numbers.
func FuzzPoints(f *testing.F) {
	names := foreign.PointFormats()
	for i := range names {
		for _, text := range []string{
			"Running 30s test @ http://x\n  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    6.67ms\n     0.921     0.000000            1         1.00\n#[Mean    =        6.602, StdDeviation   =        1.919]\n#[Max     =       12.496, Total count    =        39500]\n  60018 requests in 30.00s, 19.81MB read\nRequests/sec:   2000.28\n",
			`{"DurationHistogram":{"Count":"5","Max":1,"Percentiles":[{"Percentile":50,"Value":0.1}]},"ActualQPS":3}`,
			`{"latency":{"p99":7,"mean":6},"duration":20,"requests":{"total":5}}`,
			`{"results":[{"name":"global","statistics":[{"id":"a","count":"4","percentiles":[{"percentile":0.5,"duration":"0.1s"}],"mean":"0.1s"}]}]}`,
			`{"publishRate":[1,2],"aggregatedPublishLatency99pct":4}`, `{"aggregate":{"latency":{"median":1}}}`,
			`{"metrics":{"http_req_duration":{"med":1,"p(99)":2}}}`, `{"latencies":{"99th":5},"requests":1,"success":1}`,
			`[{"opts":{"rate":1,"duration":"3s"},"result":{"requestsPerSec":2,"histogram":[{"latency":1,"percentile":0.5,"total":1}]}}]`,
			"Percentage served,Time in ms\n50,5\n100,9\n", "This is ApacheBench\nComplete requests: 5\n  50%      5\n",
			"Type,Name,Request Count,Failure Count,Requests/s,50%,99%\n,Aggregated,5,0,1.0,5,9\n", "Value(ms)    Percentile  TotalCount  1/(1-Percentile)\n5.2     0.500000    2           1.000000\n",
			"finished in 1 sec, 688 millisec and 578 microsec, 59221 req/s, 6477 kbyte/s\nrequests: 5 total, 5 started, 5 done, 5 succeeded, 0 failed, 0 errored\n",
			`{"stats":[{"num_requests":2,"total_response_time":81,"max_response_time":44}]}`, "  Requests/sec:\t5.0\n  99% in 0.0069 secs\n",
		} {
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, text string) {
		all, err := foreign.ReadPoints(strings.NewReader(text), foreign.Options{From: names[int(format)%len(names)]})
		if err != nil {
			var r *foreign.Refusal
			if !errors.As(err, &r) {
				t.Fatalf("an error that is no refusal: %v", err)
			}
			return
		}
		for _, p := range all {
			for _, v := range []*float64{p.DurationS, p.AchievedRPS, p.RequestedRPS} {
				if v != nil && !(*v >= 0) {
					t.Fatalf("%+v", p)
				}
			}
			for _, d := range p.Latency {
				for _, v := range d.Values {
					if !(v.Quantile >= 0 && v.Quantile <= 1 && v.US >= 0) || v.How == "" {
						t.Fatalf("%+v", v)
					}
				}
			}
		}
	})
}
