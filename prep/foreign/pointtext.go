package foreign

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// eachLine calls visit with every line.
func eachLine(in io.Reader, visit func(string)) error {
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, maxLine)
	for sc.Scan() {
		visit(strings.TrimRight(sc.Text(), "\r"))
	}
	return sc.Err()
}

// after is the number that follows a label.
func after(line, label string) (float64, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), label)
	if !ok {
		return 0, false
	}
	f := strings.Fields(rest)
	if len(f) == 0 {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.TrimRight(f[0], ",%"), 64)
	return v, err == nil
}

// textDuration reads 58.30ms, 1.17us, 10.85s, 1.00m and 1.00h as wrk writes
// them, in µs.
func textDuration(s string) (float64, bool) {
	i := len(s)
	for i > 0 && (s[i-1] < '0' || s[i-1] > '9') && s[i-1] != '.' {
		i--
	}
	v, err := strconv.ParseFloat(s[:i], 64)
	unit, ok := map[string]float64{"us": 1, "ms": 1e3, "s": 1e6, "secs": 1e6, "m": 60e6, "h": 3600e6}[strings.TrimSpace(s[i:])]
	return v * unit, err == nil && ok
}

var abPercent = regexp.MustCompile(`^\s*([0-9]+)%\s+([0-9]+)`)

// readABSummary reads what ab prints; percentiles in whole ms.
func readABSummary(in *bufio.Reader) ([]Point, error) {
	p, d := Point{}, Distribution{Kind: "service"}
	known := false
	err := eachLine(in, func(line string) {
		known = known || strings.HasPrefix(line, "This is ApacheBench")
		if v, ok := after(line, "Time taken for tests:"); ok {
			p.DurationS = some(v)
		}
		if v, ok := after(line, "Complete requests:"); ok {
			p.Requests, d.Count = count(v), count(v)
		}
		if v, ok := after(line, "Failed requests:"); ok {
			p.Errors = count(v)
		}
		if v, ok := after(line, "Requests per second:"); ok {
			p.AchievedRPS = some(v)
		}
		if f := strings.Fields(line); len(f) == 6 && f[0] == "Total:" {
			if v, err := strconv.ParseFloat(f[2], 64); err == nil {
				d.MeanUS = some(v * 1e3)
			}
		}
		if m := abPercent.FindStringSubmatch(line); m != nil {
			q, _ := strconv.ParseFloat(m[1], 64)
			ms, _ := strconv.ParseFloat(m[2], 64)
			if q == 100 {
				d.MaxUS, d.MaxHow = some(ms*1e3), Rounded
			} else {
				d.value(q, ms*1e3, Rounded)
			}
		}
	})
	if err != nil || !known {
		return nil, errors.Join(err, errors.New("it does not begin as ab's output does"))
	}
	p.Latency = []Distribution{d}
	p.Cautions = append(p.Cautions, "percentiles are whole milliseconds; ab has no percentile above p99 but the largest")
	return []Point{p}, nil
}

// readABPercentiles reads ab -e: percent, ms.
func readABPercentiles(in *bufio.Reader) ([]Point, error) {
	d := Distribution{Kind: "service"}
	known := false
	err := eachLine(in, func(line string) {
		known = known || strings.HasPrefix(line, "Percentage served")
		a, b, _ := strings.Cut(line, ",")
		q, err := strconv.ParseFloat(a, 64)
		ms, err2 := strconv.ParseFloat(b, 64)
		switch {
		case err != nil || err2 != nil:
		case q == 100:
			d.MaxUS, d.MaxHow = some(ms*1e3), Exact
		default:
			d.value(q, ms*1e3, Exact)
		}
	})
	if err != nil || !known {
		return nil, errors.Join(err, errors.New("it has no column Percentage served"))
	}
	return []Point{{Latency: []Distribution{d}}}, nil
}

var heyPercent = regexp.MustCompile(`^\s*([0-9.]+)%+ in ([0-9.]+) secs`)

// readHeySummary reads what hey prints.
func readHeySummary(in *bufio.Reader) ([]Point, error) {
	p, d := Point{}, Distribution{Kind: "service"}
	known := false
	err := eachLine(in, func(line string) {
		if v, ok := after(line, "Total:"); ok && strings.Contains(line, "secs") {
			p.DurationS = some(v)
		}
		if v, ok := after(line, "Slowest:"); ok {
			d.MaxUS, d.MaxHow = some(v*1e6), Rounded
		}
		if v, ok := after(line, "Average:"); ok {
			d.MeanUS = some(v * 1e6)
		}
		if v, ok := after(line, "Requests/sec:"); ok {
			p.AchievedRPS, known = some(v), true
		}
		if m := heyPercent.FindStringSubmatch(line); m != nil {
			q, _ := strconv.ParseFloat(m[1], 64)
			s, _ := strconv.ParseFloat(m[2], 64)
			d.value(q, s*1e6, Rounded)
		}
	})
	if err != nil || !known || len(d.Values) == 0 {
		return nil, errors.Join(err, errors.New("it has no Requests/sec and no latency distribution"))
	}
	p.Latency = []Distribution{d}
	p.Cautions = append(p.Cautions, "percentiles have four decimals of a second")
	return []Point{p}, nil
}

