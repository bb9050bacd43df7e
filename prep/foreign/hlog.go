package foreign

import (
	"cmp"
	"errors"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"headroom/store/record"
)

// maxLogBuckets bounds what a histogram log may hold in memory, in buckets that
// are not empty.
const maxLogBuckets = 8 << 20

// maxFelt bounds the sum of all durations of a log, in ns: thirty years.
const maxFelt = 1e18

// logLine is one line of a histogram log.
type logLine struct {
	startNS, endNS int64 // since 1970 or since the log's start
	tag            string
	h              *hdrHistogram
}

// logInterval is what lies between two starts.
type logInterval struct {
	startNS, widthNS int64
	lines            []logLine
}

var (
	startTime = regexp.MustCompile(`^#\[StartTime: ([0-9.]+) `)
	baseTime  = regexp.MustCompile(`^#\[BaseTime: ([0-9.]+) `)
	ourLog    = "#[headroom run "
)

// hlog is a log that is being read.
type hlog struct {
	s       *source
	startNS int64
	baseNS  int64
	based   bool
	ours    bool
	lines   []logLine
	held    int     // buckets
	felt    float64 // durations summed, ns
}

// readHistogramLog reads an HdrHistogram interval log of encoding V0, V1 or V2,
// with or without tags. A log that headroom exported holds both clocks and gets
// its omission factor back.
func readHistogramLog(s *source) (*Import, error) {
	if s.opt.ScheduledColumn != "" || s.opt.ExpectedIntervalNS != 0 {
		return nil, refuse(AggregatesOnly, "a histogram log has no single requests: no schedule can be read from it or rebuilt")
	}
	l := &hlog{s: s}
	for {
		line, err := s.raw()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if err := l.read(string(line)); err != nil {
			return nil, err
		}
	}
	if err := s.damage.judge(HistogramLog, uint64(len(l.lines))); err != nil {
		return nil, err
	}
	return l.done()
}

func (l *hlog) read(line string) error {
	if strings.TrimSpace(line) == "" {
		return nil
	}
	if line[0] == '#' {
		if m := startTime.FindStringSubmatch(line); m != nil {
			l.startNS, _ = parseScaled(m[1], 1e9)
		}
		if m := baseTime.FindStringSubmatch(line); m != nil {
			l.baseNS, l.based = 0, true
			l.baseNS, _ = parseScaled(m[1], 1e9)
		}
		l.ours = l.ours || strings.HasPrefix(line, ourLog) && strings.Contains(line, "values in microseconds")
		return nil
	}
	if strings.HasPrefix(line, `"StartTimestamp"`) {
		return nil
	}
	tag := ""
	if strings.HasPrefix(line, "Tag=") {
		var found bool
		tag, line, found = strings.Cut(line[4:], ",")
		if !found {
			l.s.damage.add("missing_fields", l.s.line)
			return nil
		}
	}
	cells := strings.SplitN(line, ",", 4)
	if len(cells) < 4 {
		l.s.damage.add("missing_fields", l.s.line)
		return nil
	}
	start, ok := parseScaled(cells[0], 1e9)
	width, ok2 := parseScaled(cells[1], 1e9)
	if !ok || !ok2 || start < 0 || width < 0 || width > maxSpanNS {
		l.s.damage.add("bad_instant", l.s.line)
		return nil
	}
	h, err := decodeHDR(cells[3])
	if err != nil {
		reason := errPayload
		for _, e := range []error{errBase64, errCookie, errGeometry} {
			if errors.Is(err, e) {
				reason = e
			}
		}
		l.s.damage.add(reason.Error(), l.s.line)
		return nil
	}
	var felt float64 // ns, of all requests together
	for _, b := range h.buckets {
		felt += float64(b.count) * float64(b.high) * float64(l.unit())
	}
	if l.felt += felt; felt > maxFelt || l.felt > maxFelt {
		l.felt -= felt
		l.s.damage.add("impossible_count", l.s.line)
		return nil
	}
	// What HdrHistogram's own readers do: stamps more than a year before the
	// start are offsets.
	switch {
	case l.based:
		start += l.baseNS
	case start < l.startNS-365*86400e9:
		start += l.startNS
	}
	if l.held += len(h.buckets); l.held > maxLogBuckets {
		return refuse(TooLarge, "the log holds more than %d buckets: split it", maxLogBuckets)
	}
	l.lines = append(l.lines, logLine{start, start + width, tag, h})
	return nil
}

// unit is what one unit of the log's values means in ns.
func (l *hlog) unit() int64 {
	switch {
	case l.s.opt.UnitNS > 0:
		return l.s.opt.UnitNS
	case l.ours:
		return 1000
	}
	return 1
}

