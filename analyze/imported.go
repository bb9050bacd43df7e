package analyze

import (
	"fmt"
	"slices"

	"headroom/store/record"
)

// clockModel is the model by which the clocks of a run are judged. An import
// has two clocks only where its file says when each request was due; elsewhere
// it is judged like users who wait, which have no omission factor.
func clockModel(h *record.Header) record.Model {
	switch {
	case h.Imported == "":
		return h.Model
	case h.Arrivals == record.ArrivalsRecorded:
		return record.Open
	}
	return record.Closed
}

// imported adds what is known of an import's schedule to the trust in it: a
// factor estimated from a rebuilt schedule is held to the limits of a measured
// one, its lower bound to what makes a run untrusted and its upper bound to
// what makes it suspect. A run that nobody can check against a schedule is
// suspect.
func (r *analysis) imported(t *PlateauTrust) *OmissionEstimate {
	if r.header.Imported == "" {
		return nil
	}
	doubt := func(verdict, code string) {
		if verdict == Untrusted || t.Verdict == Trusted {
			t.Verdict = verdict
		}
		t.Reasons = append(t.Reasons, code)
		slices.Sort(t.Reasons)
		t.Reasons = slices.Compact(t.Reasons)
	}
	e := r.end.Omission
	if r.header.Arrivals == record.ArrivalsUnknown {
		doubt(Suspect, "no_schedule")
	}
	if e == nil {
		return nil
	}
	out := &OmissionEstimate{}
	for i, p := range []**Interval{&out.P50, &out.P90, &out.P99, &out.P999} {
		*p = interval(e.Low[i], e.High[i])
	}
	f := Finding{
		Code: "omission_estimated", Severity: "note", Scope: "run", Measured: number(e.Low[2]), Limit: number(maxFactorP99),
		Text: fmt.Sprintf("the omission factor at p99 lies between %s and %s, estimated from a schedule of one request every %s; %d requests that were due are not in the file",
			short(e.Low[2]), short(e.High[2]), record.FormatDuration(e.IntervalNS), e.Omitted),
	}
	switch {
	case e.Low[2] > maxFactorP99:
		f.Severity = "invalidates"
		doubt(Untrusted, f.Code)
	case e.High[2] > cautionFactor99 || e.High[3] > cautionFactor:
		f.Severity = "caution"
		doubt(Suspect, f.Code)
	}
	t.Findings = append(t.Findings, f)
	return out
}
