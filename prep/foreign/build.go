package foreign

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"time"

	"headroom/store/record"
)

// maxSpanNS bounds the time from the first request to the last: a year and a day.
const maxSpanNS = 366 * 86400e9

// maxIntervals is how many intervals a run has at most before they become wider.
const maxIntervals = 20_000

// maxInFlight bounds the requests that are open at one time.
const maxInFlight = 1 << 20

// Import is another tool's run, read and ready to be written.
type Import struct {
	Damage *Damage
	Rows   uint64 // requests

	ctx      context.Context // of Read: ends Write too
	header   record.Header
	facts    map[string]string
	notes    []record.Note
	c        *collector
	logged   []logInterval // of a histogram log, in place of c
	originNS int64         // of the run, in the file's time
	endNS    int64         // of the schedule, from the origin
	tick0    int64         // when the first request was due, in the file's time
	expectNS int64
	unitNS   int64 // of a histogram log's values
}

// Header is the run's header without run id and tool version, which the caller
// adds.
func (im *Import) Header() record.Header { return im.header }

// Close frees what the import holds on disk.
func (im *Import) Close() error {
	if im.c == nil {
		return nil
	}
	return im.c.close()
}

// baseHeader is what all imports have in common.
func baseHeader(o *Options, tool string, model record.Model) (record.Header, error) {
	h := record.Header{
		Name: o.Name, Release: o.Release, Model: model, Format: "import", Imported: tool,
		IntervalNS: o.IntervalNS, MaxUS: record.DefaultMaxUS, Shards: 1, Gates: []string{}, Thresholds: []record.Threshold{},
	}
	if h.Name == "" {
		h.Name = tool
	}
	for _, rule := range o.Gates {
		g, err := record.ParseGate(rule)
		if err != nil {
			return h, err
		}
		h.Gates = append(h.Gates, g.Rule)
		if t, ok := g.Threshold(); ok && !slices.Contains(h.Thresholds, t) {
			h.Thresholds = append(h.Thresholds, t)
		}
	}
	// Imports compare with imports of the same tool, name and schedule, and
	// with nothing else.
	key := fmt.Sprintf("import %q %q %q %d %q", tool, h.Name, o.From, o.ExpectedIntervalNS, o.ScheduledColumn)
	sum := sha256.Sum256([]byte(key))
	h.Comparable = hex.EncodeToString(sum[:])
	h.PlanDigest = h.Comparable
	return h, nil
}

func newImport(s *source, f *format, c *collector) (*Import, error) {
	if err := s.damage.judge(f.name, c.n); err != nil {
		return nil, err
	}
	if c.n == c.dropped {
		return nil, refuse(Empty, "the file holds dropped iterations only, and no request")
	}
	o := s.opt
	h, err := baseHeader(o, f.tool, s.model)
	if err != nil {
		return nil, err
	}
	for _, n := range c.names {
		h.Classes = append(h.Classes, record.Class{Name: n, Weight: 1})
	}
	im := &Import{Damage: s.damage, Rows: c.n, ctx: s.ctx, header: h, notes: s.notes, c: c, facts: map[string]string{
		"imported_tool": f.tool, "imported_format": f.name,
	}}
	im.originNS = min(c.minStart, c.minSched)
	if span := c.maxDone - im.originNS; span > maxSpanNS {
		return nil, refuse(SpanTooLong, "the requests span %.0f days, more than 366: some time stamps must be wrong, or --columns names a wrong unit", float64(span)/86400e9)
	}
	res := max(c.resolution(), s.coarseNS)
	if err := im.schedule(o, res); err != nil {
		return nil, err
	}
	im.header.Started = im.started(s)
	im.fit(res)
	im.remark(s, res)
	return im, nil
}

// started is the origin as a time: the file's, or the caller's where the file
// has offsets only.
func (im *Import) started(s *source) time.Time {
	if s.relative && im.originNS < 30*365*86400e9 {
		return s.opt.Started.UTC()
	}
	return time.Unix(0, im.originNS).UTC()
}

