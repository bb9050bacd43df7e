package foreign

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"headroom/store/record"
)

// cell says where a field stands in a table and in which unit.
type cell struct {
	at     int   // column, from 0; -1: not there
	unitNS int64 // of a number; 0: an instant whose size tells
}

var absent = cell{at: -1}

// table says where the fields of a request stand in a row.
type table struct {
	start, end, duration, scheduled cell
	seq, status, success, class     cell
	bytesIn, bytesOut, errText      cell
	method                          cell
	width                           int // least number of cells of a row
}

func newTable() table {
	return table{
		start: absent, end: absent, duration: absent, scheduled: absent, seq: absent, status: absent,
		success: absent, class: absent, bytesIn: absent, bytesOut: absent, errText: absent, method: absent,
	}
}

// find is the first of the names that the header has, whatever the case.
func find(header []string, unitNS int64, names ...string) cell {
	for _, n := range names {
		if i := slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), n) }); i >= 0 {
			return cell{i, unitNS}
		}
	}
	return absent
}

// finish looks for the scheduled column and sets the least width of a row.
func (t *table) finish(s *source, header []string) error {
	if name := s.opt.ScheduledColumn; name != "" {
		var err error
		if t.scheduled, err = namedCell(name, header, t.start.unitNS); err != nil {
			return refuse(NoScheduledColumn, "--scheduled-column: %v", err)
		}
	}
	for _, c := range []cell{t.start, t.end, t.duration, t.scheduled, t.status, t.success} {
		t.width = max(t.width, c.at+1)
	}
	return nil
}

// namedCell finds NAME or NAME:UNIT, or a position from 1 where there is no header.
func namedCell(spec string, header []string, unitNS int64) (cell, error) {
	name, unit := spec, ""
	if i := strings.LastIndexByte(spec, ':'); i >= 0 {
		name, unit = spec[:i], spec[i+1:]
	}
	c := find(header, unitNS, name)
	if c.at < 0 {
		if n, err := strconv.Atoi(name); err == nil && n > 0 && n <= 10_000 && header == nil {
			c = cell{n - 1, unitNS}
		}
	}
	if c.at < 0 {
		if near := record.Nearest(name, header); near != "" {
			return absent, refuse(BadColumns, "there is no column %q; did you mean %q?", name, near)
		}
		return absent, refuse(BadColumns, "there is no column %q; the header has %s", name, strings.Join(header, ", "))
	}
	switch {
	case unit == "rfc3339" || unit == "auto":
		c.unitNS = 0
	case unit != "":
		var ok bool
		if c.unitNS, ok = unitOf(unit); !ok {
			return absent, refuse(BadColumns, "column %q: unknown unit %q; one of ns, us, ms, s and rfc3339", name, unit)
		}
	}
	return c, nil
}

func (c cell) of(cells []string) string {
	if c.at < 0 || c.at >= len(cells) {
		return ""
	}
	return cells[c.at]
}

// row reads a row; the reason names what is wrong with it, "" where nothing is.
func (t *table) row(cells []string, r *Row) (reason string) {
	*r = Row{Seq: -1}
	if len(cells) < t.width {
		return "too_few_cells"
	}
	var ok bool
	if t.start.at >= 0 {
		if r.StartNS, ok = parseInstant(t.start.of(cells), t.start.unitNS); !ok {
			return "bad_instant"
		}
	}
	var took int64
	if t.duration.at >= 0 {
		if took, ok = parseScaled(t.duration.of(cells), t.duration.unitNS); !ok {
			return "bad_duration"
		}
		if took < 0 {
			return "negative_duration"
		}
	}
	switch {
	case t.end.at >= 0:
		if r.DoneNS, ok = parseInstant(t.end.of(cells), t.end.unitNS); !ok {
			return "bad_instant"
		}
		if t.start.at < 0 {
			r.StartNS = r.DoneNS - took
		}
	default:
		r.DoneNS = r.StartNS + took
	}
	if t.scheduled.at >= 0 {
		if r.ScheduledNS, ok = parseInstant(t.scheduled.of(cells), t.scheduled.unitNS); !ok {
			return "bad_scheduled"
		}
	}
	if t.seq.at >= 0 {
		n, err := strconv.ParseInt(strings.TrimSpace(t.seq.of(cells)), 10, 62)
		if err != nil || n < 0 {
			return "bad_sequence"
		}
		r.Seq = n
	}
	r.BytesIn, _ = strconv.ParseInt(t.bytesIn.of(cells), 10, 64)
	r.BytesOut, _ = strconv.ParseInt(t.bytesOut.of(cells), 10, 64)
	success := parseSuccess(t.success.of(cells))
	if t.success.at >= 0 && success == 0 {
		return "bad_success"
	}
	status := t.status.of(cells)
	text := t.errText.of(cells)
	if n, err := strconv.Atoi(strings.TrimSpace(status)); err == nil {
		r.Status = n
	} else if strings.TrimSpace(status) != "" {
		text = status + " " + text
	}
	r.Outcome, r.Err = classify(success, r.Status, t.status.at >= 0, text)
	label := t.class.of(cells)
	if m := t.method.of(cells); m != "" && label != "" {
		label = m + " " + label
	}
	r.Class = className(label)
	return ""
}

