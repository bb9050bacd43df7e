package profile

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"

	"headroom/analyze/stat"
)

const (
	fitRanks   = 1000 // for the exponent
	pseudonyms = 100
	keptTables = 100  // places of identifiers that are kept, by requests
	tolerance  = 0.01 // of a hit ratio
	// leastSampled is the size of a cache in sampled values below which its
	// hit ratio is not told.
	leastSampled = 30
)

// place is where identifiers are.
type place struct {
	route, at string
	covers    []string
	k         *keys
}

// identifiers fills in how often values are asked for, for each place that
// has some.
func (l *learner) identifiers(p *Profile) {
	places := []place{{"*", "url", nil, l.urls}}
	l.routes.root.all(func(n *node) {
		if n.values != nil && n.values.requests >= Fold {
			pl := place{route: n.template(), at: "segment " + strconv.Itoa(n.depth), k: n.values}
			n.all(func(below *node) {
				if below.here != nil {
					pl.covers = append(pl.covers, below.template())
				}
			})
			slices.Sort(pl.covers)
			if len(pl.covers) == 1 { // the route itself, or the only one that goes on from here
				pl.route, pl.covers = pl.covers[0], nil
			}
			if len(pl.covers) > 50 {
				pl.covers = pl.covers[:50]
			}
			places = append(places, pl)
		}
		if n.here == nil {
			return
		}
		for _, q := range n.here.params {
			if q.seen >= Fold {
				places = append(places, place{n.template(), q.name, nil, q.values})
			}
		}
	})
	slices.SortFunc(places[1:], func(a, b place) int {
		return cmp.Or(-cmp.Compare(a.k.requests, b.k.requests), cmp.Compare(a.route, b.route), cmp.Compare(a.at, b.at))
	})
	overlap := l.overlap()
	for _, pl := range places[:min(len(places), keptTables)] {
		if pl.k.requests == 0 {
			continue
		}
		id := l.describe(pl)
		if overlap {
			id.LRUHit, id.IRMHit = nil, nil
			id.Refused = append(id.Refused, Overlapping)
		}
		if l.o.Sampled < sampledMin {
			id.LRUHit, id.IRMHit = nil, nil
			id.Refused = append(id.Refused, SampledPeak)
		}
		for _, code := range id.Refused {
			if pl.k == l.urls || id.Requests*100 >= p.Requests { // of small places the place itself says so
				p.Refused = append(p.Refused, Refusal{Code: code, Text: l.why(code, id), Route: id.Route, At: id.At})
			}
		}
		p.Identifiers = append(p.Identifiers, id)
	}
}

func (l *learner) why(code string, id Identifiers) string {
	switch code {
	case UnseenTooBig:
		return fmt.Sprintf("%.3g %% of the requests go to values not seen before: the window is too short to learn their popularity from; take logs of a longer time", 100*id.Unseen)
	case TooFewIDs:
		return "too few different values, or one has all requests: no law can be fitted"
	case NonIRM:
		return "values are asked for again sooner than independent draws would have it: a cache does better on this log than on drawn identifiers; replay the log's own order"
	case Overlapping:
		return "several logs cover the same time, so the order of requests over all of them is not known: no hit ratio of a cache is told"
	case SampledPeak:
		return "the logs are a sample: no hit ratio of a cache is told"
	}
	return ""
}

