package analyze

import (
	"slices"
	"testing"

	"headroom/store/record"
)

// cleanEvidence is 10,000 requests that took 20 ms and left on time.
func cleanEvidence() trustEvidence {
	e := trustEvidence{
		lag: record.NewHistogram(record.DefaultMaxUS), response: record.NewHistogram(record.DefaultMaxUS),
		service: record.NewHistogram(record.DefaultMaxUS), model: record.Open, widthNS: 100e9, cpuNS: 10e9, capNS: 100e9, cpuKnown: true, cpuMax: 0.1,
	}
	e.counts.Scheduled, e.counts.Sent = 10000, 10000
	e.counts.By[record.OK] = 10000
	for range 10000 {
		e.lag.Record(50e3)
		e.response.Record(20e6)
		e.service.Record(20e6)
	}
	return e
}

// replaceLast makes the n latest of 10,000 values v, in nanoseconds.
func mixture(common, rare int64, n int) *record.Histogram {
	h := record.NewHistogram(record.DefaultMaxUS)
	for i := range 10000 {
		if i < n {
			h.Record(rare)
		} else {
			h.Record(common)
		}
	}
	return h
}

func lateBy(e *trustEvidence, n int, lag int64) {
	e.lag = mixture(50e3, lag, n)
	for i, limit := range []int64{1e6, 10e6, 100e6, 1e9} {
		e.late[i] = 0
		if lag > limit {
			e.late[i] = uint64(n)
		}
	}
}

func TestTrustClauses(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*trustEvidence)
		verdict string
		codes   []string
	}{
		{"nothing wrong", func(*trustEvidence) {}, Trusted, nil},
		{"factor 1.15", func(e *trustEvidence) { e.response = mixture(20e6, 23e6, 200) }, Trusted, nil},
		{"factor 1.25 at p99", func(e *trustEvidence) { e.response = mixture(20e6, 25e6, 200) }, Suspect, []string{"omission_factor"}},
		{"factor 2.5 at p99", func(e *trustEvidence) { e.response = mixture(20e6, 50e6, 200) }, Untrusted, []string{"omission_factor"}},
		{"factor 2.5 at p99.9 only", func(e *trustEvidence) { e.response = mixture(20e6, 50e6, 50) }, Suspect, []string{"omission_factor"}},
		{"below a millisecond no factor counts", func(e *trustEvidence) {
			e.response, e.service = mixture(900e3, 900e3, 0), mixture(100e3, 100e3, 0)
		}, Trusted, nil},
		{"a closed model has no factor", func(e *trustEvidence) { e.model = record.Closed; e.response = mixture(20e6, 50e6, 200) }, Trusted, nil},
		{"1.1 % of the sends 12 ms late", func(e *trustEvidence) { lateBy(e, 110, 12e6) }, Untrusted, []string{"lag_p99", "late_sends"}},
		{"0.9 % of the sends 12 ms late", func(e *trustEvidence) { lateBy(e, 90, 12e6) }, Suspect, []string{"late_sends"}},
		{"0.09 % of the sends 12 ms late", func(e *trustEvidence) { lateBy(e, 9, 12e6) }, Trusted, nil},
		{"one send 120 ms late", func(e *trustEvidence) { lateBy(e, 1, 120e6) }, Suspect, []string{"late_sends"}},
		{"half the service time is allowed", func(e *trustEvidence) {
			lateBy(e, 110, 12e6)
			e.service, e.response = mixture(200e6, 200e6, 0), mixture(200e6, 200e6, 0)
		}, Suspect, []string{"late_sends", "lag_p99"}},
		{"lag of 1.5 ms beside 20 ms", func(e *trustEvidence) { lateBy(e, 200, 1500e3) }, Suspect, []string{"lag_p99"}},
		{"lag of 1.5 ms beside 50 ms", func(e *trustEvidence) {
			lateBy(e, 200, 1500e3)
			e.service, e.response = mixture(50e6, 50e6, 0), mixture(50e6, 50e6, 0)
		}, Trusted, nil},
		{"11 dropped", func(e *trustEvidence) { e.counts.By[record.Dropped], e.counts.Sent = 11, 9989 }, Untrusted, []string{"dropped"}},
		{"10 dropped", func(e *trustEvidence) { e.counts.By[record.Dropped], e.counts.Sent = 10, 9990 }, Trusted, nil},
		{"6 dropped, 5 own errors", func(e *trustEvidence) {
			e.counts.By[record.Dropped], e.counts.By[record.GeneratorError], e.counts.Sent = 6, 5, 9989
		}, Untrusted, []string{"dropped", "generator_errors"}},
		{"98.9 % sent", func(e *trustEvidence) { e.counts.Sent = 9890 }, Untrusted, []string{"sent_below_scheduled"}},
		{"99 % sent", func(e *trustEvidence) { e.counts.Sent = 9900 }, Trusted, nil},
		{"own limit for 1.1 % of the time", func(e *trustEvidence) { e.limitedNS = 1.1e9 }, Untrusted, []string{"own_limit_reached"}},
		{"own limit for 1 % of the time", func(e *trustEvidence) { e.limitedNS = 1e9 }, Trusted, nil},
		{"no processor for a tenth", func(e *trustEvidence) { e.starvedNS = 10e9 }, Untrusted, []string{"generator_cpu"}},
		{"no processor for less than a tenth", func(e *trustEvidence) { e.starvedNS = 9e9 }, Trusted, nil},
		{"81 % of the processors", func(e *trustEvidence) { e.cpuNS = 81e9 }, Suspect, []string{"generator_cpu"}},
		{"shared processors", func(e *trustEvidence) { e.shares = true }, Suspect, []string{"shares_cpus"}},
		{"nothing scheduled", func(e *trustEvidence) { e.counts = record.Counts{} }, Untrusted, []string{"no_arrivals"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := cleanEvidence()
			c.change(&e)
			got := judgeTrust(e, "run")
			slices.Sort(c.codes)
			if got.Verdict != c.verdict || !slices.Equal(got.Reasons, append([]string{}, c.codes...)) {
				t.Errorf("%s %v, want %s %v", got.Verdict, got.Reasons, c.verdict, c.codes)
			}
			for _, f := range got.Findings {
				if f.Text == "" || f.Scope != "run" || f.Measured == nil || f.Limit == nil {
					t.Errorf("finding without words, scope or numbers: %+v", f)
				}
				if (f.Severity == "invalidates") && got.Verdict != Untrusted {
					t.Errorf("%s invalidates, but the verdict is %s", f.Code, got.Verdict)
				}
			}
		})
	}
}

func TestStarvedIntervals(t *testing.T) {
	for _, c := range []struct {
		name    string
		r       row
		starved bool
	}{
		{"idle", row{widthNS: 1e9, cpuNS: 1e8, capNS: 2e9}, false},
		{"one of two processors", row{widthNS: 1e9, cpuNS: 1e9, capNS: 2e9}, false},
		{"all of them", row{widthNS: 1e9, cpuNS: 1.99e9, capNS: 2e9}, true},
		{"waiting half of the time", row{widthNS: 1e9, stolenNS: 5e8, cpuNS: 1e8, capNS: 2e9}, true},
	} {
		var e trustEvidence
		e.addRow(&c.r)
		if (e.starvedNS > 0) != c.starved {
			t.Errorf("%s: starved for %d ns", c.name, e.starvedNS)
		}
	}
}
