package analyze

import (
	"testing"
	"time"

	"headroom/analyze/stat/queueing"
	"headroom/store/record"
)

// Theory against the simulator, through histograms, batches and intervals:
// METHODS part i. A run of a minute at 90 % of capacity is only good for ten
// percent, so the interval is asked to contain the truth, most of the time.
func TestResponseTimesOfKnownQueues(t *testing.T) {
	const seeds = 8
	for _, q := range []queueing.MMC{
		{Servers: 2, Lambda: 100, Mu: 100},
		{Servers: 4, Lambda: 320, Mu: 100},
		{Servers: 8, Lambda: 640, Mu: 100},
		{Servers: 8, Lambda: 720, Mu: 100},
		{Servers: 16, Lambda: 1440, Mu: 100},
	} {
		quantiles := map[string]float64{"p50": 0.5, "p95": 0.95, "p99": 0.99}
		covered, asked := 0, 0
		var mean float64
		for seed := uint64(1); seed <= seeds; seed++ {
			m := simulate(system{servers: q.Servers, service: 10 * time.Millisecond},
				load{rates: []float64{q.Lambda}, plateau: 60 * time.Second, settle: 10 * time.Second, interval: time.Second, seed: seed})
			p := plateausOf(t, m)[0]
			mean += *p.Resp.Mean / 1e6 / seeds
			for name, level := range quantiles {
				if iv := p.Resp.CI95[name]; iv != nil {
					asked++
					if want := q.ResponseQuantile(level) * 1e6; iv[0] <= want && want <= iv[1] {
						covered++
					}
				} else if p.Resp.Refused[name] == "" {
					t.Errorf("%s has neither an interval nor a refusal", name)
				}
			}
		}
		near(t, "mean response of M/M/c", mean, q.W(), 0.1*q.W())
		if float64(covered) < 0.8*float64(asked) || asked < seeds {
			t.Errorf("c=%d λ=%v: %d of %d intervals contain the truth", q.Servers, q.Lambda, covered, asked)
		}
	}
}

func TestRefusedRequestsOfKnownQueues(t *testing.T) {
	for _, q := range []queueing.MMCK{
		{Servers: 8, K: 8, Lambda: 640, Mu: 100}, {Servers: 8, K: 40, Lambda: 960, Mu: 100}, {Servers: 8, K: 108, Lambda: 1200, Mu: 100},
	} {
		m := simulate(system{servers: q.Servers, service: 10 * time.Millisecond, room: q.K},
			load{rates: []float64{q.Lambda}, plateau: 60 * time.Second, settle: 5 * time.Second, interval: time.Second, seed: 4})
		p := plateausOf(t, m)[0]
		j := Classify(&p, 0)
		near(t, "goodput", j.GoodputRPS, q.Goodput(), 0.02*q.Goodput())
		near(t, "refused", float64(p.Counts.By[record.Shed])/float64(p.Counts.Scheduled), q.Blocking(), 0.02)
		near(t, "mean response of the accepted", p.hist.ok.MeanUS()/1e6, q.W(), 0.05*q.W())
	}
}

// A stall of one second in a hundred, METHODS part i, V5 and V6: an open loop
// sees everybody who waited, a closed one sees itself wait once.
func TestCoordinatedOmission(t *testing.T) {
	h := record.NewHistogram(record.DefaultMaxUS)
	var free int64
	for i := range int64(100_000) {
		at := i * 1e6
		start := max(at, free)
		if start >= 50e9 && start < 51e9 {
			start = 51e9
		}
		free = start + 500e3
		h.Record(free + 500e3 - at)
	}
	l := summarise(h, 0, 0)
	near(t, "mean, ms", *l.Mean/1000, 11.005, 0.02)
	near(t, "p50, ms", *l.P50/1000, 1, 0.002)
	near(t, "p99, ms", *l.P99/1000, 501, 1.5)
	near(t, "p99.9, ms", *l.P999/1000, 951, 1.5)
	near(t, "max, ms", *l.Max/1000, 1001, 1)
}

