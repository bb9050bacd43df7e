package foreign

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"

	"headroom/store/record"
)

// jtlDefaults are JMeter's columns where a CSV has no header, by their number:
// of versions 5, 3 and 2.
var jtlDefaults = [][]string{
	{"timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success", "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL", "Latency", "IdleTime", "Connect"},
	{"timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success", "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "Latency", "IdleTime", "Connect"},
	{"timeStamp", "elapsed", "label", "responseCode", "responseMessage", "threadName", "dataType", "success", "bytes", "Latency"},
}

// readJTL reads a JMeter result file, XML or CSV with or without a header.
func readJTL(s *source) error {
	if head, _ := s.in.Peek(512); bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) {
		if s.opt.ScheduledColumn != "" {
			return refuse(NoScheduledColumn, "an XML result file has no columns: --scheduled-column works for a JTL written as CSV")
		}
		return readJTLXML(s)
	}
	header, sep, err := s.header()
	if err != nil {
		return err
	}
	if err := notAggregates(header); err != nil {
		return err
	}
	if _, err := strconv.ParseInt(header[0], 10, 64); err == nil {
		cells := header
		header = nil
		for _, d := range jtlDefaults {
			if len(d) == len(cells) {
				header = d
			}
		}
		if header == nil {
			return refuse(NotThisFormat, "a JTL without a header has 10, 16 or 17 columns, this file has %d: write the header (jmeter.save.saveservice.print_field_names=true) or import it with --from csv --columns", len(cells))
		}
		s.note("assumed_columns", record.NoteSeverity, float64(len(header)), 0, "the file has no header: JMeter's default columns were assumed")
		s.push([]byte(strings.Join(quoteAll(cells, sep), string(sep))))
	}
	t := newTable()
	t.start, t.duration = find(header, 1e6, "timeStamp"), find(header, 1e6, "elapsed")
	if t.start.at < 0 || t.duration.at < 0 {
		return refuse(NotThisFormat, "a JTL has the columns timeStamp and elapsed; this header has %s", strings.Join(header, ", "))
	}
	if s.opt.EndStamps {
		t.start, t.end = absent, t.start
	}
	t.status, t.success, t.class = find(header, 0, "responseCode"), find(header, 0, "success"), find(header, 0, "label")
	t.bytesIn, t.bytesOut = find(header, 0, "bytes"), find(header, 0, "sentBytes")
	t.errText = find(header, 0, "responseMessage")
	stamp := t.start
	if stamp.at < 0 {
		stamp = t.end
	}
	if err := t.finish(s, header); err != nil {
		return err
	}
	transactions := 0
	err = t.rows(s, sep, func(cells []string, r *Row) string {
		if strings.HasPrefix(t.errText.of(cells), "Number of samples in transaction") {
			transactions++
		}
		if strings.Contains(t.status.of(cells), "Non HTTP") && r.Outcome == record.OK {
			r.Status = 0
		}
		return ""
	})
	if transactions > 0 {
		s.note("transactions", record.NoteSeverity, float64(transactions), 0, "%d rows are transactions, each the sum of requests: where those are in the file as well they count twice", transactions)
	}
	return err
}

// notAggregates refuses tables of statistics that look like tables of requests.
func notAggregates(header []string) error {
	if slices.Contains(header, "Requests/s") || slices.Contains(header, "Request Count") {
		return refuse(AggregatesOnly, "this is Locust's table of statistics, which holds no requests: import it as a trend point with --from locust-stats")
	}
	if slices.Contains(header, "Percentage served") {
		return refuse(AggregatesOnly, "this is ab's table of percentiles (-e), which holds no requests: import it as a trend point with --from ab-percentiles, or ab's -g table with --from ab")
	}
	return nil
}

// maxElement bounds one element of an XML file, in bytes, and maxDepth how
// deep elements may be nested.
const (
	maxElement = 32 << 20
	maxDepth   = 200
)

// gauge stops a decoder that is asked to keep too much.
type gauge struct {
	in    io.Reader
	total int64
	limit int64
}

func (g *gauge) Read(p []byte) (int, error) {
	if g.total > g.limit {
		return 0, refuse(NotThisFormat, "an XML element is longer than %d MB", maxElement>>20)
	}
	n, err := g.in.Read(p)
	g.total += int64(n)
	return n, err
}

// readJTLXML reads the top-level samples of an XML result file; a sample inside
// another belongs to it.
func readJTLXML(s *source) error {
	g := &gauge{in: s.in, limit: maxElement}
	d := xml.NewDecoder(g)
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	depth, sample := 0, 0
	root := false
	for {
		tok, err := d.RawToken()
		g.limit = d.InputOffset() + maxElement
		s.line, _ = d.InputPos()
		if err == io.EOF {
			if depth > 0 {
				s.damage.add("file_cut_short", s.line)
			}
			return nil
		}
		if err != nil {
			if root && (cutShort(err) || strings.Contains(err.Error(), "unexpected EOF")) {
				s.damage.add("file_cut_short", s.line)
				return nil
			}
			return refuse(NotThisFormat, "not a JMeter XML result: %v", err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return refuse(NotThisFormat, "the XML is nested more than %d deep", maxDepth)
			}
			if depth == 1 {
				if e.Name.Local != "testResults" {
					return refuse(NotThisFormat, "the outermost element of a JMeter result is testResults, not %s", e.Name.Local)
				}
				root = true
				continue
			}
			if e.Name.Local != "httpSample" && e.Name.Local != "sample" {
				continue
			}
			if sample > 0 {
				continue
			}
			sample = depth
			if err := s.xmlSample(e.Attr); err != nil {
				return err
			}
		case xml.EndElement:
			if depth == sample {
				sample = 0
			}
			if depth--; depth < 0 {
				return refuse(NotThisFormat, "not a JMeter XML result: an element ends that never began")
			}
		}
	}
}

func (s *source) xmlSample(attrs []xml.Attr) error {
	r := Row{Seq: -1}
	var ts, took, rc, rm, label, success string
	for _, a := range attrs {
		switch a.Name.Local {
		case "ts":
			ts = a.Value
		case "t":
			took = a.Value
		case "rc":
			rc = a.Value
		case "rm":
			rm = a.Value
		case "lb":
			label = a.Value
		case "s":
			success = a.Value
		case "by":
			r.BytesIn, _ = strconv.ParseInt(a.Value, 10, 64)
		case "sby":
			r.BytesOut, _ = strconv.ParseInt(a.Value, 10, 64)
		}
	}
	at, ok := parseInstant(ts, 1e6)
	if !ok {
		s.damage.add("bad_instant", s.line)
		return nil
	}
	d, ok := parseScaled(took, 1e6)
	if !ok {
		s.damage.add("bad_duration", s.line)
		return nil
	}
	r.StartNS, r.DoneNS = at, at+d
	if s.opt.EndStamps {
		r.StartNS, r.DoneNS = at-d, at
	}
	text := rm
	if n, err := strconv.Atoi(rc); err == nil {
		r.Status = n
	} else {
		text = rc + " " + rm
	}
	r.Outcome, r.Err = classify(parseSuccess(success), r.Status, rc != "", text)
	r.Class = className(label)
	return s.give(&r)
}
