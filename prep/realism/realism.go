// Package realism sets what a plan does beside what production does, for the
// six reasons why a service passes a test and falls over in production. It is
// pure: facts of a plan and a profile in, rows of a table out.
package realism

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"headroom/prep/profile"
)

// Verdict says whether a plan is like production in one respect.
type Verdict string

// The verdicts. Unknown is never good.
const (
	OK      Verdict = "ok"
	Caution Verdict = "caution"
	Unknown Verdict = "unknown"
)

// Row is one reason. Change is empty where nothing has to be changed.
type Row struct {
	Reason     string  `json:"reason"`
	Plan       string  `json:"plan"`
	Production string  `json:"production"`
	Verdict    Verdict `json:"verdict"`
	Change     string  `json:"change"`
}

// Facts are what a plan does.
type Facts struct {
	Arrivals   string  // poisson, constant, bursty, trace, closed
	Dispersion float64 // bursty: index at 1 s, at Highest
	Highest    float64 // requests per second, 0 where it is found out during the run

	Sources []Source
	Mix     []Request

	BuiltIn  bool // the service is the built-in one
	Postgres bool // a database is observed
	Cache    int  // entries of the cache to compare; 0 means 5000

	Neighbours   int
	Dependencies int
	Faults       int
}

// Source is a data source that requests use.
type Source struct {
	Name     string
	Distinct uint64
	// Probability is the share of draws of a popularity rank, from 1.
	Probability func(rank uint64) float64
	Order       string // sequential where values are taken in turn
	Used        []Use
}

// Use is a place in a request that a source fills: a segment of the path, from
// 1, or a query parameter.
type Use struct {
	Method, Path string
	At           string // "segment 2" or the parameter's name
}

// Request is one kind of request.
type Request struct {
	Class, Method string
	Path          string // template with {name} for what is filled in, without query
	Weight        float64
}

const (
	defaultCache = 5000
	mixTolerance = 0.1  // total variation
	hitTolerance = 0.05 // of a hit ratio
	costly       = 5.0  // times the median
	mostTold     = 3    // sources, those with the most values
	bursty       = 1.2  // index of dispersion above which Poisson arrivals are not honest
)

const noProfile = "unknown: no profile"

const makeProfile = "learn one from production's logs with `headroom prep profile LOG... -o FILE` and name it in the plan, production: {profile: FILE}"

// Table returns the six rows. Without a profile p is nil, and the rows say
// what is not known.
func Table(f Facts, p *profile.Profile) []Row {
	if f.Cache == 0 {
		f.Cache = defaultCache
	}
	return []Row{arrivals(f, p), cardinality(f, p), work(f, p), state(f), neighbours(f, p), dependencies(f)}
}

// Worst is the gravest verdict of a table: caution before unknown before ok.
func Worst(rows []Row) Verdict {
	worst := OK
	for _, r := range rows {
		if r.Verdict == Caution {
			return Caution
		}
		if r.Verdict != OK {
			worst = Unknown
		}
	}
	return worst
}

