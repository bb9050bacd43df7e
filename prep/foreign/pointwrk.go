package foreign

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"headroom/store/record"
)

var (
	wrkMean    = regexp.MustCompile(`^#\[Mean\s*=\s*([0-9.]+), StdDeviation`)
	wrkMax     = regexp.MustCompile(`^#\[Max\s*=\s*([0-9.]+), Total count\s*=\s*([0-9]+)\]`)
	wrkTotal   = regexp.MustCompile(`^\s*([0-9]+) requests in ([0-9.]+[a-z]+),`)
	wrkRate    = regexp.MustCompile(`\s-R\s*([0-9.]+)`)
	wrkPercent = regexp.MustCompile(`^\s*([0-9.]+)%\s+([0-9.]+[a-z]+)\s*$`)
	wrkStep    = regexp.MustCompile(`^\s*([0-9.]+)\s+([01]\.[0-9]+)\s+([0-9]+)\s+([0-9.]+|inf)\s*$`)
)

// wrkReader reads the text of wrk and wrk2, of any number of runs.
type wrkReader struct {
	out  []Point
	cur  *Point
	d    *Distribution
	rate *float64
	grid bool
}

// readWrk reads what wrk and wrk2 print. wrk2 corrects for omission and says
// so; wrk waits for answers.
func readWrk(in *bufio.Reader) ([]Point, error) {
	w := &wrkReader{}
	if err := eachLine(in, w.line); err != nil {
		return nil, err
	}
	w.end()
	return w.out, nil
}

func (w *wrkReader) end() {
	if w.cur != nil && w.cur.AchievedRPS != nil {
		w.out = append(w.out, *w.cur)
	}
	w.cur, w.d, w.grid = nil, nil, false
}

func (w *wrkReader) distribution(kind string) {
	w.cur.Latency = append(w.cur.Latency, Distribution{Kind: kind})
	w.d, w.grid = &w.cur.Latency[len(w.cur.Latency)-1], false
}

func (w *wrkReader) line(line string) {
	if m := wrkRate.FindStringSubmatch(line); m != nil && strings.Contains(line, "wrk") {
		if v, err := strconv.ParseFloat(m[1], 64); err == nil {
			w.rate = some(v)
		}
	}
	if strings.HasPrefix(strings.TrimSpace(line), "Running ") && strings.Contains(line, " test @ ") {
		w.end()
		w.cur = &Point{Model: record.Closed, RequestedRPS: w.rate, Errors: count(0)}
		w.rate = nil
		return
	}
	if w.cur == nil {
		return
	}
	p := w.cur
	switch {
	case strings.Contains(line, "Thread calibration:"):
		p.Model = record.Open
	case strings.Contains(line, "Recorded Latency"):
		p.Model = record.Open
		w.distribution("corrected")
	case strings.Contains(line, "Uncorrected Latency"):
		w.distribution("uncorrected")
	case strings.TrimSpace(line) == "Latency Distribution":
		w.distribution("service")
	default:
		w.number(line)
	}
}

func (w *wrkReader) number(line string) {
	p := w.cur
	if m := wrkTotal.FindStringSubmatch(line); m != nil {
		n, _ := strconv.ParseFloat(m[1], 64)
		p.Requests = count(n)
		if us, ok := textDuration(m[2]); ok {
			p.DurationS = some(us / 1e6)
		}
		return
	}
	if v, ok := after(line, "Requests/sec:"); ok {
		p.AchievedRPS = some(v)
		w.finish()
		return
	}
	if v, ok := after(line, "Non-2xx or 3xx responses:"); ok {
		p.Errors = count(v + float64(*p.Errors))
		p.Cautions = append(p.Cautions, fmt.Sprintf("%.0f answers had an error's status and are in the latencies like any other", v))
		return
	}
	if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "Socket errors:"); ok {
		for _, f := range strings.Split(rest, ",") {
			if x := strings.Fields(f); len(x) == 2 {
				n, _ := strconv.ParseFloat(x[1], 64)
				p.Errors = count(n + float64(*p.Errors))
			}
		}
		p.Cautions = append(p.Cautions, "requests with socket errors are not in the latencies")
		return
	}
	if w.d == nil {
		return
	}
	if m := wrkStep.FindStringSubmatch(line); m != nil {
		ms, err := strconv.ParseFloat(m[1], 64)
		q, err2 := strconv.ParseFloat(m[2], 64)
		if err != nil || err2 != nil {
			return
		}
		// The spectrum is finer than the short list before it, but has a grid
		// of its own: p99 is in the list only.
		w.grid = true
		w.d.Values = slices.DeleteFunc(w.d.Values, func(v PointValue) bool { return math.Abs(v.Quantile-q) < 1e-9 && v.How == Rounded })
		w.d.value(100*q, ms*1e3, BucketEdge)
		return
	}
	if m := wrkPercent.FindStringSubmatch(line); m != nil && !w.grid {
		q, _ := strconv.ParseFloat(m[1], 64)
		if us, ok := textDuration(m[2]); ok {
			w.d.value(q, us, Rounded)
		}
		return
	}
	if m := wrkMean.FindStringSubmatch(line); m != nil {
		ms, _ := strconv.ParseFloat(m[1], 64)
		w.d.MeanUS = some(ms * 1e3)
	}
	if m := wrkMax.FindStringSubmatch(line); m != nil {
		ms, _ := strconv.ParseFloat(m[1], 64)
		n, _ := strconv.ParseFloat(m[2], 64)
		w.d.MaxUS, w.d.MaxHow, w.d.Count = some(ms*1e3), BucketEdge, count(n)
	}
}

// finish looks at a run whose last line has been read.
func (w *wrkReader) finish() {
	p := w.cur
	for i := range p.Latency {
		d := &p.Latency[i]
		slices.SortStableFunc(d.Values, func(a, b PointValue) int { return cmp.Compare(a.Quantile, b.Quantile) })
		if d.Count != nil && p.Requests != nil && *d.Count < *p.Requests {
			p.Cautions = append(p.Cautions, fmt.Sprintf("the distribution %s holds %d of %d requests: those of the calibration are not in it", d.Kind, *d.Count, *p.Requests))
		}
	}
	if p.RequestedRPS != nil && *p.AchievedRPS < 0.97**p.RequestedRPS {
		p.Cautions = append(p.Cautions, "the rate asked for was not reached: latency depends on how long the run took")
	}
}
