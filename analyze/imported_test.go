package analyze_test

import (
	"testing"

	"headroom/analyze"
	"headroom/store/record"
)

// importOf is a run of 20 s at 50 per second that was imported: all requests
// took 5 ms and were sent lag ns late.
func importOf(model record.Model, arrivals string, lag int64, e *record.OmissionEstimate) *record.Memory {
	m := &record.Memory{
		H: record.Header{
			RunID: "i", Name: "i", Model: model, Format: "import", Imported: "tool", Arrivals: arrivals,
			IntervalNS: 1e9, MaxUS: record.DefaultMaxUS, Classes: []record.Class{{Name: "request", Weight: 1}}, Shards: 1,
		},
		P: []record.Phase{{Kind: record.Steady, Step: -1, EndNS: 20e9, Ended: true}},
		E: record.End{State: record.Complete, AtNS: 20e9, Omission: e},
	}
	for i := range 20 {
		c := record.Cell{
			OKResponse: record.NewHistogram(m.H.MaxUS), OtherResponse: record.NewHistogram(m.H.MaxUS),
			Service: record.NewHistogram(m.H.MaxUS), Lag: record.NewHistogram(m.H.MaxUS),
		}
		for range 50 {
			c.OKResponse.Record(5e6 + lag)
			c.Service.Record(5e6)
			c.Lag.Record(lag)
		}
		c.Counts = record.Counts{Scheduled: 50, Sent: 50, Attempts: 50}
		c.Counts.By[record.OK] = 50
		iv := &record.Interval{Index: i, StartNS: int64(i) * 1e9, WidthNS: 1e9, Cells: []record.Cell{c}}
		iv.Moment.Sends, iv.Moment.Done[record.OK] = 50, 50
		m.Iv = append(m.Iv, iv)
	}
	return m
}

// An import has a factor where its file has a schedule, whatever model its tool
// has; bounds where a schedule was rebuilt; and neither elsewhere, in which case
// it is never better than suspect.
func TestImportedClocks(t *testing.T) {
	bounds := func(low, high float64) *record.OmissionEstimate {
		return &record.OmissionEstimate{IntervalNS: 20e6, Omitted: 7, Low: [4]float64{1, 1, low, low}, High: [4]float64{1, 1, high, high}}
	}
	for _, c := range []struct {
		name     string
		m        *record.Memory
		factor   float64 // at p99; 0: none
		estimate bool
		verdict  string
		reason   string
	}{
		{"open, recorded", importOf(record.Open, record.ArrivalsRecorded, 0, nil), 1, false, analyze.Trusted, ""},
		{"closed, recorded", importOf(record.Closed, record.ArrivalsRecorded, 0, nil), 1, false, analyze.Trusted, ""},
		{"closed, recorded, late", importOf(record.Closed, record.ArrivalsRecorded, 45e6, nil), 10, false, analyze.Untrusted, "omission_factor"},
		{"open, unknown", importOf(record.Open, record.ArrivalsUnknown, 0, nil), 0, false, analyze.Suspect, "no_schedule"},
		{"unknown, unknown", importOf(record.Unknown, record.ArrivalsUnknown, 0, nil), 0, false, analyze.Suspect, "no_schedule"},
		{"rebuilt, kept up", importOf(record.Open, record.ArrivalsRebuilt, 0, bounds(1, 1.01)), 0, true, analyze.Trusted, ""},
		{"rebuilt, may hide", importOf(record.Closed, record.ArrivalsRebuilt, 0, bounds(1, 40)), 0, true, analyze.Suspect, "omission_estimated"},
		{"rebuilt, hides", importOf(record.Closed, record.ArrivalsRebuilt, 0, bounds(30, 40)), 0, true, analyze.Untrusted, "omission_estimated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := analyze.Run(c.m, analyze.Options{})
			if err != nil {
				t.Fatal(err)
			}
			f := a.Trust.OmissionFactor
			switch {
			case c.factor == 0 && f != nil:
				t.Errorf("a factor of %v where nobody knows when requests were due", *f.P99)
			case c.factor > 0 && (f == nil || *f.P99 < 0.99*c.factor || *f.P99 > 1.01*c.factor):
				t.Errorf("factor %v, want %v", f, c.factor)
			}
			if (a.Trust.OmissionEstimate != nil) != c.estimate {
				t.Errorf("estimate %v", a.Trust.OmissionEstimate)
			}
			if e := a.Trust.OmissionEstimate; e != nil && (e.P99[0] != c.m.E.Omission.Low[2] || e.P999[1] != c.m.E.Omission.High[3]) {
				t.Errorf("bounds %v and %v", e.P99, e.P999)
			}
			if a.Trust.Verdict != c.verdict {
				t.Errorf("trust %s, want %s: %v", a.Trust.Verdict, c.verdict, a.Trust.Reasons)
			}
			found := c.reason == ""
			for _, r := range a.Trust.Reasons {
				found = found || r == c.reason
			}
			if !found {
				t.Errorf("reasons %v, want %s", a.Trust.Reasons, c.reason)
			}
		})
	}
}
