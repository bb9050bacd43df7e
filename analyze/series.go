package analyze

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"headroom/analyze/stat"
	"headroom/store/record"
)

// SeriesSchema names the layout of SeriesResult.
const SeriesSchema = "headroom.series/1"

// SeriesOptions say how to read a table of series.
type SeriesOptions struct {
	Time    string             // the column of time; "": the first that looks like one
	Columns []string           // which to judge; none: all that hold numbers
	Limits  map[string]float64 // upper limits by column, in its unit
}

// SeriesResult is headroom.series/1: what resource series of any origin did.
type SeriesResult struct {
	Schema string        `json:"schema"`
	Hours  float64       `json:"hours"`
	Rows   int           `json:"rows"`
	Leaks  []string      `json:"leaks"`
	Series []SeriesDrift `json:"series"`
}

// SeriesDrift is one series. Where Reason is set there is no verdict, and
// Leak is false because nothing shows one.
type SeriesDrift struct {
	Name           string     `json:"name"`
	Samples        int        `json:"samples"` // rows with a value
	Missing        int        `json:"missing"` // rows without one
	Kind           string     `json:"kind"`
	Leak           bool       `json:"leak"`
	SlopePerHour   *float64   `json:"slope_per_hour"`
	CI95           *Interval  `json:"ci95"`
	P              *float64   `json:"p"`
	PHolm          *float64   `json:"p_holm"`
	Level          *float64   `json:"level"`
	Limit          *float64   `json:"limit"`
	ExhaustionH    *float64   `json:"exhaustion_h"`
	ExhaustionCI95 []*float64 `json:"exhaustion_ci95"`
	StepAtS        *float64   `json:"step_at_s"` // since the first row
	Counter        bool       `json:"counter"`   // judged by its growth per second
	Reason         string     `json:"reason"`
}

// Series judges resource series of any origin, as a soak's are judged: the
// rows of a CSV file, the first of them its header. The error lists what
// cannot be read.
func Series(records [][]string, o SeriesOptions) (*SeriesResult, error) {
	if len(records) < 2 {
		return nil, errors.New("the file has no rows: a header and at least one row are needed")
	}
	head := make([]string, len(records[0]))
	for i, h := range records[0] {
		head[i] = strings.TrimSpace(strings.TrimPrefix(h, "\ufeff"))
	}
	timeAt, err := timeColumn(head, o.Time)
	if err != nil {
		return nil, err
	}
	rows := slices.DeleteFunc(slices.Clone(records[1:]), func(r []string) bool { return len(r) == 0 || len(r) == 1 && strings.TrimSpace(r[0]) == "" })
	atNS, err := readTimes(head[timeAt], rows, timeAt)
	if err != nil {
		return nil, err
	}
	columns, err := pickColumns(head, rows, timeAt, o)
	if err != nil {
		return nil, err
	}
	out := &SeriesResult{Schema: SeriesSchema, Rows: len(rows), Leaks: []string{}, Series: []SeriesDrift{}}
	if n := len(atNS); n > 0 {
		out.Hours = float64(atNS[n-1]-atNS[0]) / 3.6e12
	}
	var all []driftOf
	missing := make([]int, len(columns))
	for k, c := range columns {
		s := observed{SeriesInfo: record.SeriesInfo{Name: head[c]}}
		for i, row := range rows {
			v, ok := readCell(row, c)
			if !ok {
				missing[k]++
				continue
			}
			s.atNS, s.values = append(s.atNS, atNS[i]), append(s.values, v)
		}
		d := seriesDrift(&s, limitOf(o.Limits, head[c]), nil)
		d.startS -= float64(atNS[0]) / 1e9
		if s.restarted() {
			d.refused = whyRestarted
		}
		all = append(all, d)
	}
	adjusted := adjust(all)
	for i := range all {
		out.add(&all[i], adjusted[i], len(rows)-missing[i], missing[i])
	}
	return out, nil
}

func (s *SeriesResult) add(d *driftOf, holm float64, samples, missing int) {
	r := d.result(holm)
	leak := r.Kind == stat.DriftLeak || r.Kind == stat.DriftDrift && !isCounter(d.name)
	if leak {
		s.Leaks = append(s.Leaks, d.name)
	}
	s.Series = append(s.Series, SeriesDrift{
		Name: d.name, Samples: samples, Missing: missing, Kind: r.Kind, Leak: leak, SlopePerHour: r.SlopePerHour, CI95: r.CI95,
		P: r.P, PHolm: r.PHolm, Level: r.Level, Limit: r.Limit, ExhaustionH: r.ExhaustionH, ExhaustionCI95: r.ExhaustionCI95,
		StepAtS: r.StepAtS, Counter: isCounter(d.name), Reason: r.Refused,
	})
}

