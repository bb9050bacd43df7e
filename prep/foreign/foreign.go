package foreign

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"headroom/store/record"
)

// Codes of refusals. A file that is refused gives nothing at all.
const (
	NotThisFormat     = "not_this_format"
	Empty             = "empty"
	AggregatesOnly    = "aggregates_only"
	BinaryFormat      = "binary_format"
	ClockTooCoarse    = "clock_too_coarse"
	IntervalTooLong   = "interval_too_long"
	IntervalTooShort  = "interval_too_short"
	SpanTooLong       = "span_too_long"
	NoScheduledColumn = "no_scheduled_column"
	NoInstants        = "no_instants"
	BadColumns        = "bad_columns"
	UnknownUnit       = "unknown_unit"
	TooLarge          = "too_large"
)

// Refusal says why a file, or an option on it, was refused.
type Refusal struct {
	Code string
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// refuse makes a Refusal.
func refuse(code, format string, args ...any) error {
	return &Refusal{Code: code, Text: fmt.Sprintf(format, args...)}
}

// Options says how a file is to be read.
type Options struct {
	From  string       // one of Formats
	Model record.Model // what the caller knows better than the tool's habit; "" keeps the habit

	// ScheduledColumn names the column that says when each request was due:
	// NAME or NAME:UNIT, the unit of the start column unless given.
	ScheduledColumn string
	// ExpectedIntervalNS rebuilds the schedule: request i was due i intervals
	// after the first. 0 = not known.
	ExpectedIntervalNS int64
	// Columns of a generic table: FIELD=NAME[:UNIT], fields being start, end,
	// duration, status, success, class, bytes_in, bytes_out, seq, error. A
	// number in place of a name is the position of a column, from 1, in a file
	// without a header.
	Columns []string
	// EndStamps says that the start column of a JTL holds the end of each
	// request, as JMeter wrote it unless told otherwise before version 2.
	EndStamps bool
	// UnitNS is what one unit of a histogram log means in ns; 0 = what the log
	// says, or ns where it says nothing.
	UnitNS int64

	Name, Release string
	Gates         []string
	// IntervalNS is the width of an interval; 0 = 1 s, or wider for long files.
	IntervalNS int64
	// Started is the origin where the file has offsets only.
	Started time.Time
	// TempDir takes the files of the external sort; "" = the system's.
	TempDir string
	// MemoryRows is how many rows are kept in memory before they are sorted on
	// disk; 0 = 500,000, about 40 MB.
	MemoryRows int
}

// Row is one request of another tool's file, in that tool's own time.
type Row struct {
	StartNS     int64 // when it was sent; since 1970, or since the run's start where the tool writes offsets
	DoneNS      int64
	ScheduledNS int64 // when it was due; only where a scheduled column was asked for
	Seq         int64 // number in the tool's own sequence, from 0; -1 unknown
	Class       string
	Outcome     record.Outcome
	Err         record.ErrorKind
	Status      int
	BytesIn     int64
	BytesOut    int64
}

// format is one reader.
type format struct {
	name    string
	tool    string // as Header.Imported names it
	model   record.Model
	columns bool // has a header in which a scheduled column can be named
	read    func(s *source) error
}

func formats() []format {
	return []format{
		{"k6-json", "k6", record.Unknown, false, readK6JSON},
		{"k6-csv", "k6", record.Unknown, false, readK6CSV},
		{"jtl", "jmeter", record.Closed, true, readJTL},
		{"vegeta", "vegeta", record.Open, false, readVegeta},
		{"locust", "locust", record.Closed, true, readLocust},
		{"hey", "hey", record.Closed, true, readHey},
		{"ab", "ab", record.Closed, true, readAB},
		{"ghz", "ghz", record.Closed, false, readGHZ},
		{"gatling", "gatling", record.Unknown, false, readGatling},
		{"csv", "csv", record.Unknown, true, readTable},
	}
}

// Formats names the formats that become evidence.
func Formats() []string {
	names := []string{HistogramLog}
	for _, f := range formats() {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return names
}

// HistogramLog is the format of HdrHistogram interval logs, which hold
// histograms and no requests.
const HistogramLog = "hlog"

// source is a file that is being read.
type source struct {
	ctx    context.Context
	in     *bufio.Reader
	opt    *Options
	damage *Damage
	line   int      // of the last line read, from 1
	back   [][]byte // lines to be read again
	buf    []byte

	emit     func(*Row) error
	relative bool // instants are offsets from an unknown origin
	model    record.Model
	notes    []record.Note
	rows     int64
	coarseNS int64 // what the tool itself rounds its instants to; 0 = see the instants
}

// open unwraps gzip and skips a byte order mark.
func open(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if head, _ := in.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, refuse(NotThisFormat, "the file begins like gzip, but: %v", err)
		}
		in = bufio.NewReaderSize(z, 1<<16)
	}
	if head, _ := in.Peek(3); bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3) // cannot fail: three bytes were peeked
	}
	if head, err := in.Peek(1); len(head) == 0 {
		if err != nil && cutShort(err) {
			return nil, refuse(NotThisFormat, "the file begins like gzip, but: %v", err)
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading the file: %w", err)
		}
		return nil, refuse(Empty, "the file is empty")
	}
	return in, nil
}

