package foreign

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"headroom/store/record"
)

// PointSchema names the form of a Point as JSON.
const PointSchema = "headroom.point/1"

// How a number of a Point was made, by the tool that made it.
const (
	Exact        = "exact"        // as far as the tool's clock goes
	Rounded      = "rounded"      // printed with few digits
	Interpolated = "interpolated" // between the edges of buckets, or by a sketch
	BucketEdge   = "bucket_edge"  // the upper edge of a histogram's bucket
	Capped       = "capped"       // the last bucket: the true value may be larger
)

// Point is what another tool's summary says of one run: numbers of its own
// making, for the trend. It never becomes evidence. Times in microseconds,
// rates per second; nil is what the file does not hold, and Missing names it.
type Point struct {
	Schema       string         `json:"schema"`
	Tool         string         `json:"tool"`
	Format       string         `json:"format"`
	Name         string         `json:"name"`
	Release      string         `json:"release"`
	Model        record.Model   `json:"model"`
	At           string         `json:"at,omitempty"` // as the file says, RFC 3339; "" where it does not
	Imported     string         `json:"imported"`     // RFC 3339, set by whoever keeps the point
	DurationS    *float64       `json:"duration_s"`
	RequestedRPS *float64       `json:"requested_rps"`
	AchievedRPS  *float64       `json:"achieved_rps"`
	Requests     *uint64        `json:"requests"`
	Errors       *uint64        `json:"errors"`
	Latency      []Distribution `json:"latency"`
	Missing      []string       `json:"missing"` // what a reader would look for and the file does not hold
	Cautions     []string       `json:"cautions"`
}

// Distribution is one latency distribution of a summary.
type Distribution struct {
	Kind   string       `json:"kind"` // service, corrected, uncorrected, …, as the tool measured it
	Count  *uint64      `json:"count"`
	MeanUS *float64     `json:"mean_us"`
	MaxUS  *float64     `json:"max_us"`
	MaxHow string       `json:"max_how,omitempty"`
	Values []PointValue `json:"values"`
}

// PointValue is a percentile.
type PointValue struct {
	Quantile float64 `json:"quantile"` // in [0,1]
	US       float64 `json:"us"`
	How      string  `json:"how"`
}

// At is the percentile at exactly that quantile; ok is false where the tool
// did not print it, since no value is interpolated here.
func (d *Distribution) At(q float64) (v PointValue, ok bool) {
	for _, p := range d.Values {
		if math.Abs(p.Quantile-q) < 1e-9 {
			return p, true
		}
	}
	return PointValue{}, false
}

// pointFormat is one reader of aggregates.
type pointFormat struct {
	name, tool string
	model      record.Model
	read       func(in *bufio.Reader) ([]Point, error)
}

func pointFormats() []pointFormat {
	return []pointFormat{
		{"wrk", "wrk", record.Closed, readWrk},
		{"wrk2-json", "wrk2", record.Open, readWrk2JSON},
		{"fortio", "fortio", record.Closed, readFortio},
		{"nighthawk", "nighthawk", record.Unknown, readNighthawk},
		{"omb", "openmessaging-benchmark", record.Unknown, readOMB},
		{"autocannon", "autocannon", record.Closed, readAutocannon},
		{"artillery", "artillery", record.Open, readArtillery},
		{"ab-summary", "ab", record.Closed, readABSummary},
		{"ab-percentiles", "ab", record.Closed, readABPercentiles},
		{"hey-summary", "hey", record.Closed, readHeySummary},
		{"k6-summary", "k6", record.Unknown, readK6Summary},
		{"vegeta-report", "vegeta", record.Open, readVegetaReport},
		{"vegeta-hdrplot", "vegeta", record.Open, readVegetaPlot},
		{"locust-stats", "locust", record.Closed, readLocustStats},
		{"locust-workers", "locust", record.Closed, readLocustWorkers},
		{"weighttp", "weighttp", record.Closed, readWeighttp},
	}
}

