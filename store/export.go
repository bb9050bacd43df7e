package store

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"headroom/store/record"
)

// Export writes a run in another format: csv, one row per interval and class;
// json, one record a line; hlog, an HdrHistogram interval log.
func Export(ev record.Evidence, as string, w io.Writer) error {
	buf := bufio.NewWriter(w)
	var err error
	switch as {
	case "csv":
		err = record.WriteIntervalsCSV(buf, ev)
	case "json":
		err = writeJSON(buf, ev)
	case "hlog":
		err = writeLog(buf, ev)
	default:
		return fmt.Errorf("cannot export as %q: one of csv, json, hlog", as)
	}
	if err != nil {
		return fmt.Errorf("export as %s: %w", as, err)
	}
	return buf.Flush()
}

// writeJSON writes one object a line, {"record": kind, "value": {…}}, in the order
// header, facts, phases, faults, notes, intervals, send samples, samples, end.
func writeJSON(w io.Writer, ev record.Evidence) error {
	enc := json.NewEncoder(w)
	line := func(kind string, v any) error {
		return enc.Encode(struct {
			Record string `json:"record"`
			Value  any    `json:"value"`
		}{kind, v})
	}
	h := ev.Header()
	if err := line("header", h); err != nil {
		return err
	}
	if err := line("facts", ev.Facts()); err != nil {
		return err
	}
	for _, p := range ev.Phases() {
		if err := line("phase", p); err != nil {
			return err
		}
	}
	for _, e := range ev.FaultEvents() {
		if err := line("fault", e); err != nil {
			return err
		}
	}
	for _, n := range ev.Notes() {
		if err := line("note", n); err != nil {
			return err
		}
	}
	for iv, err := range ev.Intervals() {
		if err != nil {
			return err
		}
		if err := line("interval", jsonInterval(&h, iv)); err != nil {
			return err
		}
	}
	for s, err := range ev.SendSamples() {
		if err != nil {
			return err
		}
		if err := line("sends", sendsJSON{s.Phase, s.Window, s.Scheduled, s.Sent}); err != nil {
			return err
		}
	}
	for s, err := range ev.Samples() {
		if err != nil {
			return err
		}
		if err := line("sample", sampleJSON{s.Series, s.AtNS, s.Value}); err != nil {
			return err
		}
	}
	return line("end", struct {
		record.End
		Digest string `json:"digest"`
	}{ev.End(), ev.Digest()})
}

type sendsJSON struct {
	Phase       int     `json:"phase"`
	Window      int     `json:"window"`
	ScheduledNS []int64 `json:"scheduled_ns"`
	SentNS      []int64 `json:"sent_ns"`
}

type sampleJSON struct {
	Series int     `json:"series"`
	AtNS   int64   `json:"at_ns"`
	Value  float64 `json:"value"`
}

type intervalJSON struct {
	Phase   int        `json:"phase"`
	Index   int        `json:"index"`
	StartNS int64      `json:"start_ns"`
	WidthNS int64      `json:"width_ns"`
	Cells   []cellJSON `json:"cells"`
	Flows   []cellJSON `json:"flows,omitempty"`
	Moment  momentJSON `json:"moment"`
}

type cellJSON struct {
	Class         string            `json:"class"`
	Scheduled     uint64            `json:"scheduled"`
	Sent          uint64            `json:"sent"`
	Unsent        uint64            `json:"unsent"`
	Outcomes      map[string]uint64 `json:"outcomes"`
	Attempts      uint64            `json:"attempts"`
	BytesIn       uint64            `json:"bytes_in"`
	BytesOut      uint64            `json:"bytes_out"`
	OKResponse    *histogramJSON    `json:"ok_response"`
	OtherResponse *histogramJSON    `json:"other_response"`
	Service       *histogramJSON    `json:"service"`
	Lag           *histogramJSON    `json:"lag"`
	AtOrBelow     map[string]uint64 `json:"at_or_below"`
	Status        map[int]uint64    `json:"status"`
	Errors        map[string]uint64 `json:"errors"`
	LateSends     map[string]uint64 `json:"late_sends"`
}

// histogramJSON has its buckets as [lowest µs, highest µs, count].
type histogramJSON struct {
	Count   uint64     `json:"count"`
	MinNS   int64      `json:"min_ns"`
	MaxNS   int64      `json:"max_ns"`
	SumNS   uint64     `json:"sum_ns"`
	Clamped uint64     `json:"clamped"`
	Buckets [][3]int64 `json:"buckets_us"`
}