// schedule decides where due instants come from and where the schedule ends.
func (im *Import) schedule(o *Options, res int64) error {
	c := im.c
	gap := int64(1e3)
	if c.n > 1 {
		gap = max((c.maxSched-c.minSched)/int64(c.n-1), 1e3)
	}
	im.endNS = c.maxSched - im.originNS + max(gap, res)
	switch {
	case o.ScheduledColumn != "":
		im.header.Arrivals = record.ArrivalsRecorded
		return nil
	case o.ExpectedIntervalNS == 0:
		im.header.Arrivals = record.ArrivalsUnknown
		return nil
	}
	d := o.ExpectedIntervalNS
	if res > d {
		return refuse(ClockTooCoarse, "no schedule can be rebuilt: the file rounds instants to %s, which is more than the expected interval of %s, so how late a request was sent is not known; import it without --expected-interval",
			record.FormatDuration(res), record.FormatDuration(d))
	}
	im.header.Arrivals, im.expectNS = record.ArrivalsRebuilt, d
	im.tick0 = c.startOfMinKey
	n := im.sequence()
	if n > math.MaxInt64/8/d {
		return refuse(IntervalTooLong, "a sequence of %d requests at %s each does not fit the file's time", n, record.FormatDuration(d))
	}
	due := (c.maxDone-1-im.tick0)/d + 1
	switch {
	case float64(n) > 1.05*float64(due)+2:
		return refuse(IntervalTooLong, "no schedule can be rebuilt: at one request every %s, %d were due before the last answer, but the file has %d: the tool sent faster than that, so the expected interval is not its own",
			record.FormatDuration(d), due, n)
	case due/10 > n:
		return refuse(IntervalTooShort, "no schedule can be rebuilt: at one request every %s, %d were due before the last answer, but the file has %d, less than a tenth: the expected interval is not the tool's own",
			record.FormatDuration(d), due, n)
	}
	im.endNS = min(im.tick0+(n-1)*d, c.maxStart) - im.originNS + d
	return nil
}

// sequence is how many requests the tool's sequence has.
func (im *Import) sequence() int64 {
	if im.c.hasSeq {
		return im.c.maxSeq - im.c.minSeq + 1
	}
	return int64(im.c.n)
}

// fit sets widths, the histograms' reach and the timeout.
func (im *Import) fit(res int64) {
	h, c := &im.header, im.c
	if h.IntervalNS == 0 {
		h.IntervalNS = intervalFor(im.endNS)
	}
	h.IntervalNS = max(h.IntervalNS, res)
	longest := max(c.longest, c.longestFelt)
	if im.expectNS > 0 {
		longest = c.maxDone - im.originNS
	}
	h.MaxUS = min(max(record.DefaultMaxUS, longest/1000+longest/20_000+1), record.MaxMaxUS)
	h.TimeoutNS = c.firstTimeout
	if im.expectNS > 0 {
		h.TargetRPS = 1e9 / float64(im.expectNS)
		h.Load.RateRPS = h.TargetRPS
	}
}

// intervalFor is the narrowest usual width that gives few enough intervals.
func intervalFor(spanNS int64) int64 {
	for _, w := range []int64{1e9, 10e9, 60e9, 600e9, 3600e9} {
		if spanNS/w < maxIntervals {
			return w
		}
	}
	return 86400e9
}

// remark writes down what a reader of the numbers must know.
func (im *Import) remark(s *source, res int64) {
	c := im.c
	say := func(code string, severity record.Severity, measured, limit float64, format string, args ...any) {
		im.notes = append(im.notes, record.Note{
			Code: code, Severity: severity, Phase: -1, Measured: measured, Limit: limit, Text: fmt.Sprintf(format, args...),
		})
	}
	im.notes = append(im.notes, s.damage.notes(c.n+s.damage.Total())...)
	switch im.header.Arrivals {
	case record.ArrivalsUnknown:
		say("no_schedule", record.Caution, 0, 0, "the file does not say when requests were due, so response time here is service time and there is no omission factor; name the column with --scheduled-column, or the pace with --expected-interval")
	case record.ArrivalsRebuilt:
		say("schedule_rebuilt", record.Caution, float64(im.expectNS)/1e9, 0, "request i counts as due i times %s after the first: response times are an upper estimate, and the omission factor has two bounds", record.FormatDuration(im.expectNS))
		if s.damage.Total() > 0 && !c.hasSeq {
			say("sequence_has_holes", record.Caution, float64(s.damage.Total()), 0, "damaged rows are missing from the sequence, and the file has no numbers: each moves the rebuilt schedule of those after it by one interval")
		}
	}
	if im.originNS == c.minStart && im.header.Arrivals == record.ArrivalsRecorded && c.early > 0 {
		say("sent_early", record.NoteSeverity, float64(c.early), float64(c.n), "%d of %d requests were sent before they were due; they count as due when sent", c.early, c.n)
	}
	if res >= 1e9 {
		say("coarse_clock", record.NoteSeverity, float64(res)/1e9, 0, "the file rounds instants to %s: rates and arrivals within that are not known", record.FormatDuration(res))
	}
	if c.late > 0 {
		say("rows_sorted", record.NoteSeverity, float64(c.late), float64(c.n), "%d of %d rows were out of order and have been sorted", c.late, c.n)
	}
	if c.other > 0 {
		say("classes_folded", record.NoteSeverity, float64(c.other), maxClasses, "the file has more than %d names: %d requests of the later ones count as %s", maxClasses, c.other, otherClass)
	}
}
