package realism

import (
	"math"
	"strings"
	"testing"

	"headroom/analyze/stat"
	"headroom/prep/profile"
)

func uniform(n uint64) Source {
	return Source{
		Name: "customers", Distinct: n, Probability: func(uint64) float64 { return 1 / float64(n) },
		Used: []Use{{"GET", "/customers/{customers}/orders", "segment 2"}},
	}
}

// production has 200,000 customers of whom a hundredth has 40 %, bursts, and
// an export that costs 30 times the median.
func production() *profile.Profile {
	p := &profile.Profile{
		Requests:   1_000_000,
		Burstiness: []profile.Burstiness{{Window: "1s", Index: 5, Mean: 100}},
		Peak:       profile.Peak{Second: &profile.Busiest{RPS: 400, PoissonRPS: 200}, Minute: &profile.Busiest{RPS: 180, At: "2024-01-03T12:00:00Z"}},
		Service:    &profile.Sizes{P50: 10_000},
		Routes: []profile.Route{
			{Template: "/customers/{id}/orders", Method: "GET", Share: 0.9, Cost: 1},
			{Template: "/health", Method: "GET", Share: 0.09, Cost: 0.1},
			{Template: "/exports", Method: "POST", Share: 0.01, Cost: 30},
		},
		Identifiers: []profile.Identifiers{{
			Route: "/customers/{id}/orders", At: "segment 2", Requests: 900_000, Distinct: 150_000, Population: 200_000, Exact: true,
			Head: [][2]uint64{{180, 2000}}, Tail: 540_000, Zipf: &profile.Zipf{Exponent: 0.8}, TopShare: map[string]float64{"1%": 0.4},
		}},
	}
	return p
}

func good() Facts {
	law := production().Identifiers[0].Popularity()
	return Facts{
		Arrivals: "bursty", Dispersion: 9, Highest: 200,
		Sources: []Source{{Name: "customers", Distinct: law.Count, Probability: lawOf(law), Used: uniform(1).Used}},
		Mix: []Request{
			{"view", "GET", "/customers/{customers}/orders", 90}, {"health", "GET", "/health", 9}, {"export", "POST", "/exports", 1},
		},
		Neighbours: 1, Dependencies: 1, Faults: 1,
	}
}

func TestTable(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(f *Facts, p *profile.Profile)
		reason  string
		verdict Verdict
		text    string // in the row
	}{
		{"like production", func(*Facts, *profile.Profile) {}, "arrivals", OK, "dispersion at 1 s 5"},
		{"like production", func(*Facts, *profile.Profile) {}, "cardinality", OK, "200000 in all"},
		{"like production", func(*Facts, *profile.Profile) {}, "work per request", OK, "costs 30 times"},
		{"like production", func(*Facts, *profile.Profile) {}, "neighbours", OK, "1 beside"},
		{"like production", func(*Facts, *profile.Profile) {}, "degraded dependencies", OK, "1 faults"},
		{"a ruler", func(f *Facts, _ *profile.Profile) { f.Arrivals = "constant" }, "arrivals", Caution, "arrivals: poisson"},
		{"a population that waits", func(f *Facts, _ *profile.Profile) { f.Arrivals = "closed" }, "arrivals", Caution, "do not wait"},
		{"Poisson against bursts", func(f *Facts, _ *profile.Profile) { f.Arrivals = "poisson" }, "arrivals", Caution, "dispersion: 9"},
		{"Poisson against Poisson", func(f *Facts, p *profile.Profile) { f.Arrivals, p.Burstiness[0].Index = "poisson", 1.1 }, "arrivals", OK, "1.1"},
		{"never as fast as production", func(f *Facts, p *profile.Profile) { f.Highest, p.Burstiness[0].Index, f.Arrivals = 100, 1, "poisson" }, "arrivals", Caution, "180/s"},
		{"burstiness refused", func(f *Facts, p *profile.Profile) {
			f.Arrivals, p.Burstiness, p.Refused = "poisson", nil, []profile.Refusal{{Code: profile.ClockGoesBack}}
		}, "arrivals", Unknown, profile.ClockGoesBack},
		{"a hundred customers", func(f *Facts, _ *profile.Profile) { f.Sources = []Source{uniform(100)} }, "cardinality", Caution, "hits 100 %"},
		{"as many, but all alike", func(f *Facts, _ *profile.Profile) { f.Sources = []Source{uniform(200_000)} }, "cardinality", Caution, `route: "/customers/{id}/orders"`},
		{"one customer", func(f *Facts, _ *profile.Profile) { f.Sources = nil }, "cardinality", Caution, "the same thing"},
		{"too short a log", func(_ *Facts, p *profile.Profile) { p.Identifiers[0].Refused = []string{profile.UnseenTooBig} }, "cardinality", Unknown, "longer"},
		{"locality", func(_ *Facts, p *profile.Profile) { p.Identifiers[0].Refused = []string{profile.NonIRM} }, "cardinality", Caution, "sooner"},
		{"the tail left out", func(f *Facts, _ *profile.Profile) { f.Mix = f.Mix[:2] }, "work per request", Caution, "POST /exports costs 30"},
		{"another mix", func(f *Facts, _ *profile.Profile) { f.Mix[1].Weight = 900 }, "work per request", Caution, "from_profile"},
		{"nothing of production's", func(f *Facts, p *profile.Profile) { f.Mix[0].Path, p.Service = "/x", nil }, "work per request", Caution, "no durations"},
		{"no neighbours", func(f *Facts, _ *profile.Profile) { f.Neighbours = 0 }, "neighbours", Caution, "to itself"},
		{"no faults", func(f *Facts, _ *profile.Profile) { f.Faults = 0 }, "degraded dependencies", Caution, "faults"},
		{"state", func(*Facts, *profile.Profile) {}, "accumulated state", Unknown, "age it"},
	} {
		f, p := good(), production()
		c.change(&f, p)
		rows := Table(f, p)
		if len(rows) != 6 {
			t.Fatalf("%d rows", len(rows))
		}
		for _, r := range rows {
			if r.Reason != c.reason {
				continue
			}
			if all := r.Plan + r.Production + r.Change; r.Verdict != c.verdict || !strings.Contains(all, c.text) {
				t.Errorf("%s: %s, want %s with %q: %+v", c.name, r.Verdict, c.verdict, c.text, r)
			}
			if r.Verdict != OK && r.Change == "" {
				t.Errorf("%s: %s without saying what to change", c.name, r.Verdict)
			}
		}
	}
}