// readVegetaPlot reads vegeta report --type hdrplot: ms, quantile, count.
func readVegetaPlot(in *bufio.Reader) ([]Point, error) {
	d := Distribution{Kind: "service"}
	known := false
	err := eachLine(in, func(line string) {
		known = known || strings.HasPrefix(line, "Value(ms)")
		m := wrkStep.FindStringSubmatch(line)
		if m == nil {
			return
		}
		ms, _ := strconv.ParseFloat(m[1], 64)
		q, _ := strconv.ParseFloat(m[2], 64)
		if n, _ := strconv.ParseFloat(m[3], 64); n > 0 {
			d.Count = count(n)
		}
		if q >= 1 {
			d.MaxUS, d.MaxHow = some(ms*1e3), Exact
			return
		}
		d.value(100*q, ms*1e3, Interpolated)
	})
	if err != nil || !known || len(d.Values) == 0 {
		return nil, errors.Join(err, errors.New("it has no header Value(ms)"))
	}
	return []Point{{Requests: d.Count, Latency: []Distribution{d}}}, nil
}

// readLocustStats reads Locust's _stats.csv or _stats_history.csv: the last row
// of the whole. Percentiles are rounded to two digits; those of a history cover
// the last ten seconds only, so they are left out.
func readLocustStats(in *bufio.Reader) ([]Point, error) {
	var header, row []string
	rows := 0
	err := eachLine(in, func(line string) {
		if line == "" {
			return
		}
		cells, _ := splitCells(line, ',')
		if header == nil {
			header = cells
			return
		}
		if name := find(header, 0, "Name").of(cells); name == "Aggregated" || name == "Total" {
			row = cells
			rows++
		}
	})
	if err != nil || row == nil || find(header, 0, "Requests/s").at < 0 {
		return nil, errors.Join(err, errors.New("it has no row Aggregated or no column Requests/s"))
	}
	number := func(names ...string) *float64 {
		v, err := strconv.ParseFloat(find(header, 0, names...).of(row), 64)
		if err != nil {
			return nil
		}
		return some(v)
	}
	thousand := func(v *float64) *float64 {
		if v == nil {
			return nil
		}
		return some(*v * 1e3)
	}
	p := Point{}
	if v := number("Request Count", "Total Request Count"); v != nil {
		p.Requests = count(*v)
	}
	if v := number("Failure Count", "Total Failure Count"); v != nil {
		p.Errors = count(*v)
	}
	d := Distribution{Kind: "service", Count: p.Requests, MaxHow: Rounded}
	d.MeanUS = thousand(number("Average Response Time", "Total Average Response Time"))
	d.MaxUS = thousand(number("Max Response Time", "Total Max Response Time"))
	history := find(header, 0, "Timestamp").at >= 0
	if median := number("Median Response Time", "Total Median Response Time"); median != nil {
		d.value(50, *median*1e3, Rounded)
	}
	if history {
		if at, ok := parseInstant(find(header, 0, "Timestamp").of(row), 1e9); ok {
			p.At = time.Unix(0, at).UTC().Format(time.RFC3339)
		}
		p.Cautions = append(p.Cautions, fmt.Sprintf("a history of %d rows, of which the last was taken; its percentiles cover the last 10 s, are rounded, and are not percentiles of the run: left out", rows))
	} else {
		p.AchievedRPS = number("Requests/s")
		for _, h := range header {
			if q, err := strconv.ParseFloat(strings.TrimSuffix(h, "%"), 64); err == nil && strings.HasSuffix(h, "%") && q != 50 {
				if v := number(h); v != nil && q < 100 {
					d.value(q, *v*1e3, Rounded)
				}
			}
		}
		p.Cautions = append(p.Cautions, "percentiles are rounded to two digits")
	}
	p.Latency = []Distribution{d}
	return []Point{p}, nil
}

var (
	weighttpRate  = regexp.MustCompile(`^finished in (?:(\d+) sec, )?(?:(\d+) millisec and )?(?:(\d+) microsec, )?([0-9]+) req/s`)
	weighttpTotal = regexp.MustCompile(`^requests: (\d+) total, .* (\d+) done, (\d+) succeeded, (\d+) failed, (\d+) errored`)
)

// readWeighttp reads the runs of weighttp in a text; it prints no latencies.
func readWeighttp(in *bufio.Reader) ([]Point, error) {
	var out []Point
	var p *Point
	err := eachLine(in, func(line string) {
		if m := weighttpRate.FindStringSubmatch(line); m != nil {
			n := func(i int) float64 { v, _ := strconv.ParseFloat("0"+m[i], 64); return v }
			out = append(out, Point{AchievedRPS: some(n(4)), DurationS: some(n(1) + n(2)/1e3 + n(3)/1e6)})
			p = &out[len(out)-1]
		}
		if m := weighttpTotal.FindStringSubmatch(line); m != nil && p != nil {
			n := func(i int) float64 { v, _ := strconv.ParseFloat(m[i], 64); return v }
			p.Requests, p.Errors = count(n(2)), count(n(4)+n(5))
		}
	})
	return out, err
}
