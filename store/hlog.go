package store

import (
	"fmt"
	"io"
	"strings"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"headroom/store/record"
)

// writeLog writes an HdrHistogram interval log, version 1.3. Values are whole
// microseconds in our own bucket layout, so nothing is rounded again. A line is
// tagged with its class for the response times of all requests that have one,
// class/service and class/lag for the other clocks. Interval_Max is in seconds.
func writeLog(w io.Writer, ev record.Evidence) error {
	h := ev.Header()
	// The log cuts times to whole seconds, so the base must be one.
	base := h.Started.UTC().Truncate(time.Second)
	log := hdr.NewHistogramLogWriter(w)
	log.SetBaseTime(base.UnixMilli())
	for _, err := range []error{
		log.OutputComment(fmt.Sprintf("[headroom run %s, class tags: response; class/service; class/lag; values in microseconds]", h.RunID)),
		log.OutputLogFormatVersion(), log.OutputStartTime(base.UnixMilli()), log.OutputBaseTime(base.UnixMilli()), log.OutputLegend(),
	} {
		if err != nil {
			return err
		}
	}
	tags := make([]string, len(h.Classes))
	for i, c := range h.Classes {
		tags[i] = tag(c.Name)
	}
	out := &logLines{log: log, origin: h.Started.UnixMilli(), maxUS: h.MaxUS}
	for iv, err := range ev.Intervals() {
		if err != nil {
			return err
		}
		for _, cells := range [][]record.Cell{iv.Cells, iv.Flows} {
			for i := range cells {
				c := &cells[i]
				for _, line := range []struct {
					tag   string
					parts []*record.Histogram
				}{
					{tags[c.Class], []*record.Histogram{c.OKResponse, c.OtherResponse}},
					{tags[c.Class] + "/service", []*record.Histogram{c.Service}},
					{tags[c.Class] + "/lag", []*record.Histogram{c.Lag}},
				} {
					if err := out.write(iv, line.tag, line.parts); err != nil {
						return fmt.Errorf("interval %d of phase %d, tag %s: %w", iv.Index, iv.Phase, line.tag, err)
					}
				}
			}
		}
	}
	return nil
}

// logLines writes the lines of a log.
type logLines struct {
	log    *hdr.HistogramLogWriter
	origin int64 // of the run, ms since 1970
	maxUS  int64
}

// write writes one line with the sum of parts, or none without values.
func (l *logLines) write(iv *record.Interval, tag string, parts []*record.Histogram) error {
	// A top of at least twice the lowest value, or readers in C and Java refuse it.
	sum := hdr.NewPacked(1, max(l.maxUS, 2), 3)
	for _, h := range parts {
		var err error
		h.Each(func(b record.Bucket) bool {
			low, _ := record.BucketRange(b.Index)
			err = sum.RecordValues(low, int64(b.Count))
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	if sum.TotalCount() == 0 {
		return nil
	}
	sum.SetTag(tag)
	sum.SetStartTimeMs(l.origin + iv.StartNS/1e6)
	sum.SetEndTimeMs(l.origin + (iv.StartNS+iv.WidthNS)/1e6)
	return l.log.OutputIntervalPackedHistogram(sum)
}

// tag is a class name as a tag: commas, spaces and line breaks would end it.
func tag(name string) string {
	t := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
			return r
		}
		return '_'
	}, name)
	if t == "" {
		return "_"
	}
	return t
}