func TestTimeoutsCensor(t *testing.T) {
	h := record.NewHistogram(record.DefaultMaxUS)
	for range 970 {
		h.Record(5e6)
	}
	for range 30 {
		h.Record(2e9)
	}
	l := summarise(h, 30, 2e6)
	if l.P95 == nil || *l.P95 > 5100 {
		t.Errorf("p95 is known to be 5 ms, got %v", l.P95)
	}
	if l.P99 != nil || l.P999 != nil || l.Censored["p99"] != 2e6 || l.Censored["p99_9"] != 2e6 {
		t.Errorf("p99 %v, p99.9 %v, censored %v: both lie among the timeouts", l.P99, l.P999, l.Censored)
	}
	if l := summarise(h, 9, 2e6); l.P99 == nil || l.P999 != nil {
		t.Errorf("with 9 of 1000 cut, p99 is known and p99.9 is not: %v %v", l.P99, l.P999)
	}
	if l := summarise(record.NewHistogram(record.DefaultMaxUS), 0, 0); l.P50 != nil || l.Mean != nil || l.Count != 0 {
		t.Errorf("nothing measured gives %+v", l)
	}
}

func TestPercentileIntervalsAreRefused(t *testing.T) {
	one := func(n int, each func(i int) int64, seconds int) LatencyUS {
		s := newSpectrum(record.DefaultMaxUS, 0, int64(seconds)*1e9)
		for sec := range seconds {
			h := record.NewHistogram(record.DefaultMaxUS)
			for range n {
				h.Record(each(sec))
			}
			cells := []record.Cell{{OKResponse: h}}
			err := s.add(int64(sec)*1e9, cells, func(c *record.Cell) [2]*record.Histogram { return [2]*record.Histogram{c.OKResponse} })
			if err != nil {
				t.Fatal(err)
			}
		}
		return s.latency(0, 0)
	}
	few := one(10, func(i int) int64 { return int64(i+1) * 1e6 }, 3)
	if few.Refused["p50"] != "too_few_intervals" || few.CI95["p50"] != nil {
		t.Errorf("three intervals: %v", few.Refused)
	}
	thin := one(20, func(i int) int64 { return int64(1+i%7) * 1e6 }, 60)
	if thin.Refused["p99_9"] != "tail_too_thin" {
		t.Errorf("1200 requests: %v", thin.Refused)
	}
	drift := one(1000, func(i int) int64 { return int64(1+i) * 1e6 }, 60)
	if drift.Refused["p50"] != "too_correlated" {
		t.Errorf("a straight drift: %v", drift.Refused)
	}
}

// Merging shards or classes gives what one histogram fed with both would.
func TestMergedEqualsFedBoth(t *testing.T) {
	a, b, both := record.NewHistogram(record.DefaultMaxUS), record.NewHistogram(record.DefaultMaxUS), record.NewHistogram(record.DefaultMaxUS)
	for i := range int64(5000) {
		v := (i*i*7919)%90_000_000 + 1000
		if i%3 == 0 {
			a.Record(v)
		} else {
			b.Record(v)
		}
		both.Record(v)
	}
	got, err := merged(record.DefaultMaxUS, 0, 0, "", a, b)
	if err != nil {
		t.Fatal(err)
	}
	want := summarise(both, 0, 0)
	if *got.P50 != *want.P50 || *got.P999 != *want.P999 || *got.Mean != *want.Mean || got.Count != want.Count {
		t.Errorf("merged %+v, fed %+v", got, want)
	}
	if _, err := merged(record.DefaultMaxUS, 0, 0, "", record.NewHistogram(1000), a, record.NewHistogram(5)); err != nil {
		t.Errorf("empty histograms of another geometry: %v", err)
	}
	odd := record.NewHistogram(1000)
	odd.Record(5000)
	if _, err := merged(record.DefaultMaxUS, 0, 0, "", odd); err == nil {
		t.Error("a histogram of another geometry was merged")
	}
}
