package store

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"headroom/store/record"
)

// What a received run may hold, beyond what the codec allows to any file. The
// numbers are far above what runs have; they bound what an analysis of the run
// costs, and keep sums of counts from overflowing.
const (
	maxName      = 200  // bytes of a name
	maxText      = 2000 // bytes of a sentence
	maxPlan      = 1 << 20
	maxList      = 1000 // classes, thresholds, gates, series, faults, facts
	maxPhases    = 5000
	maxNotes     = 100_000
	maxCount     = uint64(1e15)
	minInterval  = int64(1e6)           // 1 ms in nanoseconds
	maxHistogram = int64(3_600_000_000) // one hour in microseconds
)

// checkText refuses text that is too long, not UTF-8, or has control characters.
func checkText(what, s string, most int) error {
	if len(s) > most {
		return strange("%s has %d bytes, not at most %d", what, len(s), most)
	}
	if !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		return strange("%s is not plain text", what)
	}
	return nil
}

func checkTexts(what string, most int, all ...string) error {
	for _, s := range all {
		if err := checkText(what, s, most); err != nil {
			return err
		}
	}
	return nil
}

// checkHeader refuses what no plan says, and what would make an analysis keep
// too many histograms.
func checkHeader(h *record.Header, lim Limits) error {
	if err := checkID(h.RunID); err != nil {
		return strange("%v", err)
	}
	if err := checkTexts("a name in the header", maxName, h.Name, h.Release, string(h.Model), h.Format, h.Arrivals, h.HTTPVersion,
		h.ToolVersion, h.PlanDigest, h.Comparable, h.Imported); err != nil {
		return err
	}
	if err := checkText("the plan", h.Plan, maxPlan); err != nil {
		return err
	}
	for what, n := range map[string]int{
		"classes": len(h.Classes), "thresholds": len(h.Thresholds), "gates": len(h.Gates), "series": len(h.Observed),
		"faults": len(h.Faults), "limits": len(h.Limits), "multiples of the knee": len(h.Load.Beyond),
	} {
		if n > maxList {
			return strange("%d %s, not at most %d", n, what, maxList)
		}
	}
	for _, c := range h.Classes {
		if err := checkTexts("the name of a class", maxName, c.Name, c.Step); err != nil {
			return err
		}
	}
	for _, t := range h.Thresholds {
		if err := checkText("the name of a threshold", t.Name, maxName); err != nil {
			return err
		}
	}
	if err := checkTexts("a gate", maxText, h.Gates...); err != nil {
		return err
	}
	for _, s := range h.Observed {
		if err := checkTexts("the name of a series", maxName, s.Name, s.Source, s.Unit); err != nil {
			return err
		}
	}
	for _, f := range h.Faults {
		if err := checkTexts("the name of a fault", maxName, f.Name, f.Kind, f.On); err != nil {
			return err
		}
	}
	for name := range h.Limits {
		if err := checkText("the name of a limit", name, maxName); err != nil {
			return err
		}
	}
	if p := h.Production; p != nil {
		if err := checkTexts("production", maxName, p.Taken, p.Source); err != nil {
			return err
		}
		if len(p.DailyPeaks) > 5000 {
			return strange("%d daily peaks, not at most 5000", len(p.DailyPeaks))
		}
	}
	switch {
	case h.Started.Year() < 2000 || h.Started.Year() > 9999:
		return strange("it started in the year %d", h.Started.Year())
	case h.IntervalNS < minInterval || h.IntervalNS > longest:
		return strange("intervals of %d ns", h.IntervalNS)
	case h.MaxUS > maxHistogram:
		return strange("histograms up to %d µs, not at most %d", h.MaxUS, maxHistogram)
	case h.TimeoutNS < 0 || h.TimeoutNS > longest || h.DeadlineNS < 0 || h.DeadlineNS > longest:
		return strange("timeout %d ns, deadline %d ns", h.TimeoutNS, h.DeadlineNS)
	case h.Shards < 0 || h.Shard < 0 || h.Shards > 1<<20:
		return strange("shard %d of %d", h.Shard, h.Shards)
	}
	return checkCost(h, 0, lim)
}

