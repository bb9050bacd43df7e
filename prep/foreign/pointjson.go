package foreign

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// readFortio reads Fortio's JSON, and Nighthawk's in Fortio's form.
func readFortio(in *bufio.Reader) ([]Point, error) {
	var f struct {
		StartTime      string
		RequestedQPS   flexible
		ActualQPS      flexible
		ActualDuration flexible // ns
		NumThreads     int
		RetCodes       map[string]flexible
		Histogram      *struct {
			Count, Min, Max, Avg flexible
			Data                 []struct{ Start, End, Count flexible }
			Percentiles          []struct{ Percentile, Value flexible }
		} `json:"DurationHistogram"`
	}
	if err := decode(in, &f); err != nil {
		return nil, err
	}
	if f.Histogram == nil {
		return nil, errors.New("it has no DurationHistogram")
	}
	h := f.Histogram
	p := Point{
		At: f.StartTime, DurationS: some(float64(f.ActualDuration) / 1e9), AchievedRPS: some(float64(f.ActualQPS)),
		Requests: count(float64(h.Count)),
	}
	if f.RequestedQPS > 0 {
		p.RequestedRPS = some(float64(f.RequestedQPS))
	}
	errs, known := 0.0, false
	for code, n := range f.RetCodes {
		if known = true; code != "200" && !strings.HasPrefix(code, "2") {
			errs += float64(n)
		}
	}
	if known {
		p.Errors = count(errs)
	}
	d := Distribution{Kind: "service", Count: p.Requests, MeanUS: some(float64(h.Avg) * 1e6), MaxUS: some(float64(h.Max) * 1e6), MaxHow: Exact}
	for _, v := range h.Percentiles {
		d.value(float64(v.Percentile), float64(v.Value)*1e6, Interpolated)
	}
	p.Latency = []Distribution{d}
	p.Cautions = append(p.Cautions, fmt.Sprintf("percentiles were interpolated by the tool between the edges of %d buckets", len(h.Data)))
	if f.NumThreads > 0 {
		p.Cautions = append(p.Cautions, fmt.Sprintf("%d connections wait for answers: a stall delays at most as many requests, and the rest are sent late without counting from when they were due", f.NumThreads))
	}
	return []Point{p}, nil
}

// nighthawkStatistic is one of Nighthawk's histograms.
type nighthawkStatistic struct {
	ID          string          `json:"id"`
	Count       flexible        `json:"count"`
	Mean        string          `json:"mean"`
	Max         string          `json:"max"`
	Percentiles []nighthawkStep `json:"percentiles"`
}

type nighthawkStep struct {
	Percentile float64 `json:"percentile"`
	Duration   string  `json:"duration"`
}

func nighthawkUS(s string) (float64, bool) {
	d, err := time.ParseDuration(s)
	return float64(d) / 1e3, err == nil && s != ""
}

// readNighthawk reads Nighthawk's own JSON, a whole result or one statistic.
func readNighthawk(in *bufio.Reader) ([]Point, error) {
	var f struct {
		nighthawkStatistic
		Options struct {
			RPS         flexible `json:"requests_per_second"`
			Connections flexible `json:"connections"`
		} `json:"options"`
		Results []struct {
			Name       string               `json:"name"`
			Statistics []nighthawkStatistic `json:"statistics"`
			Counters   []struct {
				Name  string   `json:"name"`
				Value flexible `json:"value"`
			} `json:"counters"`
			Duration string `json:"execution_duration"`
		} `json:"results"`
	}
	if err := decode(in, &f); err != nil {
		return nil, err
	}
	p := Point{}
	stats := []nighthawkStatistic{f.nighthawkStatistic}
	if len(f.Results) > 0 {
		r := f.Results[len(f.Results)-1]
		for _, one := range f.Results {
			if one.Name == "global" {
				r = one
			}
		}
		stats = r.Statistics
		if us, ok := nighthawkUS(r.Duration); ok {
			p.DurationS = some(us / 1e6)
		}
		for _, c := range r.Counters {
			if strings.HasSuffix(c.Name, "upstream_rq_total") {
				p.Requests = count(float64(c.Value))
			}
		}
		if f.Options.RPS > 0 {
			p.RequestedRPS = some(float64(f.Options.RPS))
		}
	}
	for _, s := range stats {
		d := Distribution{Kind: s.ID, Count: count(float64(s.Count)), MaxHow: BucketEdge}
		if d.Kind == "" {
			d.Kind = "service"
		}
		for _, v := range s.Percentiles {
			if us, ok := nighthawkUS(v.Duration); ok {
				d.value(100*v.Percentile, us, BucketEdge)
			}
		}
		if len(d.Values) == 0 {
			continue
		}
		if us, ok := nighthawkUS(s.Mean); ok {
			d.MeanUS = some(us)
		}
		if us, ok := nighthawkUS(s.Max); ok {
			d.MaxUS = some(us)
		}
		p.Latency = append(p.Latency, d)
	}
	if len(p.Latency) == 0 {
		return nil, errors.New("it has no histogram of durations")
	}
	p.Cautions = append(p.Cautions, "the tool prints percentiles on a grid of its own: what is not on it, such as p99, is missing and is not made up")
	return []Point{p}, nil
}

