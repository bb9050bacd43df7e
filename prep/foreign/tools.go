package foreign

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"headroom/store/record"
)

// readLocust reads a table with one row per request, as listeners of Locust
// write it; the names of the columns differ from one to the next.
func readLocust(s *source) error {
	header, sep, err := s.header()
	if err != nil {
		return err
	}
	if err := notAggregates(header); err != nil {
		return err
	}
	t := newTable()
	t.start = find(header, 0, "timeStamp", "timestamp", "start_time", "time")
	t.duration = find(header, 1e6, "elapsed", "response_time", "response_time_ms")
	if t.start.at < 0 || t.duration.at < 0 {
		return refuse(NotThisFormat, "a table of Locust's requests has a column timestamp or start_time and a column response_time or elapsed; this header has %s", strings.Join(header, ", "))
	}
	t.class, t.method = find(header, 0, "name", "label", "url"), find(header, 0, "request_type", "method")
	t.status, t.success = find(header, 0, "status_code", "responseCode"), find(header, 0, "success")
	t.errText, t.bytesIn = find(header, 0, "exception", "error", "responseMessage"), find(header, 0, "response_length", "bytes")
	if err := t.finish(s, header); err != nil {
		return err
	}
	return t.rows(s, sep, func(cells []string, r *Row) string {
		// An exception is a failure whatever the status says.
		if text := t.errText.of(cells); t.success.at < 0 && text != "" && text != "None" && r.Outcome == record.OK {
			r.Outcome, r.Err = classify(-1, r.Status, true, text)
		}
		return ""
	})
}

// readHey reads the output of hey -o csv: one row per request, offsets in
// seconds from the start of the run. Requests that failed are not in it.
func readHey(s *source) error {
	header, sep, err := s.header()
	if err != nil {
		return err
	}
	t := newTable()
	t.start, t.duration, t.status = find(header, 1e9, "offset"), find(header, 1e9, "response-time"), find(header, 0, "status-code")
	if t.start.at < 0 || t.duration.at < 0 {
		return refuse(NotThisFormat, "hey -o csv has the columns response-time and offset; this header has %s (hey's summary is imported with --from hey-summary)", strings.Join(header, ", "))
	}
	if err := t.finish(s, header); err != nil {
		return err
	}
	s.relative = true
	s.note("failures_missing", record.Caution, 0, 0, "hey writes no row for a request that got no answer: how many failed is not known")
	return t.rows(s, sep, nil)
}

// readAB reads ab -g: one row per request, starts in whole seconds, durations
// in whole milliseconds, sorted by duration.
func readAB(s *source) error {
	header, sep, err := s.header()
	if err != nil {
		return err
	}
	if err := notAggregates(header); err != nil {
		return err
	}
	t := newTable()
	t.start, t.duration = find(header, 1e9, "seconds"), find(header, 1e6, "ttime")
	if t.start.at < 0 || t.duration.at < 0 {
		return refuse(NotThisFormat, "ab -g has the columns seconds and ttime; this header has %s (ab's summary is imported with --from ab-summary)", strings.Join(header, ", "))
	}
	if err := t.finish(s, header); err != nil {
		return err
	}
	s.coarseNS = 1e9
	s.note("outcomes_unknown", record.Caution, 0, 0, "ab -g does not say how a request ended: all count as ok; ab's summary says how many failed")
	s.note("rounded_durations", record.NoteSeverity, 0.001, 0, "ab -g rounds durations to whole milliseconds")
	return t.rows(s, sep, nil)
}

// readGatling reads the text form of simulation.log (Gatling 2 and 3 up to
// 3.11). The binary form is refused.
func readGatling(s *source) error {
	if head, _ := s.in.Peek(64); bytes.IndexByte(head, 0) >= 0 {
		return refuse(BinaryFormat, "this simulation.log is in Gatling's binary form (3.12 and later), which has no published description: import what a listener of yours writes, or the old text form")
	}
	var r Row
	known := false
	for {
		line, err := s.raw()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		cells := strings.Split(string(line), "\t")
		switch cells[0] {
		case "RUN", "USER", "GROUP", "ACTION", "ASSERTION", "ERROR":
			known = true
			continue
		case "REQUEST":
			known = true
		case "":
			if len(cells) == 1 {
				continue
			}
			fallthrough
		default:
			s.damage.add("unknown_line", s.line)
			continue
		}
		if reason := gatlingRow(cells, &r); reason != "" {
			s.damage.add(reason, s.line)
			continue
		}
		if err := s.give(&r); err != nil {
			return err
		}
	}
	if !known {
		return refuse(NotThisFormat, "no line begins with RUN, USER, GROUP or REQUEST: this is not a Gatling simulation.log")
	}
	return nil
}