// PointFormats names the formats that become points of the trend.
func PointFormats() []string {
	var names []string
	for _, f := range pointFormats() {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

// maxSummary bounds a summary file, in bytes.
const maxSummary = 64 << 20

// ReadPoints reads a file of aggregates: one point for each run in it. Neither a
// scheduled column nor an expected interval can be applied to aggregates; asking
// for one is refused, with what the file itself says about missing requests.
func ReadPoints(r io.Reader, o Options) ([]Point, error) {
	for _, f := range pointFormats() {
		if f.name != o.From {
			continue
		}
		if o.ScheduledColumn != "" {
			return nil, refuse(AggregatesOnly, "%s holds aggregates: there is no column that could say when a request was due", o.From)
		}
		in, err := open(io.LimitReader(r, maxSummary))
		if err != nil {
			return nil, err
		}
		points, err := f.read(in)
		if err != nil {
			return nil, pointError(&f, err)
		}
		if len(points) == 0 {
			return nil, refuse(NotThisFormat, "nothing in the file looks like a result of %s", f.tool)
		}
		for i := range points {
			p := &points[i]
			p.Schema, p.Tool, p.Format, p.Name, p.Release = PointSchema, f.tool, f.name, o.Name, o.Release
			if p.Model == "" {
				p.Model = f.model
			}
			if o.Model != "" {
				p.Model = o.Model
			}
			if p.Name == "" {
				p.Name = f.tool
			}
			p.finish()
		}
		if o.ExpectedIntervalNS > 0 {
			return nil, noEstimate(&points[0], o.ExpectedIntervalNS)
		}
		return points, nil
	}
	return nil, fmt.Errorf("--from %s: it is one of %s", o.From, strings.Join(append(Formats(), PointFormats()...), ", "))
}

func pointError(f *pointFormat, err error) error {
	if r := asRefusal(err); r != nil {
		return r
	}
	return refuse(NotThisFormat, "the file is not a result of %s: %v", f.tool, err)
}

// noEstimate says why an expected interval cannot help, and how many requests
// are missing by the file's own count.
func noEstimate(p *Point, intervalNS int64) error {
	text := fmt.Sprintf("no omission factor can be estimated from %s: the file holds aggregates, and its requests are gone", p.Format)
	if p.DurationS != nil && p.Requests != nil {
		if due := math.Floor(*p.DurationS*1e9/float64(intervalNS)) - float64(*p.Requests); due >= 1 {
			text += fmt.Sprintf("; at one request every %s, %.0f that were due are missing from its count of %d", record.FormatDuration(intervalNS), due, *p.Requests)
		}
	}
	return refuse(AggregatesOnly, "%s; import it without --expected-interval as a point of the trend", text)
}

// finish names what is missing.
func (p *Point) finish() {
	if p.Missing == nil {
		p.Missing = []string{}
	}
	if p.Cautions == nil {
		p.Cautions = []string{}
	}
	if p.Latency == nil {
		p.Latency = []Distribution{}
	}
	miss := func(there bool, what string) {
		if !there {
			p.Missing = append(p.Missing, what)
		}
	}
	miss(p.At != "", "at")
	miss(p.DurationS != nil, "duration_s")
	miss(p.RequestedRPS != nil, "requested_rps")
	miss(p.AchievedRPS != nil, "achieved_rps")
	miss(p.Requests != nil, "requests")
	miss(p.Errors != nil, "errors")
	miss(len(p.Latency) > 0, "latency")
	for i := range p.Latency {
		d := &p.Latency[i]
		if d.Values == nil {
			d.Values = []PointValue{}
		}
		for _, q := range []float64{0.5, 0.99} {
			_, ok := d.At(q)
			miss(ok, fmt.Sprintf("latency.%s.p%s", d.Kind, strconv.FormatFloat(100*q, 'f', -1, 64)))
		}
	}
	p.Missing = append(p.Missing, "requests one by one, so neither an omission factor nor intervals")
}

// value adds a percentile; quantiles in percent.
func (d *Distribution) value(percent, us float64, how string) {
	if math.IsNaN(us) || math.IsInf(us, 0) || us < 0 || !(percent >= 0 && percent <= 100) {
		return
	}
	d.Values = append(d.Values, PointValue{Quantile: percent / 100, US: us, How: how})
}

// some is a pointer to a number that can be one; nil elsewhere.
func some(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return nil
	}
	return &v
}

func count(v float64) *uint64 {
	if !(v >= 0 && v < 1<<53) {
		return nil
	}
	n := uint64(v)
	return &n
}

// flexible is a number that some tools write as text.
type flexible float64

func (f *flexible) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	if s == "null" || s == "" || s == "max" || s == "-1" {
		*f = flexible(math.NaN())
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", s)
	}
	*f = flexible(v)
	return nil
}

// decode reads one JSON value.
func decode(in io.Reader, into any) error {
	return json.NewDecoder(in).Decode(into)
}