// checkCost bounds the histograms that an analysis keeps at once: three for
// each class, four for each phase.
func checkCost(h *record.Header, phases int, lim Limits) error {
	each := record.BucketIndex(h.MaxUS) + 1
	if n := each * (3*len(h.Classes) + 4*phases); n > lim.Buckets {
		return fmt.Errorf("%w: %d classes and %d phases with histograms of %d buckets", ErrTooLarge, len(h.Classes), phases, each)
	}
	return nil
}

func checkFacts(f *record.Facts) error {
	if len(f.Generator) > maxList || len(f.Target) > maxList || len(f.Changed) > maxList {
		return strange("more than %d facts", maxList)
	}
	for _, m := range []map[string]string{f.Generator, f.Target} {
		for k, v := range m {
			if err := checkText("the name of a fact", k, maxName); err != nil {
				return err
			}
			if err := checkText("a fact", v, 16<<10); err != nil {
				return err
			}
		}
	}
	return checkTexts("the name of a fact", maxName, f.Changed...)
}

func (rc *receiver) acceptPhase(body []byte) error {
	p, err := decodeJSON[record.Phase](body)
	if err != nil {
		return err
	}
	if p.Index != len(rc.phases) {
		return strange("phase %d where phase %d was due", p.Index, len(rc.phases))
	}
	if len(rc.phases) >= maxPhases {
		return fmt.Errorf("%w: more than %d phases", ErrTooLarge, maxPhases)
	}
	if err := checkText("the kind of a phase", string(p.Kind), maxName); err != nil {
		return err
	}
	if p.StartNS < 0 || p.EndNS < p.StartNS || p.EndNS > longest || p.SettleNS < 0 || p.SettleNS > longest || p.Step < -1 || p.Step > maxPhases {
		return strange("phase %d is from %d to %d ns", p.Index, p.StartNS, p.EndNS)
	}
	rc.phases = append(rc.phases, p)
	if err := checkCost(&rc.header, len(rc.phases), rc.in.lim); err != nil {
		return err
	}
	return rc.put(bucketPhases, key64(uint64(p.Index)), body, true)
}

func (rc *receiver) acceptInterval(body []byte) error {
	if rc.seen[frameInterval] > rc.in.lim.Intervals {
		return fmt.Errorf("%w: more than %d intervals", ErrTooLarge, rc.in.lim.Intervals)
	}
	iv, err := record.DecodeInterval(body)
	if err != nil {
		return strange("%v", err)
	}
	if iv.Phase >= len(rc.phases) {
		return strange("interval %d belongs to phase %d of %d", iv.Index, iv.Phase, len(rc.phases))
	}
	if iv.Phase < rc.phase || iv.Phase == rc.phase && iv.Index <= rc.index {
		return strange("interval %d of phase %d after interval %d of phase %d", iv.Index, iv.Phase, rc.index, rc.phase)
	}
	rc.phase, rc.index = iv.Phase, iv.Index
	if iv.WidthNS <= 0 || iv.StartNS+iv.WidthNS > longest {
		return strange("interval %d of phase %d: start %d ns, width %d ns", iv.Index, iv.Phase, iv.StartNS, iv.WidthNS)
	}
	if err := rc.header.Fits(iv); err != nil {
		return strange("%v", err)
	}
	for _, cells := range [][]record.Cell{iv.Cells, iv.Flows} {
		for i := range cells {
			if err := checkCell(&cells[i]); err != nil {
				return strange("interval %d of phase %d, class %s: %v", iv.Index, iv.Phase, rc.header.Classes[cells[i].Class].Name, err)
			}
		}
	}
	for _, n := range append(iv.Moment.Done[:], iv.Moment.Sends, iv.Moment.PeakSent100ms) {
		if n > maxCount {
			return strange("interval %d of phase %d counts %d", iv.Index, iv.Phase, n)
		}
	}
	return rc.put(bucketIntervals, key32(iv.Phase, iv.Index), body, true)
}

