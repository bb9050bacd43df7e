package profile

import (
	"fmt"
	"math"
	"strings"
)

// Popularity is what a data source draws identifiers with: counts of the most
// popular ones and a Zipf tail for all others.
type Popularity struct {
	Head     []float64 // requests, most popular first; may be empty
	TailMass float64   // requests of all others together
	Exponent float64   // of the tail, or of all where Head is empty
	Count    uint64    // identifiers, those of the head included
}

const (
	sureCount = 10   // requests from which a count is taken as it is
	sureRanks = 1000 // and the least number of ranks, if there are as many
)

// Popularity returns the law to draw with. Counts that are too small to mean
// anything join the tail.
func (id *Identifiers) Popularity() Popularity {
	p := Popularity{TailMass: float64(id.Tail), Count: id.Population}
	if id.Zipf != nil {
		p.Exponent = math.Max(id.Zipf.Exponent, 0)
	}
	for _, run := range id.Head {
		for range run[1] {
			if run[0] < sureCount && len(p.Head) >= sureRanks {
				p.TailMass += float64(run[0])
				continue
			}
			p.Head = append(p.Head, float64(run[0]))
		}
	}
	if uint64(len(p.Head)) > p.Count {
		p.Count = uint64(len(p.Head))
	}
	return p
}

// population is how many identifiers there are if as many draws as there were
// requests are to meet as many different ones.
//
// Method: the expected number of distinct ones in n draws, solved for the
// length of the tail; METHODS part h.
func (id *Identifiers) population() uint64 {
	id.Population = id.Distinct
	p := id.Popularity()
	head := uint64(len(p.Head))
	if p.TailMass == 0 || id.Distinct <= head {
		return id.Distinct
	}
	want := float64(id.Distinct - head)
	lo, hi := id.Distinct, id.Distinct
	for tailDistinct(p, hi) < want {
		lo = hi
		if hi *= 2; hi > 1000*id.Distinct {
			return hi
		}
	}
	for lo+1 < hi && float64(hi-lo) > 0.0005*float64(lo) {
		if mid := lo + (hi-lo)/2; tailDistinct(p, mid) < want {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// tailDistinct is the expected number of different identifiers that the tail's
// requests go to, if the tail ends at rank count. Ranks are taken in steps of
// half a percent.
func tailDistinct(p Popularity, count uint64) float64 {
	first := float64(len(p.Head)) + 1
	last := float64(count)
	type step struct{ ranks, weight float64 }
	var steps []step
	var norm float64
	for k := first; k <= last; {
		next := math.Min(math.Max(k+1, math.Floor(k*1.005)), last+1)
		s := step{next - k, math.Pow((k+next-1)/2, -p.Exponent)}
		steps = append(steps, s)
		norm += s.ranks * s.weight
		k = next
	}
	var sum float64
	for _, s := range steps {
		sum -= s.ranks * math.Expm1(-p.TailMass*s.weight/norm)
	}
	return sum
}

// Find returns the identifiers of a route: those at the given place, or, where
// at is empty, at the route's last folded segment that has some. A route is
// covered by the identifiers of a route that it begins with.
func (p *Profile) Find(route, at string) (*Identifiers, error) {
	var best *Identifiers
	for i := range p.Identifiers {
		id := &p.Identifiers[i]
		if id.Route != route && !contains(id.Covers, route) {
			continue
		}
		if at != "" && id.At != at {
			continue
		}
		if at == "" && !strings.HasPrefix(id.At, "segment ") && !(route == "*" && id.At == "url") {
			continue
		}
		if best == nil || segmentOf(id.At) > segmentOf(best.At) {
			best = id
		}
	}
	if best != nil {
		return best, nil
	}
	var known []string
	for _, id := range p.Identifiers {
		if len(known) < 8 {
			known = append(known, fmt.Sprintf("%s (%s)", id.Route, id.At))
		}
	}
	what := route
	if at != "" {
		what += " (" + at + ")"
	}
	return nil, fmt.Errorf("the profile has no identifiers of %s; it has %s", what, strings.Join(known, ", "))
}

func segmentOf(at string) int {
	n := 0
	if _, err := fmt.Sscanf(at, "segment %d", &n); err != nil {
		return 0
	}
	return n
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}