func arrivals(f Facts, p *profile.Profile) Row {
	row := Row{Reason: "arrivals", Production: noProfile, Verdict: Unknown, Change: makeProfile}
	own := 1.0
	switch f.Arrivals {
	case "constant":
		own, row.Plan = 0, "a ruler: evenly spaced, no queue by chance"
	case "bursty":
		own = f.Dispersion
		row.Plan = fmt.Sprintf("bursty, dispersion at 1 s %.3g", own)
	case "trace":
		row.Plan = "a recorded trace"
	case "closed":
		own, row.Plan = 0, "a population that waits: a slow service slows the load down"
	default:
		row.Plan = "random (Poisson), dispersion at 1 s 1"
	}
	if f.Highest > 0 {
		row.Plan += fmt.Sprintf(", at most %.4g/s", f.Highest)
	}
	switch {
	case f.Arrivals == "constant":
		row.Verdict, row.Change = Caution, "arrivals: poisson, or arrivals: {profile: FILE}"
	case f.Arrivals == "closed":
		row.Verdict, row.Change = Caution, "load: {step: …} or {steady: …}, which do not wait for the service"
	}
	if p == nil {
		return row
	}
	seen := burstiness(p)
	row.Production = "dispersion refused: " + codes(p)
	if seen != nil {
		row.Production = fmt.Sprintf("dispersion at 1 s %.3g", seen.Index)
	}
	if s := p.Peak.Second; s != nil {
		row.Production += fmt.Sprintf(", busiest second %.4g/s (%.4g/s if random)", s.RPS, s.PoissonRPS)
	}
	if m := p.Peak.Minute; m != nil {
		row.Production += fmt.Sprintf(", busiest minute %.4g/s", m.RPS)
	}
	if row.Verdict == Caution {
		return row
	}
	switch {
	case f.Arrivals == "trace":
		row.Verdict, row.Change = OK, ""
	case seen == nil:
		row.Change = "take logs whose stamps are arrivals or ends with seconds or better, complete and in order"
	default:
		// The same relative variation of the rate makes another index at another rate.
		want := 1.0
		if seen.Index > bursty && seen.Mean > 0 {
			want = 1 + (seen.Index-1)/seen.Mean*max(f.Highest, seen.Mean)
		}
		row.Verdict, row.Change = OK, ""
		if want > bursty && own < 1+(want-1)/2 {
			row.Verdict, row.Change = Caution, fmt.Sprintf("arrivals: {profile: FILE}; or {bursty: {dispersion: %.3g}} at %.4g/s", want, max(f.Highest, seen.Mean))
		}
	}
	if m := p.Peak.Minute; row.Verdict == OK && m != nil && f.Highest > 0 && f.Highest < m.RPS {
		row.Verdict, row.Change = Caution, fmt.Sprintf("go up to %.4g/s at least, production's busiest minute", m.RPS)
	}
	return row
}

func burstiness(p *profile.Profile) *profile.Burstiness {
	for i := range p.Burstiness {
		if p.Burstiness[i].Window == "1s" {
			return &p.Burstiness[i]
		}
	}
	return nil
}

func codes(p *profile.Profile) string {
	var all []string
	for _, r := range p.Refused {
		if r.Route == "" {
			all = append(all, r.Code)
		}
	}
	return strings.Join(all, ", ")
}

// cardinality compares each source with the identifiers that production has in
// the same place.
func cardinality(f Facts, p *profile.Profile) Row {
	row := Row{Reason: "cardinality", Production: noProfile, Verdict: Unknown, Change: makeProfile}
	if p != nil {
		row.Production = "no place of the plan's requests is in the profile"
		row.Change = "write paths as production has them"
	}
	var plans, productions, changes []string
	worst := OK
	judged, more := 0, 0
	sources := slices.Clone(f.Sources)
	slices.SortStableFunc(sources, func(a, b Source) int { return cmp.Compare(b.Distinct, a.Distinct) })
	for _, s := range sources {
		if len(s.Used) == 0 {
			continue
		}
		share, hit := popularity(s, f.Cache)
		if len(plans) < mostTold {
			plans = append(plans, describe(s.Name, s.Distinct, share, hit, f.Cache))
		} else {
			more++
		}
		id := find(p, s.Used)
		if id == nil {
			continue
		}
		judged++
		text, want := seenIn(id, f.Cache)
		if len(productions) < mostTold {
			productions = append(productions, s.Name+": "+text)
		}
		switch {
		case contains(id.Refused, profile.UnseenTooBig):
			worst = worse(worst, Unknown)
			changes = append(changes, "take logs of a longer time: too many identifiers were seen once")
		case float64(s.Distinct) < 0.5*float64(id.Population), want >= 0 && math.Abs(hit-want) > hitTolerance:
			worst = Caution
			changes = append(changes, fmt.Sprintf("%s: {profile: FILE, route: %q}", s.Name, id.Route))
		case contains(id.Refused, profile.NonIRM):
			worst = worse(worst, Caution)
			changes = append(changes, s.Name+": production repeats identifiers sooner than draws do; replay its order from a file")
		}
	}
	if len(plans) == 0 {
		row.Plan = "every request of a class asks for the same thing: a cache answers all of them"
		row.Verdict = Caution
		row.Change = "fill paths in from data: {…: {profile: FILE}} or {zipf: …}"
		if p != nil {
			for i := range p.Identifiers {
				if strings.HasPrefix(p.Identifiers[i].At, "segment ") {
					text, _ := seenIn(&p.Identifiers[i], f.Cache)
					row.Production = p.Identifiers[i].Route + ": " + text
					break
				}
			}
		}
		return row
	}
	row.Plan = strings.Join(plans, "; ")
	if more > 0 {
		row.Plan += fmt.Sprintf("; %d more", more)
	}
	slices.Sort(changes)
	changes = slices.Compact(changes)
	if judged > 0 {
		row.Production, row.Verdict, row.Change = strings.Join(productions, "; "), worst, strings.Join(changes, "; ")
	}
	return row
}