type momentJSON struct {
	InFlight      int64             `json:"in_flight"`
	Waiting       int64             `json:"waiting"`
	Sends         uint64            `json:"sends"`
	Done          map[string]uint64 `json:"done"`
	PeakSent100ms uint64            `json:"peak_sent_100ms"`
	LimitedNS     int64             `json:"limited_ns"`
	ConnsOpen     int64             `json:"connections_open"`
	CPUNS         int64             `json:"cpu_ns"`
	CapacityNS    int64             `json:"cpu_capacity_ns"`
	StolenNS      int64             `json:"stolen_ns"`
	GCPauseNS     int64             `json:"gc_pause_ns"`
	SleeperNS     int64             `json:"sleeper_late_ns"`
	Descriptors   int64             `json:"descriptors"`
	HeapBytes     int64             `json:"heap_bytes"`
	MachineBusy   *float64          `json:"machine_busy"` // null where unknown
}

func jsonInterval(h *record.Header, iv *record.Interval) intervalJSON {
	m := &iv.Moment
	v := intervalJSON{
		Phase: iv.Phase, Index: iv.Index, StartNS: iv.StartNS, WidthNS: iv.WidthNS,
		Cells: jsonCells(h, iv.Cells), Flows: jsonCells(h, iv.Flows),
		Moment: momentJSON{
			InFlight: m.InFlight, Waiting: m.Waiting, Sends: m.Sends, Done: byOutcome(&m.Done), PeakSent100ms: m.PeakSent100ms,
			LimitedNS: m.LimitedNS, ConnsOpen: m.ConnsOpen, CPUNS: m.Gen.CPUNS, CapacityNS: m.Gen.CapacityNS, StolenNS: m.Gen.StolenNS,
			GCPauseNS: m.Gen.GCPauseNS, SleeperNS: m.Gen.SleeperNS, Descriptors: m.Gen.Descriptors, HeapBytes: m.Gen.HeapBytes,
		},
	}
	if busy := m.Gen.MachineBusy; !math.IsNaN(busy) {
		v.Moment.MachineBusy = &busy
	}
	return v
}

func jsonCells(h *record.Header, cells []record.Cell) []cellJSON {
	list := make([]cellJSON, 0, len(cells))
	for i := range cells {
		c := &cells[i]
		v := cellJSON{
			Class: h.Classes[c.Class].Name, Scheduled: c.Counts.Scheduled, Sent: c.Counts.Sent, Unsent: c.Counts.Unsent,
			Outcomes: byOutcome(&c.Counts.By), Attempts: c.Counts.Attempts, BytesIn: c.Counts.BytesIn, BytesOut: c.Counts.BytesOut,
			OKResponse: jsonHistogram(c.OKResponse), OtherResponse: jsonHistogram(c.OtherResponse),
			Service: jsonHistogram(c.Service), Lag: jsonHistogram(c.Lag),
			AtOrBelow: map[string]uint64{}, Status: c.Status, Errors: map[string]uint64{},
			LateSends: map[string]uint64{
				"over_1ms": c.LateSends[0], "over_10ms": c.LateSends[1], "over_100ms": c.LateSends[2], "over_1s": c.LateSends[3],
			},
		}
		for i, n := range c.AtOrBelow {
			v.AtOrBelow[h.Thresholds[i].Name] = n
		}
		for kind, n := range c.Errors {
			v.Errors[kind.String()] += n
		}
		list = append(list, v)
	}
	return list
}

func byOutcome(by *[record.NumOutcomes]uint64) map[string]uint64 {
	m := make(map[string]uint64, len(by))
	for o, n := range by {
		m[record.Outcome(o).String()] = n
	}
	return m
}

func jsonHistogram(h *record.Histogram) *histogramJSON {
	if h == nil {
		return nil
	}
	v := &histogramJSON{
		Count: h.Count(), MinNS: h.MinNS(), MaxNS: h.MaxNS(), SumNS: h.SumNS(), Clamped: h.Clamped(), Buckets: [][3]int64{},
	}
	h.Each(func(b record.Bucket) bool {
		low, high := record.BucketRange(b.Index)
		v.Buckets = append(v.Buckets, [3]int64{low, high, int64(b.Count)})
		return true
	})
	return v
}
