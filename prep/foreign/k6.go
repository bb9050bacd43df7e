package foreign

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"

	"headroom/store/record"
)

// k6 writes one line per metric and request. The instants are those of the end
// of a request, and http_req_duration leaves out the wait for a connection.
type k6Line struct {
	Type   string `json:"type"`
	Metric string `json:"metric"`
	Data   struct {
		Time  string            `json:"time"`
		Value float64           `json:"value"`
		Tags  map[string]string `json:"tags"`
	} `json:"data"`
}

const (
	k6Duration = "http_req_duration"
	k6Dropped  = "dropped_iterations"
)

// k6DroppedClass counts iterations that k6 dropped: requests that were due and
// never sent.
const k6DroppedClass = "dropped_iterations"

// maxDropped bounds the iterations that one line may drop.
const maxDropped = 1 << 20

func readK6JSON(s *source) error {
	seen := false
	for {
		line, err := s.raw()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] != '{' || line[len(line)-1] != '}' {
			s.damage.add("bad_json", s.line)
			continue
		}
		duration := bytes.Contains(line, []byte(`"`+k6Duration+`"`))
		if !duration && !bytes.Contains(line, []byte(`"`+k6Dropped+`"`)) {
			seen = seen || bytes.Contains(line, []byte(`"Point"`)) || bytes.Contains(line, []byte(`"Metric"`))
			continue
		}
		var l k6Line
		if err := json.Unmarshal(line, &l); err != nil {
			s.damage.add("bad_json", s.line)
			continue
		}
		if seen = seen || l.Type == "Point" || l.Type == "Metric"; l.Type != "Point" {
			continue
		}
		if err := s.k6Point(l.Metric, l.Data.Time, l.Data.Value, func(tag string) string { return l.Data.Tags[tag] }); err != nil {
			return err
		}
	}
	if !seen {
		return refuse(NotThisFormat, "no line is a point or a metric of k6 --out json (a summary is imported with --from k6-summary)")
	}
	return nil
}

func readK6CSV(s *source) error {
	header, sep, err := s.header()
	if err != nil {
		return err
	}
	metric, at, value := find(header, 0, "metric_name"), find(header, 0, "timestamp"), find(header, 0, "metric_value")
	if metric.at < 0 || at.at < 0 || value.at < 0 {
		return refuse(NotThisFormat, "k6 --out csv has the columns metric_name, timestamp and metric_value; this header has %s", strings.Join(header, ", "))
	}
	where := map[string]int{}
	for i, h := range header {
		where[h] = i
	}
	for {
		cells, err := s.record(sep)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(cells) <= max(metric.at, at.at, value.at) {
			s.damage.add("too_few_cells", s.line)
			continue
		}
		name := cells[metric.at]
		if name != k6Duration && name != k6Dropped {
			continue
		}
		v, err := strconv.ParseFloat(cells[value.at], 64)
		if err != nil {
			s.damage.add("bad_duration", s.line)
			continue
		}
		err = s.k6Point(name, cells[at.at], v, func(tag string) string {
			if i, ok := where[tag]; ok && i < len(cells) {
				return cells[i]
			}
			return ""
		})
		if err != nil {
			return err
		}
	}
}

// k6Point turns a point into a row.
func (s *source) k6Point(metric, stamp string, value float64, tag func(string) string) error {
	end, ok := parseInstant(stamp, 0)
	if !ok {
		s.damage.add("bad_instant", s.line)
		return nil
	}
	if metric == k6Dropped {
		if !(value >= 0 && value <= maxDropped) {
			s.damage.add("bad_count", s.line)
			return nil
		}
		for range int(value) {
			if err := s.give(&Row{StartNS: end, DoneNS: end, Seq: -1, Class: k6DroppedClass, Outcome: record.Dropped, Err: record.ErrInFlightLimit}); err != nil {
				return err
			}
		}
		return nil
	}
	if metric != k6Duration {
		return nil
	}
	if !(value >= 0 && value*1e6 <= record.MaxMaxUS*1000) {
		s.damage.add("bad_duration", s.line)
		return nil
	}
	r := Row{StartNS: end - int64(value*1e6+0.5), DoneNS: end, Seq: -1}
	status := tag("status")
	r.Status, _ = strconv.Atoi(status)
	success := parseSuccess(tag("expected_response"))
	if code := tag("error_code"); r.Status == 0 && code != "" {
		r.Outcome, r.Err = k6Error(code)
	} else {
		r.Outcome, r.Err = classify(success, r.Status, status != "", tag("error"))
	}
	label := tag("name")
	if label == "" {
		label = tag("url")
	}
	if m := tag("method"); m != "" {
		label = m + " " + label
	}
	r.Class = className(label)
	return s.give(&r)
}

// k6Error maps k6's error codes, from its documentation.
func k6Error(code string) (record.Outcome, record.ErrorKind) {
	n, _ := strconv.Atoi(code)
	switch {
	case n == 1050:
		return record.Timeout, record.ErrAnswerTimeout
	case n >= 1100 && n < 1200:
		return record.ConnectError, record.ErrDNS
	case n == 1211:
		return record.ConnectError, record.ErrConnectTimeout
	case n == 1212:
		return record.ConnectError, record.ErrRefused
	case n == 1220 || n == 1221:
		return record.ConnectError, record.ErrReset
	case n >= 1300 && n < 1400:
		return record.ConnectError, record.ErrTLS
	case n >= 1400 && n < 1600:
		return record.HTTPError, record.ErrStatus
	}
	return record.ConnectError, record.ErrProtocol
}