// readOMB reads a result of the OpenMessaging Benchmark; latencies in ms.
func readOMB(in *bufio.Reader) ([]Point, error) {
	f := map[string]json.RawMessage{}
	if err := decode(in, &f); err != nil {
		return nil, err
	}
	var rates, backlog []float64
	if err := json.Unmarshal(f["publishRate"], &rates); err != nil || len(rates) == 0 {
		return nil, errors.New("it has no publishRate")
	}
	_ = json.Unmarshal(f["backlog"], &backlog) // optional
	p := Point{AchievedRPS: some(mean(rates))}
	for _, kind := range []string{"Publish", "EndToEnd"} {
		d := Distribution{Kind: strings.ToLower(kind[:1]) + kind[1:], MaxHow: BucketEdge}
		read := func(suffix string) (float64, bool) {
			var v float64
			err := json.Unmarshal(f["aggregated"+kind+"Latency"+suffix], &v)
			return v * 1e3, err == nil
		}
		for _, q := range []struct {
			suffix  string
			percent float64
		}{{"50pct", 50}, {"75pct", 75}, {"95pct", 95}, {"99pct", 99}, {"999pct", 99.9}, {"9999pct", 99.99}} {
			if us, ok := read(q.suffix); ok {
				d.value(q.percent, us, BucketEdge)
			}
		}
		if us, ok := read("Avg"); ok {
			d.MeanUS = some(us)
		}
		if us, ok := read("Max"); ok {
			d.MaxUS = some(us)
		}
		if len(d.Values) > 0 {
			p.Latency = append(p.Latency, d)
		}
	}
	p.Cautions = append(p.Cautions, fmt.Sprintf("the rate is the mean of %d samples; percentiles of samples are in the file too and must not be averaged", len(rates)))
	if n := len(backlog); n > 0 && backlog[n-1] > 2*backlog[0]+1000 {
		p.Cautions = append(p.Cautions, "the backlog grew during the run, so latency depends on how long it ran")
	}
	return []Point{p}, nil
}

func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// readAutocannon reads autocannon -j; latencies in whole ms.
func readAutocannon(in *bufio.Reader) ([]Point, error) {
	var f struct {
		Start       string
		Duration    flexible
		Connections flexible
		Errors      flexible
		Timeouts    flexible
		Non2xx      flexible `json:"non2xx"`
		Latency     map[string]flexible
		Requests    struct{ Total, Average, Sent flexible }
	}
	if err := decode(in, &f); err != nil {
		return nil, err
	}
	if len(f.Latency) == 0 || f.Duration == 0 {
		return nil, errors.New("it has no latency or no duration")
	}
	p := Point{
		At: f.Start, DurationS: some(float64(f.Duration)), Requests: count(float64(f.Requests.Total)), AchievedRPS: some(float64(f.Requests.Average)),
		Errors: count(float64(f.Errors) + float64(f.Non2xx)),
	}
	d := Distribution{Kind: "service", Count: p.Requests, MeanUS: some(float64(f.Latency["mean"]) * 1e3), MaxUS: some(float64(f.Latency["max"]) * 1e3), MaxHow: Rounded}
	keys := []string{}
	for k := range f.Latency {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if !strings.HasPrefix(k, "p") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.ReplaceAll(k[1:], "_", "."), 64); err == nil {
			d.value(q, float64(f.Latency[k])*1e3, Rounded)
		}
	}
	p.Latency = []Distribution{d}
	p.Cautions = append(p.Cautions, "latencies are whole milliseconds; the file does not say whether the tool corrected them for omission, nor which rate was asked for")
	return []Point{p}, nil
}

// readArtillery reads a report of Artillery, versions 1 and 2; latencies in ms.
func readArtillery(in *bufio.Reader) ([]Point, error) {
	type latency struct{ Min, Max, Median, P95, P99 flexible }
	var f struct {
		Aggregate *struct {
			Timestamp         string
			RequestsCompleted flexible
			Latency           *latency
			RPS               struct{ Count, Mean flexible } `json:"rps"`
			Errors            map[string]flexible
			Phases            []struct{ Duration, ArrivalRate flexible }
			Summaries         map[string]latency
			Counters          map[string]flexible
		}
	}
	if err := decode(in, &f); err != nil {
		return nil, err
	}
	a := f.Aggregate
	if a == nil {
		return nil, errors.New("it has no aggregate")
	}
	l := a.Latency
	p := Point{At: a.Timestamp, Requests: count(float64(a.RequestsCompleted))}
	if l == nil {
		if s, ok := a.Summaries["http.response_time"]; ok {
			l = &s
		}
		p.Requests = count(float64(a.Counters["http.responses"]))
	}
	if l == nil {
		return nil, errors.New("it has no latencies")
	}
	if a.RPS.Mean > 0 {
		p.AchievedRPS = some(float64(a.RPS.Mean))
	}
	var errs float64
	for _, n := range a.Errors {
		errs += float64(n)
	}
	p.Errors = count(errs)
	if len(a.Phases) == 1 {
		p.RequestedRPS, p.DurationS = some(float64(a.Phases[0].ArrivalRate)), some(float64(a.Phases[0].Duration))
	}
	d := Distribution{Kind: "service", Count: p.Requests, MaxUS: some(float64(l.Max) * 1e3), MaxHow: Rounded}
	d.value(50, float64(l.Median)*1e3, Rounded)
	d.value(95, float64(l.P95)*1e3, Interpolated)
	d.value(99, float64(l.P99)*1e3, Interpolated)
	p.Latency = []Distribution{d}
	p.Cautions = append(p.Cautions, "the latencies that some versions list have no instants, so they are no requests")
	return []Point{p}, nil
}