// overlap reports whether logs cover the same time, by more than a minute.
func (l *learner) overlap() bool {
	spans := slices.Clone(l.spans)
	slices.SortFunc(spans, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for i := 1; i < len(spans); i++ {
		if spans[i][0]+60 < spans[i-1][1] {
			return true
		}
		spans[i][1] = max(spans[i][1], spans[i-1][1])
	}
	return false
}

func (l *learner) describe(pl place) Identifiers {
	k := pl.k
	id := Identifiers{
		Route: pl.route, At: pl.at, Covers: pl.covers, Requests: k.requests, Distinct: k.distinct(), Exact: k.top == nil,
		TopShare: map[string]float64{}, Pseudonyms: []string{}, Head: [][2]uint64{},
	}
	var counts []float64 // of the values kept, falling
	for _, s := range k.slots {
		if s.hash != 0 {
			counts = append(counts, float64(s.count))
			if s.count == 1 {
				id.Single++
			}
		}
	}
	slices.SortFunc(counts, func(a, b float64) int { return cmp.Compare(b, a) })
	id.Single = uint64(math.Round(float64(id.Single) / k.rate()))
	var ok bool
	if id.Unseen, ok = goodTuring(id.Single, id.Requests); !ok {
		id.Refused = append(id.Refused, UnseenTooBig)
	}
	id.Unseen = round(id.Unseen)

	head := k.ranked(HeadIDs)
	var inHead uint64
	top := make([]float64, 0, fitRanks)
	for i, r := range head {
		inHead += r.count
		if n := len(id.Head); n > 0 && id.Head[n-1][0] == r.count {
			id.Head[n-1][1]++
		} else {
			id.Head = append(id.Head, [2]uint64{r.count, 1})
		}
		if i < pseudonyms && r.count >= Fold {
			id.Pseudonyms = append(id.Pseudonyms, l.pseudonym(r.hash))
		}
		if i < fitRanks {
			top = append(top, float64(r.count))
		}
		switch i + 1 {
		case 1, 10, 100, 1000, 10000:
			id.TopShare[strconv.Itoa(i+1)] = round(float64(inHead) / float64(id.Requests))
		}
	}
	for _, share := range []struct {
		name string
		of   float64
	}{{"1%", 0.01}, {"10%", 0.1}} {
		n := int(math.Ceil(share.of * float64(len(counts))))
		var sum, all float64
		for i, c := range counts {
			if i < n {
				sum += c
			}
			all += c
		}
		if all > 0 {
			id.TopShare[share.name] = round(sum / all)
		}
	}
	id.Tail = id.Requests - min(inHead, id.Requests)
	if z := stat.ZipfFit(top); z.Refused == "" {
		id.Zipf = &Zipf{round(z.S), round(z.SE)}
		if math.Abs(z.S) < 1e-6 {
			id.Zipf.Exponent = 0
		}
	} else if id.Distinct > 1 {
		id.Refused = append(id.Refused, TooFewIDs)
	}
	if id.Population = id.Distinct; ok {
		id.Population = id.population()
	}
	l.caches(&id, k)
	return id
}

func (l *learner) pseudonym(h uint64) string {
	b := binary.LittleEndian.AppendUint64(slices.Clone(l.secret[:]), h)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:5])
}

// caches fills in the hit ratios of LRU caches, and refuses where the order of
// requests matters: where the same requests in another order hit less or more.
func (l *learner) caches(id *Identifiers, k *keys) {
	if k.stack == nil || id.Requests < 100 || id.Distinct < 10 {
		return
	}
	var size []float64
	for s := 10.0; s < float64(id.Distinct) && s <= 1e7; s *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if m*s < float64(id.Distinct) {
				size = append(size, m*s)
			}
		}
	}
	if len(size) == 0 {
		return
	}
	hits := k.stack.hits(float64(id.Requests), size)
	shuffled := k.shuffled(size)
	allowed := tolerance + 1/math.Sqrt(float64(id.Requests))
	if k.stack.limit < math.MaxUint64 {
		allowed += tolerance // of the sample of values
	}
	id.LRUHit, id.IRMHit = map[string]float64{}, map[string]float64{}
	local := false
	for i, s := range size {
		if k.stack.rate()*s < leastSampled && k.stack.limit < math.MaxUint64 {
			continue
		}
		name := strconv.FormatFloat(s, 'f', -1, 64)
		id.LRUHit[name], id.IRMHit[name] = round(hits[i]), round(shuffled[i])
		local = local || math.Abs(hits[i]-shuffled[i]) > allowed
	}
	if local && id.Requests >= 1000 {
		id.Refused = append(id.Refused, NonIRM)
	}
}

// shuffled returns the hit ratios that LRU caches of the given sizes would have
// if the same requests came in random order.
//
// Method: Che's approximation for requests without replacement. Of c requests
// for a value, thrown into a span of length 1, those of a pair of neighbours
// are at most t apart with probability 1−(1−t)^c, which is also the
// probability that a window of length t holds one; the cache's t is where the
// expected number of values in a window is its size.
func (k *keys) shuffled(size []float64) []float64 {
	values := map[uint32]float64{} // by count
	for _, s := range k.slots {
		if s.hash != 0 {
			values[s.count]++
		}
	}
	type group struct{ count, values float64 }
	var groups []group
	var all float64
	for c, n := range values {
		groups = append(groups, group{float64(c), n / k.rate()})
	}
	slices.SortFunc(groups, func(a, b group) int { return cmp.Compare(a.count, b.count) })
	for _, g := range groups {
		all += g.count * g.values
	}
	out := make([]float64, len(size))
	requests := float64(k.requests)
	for i, c := range size {
		lo, hi := 0.0, 1.0
		for range 60 {
			t := (lo + hi) / 2
			var held float64
			for _, g := range groups {
				held -= g.values * math.Expm1(g.count*math.Log1p(-t))
			}
			if held < c {
				lo = t
			} else {
				hi = t
			}
		}
		hits := requests - all // of the most popular values, as in stack.hits
		for _, g := range groups {
			hits -= g.values * (g.count - 1) * math.Expm1(g.count*math.Log1p(-lo))
		}
		out[i] = min(max(hits/requests, 0), 1)
	}
	return out
}