// gatlingRow reads a REQUEST line: groups, name, start, end, OK or KO, a
// message, with a user's number in front in old versions.
func gatlingRow(cells []string, r *Row) string {
	for i := 4; i < len(cells); i++ {
		if cells[i] != "OK" && cells[i] != "KO" {
			continue
		}
		start, ok := parseScaled(cells[i-2], 1e6)
		end, ok2 := parseScaled(cells[i-1], 1e6)
		if !ok || !ok2 {
			continue
		}
		*r = Row{StartNS: start, DoneNS: end, Seq: -1, Class: className(cells[i-3])}
		if cells[i] == "KO" {
			text := strings.Join(cells[i+1:], " ")
			r.Outcome, r.Err = gatlingFailure(text)
		}
		return ""
	}
	return "bad_request_line"
}

// gatlingFailure tells a failed check, which an answer came before, from a
// failed connection.
func gatlingFailure(text string) (record.Outcome, record.ErrorKind) {
	low := strings.ToLower(text)
	if strings.Contains(low, "status.find") || strings.Contains(low, "status.in") || strings.Contains(low, "status(") {
		return record.HTTPError, record.ErrStatus
	}
	if strings.Contains(low, ".find") || strings.Contains(low, "found") || strings.Contains(low, "check") {
		return record.Wrong, record.ErrContent
	}
	return failure(text)
}

// ghzReport is what is read of a ghz report.
type ghzDetail struct {
	Timestamp string `json:"timestamp"`
	Latency   int64  `json:"latency"` // ns
	Error     string `json:"error"`
	Status    string `json:"status"`
}

// readGHZ reads the details of a ghz report (JSON), which stamps the end of
// each call.
func readGHZ(s *source) error {
	d := json.NewDecoder(&gauge{in: s.in, limit: 1 << 62})
	count, seen := uint64(0), uint64(0)
	found := false
	err := walkObject(d, func(key string) error {
		switch key {
		case "count":
			return d.Decode(&count)
		case "details":
			found = true
			return walkArray(d, func() error {
				var e ghzDetail
				if err := d.Decode(&e); err != nil {
					return err
				}
				s.line++
				seen++
				at, ok := parseInstant(e.Timestamp, 1)
				if !ok || e.Latency < 0 {
					s.damage.add("bad_instant", s.line)
					return nil
				}
				r := Row{StartNS: at - e.Latency, DoneNS: at, Seq: -1, Class: "call"}
				r.Outcome, r.Err = grpcOutcome(e.Status)
				return s.give(&r)
			})
		}
		return skipValue(d)
	})
	if err != nil {
		if r := asRefusal(err); r != nil {
			return r
		}
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		return refuse(NotThisFormat, "not a ghz report: %v", err)
	}
	if !found {
		return refuse(AggregatesOnly, "this ghz report has no details, so it holds no calls")
	}
	if count > seen {
		s.note("rows_missing", record.Caution, float64(count-seen), float64(count), "the report counts %d calls and lists %d: the others are not in the file, nor in any number below", count, seen)
	}
	s.note("failures_without_time", record.NoteSeverity, 0, 0, "ghz stamps the end of a call; its start is the end less the latency")
	return nil
}

func grpcOutcome(status string) (record.Outcome, record.ErrorKind) {
	switch status {
	case "OK", "":
		return record.OK, record.ErrNone
	case "DeadlineExceeded":
		return record.Timeout, record.ErrAnswerTimeout
	case "Unavailable", "ResourceExhausted":
		return record.Shed, record.ErrNone
	case "Canceled":
		return record.ConnectError, record.ErrClosed
	}
	return record.HTTPError, record.ErrStatus
}