func (l *hlog) done() (*Import, error) {
	s := l.s
	unit := l.unit()
	if s.opt.UnitNS == 0 && !l.ours {
		s.note("assumed_unit", record.Caution, 0, 0, "a histogram log does not name its unit: nanoseconds were assumed; say another with --unit")
	}
	slices.SortStableFunc(l.lines, func(a, b logLine) int { return cmp.Compare(a.startNS, b.startNS) })
	model := s.opt.Model
	if model == "" {
		if model = record.Unknown; l.ours {
			model = record.Open
		}
	}
	h, err := baseHeader(s.opt, "hdrhistogram", model)
	if err != nil {
		return nil, err
	}
	h.Arrivals = record.ArrivalsUnknown
	if l.ours {
		h.Imported, h.Arrivals = "headroom", record.ArrivalsRecorded
	}
	im := &Import{Damage: s.damage, ctx: s.ctx, header: h, facts: map[string]string{"imported_tool": h.Imported, "imported_format": HistogramLog}}
	im.originNS = l.lines[0].startNS
	last := l.lines[0].endNS
	var top int64
	tags := map[string]bool{}
	for i := range l.lines {
		last = max(last, l.lines[i].endNS)
		tags[l.class(l.lines[i].tag)] = true
		if !l.ours || !strings.HasSuffix(l.lines[i].tag, serviceTag) && !strings.HasSuffix(l.lines[i].tag, lagTag) {
			im.Rows += l.lines[i].h.total
		}
		if b := l.lines[i].h.buckets; len(b) > 0 {
			top = max(top, b[len(b)-1].high)
		}
	}
	if last-im.originNS > maxSpanNS {
		return nil, refuse(SpanTooLong, "the log spans %.0f days, more than 366: some time stamps must be wrong", float64(last-im.originNS)/86400e9)
	}
	if top > math.MaxInt64/4/unit || top*unit/1000 > record.MaxMaxUS {
		return nil, refuse(UnknownUnit, "the log holds values up to %s units, which is more than a day: name the right unit with --unit", strconv.FormatInt(top, 10))
	}
	im.header.MaxUS = max(record.DefaultMaxUS, top*unit/1000+1)
	im.header.Started = time.Unix(0, im.originNS).UTC()
	if im.originNS < 30*365*86400e9 {
		im.header.Started = s.opt.Started.UTC()
	}
	for t := range tags {
		im.header.Classes = append(im.header.Classes, record.Class{Name: t, Weight: 1})
	}
	if len(tags) > maxClasses {
		return nil, refuse(NotThisFormat, "the log has %d tags, more than %d", len(tags), maxClasses)
	}
	slices.SortFunc(im.header.Classes, func(a, b record.Class) int { return strings.Compare(a.Name, b.Name) })
	if len(im.header.Thresholds) > 0 {
		return nil, refuse(AggregatesOnly, "gates on a latency are counted exactly, and a histogram log holds rounded values only: leave --gate away")
	}
	l.cut(im, last)
	s.note("outcomes_unknown", record.Caution, 0, 0, "a histogram log does not say how requests ended: all count as ok")
	s.note("rounded_durations", record.NoteSeverity, 0, 0, "durations are the upper edges of the log's buckets; the mean is of their middles")
	if h.Arrivals == record.ArrivalsUnknown {
		s.note("no_schedule", record.Caution, 0, 0, "the log does not say when requests were due: its values count for both clocks, and there is no omission factor")
	}
	im.notes = append(s.notes, s.damage.notes(uint64(len(l.lines))+s.damage.Total())...)
	im.facts["value_unit_ns"] = strconv.FormatInt(unit, 10)
	im.unitNS = unit
	return im, nil
}

// cut makes intervals that follow on each other: one from each start to the
// next, and an empty one where the log has a hole.
func (l *hlog) cut(im *Import, last int64) {
	var widest int64
	for i := 0; i < len(l.lines); {
		j := i
		start, end := l.lines[i].startNS, int64(0)
		// Lines of other tags begin within a hundredth of a second.
		for j < len(l.lines) && l.lines[j].startNS-start < 10e6 {
			end = max(end, l.lines[j].endNS)
			j++
		}
		next := last
		if j < len(l.lines) {
			next = l.lines[j].startNS
		}
		iv := logInterval{startNS: start - im.originNS, widthNS: next - start, lines: l.lines[i:j]}
		if length := max(end-start, 1e6); next-start > length+length/2 {
			iv.widthNS = length
			im.logged = append(im.logged, iv)
			iv = logInterval{startNS: iv.startNS + length, widthNS: next - start - length}
		}
		im.logged = append(im.logged, iv)
		widest = max(widest, end-start)
		i = j
	}
	im.endNS = last - im.originNS
	if im.header.IntervalNS == 0 {
		im.header.IntervalNS = max(widest, 1e6)
	}
}
