package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"headroom/store/record"
)

// IntervalsCSV writes one row per interval and class, in the order of the
// evidence; durations in microseconds, times in seconds since the run's origin.
// Rows of a flow's own class carry the class's name like any other.
func IntervalsCSV(out io.Writer, ev record.Evidence) error {
	w := csv.NewWriter(out)
	head := []string{"phase", "step", "start_s", "width_s", "class", "scheduled", "sent"}
	for _, o := range record.Outcomes() {
		head = append(head, o.String())
	}
	head = append(head, "attempts", "bytes_in", "bytes_out")
	for _, clock := range []string{"response", "service", "lag"} {
		for _, q := range []string{"p50", "p90", "p99", "p99_9", "max"} {
			head = append(head, clock+"_"+q+"_us")
		}
	}
	head = append(head, "late_sends_over_1ms", "late_sends_over_10ms", "late_sends_over_100ms", "late_sends_over_1s", "in_flight", "waiting")
	_ = w.Write(head)
	h := ev.Header()
	phases := map[int]record.Phase{}
	for _, p := range ev.Phases() {
		phases[p.Index] = p
	}
	for iv, err := range ev.Intervals() {
		if err != nil {
			return err
		}
		p := phases[iv.Phase]
		step := ""
		if p.Kind.Judged() {
			step = strconv.Itoa(p.Step)
		}
		for _, cells := range [][]record.Cell{iv.Cells, iv.Flows} {
			for i := range cells {
				row := []string{Defuse(string(p.Kind)), step, cell(seconds(iv.StartNS)), cell(seconds(iv.WidthNS)), className(h, cells[i].Class)}
				row, err := cellRow(row, &cells[i])
				if err != nil {
					return err
				}
				_ = w.Write(append(row, strconv.FormatInt(iv.Moment.InFlight, 10), strconv.FormatInt(iv.Moment.Waiting, 10)))
			}
		}
	}
	w.Flush()
	return w.Error() // keeps the first error of any Write
}

func className(h record.Header, class int) string {
	if class < 0 || class >= len(h.Classes) {
		return strconv.Itoa(class)
	}
	return Defuse(plainText(h.Classes[class].Name))
}

func cellRow(row []string, c *record.Cell) ([]string, error) {
	n := func(v uint64) { row = append(row, strconv.FormatUint(v, 10)) }
	n(c.Counts.Scheduled)
	n(c.Counts.Sent)
	for _, v := range c.Counts.By {
		n(v)
	}
	n(c.Counts.Attempts)
	n(c.Counts.BytesIn)
	n(c.Counts.BytesOut)
	response := c.OKResponse.Clone()
	if response == nil {
		response = c.OtherResponse
	} else if err := response.Merge(c.OtherResponse); err != nil {
		return nil, err
	}
	for _, h := range []*record.Histogram{response, c.Service, c.Lag} {
		for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 1} {
			v := ""
			if h.Count() > 0 {
				v = cell(h.QuantileUS(q))
			}
			row = append(row, v)
		}
	}
	for _, v := range c.LateSends {
		n(v)
	}
	return row, nil
}
