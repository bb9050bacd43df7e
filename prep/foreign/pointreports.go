package foreign

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"headroom/store/record"
)

// readK6Summary reads k6 --summary-export and handleSummary; times in ms.
func readK6Summary(in *bufio.Reader) ([]Point, error) {
	var f struct {
		Metrics map[string]json.RawMessage `json:"metrics"`
	}
	if err := decode(in, &f); err != nil {
		return nil, err
	}
	values := func(name string) map[string]flexible {
		var nested struct {
			Values map[string]flexible `json:"values"`
		}
		if json.Unmarshal(f.Metrics[name], &nested) == nil && len(nested.Values) > 0 {
			return nested.Values
		}
		flat := map[string]json.RawMessage{}
		_ = json.Unmarshal(f.Metrics[name], &flat) // absent: no values
		out := map[string]flexible{}
		for k, raw := range flat {
			var v flexible
			if json.Unmarshal(raw, &v) == nil {
				out[k] = v
			}
		}
		return out
	}
	t := values("http_req_duration")
	if len(t) == 0 {
		return nil, errors.New("it has no metric http_req_duration")
	}
	p := Point{}
	reqs := values("http_reqs")
	if n, ok := reqs["count"]; ok {
		p.Requests = count(float64(n))
	}
	if n, ok := reqs["rate"]; ok {
		p.AchievedRPS = some(float64(n))
	}
	if n, ok := values("http_req_failed")["passes"]; ok {
		p.Errors = count(float64(n))
	}
	d := Distribution{Kind: "service", Count: p.Requests, MaxHow: Exact}
	if v, ok := t["avg"]; ok {
		d.MeanUS = some(float64(v) * 1e3)
	}
	if v, ok := t["max"]; ok {
		d.MaxUS = some(float64(v) * 1e3)
	}
	if v, ok := t["med"]; ok {
		d.value(50, float64(v)*1e3, Interpolated)
	}
	for k, v := range t {
		if q, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(k, "p("), ")"), 64); err == nil && strings.HasPrefix(k, "p(") {
			d.value(q, float64(v)*1e3, Interpolated)
		}
	}
	slices.SortFunc(d.Values, func(a, b PointValue) int {
		if a.Quantile < b.Quantile {
			return -1
		}
		return 1
	})
	p.Latency = []Distribution{d}
	if n := values("dropped_iterations")["count"]; n > 0 {
		p.Cautions = append(p.Cautions, fmt.Sprintf("%.0f iterations were dropped: they were due and never sent", float64(n)))
	}
	return []Point{p}, nil
}

// readVegetaReport reads vegeta report --type json; latencies in ns.
func readVegetaReport(in *bufio.Reader) ([]Point, error) {
	var f struct {
		Latencies map[string]flexible
		Earliest  string
		Duration  flexible
		Requests  flexible
		Rate      flexible
		Success   flexible
	}
	if err := decode(in, &f); err != nil {
		return nil, err
	}
	if len(f.Latencies) == 0 {
		return nil, errors.New("it has no latencies")
	}
	p := Point{
		At: f.Earliest, DurationS: some(float64(f.Duration) / 1e9), Requests: count(float64(f.Requests)), AchievedRPS: some(float64(f.Rate)),
		Errors: count(float64(f.Requests)*(1-float64(f.Success)) + 0.5),
	}
	d := Distribution{Kind: "service", Count: p.Requests, MeanUS: some(float64(f.Latencies["mean"]) / 1e3), MaxUS: some(float64(f.Latencies["max"]) / 1e3), MaxHow: Exact}
	for _, q := range []struct {
		key     string
		percent float64
	}{{"50th", 50}, {"90th", 90}, {"95th", 95}, {"99th", 99}} {
		if v, ok := f.Latencies[q.key]; ok {
			d.value(q.percent, float64(v)/1e3, Interpolated)
		}
	}
	p.Latency = []Distribution{d}
	p.Cautions = append(p.Cautions, "percentiles come from the tool's sketch of the distribution, not from its requests")
	return []Point{p}, nil
}

// readWrk2JSON reads a list of wrk2 runs as npm's wrk package parses them.
func readWrk2JSON(in *bufio.Reader) ([]Point, error) {
	var list []struct {
		Opts struct {
			Rate     flexible
			Duration string
		}
		Result struct {
			RequestsPerSec flexible
			RequestsTotal  flexible
			LatencyAvg     string
			LatencyMax     string
			Histogram      []struct{ Latency, Percentile, Total flexible }
		}
	}
	head, err := in.Peek(1)
	if err != nil || head[0] != '[' {
		return nil, errors.New("it is no list of runs")
	}
	if err := decode(in, &list); err != nil {
		return nil, err
	}
	var out []Point
	for _, r := range list {
		p := Point{
			RequestedRPS: some(float64(r.Opts.Rate)), AchievedRPS: some(float64(r.Result.RequestsPerSec)), Requests: count(float64(r.Result.RequestsTotal)),
		}
		if ns, err := record.ParseDuration(r.Opts.Duration); err == nil {
			p.DurationS = some(float64(ns) / 1e9)
		}
		d := Distribution{Kind: "corrected"}
		for _, h := range r.Result.Histogram {
			if h.Percentile < 1 {
				d.value(100*float64(h.Percentile), float64(h.Latency)*1e3, BucketEdge)
			} else if us := some(float64(h.Latency) * 1e3); us != nil {
				d.MaxUS, d.MaxHow = us, BucketEdge
			}
			d.Count = count(float64(h.Total))
		}
		p.Latency = []Distribution{d}
		if r.Result.LatencyAvg == "" || r.Result.LatencyAvg[0] < '0' || r.Result.LatencyAvg[0] > '9' {
			p.Cautions = append(p.Cautions, "the parser that made this file took words for the average and the largest latency: both are missing")
		}
		if d.Count != nil && p.Requests != nil && *d.Count < *p.Requests {
			p.Cautions = append(p.Cautions, fmt.Sprintf("the distribution holds %d of %d requests: those of the calibration are not in it", *d.Count, *p.Requests))
		}
		out = append(out, p)
	}
	return out, nil
}

// readLocustWorkers adds up what Locust's workers report: rounded times.
func readLocustWorkers(in *bufio.Reader) ([]Point, error) {
	var n, failed, sum float64
	var most float64
	lines := 0
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, 8<<20)
	for sc.Scan() {
		if len(bytes.TrimSpace(sc.Bytes())) == 0 {
			continue
		}
		var l struct {
			Stats []struct {
				Requests flexible `json:"num_requests"`
				Failures flexible `json:"num_failures"`
				Total    flexible `json:"total_response_time"`
				Max      flexible `json:"max_response_time"`
			} `json:"stats"`
		}
		if err := json.Unmarshal(sc.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d: %w", lines+1, err)
		}
		lines++
		for _, s := range l.Stats {
			n, failed, sum = n+float64(s.Requests), failed+float64(s.Failures), sum+float64(s.Total)
			most = max(most, float64(s.Max))
		}
	}
	if err := sc.Err(); err != nil && err != io.EOF {
		return nil, err
	}
	if n == 0 {
		return nil, errors.New("no worker reports a request")
	}
	p := Point{Requests: count(n), Errors: count(failed)}
	p.Latency = []Distribution{{Kind: "service", Count: p.Requests, MeanUS: some(sum / n * 1e3), MaxUS: some(most * 1e3), MaxHow: Rounded}}
	p.Cautions = append(p.Cautions, fmt.Sprintf("added up from %d reports of workers, whose response times are rounded; percentiles of reports are not averaged", lines))
	return []Point{p}, nil
}