func TestWithoutProfile(t *testing.T) {
	for _, r := range Table(good(), nil) {
		switch r.Reason {
		case "arrivals", "cardinality", "work per request", "accumulated state":
			if r.Verdict != Unknown || !strings.Contains(r.Production, "unknown") || r.Change == "" {
				t.Errorf("%+v: what is not known is not good", r)
			}
		}
	}
	if Worst(Table(good(), nil)) != Unknown {
		t.Error("a table with unknown rows is not ok")
	}
	if Worst(nil) != OK || Worst([]Row{{Verdict: Unknown}, {Verdict: Caution}}) != Caution {
		t.Error("the gravest verdict")
	}
}

func TestPopularity(t *testing.T) {
	share, hit := popularity(uniform(10_000), 1000)
	if math.Abs(share-0.01) > 1e-9 || math.Abs(hit-0.1) > 0.001 {
		t.Errorf("equal customers: %g, %g; want 0.01 and 0.1", share, hit)
	}
	if _, hit := popularity(Source{Distinct: 10, Order: "sequential"}, 5); hit != 0 {
		t.Errorf("in turn: %g; a cache forgets each before it comes again", hit)
	}
	var p []float64
	zipf := lawOf(profile.Popularity{Exponent: 0.9, TailMass: 1, Count: 100_000})
	for k := uint64(1); k <= 100_000; k++ {
		p = append(p, zipf(k))
	}
	norm := 0.0
	for _, v := range p {
		norm += v
	}
	for i := range p {
		p[i] /= norm
	}
	want := stat.CheLRU(p, 10_000)
	if _, hit := popularity(Source{Distinct: 100_000, Probability: zipf}, 10_000); want.Refused != "" || math.Abs(hit-want.Hit) > 0.001 {
		t.Errorf("in groups %g, one by one %g", hit, want.Hit)
	}
	sum := 0.0
	law := lawOf(profile.Popularity{Head: []float64{5, 3}, TailMass: 2, Exponent: 1, Count: 100})
	for k := uint64(0); k <= 101; k++ {
		sum += law(k)
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("shares add up to %g", sum)
	}
}

func TestSame(t *testing.T) {
	for _, c := range []struct {
		path, route string
		want        bool
	}{
		{"/customers/{c}/orders?limit=20", "/customers/{id}/orders", true},
		{"/customers/7/orders", "/customers/{id}/orders", true},
		{"/customers/{c}", "/customers/{id}/orders", false},
		{"/a/{c}", "/a/b", false},
		{"/", "/", true},
	} {
		if got := same(c.path, c.route); got != c.want {
			t.Errorf("%s, %s: %t", c.path, c.route, got)
		}
	}
}