func (s *source) note(code string, severity record.Severity, measured, limit float64, text string, args ...any) {
	s.notes = append(s.notes, record.Note{
		Code: code, Severity: severity, Phase: -1, Measured: measured, Limit: limit, Text: fmt.Sprintf(text, args...),
	})
}

// give hands a row on, or counts it as damaged where it cannot be true.
func (s *source) give(r *Row) error {
	s.rows++
	if s.rows&4095 == 0 {
		if err := s.ctx.Err(); err != nil {
			return err
		}
	}
	switch d := r.DoneNS - r.StartNS; {
	case r.Outcome == record.Dropped:
	case d < 0:
		s.damage.add("negative_duration", s.line)
		return nil
	case d > record.MaxMaxUS*1000:
		s.damage.add("impossible_duration", s.line)
		return nil
	}
	low := int64(1)
	if s.relative {
		low = 0
	}
	if r.StartNS < low || r.DoneNS > math.MaxInt64/4 || r.StartNS > math.MaxInt64/4 {
		s.damage.add("bad_instant", s.line)
		return nil
	}
	if r.BytesIn < 0 || r.BytesIn > 1<<50 {
		r.BytesIn = 0
	}
	if r.BytesOut < 0 || r.BytesOut > 1<<50 {
		r.BytesOut = 0
	}
	if r.Status < 0 || r.Status > 999 {
		r.Status = 0
	}
	return s.emit(r)
}

// Read reads a file of requests, or a histogram log, and returns what can be
// written as evidence. The Import must be closed. A *Refusal says that the file
// cannot be what the options call it, or cannot give what they ask for.
func Read(ctx context.Context, r io.Reader, o Options) (*Import, error) {
	in, err := open(r)
	if err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	s := &source{ctx: ctx, in: in, opt: &o, damage: newDamage()}
	if o.From == HistogramLog {
		return readHistogramLog(s)
	}
	for _, f := range formats() {
		if f.name == o.From {
			return readRows(s, &f)
		}
	}
	for _, p := range pointFormats() {
		if p.name == o.From {
			return nil, refuse(AggregatesOnly, "%s holds aggregates only: it can become a point of the trend, but not evidence, since its requests are gone", o.From)
		}
	}
	return nil, fmt.Errorf("--from %s: it is one of %s", o.From, strings.Join(append(Formats(), PointFormats()...), ", "))
}

func (o *Options) check() error {
	if o.ScheduledColumn != "" && o.ExpectedIntervalNS != 0 {
		return errors.New("a scheduled column and an expected interval contradict each other: give one of them")
	}
	if o.ExpectedIntervalNS < 0 {
		return fmt.Errorf("expected interval of %d ns: it must be positive", o.ExpectedIntervalNS)
	}
	switch o.Model {
	case "", record.Open, record.Closed, record.Unknown:
	default:
		return fmt.Errorf("model %q: it is one of open, closed and unknown", o.Model)
	}
	if o.IntervalNS < 0 || o.IntervalNS != 0 && o.IntervalNS < 1e6 {
		return fmt.Errorf("intervals of %d ns: at least 1 ms", o.IntervalNS)
	}
	if o.Started.IsZero() {
		o.Started = time.Unix(0, 0)
	}
	return nil
}

func readRows(s *source, f *format) (*Import, error) {
	if s.opt.ScheduledColumn != "" && !f.columns {
		return nil, refuse(NoScheduledColumn, "%s has no columns that could be named: --scheduled-column works for jtl, locust, hey, ab and csv", f.name)
	}
	s.model = f.model
	if s.opt.Model != "" {
		s.model = s.opt.Model
	}
	c := newCollector(s.opt)
	s.emit = c.add
	if err := f.read(s); err != nil {
		return nil, errors.Join(err, c.close())
	}
	im, err := newImport(s, f, c)
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return im, nil
}
