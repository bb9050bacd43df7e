package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// METHODS H3.
func TestZipfFit(t *testing.T) {
	for _, c := range []struct {
		counts []float64
		s, se  float64
	}{
		{[]float64{1000, 500, 333, 250, 200, 167, 143, 125, 111, 100}, .9998725619, .023251},
		{[]float64{100, 50, 30, 20}, 1.1146362642, .13514848},
	} {
		got := ZipfFit(c.counts)
		refused(t, "H3", got.Refused, "")
		near(t, "s", got.S, c.s, 1e-9)
		near(t, "se", got.SE, c.se, 1e-6)
	}
	even := ZipfFit([]float64{7, 7, 7, 7})
	near(t, "equal counts", even.S, 0, 1e-9)
	for _, c := range []struct {
		name   string
		counts []float64
		want   Refusal
	}{
		{"none", nil, TooFewIDs},
		{"one key", []float64{5}, TooFewIDs},
		{"no requests", []float64{0, 0}, TooFewIDs},
		{"one key has all", []float64{5, 0, 0}, TooFewIDs},
		{"rising counts", []float64{5, 6}, BadShape},
		{"negative", []float64{5, -6}, BadShape},
		{"NaN", []float64{5, math.NaN()}, NotFinite},
	} {
		refused(t, c.name, ZipfFit(c.counts).Refused, c.want)
	}
}

// The bias study of METHODS part h: true exponent 0.8 over 100,000 keys,
// 100,000 requests. The top 1000 ranks find it, all observed ranks do not.
func TestZipfFitOnTopRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(101, 102))
	p := ZipfWeights(100000, 0.8)
	for i := 1; i < len(p); i++ {
		p[i] += p[i-1]
	}
	seen := map[int]float64{}
	for range 100000 {
		i, _ := slices.BinarySearch(p, rng.Float64())
		seen[i]++
	}
	var counts []float64
	singles := uint64(0)
	for _, c := range seen {
		counts = append(counts, c)
		if c == 1 {
			singles++
		}
	}
	slices.Sort(counts)
	slices.Reverse(counts)
	top := ZipfFit(counts[:1000])
	if math.Abs(top.S-0.8) > 0.03 {
		t.Errorf("top 1000: s = %v ± %v, want 0.80", top.S, top.SE)
	}
	if all := ZipfFit(counts); all.S > 0.77 {
		t.Errorf("all ranks: s = %v, was to show its bias", all.S)
	}
	u := GoodTuring(singles, 100000)
	refused(t, "unseen mass", u.Refused, UnseenMassTooBig)
	near(t, "unseen mass", u.Mass, 0.25, 0.02)
	d, _ := ExpectedDistinct(ZipfWeights(100000, 0.8), 100000)
	relative(t, "distinct keys", float64(len(seen)), d, 0.02)
}

func TestGoodTuring(t *testing.T) {
	if u := GoodTuring(3, 100); u.Mass != 0.03 || u.Refused != "" {
		t.Errorf("%+v", u)
	}
	refused(t, "nothing", GoodTuring(0, 0).Refused, NoData)
	refused(t, "more singles than requests", GoodTuring(2, 1).Refused, BadShape)
}

// METHODS H1.
func TestCheLRU(t *testing.T) {
	for _, c := range []struct {
		n      int
		s      float64
		c      float64
		t, hit float64
	}{
		{100, 1, 10, 13.2676, .39762886},
		{1000, .8, 100, 133.8647, .37779022},
		{1000, 1, 100, 180.9289, .57652462},
		{1e4, .8, 1000, 1472.4795, .43665972},
		{1e4, 1, 1000, 2352.1784, .67560179},
		{1e4, 1.2, 1000, 5026.8851, .86143480},
		{1e5, .9, 1e4, 20172.1799, .60522954},
		{1e6, .99, 1e4, 19841.5407, .56618325},
	} {
		got := CheLRU(ZipfWeights(c.n, c.s), c.c)
		refused(t, "H1", got.Refused, "")
		relative(t, "T", got.T, c.t, 1e-5)
		near(t, "hit", got.Hit, c.hit, 1e-8)
	}
}

// METHODS H2.
func TestLRUExact(t *testing.T) {
	for _, c := range []struct {
		p          []float64
		entries    int
		exact, che float64
	}{
		{[]float64{.5, .3, .2}, 1, .38, 0},
		{[]float64{.5, .3, .2}, 2, .7192857143, .7154122836},
		{[]float64{.4, .3, .2, .1}, 2, .5805555556, .5730093297},
		{ZipfWeights(8, 1), 3, .5356153359, 0},
		{ZipfWeights(8, 1), 4, .6626023234, 0},
		{[]float64{.5, .3, .2}, 3, 1, 1},
	} {
		got := LRUExact(c.p, c.entries)
		refused(t, "H2", got.Refused, "")
		near(t, "exact hit", got.Hit, c.exact, 1e-9)
		if c.che > 0 {
			near(t, "Che's hit", CheLRU(c.p, float64(c.entries)).Hit, c.che, 1e-9)
		}
	}
}

// METHODS H4.
func TestLFUBound(t *testing.T) {
	near(t, "Zipf(1000, 1), 100", LFUBound(ZipfWeights(1000, 1), 100).Hit, .69299281, 1e-8)
}

func TestCacheRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		p    []float64
		want Refusal
	}{
		{"none", nil, NoData},
		{"NaN", []float64{math.NaN()}, NotFinite},
		{"negative", []float64{1, -.1}, BadShape},
		{"above 1", []float64{.9, .9}, BadShape},
		{"zeros", []float64{0, 0}, BadShape},
	} {
		refused(t, "Che, "+c.name, CheLRU(c.p, 1).Refused, c.want)
		refused(t, "exact, "+c.name, LRUExact(c.p, 1).Refused, c.want)
		refused(t, "LFU, "+c.name, LFUBound(c.p, 1).Refused, c.want)
	}
	refused(t, "no entries", CheLRU([]float64{1}, 0).Refused, BadShape)
	refused(t, "too many keys", LRUExact(ZipfWeights(21, 1), 3).Refused, BadShape)
	if ZipfWeights(0, 1) != nil || ZipfWeights(3, math.Inf(1)) != nil {
		t.Error("weights of no keys")
	}
}

func TestCacheLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 9).Draw(t, "n")
		p := rapid.SliceOfN(rapid.Float64Range(0.01, 1), n, n).Draw(t, "p")
		var sum float64
		for _, v := range p {
			sum += v
		}
		for i := range p {
			p[i] /= sum
		}
		last := 0.0
		for c := 1; c <= n; c++ {
			lru, lfu := LRUExact(p, c), LFUBound(p, c)
			if lru.Refused != "" || lru.Hit > lfu.Hit+1e-9 || lru.Hit < last-1e-9 {
				t.Fatalf("%d entries: LRU %v, best %v, one entry less %v", c, lru, lfu, last)
			}
			if che := CheLRU(p, float64(c)); math.Abs(che.Hit-lru.Hit) > 0.15 {
				t.Fatalf("%d entries: Che %v, exact %v", c, che.Hit, lru.Hit)
			}
			last = lru.Hit
		}
		before := LRUExact(p, n-1).Hit
		slices.Reverse(p)
		if math.Abs(LRUExact(p, n-1).Hit-before) > 1e-9 {
			t.Fatal("depends on the order of keys")
		}
	})
}