// rows reads all rows that are left.
func (t *table) rows(s *source, sep byte, fix func([]string, *Row) string) error {
	var r Row
	for {
		cells, err := s.record(sep)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		reason := t.row(cells, &r)
		if reason == "" && fix != nil {
			reason = fix(cells, &r)
		}
		if reason == skip {
			continue
		}
		if reason != "" {
			s.damage.add(reason, s.line)
			continue
		}
		if err := s.give(&r); err != nil {
			return err
		}
	}
}

// skip in place of a reason leaves a row out without calling it damaged.
const skip = "-"

// header reads the first row and its separator.
func (s *source) header() (cells []string, sep byte, err error) {
	line, err := s.raw()
	if err == io.EOF {
		return nil, 0, refuse(Empty, "the file is empty")
	}
	if err != nil {
		return nil, 0, err
	}
	sep = separator(line)
	s.push(line)
	cells, err = s.record(sep)
	if err == io.EOF {
		return nil, 0, refuse(Empty, "the file has no row")
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells, sep, err
}

// tableFields are the fields of a generic table, with the names under which
// they are looked for where the caller names none.
var tableFields = []struct {
	field string
	names []string
}{
	{"start", []string{"start", "sent", "started", "start_time", "arrival", "timestamp", "time"}},
	{"end", []string{"end", "done", "finish", "finished", "end_time"}},
	{"duration", []string{"duration", "latency", "elapsed", "response_time", "service"}},
	{"status", []string{"status", "status_code", "code"}},
	{"success", []string{"success", "ok"}},
	{"class", []string{"class", "label", "name"}},
	{"bytes_in", []string{"bytes_in", "bytes"}},
	{"bytes_out", []string{"bytes_out"}},
	{"seq", []string{"seq"}},
	{"error", []string{"error"}},
}

func (t *table) field(name string) *cell {
	return map[string]*cell{
		"start": &t.start, "end": &t.end, "duration": &t.duration, "status": &t.status, "success": &t.success,
		"class": &t.class, "bytes_in": &t.bytesIn, "bytes_out": &t.bytesOut, "seq": &t.seq, "error": &t.errText,
	}[name]
}

// readTable reads a table whose columns the caller names.
func readTable(s *source) error {
	t := newTable()
	var header []string
	headless := len(s.opt.Columns) > 0 && !slices.ContainsFunc(s.opt.Columns, func(c string) bool {
		_, spec, _ := strings.Cut(c, "=")
		name, _, _ := strings.Cut(spec, ":")
		_, err := strconv.Atoi(name)
		return err != nil
	})
	cells, sep, err := s.header()
	if err != nil {
		return err
	}
	if headless {
		s.push([]byte(strings.Join(quoteAll(cells, sep), string(sep))))
	} else {
		header = cells
	}
	for _, c := range s.opt.Columns {
		field, spec, _ := strings.Cut(c, "=")
		into := t.field(field)
		if into == nil || spec == "" {
			names := make([]string, len(tableFields))
			for i, f := range tableFields {
				names[i] = f.field
			}
			return refuse(BadColumns, "--columns %s: write FIELD=COLUMN[:UNIT], FIELD being one of %s", c, strings.Join(names, ", "))
		}
		if *into, err = namedCell(spec, header, 0); err != nil {
			return err
		}
		if field == "duration" && into.unitNS == 0 {
			if into.unitNS = suffixUnit(spec); into.unitNS == 0 {
				return refuse(BadColumns, "--columns %s: a duration needs a unit, as in duration=COLUMN:ms", c)
			}
		}
	}
	if len(s.opt.Columns) == 0 {
		t.guess(header)
	}
	if t.duration.at < 0 && (t.start.at < 0 || t.end.at < 0) || t.start.at < 0 && t.end.at < 0 {
		return refuse(BadColumns, "a table needs two of start, end and duration, with their units; name them with --columns, as in --columns start=COLUMN:ms,duration=COLUMN:ms (the header is %s)", strings.Join(cells, ", "))
	}
	if t.end.at >= 0 && t.start.at >= 0 {
		t.duration = absent
	}
	if err := t.finish(s, header); err != nil {
		return err
	}
	s.relative = true // small numbers are offsets; those since 1970 are large
	return t.rows(s, sep, nil)
}

// guess finds columns named NAME or NAME_UNIT.
func (t *table) guess(header []string) {
	for _, f := range tableFields {
		into := t.field(f.field)
		for _, name := range f.names {
			for i, h := range header {
				base, unit := strings.ToLower(h), int64(0)
				if u := suffixUnit(base); u != 0 {
					unit = u
					base = base[:strings.LastIndexByte(base, '_')]
					base = strings.TrimSuffix(base, "_unix")
				}
				if base == name && into.at < 0 && (f.field != "duration" || unit != 0) {
					*into = cell{i, unit}
				}
			}
		}
	}
}

// suffixUnit is the unit that a name ends with, as in latency_ms; 0 without one.
func suffixUnit(name string) int64 {
	name, _, _ = strings.Cut(name, ":")
	i := strings.LastIndexByte(name, '_')
	if i < 0 {
		return 0
	}
	u, _ := unitOf(strings.ToLower(name[i+1:]))
	return u
}

// quoteAll writes cells so that record reads them back.
func quoteAll(cells []string, sep byte) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		if strings.ContainsAny(c, "\"\n"+string(sep)) {
			c = `"` + strings.ReplaceAll(c, `"`, `""`) + `"`
		}
		out[i] = c
	}
	return out
}