func worse(a, b Verdict) Verdict {
	if a == Caution || b == OK {
		return a
	}
	return b
}

func describe(name string, distinct uint64, share, hit float64, cache int) string {
	return fmt.Sprintf("%s: %d different, most popular 1 %% have %.3g %%, a cache of %d hits %.3g %%", name, distinct, 100*share, cache, 100*hit)
}

// seenIn describes identifiers of a profile; hit is −1 where it is not known.
func seenIn(id *profile.Identifiers, cache int) (text string, hit float64) {
	hit = -1
	law := id.Popularity()
	source := Source{Distinct: law.Count, Probability: lawOf(law)}
	if !contains(id.Refused, profile.UnseenTooBig) && source.Distinct > 0 {
		_, hit = popularity(source, cache)
	}
	text = fmt.Sprintf("%d different seen, about %d in all, most popular 1 %% have %.3g %%", id.Distinct, id.Population, 100*id.TopShare["1%"])
	if hit >= 0 {
		text += fmt.Sprintf(", a cache of %d hits %.3g %%", cache, 100*hit)
	}
	return text, hit
}

// lawOf is the share of each rank under the law of a profile.
func lawOf(law profile.Popularity) func(uint64) float64 {
	var head float64
	for _, h := range law.Head {
		head += h
	}
	n := uint64(len(law.Head))
	var norm float64
	for k := n + 1; k <= law.Count; { // in steps of half a percent
		next := min(max(k+1, k+k/200), law.Count+1)
		norm += float64(next-k) * math.Pow(float64(k+next-1)/2, -law.Exponent)
		k = next
	}
	tail := law.TailMass
	if n == law.Count {
		tail = 0
	}
	total := head + tail
	return func(rank uint64) float64 {
		switch {
		case rank < 1 || rank > law.Count || total == 0:
			return 0
		case rank <= n:
			return law.Head[rank-1] / total
		}
		return tail / total * math.Pow(float64(rank), -law.Exponent) / norm
	}
}

// popularity returns the share of the most popular hundredth, and the hit
// ratio of an LRU cache once it is full.
func popularity(s Source, cache int) (share, hit float64) {
	if s.Distinct == 0 {
		return 0, 0
	}
	if s.Order == "sequential" { // in turn: a cache holds all of them, or forgets each before it comes again
		if s.Distinct <= uint64(cache) {
			hit = 1
		}
		return 0.01, hit
	}
	first := uint64(math.Ceil(float64(s.Distinct) / 100))
	var groups []group
	for k := uint64(1); k <= s.Distinct; {
		next := min(max(k+1, k+k/200), s.Distinct+1)
		if k <= first {
			next = min(next, first+1)
		}
		g := group{s.Probability(k + (next-k-1)/2), float64(next - k)}
		groups = append(groups, g)
		if next-1 <= first {
			share += g.p * g.n
		}
		k = next
	}
	if s.Distinct <= uint64(cache) {
		return share, 1
	}
	return share, lru(groups, float64(cache))
}

// group is n ranks of about the same probability.
type group struct{ p, n float64 }

// lru is the hit ratio of a full LRU cache under independent requests, as
// stat.CheLRU, for ranks in groups.
func lru(groups []group, entries float64) float64 {
	lo, hi := 0.0, 1.0
	held := func(t float64) (sum float64) {
		for _, g := range groups {
			sum -= g.n * math.Expm1(-g.p*t)
		}
		return sum
	}
	for held(hi) < entries && hi < 1e18 {
		lo, hi = hi, 2*hi
	}
	for range 60 {
		if t := (lo + hi) / 2; held(t) < entries {
			lo = t
		} else {
			hi = t
		}
	}
	var hit float64
	for _, g := range groups {
		hit -= g.n * g.p * math.Expm1(-g.p*lo)
	}
	return min(hit, 1)
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}
