package record

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"
)

// IntervalColumns lists the columns of WriteIntervalsCSV.
func IntervalColumns() []string {
	cols := []string{"phase", "step", "start_s", "width_s", "class", "scheduled", "sent"}
	for _, o := range Outcomes() {
		cols = append(cols, o.String())
	}
	return append(cols, "attempts",
		"response_p50_us", "response_p99_us", "response_max_us",
		"service_p50_us", "service_p99_us", "service_max_us", "lag_p99_us",
		"phase_index", "interval")
}

// WriteIntervalsCSV writes one row per interval and class, flows after their
// requests: what was scheduled in the interval and how it ended. Seconds count
// from the origin of the run, response times are of all requests that have one,
// and a value that does not exist is an empty cell. An interval in which nothing
// was scheduled has no row.
func WriteIntervalsCSV(w io.Writer, ev Evidence) error {
	out := csv.NewWriter(w)
	if err := out.Write(IntervalColumns()); err != nil {
		return err
	}
	classes, phases := ev.Header().Classes, make(map[int]Phase)
	for _, p := range ev.Phases() {
		phases[p.Index] = p
	}
	var row []string
	for iv, err := range ev.Intervals() {
		if err != nil {
			return err
		}
		for _, cells := range [][]Cell{iv.Cells, iv.Flows} {
			for i := range cells {
				name := strconv.Itoa(cells[i].Class)
				if c := cells[i].Class; c < len(classes) {
					name = classes[c].Name
				}
				if row, err = intervalRow(row[:0], phases[iv.Phase], iv, &cells[i], name); err != nil {
					return err
				}
				if err := out.Write(row); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

func intervalRow(row []string, p Phase, iv *Interval, c *Cell, class string) ([]string, error) {
	step := ""
	if p.Kind.Judged() {
		step = strconv.Itoa(p.Step)
	}
	row = append(row, string(p.Kind), step, seconds(iv.StartNS), seconds(iv.WidthNS), Defuse(class),
		count(c.Counts.Scheduled), count(c.Counts.Sent))
	for _, n := range c.Counts.By {
		row = append(row, count(n))
	}
	response := c.OKResponse
	if c.OtherResponse.Count() > 0 {
		if response = c.OtherResponse; c.OKResponse.Count() > 0 {
			response = c.OtherResponse.Clone()
			if err := response.Merge(c.OKResponse); err != nil {
				return nil, err
			}
		}
	}
	return append(row, count(c.Counts.Attempts),
		micros(response.QuantileUS(0.5)), micros(response.QuantileUS(0.99)), micros(response.QuantileUS(1)),
		micros(c.Service.QuantileUS(0.5)), micros(c.Service.QuantileUS(0.99)), micros(c.Service.QuantileUS(1)),
		micros(c.Lag.QuantileUS(0.99)), strconv.Itoa(iv.Phase), strconv.Itoa(iv.Index)), nil
}

func count(n uint64) string { return strconv.FormatUint(n, 10) }

func seconds(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', -1, 64) }

func micros(us float64) string {
	if math.IsNaN(us) {
		return ""
	}
	return strconv.FormatFloat(us, 'f', -1, 64)
}

// Defuse returns text as a cell that no spreadsheet runs as a formula: one that
// begins like a formula gets an apostrophe in front.
func Defuse(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