// timeNames are the columns that hold time, most telling first.
var timeNames = []string{"elapsed_s", "unix_ms", "unix_s", "unix_ns", "timestamp", "time", "datetime", "date", "t", "ts", "seconds", "elapsed", "index"}

func isTimeName(name string) bool {
	return slices.Contains(timeNames, strings.ToLower(name)) || strings.HasSuffix(strings.ToLower(name), "_time") || strings.HasSuffix(strings.ToLower(name), "timestamp")
}

func timeColumn(head []string, name string) (int, error) {
	if name != "" {
		if i := slices.Index(head, name); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("line 1: no column %q; there are %s", name, strings.Join(head, ", "))
	}
	for _, n := range timeNames {
		if i := slices.IndexFunc(head, func(h string) bool { return strings.EqualFold(h, n) }); i >= 0 {
			return i, nil
		}
	}
	return 0, fmt.Errorf("line 1: no column looks like time; name one of %s", strings.Join(head, ", "))
}

// timeLayouts are how people write instants.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04",
	"2006.01.02 15:04:05 -0700", "2006-01-02", "02/Jan/2006:15:04:05 -0700",
}

// readTimes reads instants as ns since any origin. Numbers are seconds unless
// the column's name ends in a unit or their size gives it away.
func readTimes(name string, rows [][]string, at int) ([]int64, error) {
	out := make([]int64, len(rows))
	var problems []error
	layout, scale := "", 0.0
	for i, row := range rows {
		text := ""
		if at < len(row) {
			text = strings.TrimSpace(row[at])
		}
		ns, ok := int64(0), false
		if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) && math.Abs(v) < 1e19 {
			if scale == 0 {
				scale = timeScale(name, v)
			}
			// An instant keeps the digits that a float would lose.
			if whole, err := strconv.ParseInt(text, 10, 64); err == nil && math.Abs(v)*scale < 9e18 {
				ns, ok = whole*int64(scale), true
			} else {
				ns, ok = int64(math.Round(v*scale)), math.Abs(v*scale) < 9e18
			}
		} else {
			ns, layout, ok = readInstant(text, layout)
		}
		if !ok {
			problems = append(problems, fmt.Errorf("line %d: %q in column %s is no instant", i+2, text, name))
		} else if i > 0 && ns < out[i-1] && len(problems) == 0 {
			problems = append(problems, fmt.Errorf("line %d: time goes back; sort the file by %s", i+2, name))
		}
		out[i] = ns
		if len(problems) >= 10 {
			break
		}
	}
	return out, errors.Join(problems...)
}

func readInstant(text, layout string) (ns int64, used string, ok bool) {
	if layout != "" {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UnixNano(), layout, true
		}
	}
	for _, l := range timeLayouts {
		if t, err := time.Parse(l, text); err == nil {
			return t.UnixNano(), l, true
		}
	}
	return 0, layout, false
}

// timeScale is how many ns one unit of a numeric time column is.
func timeScale(name string, first float64) float64 {
	name = strings.ToLower(name)
	for _, u := range []struct {
		suffix string
		ns     float64
	}{{"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}, {"_s", 1e9}, {"_min", 60e9}, {"_h", 3.6e12}} {
		if strings.HasSuffix(name, u.suffix) {
			return u.ns
		}
	}
	switch a := math.Abs(first); {
	case a > 1e17:
		return 1
	case a > 1e14:
		return 1e3
	case a > 1e11:
		return 1e6
	}
	return 1e9
}

// pickColumns finds the columns to judge. Without a choice these are the ones
// of which at least nine in ten cells are numbers, and that are no time.
func pickColumns(head []string, rows [][]string, timeAt int, o SeriesOptions) ([]int, error) {
	var out []int
	var problems []error
	for _, name := range o.Columns {
		i := slices.Index(head, name)
		if i < 0 {
			problems = append(problems, fmt.Errorf("line 1: no column %q; there are %s", name, strings.Join(head, ", ")))
			continue
		}
		if !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	for name := range o.Limits {
		if !slices.Contains(head, name) {
			problems = append(problems, fmt.Errorf("a limit is given for %q, which is no column; there are %s", name, strings.Join(head, ", ")))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if len(o.Columns) > 0 {
		return out, nil
	}
	for i, name := range head {
		if i == timeAt || isTimeName(name) {
			continue
		}
		n := 0
		for _, row := range rows {
			if _, ok := readCell(row, i); ok {
				n++
			}
		}
		if 10*n >= 9*len(rows) && n > 0 {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no column holds numbers besides the time; there are %s", strings.Join(head, ", "))
	}
	return out, nil
}

func readCell(row []string, c int) (float64, bool) {
	if c >= len(row) {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(row[c]), 64)
	return v, err == nil && stat.Finite([]float64{v})
}