// checkCell bounds all counts first, so that the law is not fooled by overflow.
func checkCell(c *record.Cell) error {
	counts := append(c.Counts.By[:], c.Counts.Scheduled, c.Counts.Sent, c.Counts.Unsent, c.Counts.Attempts)
	counts = append(append(counts, c.AtOrBelow...), c.LateSends[:]...)
	for _, m := range c.Status {
		counts = append(counts, m)
	}
	for _, m := range c.Errors {
		counts = append(counts, m)
	}
	for _, h := range []*record.Histogram{c.OKResponse, c.OtherResponse, c.Service, c.Lag} {
		for b := range h.Each {
			if b.Count > maxCount {
				return fmt.Errorf("a histogram counts %d", b.Count)
			}
		}
		counts = append(counts, h.Count(), h.Clamped())
	}
	for _, n := range counts {
		if n > maxCount {
			return fmt.Errorf("a count of %d", n)
		}
	}
	if c.Counts.BytesIn > 1<<62 || c.Counts.BytesOut > 1<<62 {
		return fmt.Errorf("%d bytes in, %d out", c.Counts.BytesIn, c.Counts.BytesOut)
	}
	return c.Counts.Check()
}

func (rc *receiver) acceptSend(body []byte) error {
	s, err := record.DecodeSendSample(body)
	if err != nil {
		return strange("%v", err)
	}
	at := [2]int{s.Phase, s.Window}
	first := rc.seen[frameSend] == 1
	if s.Phase >= len(rc.phases) || !first && (at[0] < rc.lastSend[0] || at[0] == rc.lastSend[0] && at[1] <= rc.lastSend[1]) {
		return strange("send window %d of phase %d is out of order", s.Window, s.Phase)
	}
	rc.lastSend = at
	if rc.readings += len(s.Sent); rc.readings > rc.in.lim.Samples {
		return fmt.Errorf("%w: more than %d readings", ErrTooLarge, rc.in.lim.Samples)
	}
	return rc.put(bucketSends, key32(s.Phase, s.Window), body, true)
}

func (rc *receiver) checkSamples(s []record.Sample) error {
	if len(s) == 0 {
		return strange("an empty batch of readings")
	}
	if rc.readings += len(s); rc.readings > rc.in.lim.Samples {
		return fmt.Errorf("%w: more than %d readings", ErrTooLarge, rc.in.lim.Samples)
	}
	for _, r := range s {
		if r.AtNS < -longest || r.AtNS > longest {
			return strange("a reading at %d ns", r.AtNS)
		}
	}
	return nil
}

func (rc *receiver) checkFault(e *record.FaultEvent) error {
	if rc.seen[frameFault] > maxNotes {
		return fmt.Errorf("%w: more than %d fault events", ErrTooLarge, maxNotes)
	}
	if e.AtNS < -longest || e.AtNS > longest {
		return strange("a fault event at %d ns", e.AtNS)
	}
	return checkText("a fault event", e.Event, maxName)
}

func (rc *receiver) checkNote(n *record.Note) error {
	if rc.seen[frameNote] > maxNotes {
		return fmt.Errorf("%w: more than %d notes", ErrTooLarge, maxNotes)
	}
	if err := checkTexts("the code of a note", maxName, n.Code, string(n.Severity)); err != nil {
		return err
	}
	return checkText("a note", n.Text, maxText)
}

func checkEnd(e *record.End) error {
	switch e.State {
	case record.Complete, record.Interrupted, record.Failed:
	default:
		return strange("it ended as %q", e.State)
	}
	if e.AtNS < 0 || e.AtNS > longest {
		return strange("it ended at %d ns", e.AtNS)
	}
	return checkText("the reason of its end", e.Reason, maxText)
}
