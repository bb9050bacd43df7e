package profile

import (
	"bytes"
	"container/list"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"headroom/analyze/stat"
	"headroom/runner/schedule"
)

// generated is a log whose requests are made as they are read, from a function
// of their number.
func generated(n int, line func(dst []byte, i int) []byte) Input {
	return Input{Name: "generated", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(&generator{n: n, line: line}), nil
	}}
}

type generator struct {
	n, i int
	line func([]byte, int) []byte
	buf  []byte
	rest []byte
}

func (g *generator) Read(p []byte) (int, error) {
	if len(g.rest) == 0 {
		if g.i == g.n {
			return 0, io.EOF
		}
		g.buf = g.buf[:0]
		for len(g.buf) < 64<<10 && g.i < g.n {
			g.buf = append(g.line(g.buf, g.i), '\n')
			g.i++
		}
		g.rest = g.buf
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// itemLine is a request for an item, perSecond of them in a second.
func itemLine(dst []byte, i, perSecond int, item uint64) []byte {
	s := i / perSecond
	dst = fmt.Appendf(dst, "192.0.2.%d - - [%02d/Jan/2024:%02d:%02d:%02d +0000] \"GET /items/", i%200, 1+s/86400, s/3600%24, s/60%60, s%60)
	dst = strconv.AppendUint(dst, item, 10)
	return append(dst, ` HTTP/1.1" 200 512 "-" "ua"`...)
}

// lruHits is a cache as one writes it, to compare with.
func lruHits(size, n int, key func(i int) uint64) float64 {
	order := list.New()
	at := map[uint64]*list.Element{}
	hits := 0
	for i := range n {
		k := key(i)
		if e := at[k]; e != nil {
			hits++
			order.MoveToFront(e)
			continue
		}
		at[k] = order.PushFront(k)
		if order.Len() > size {
			last := order.Back()
			delete(at, last.Value.(uint64))
			order.Remove(last)
		}
	}
	return float64(hits) / float64(n)
}

func zipfSource(t *testing.T, count uint64, exponent float64) schedule.Source {
	t.Helper()
	s, err := schedule.NewSource(schedule.SourceSpec{Name: "items", Kind: schedule.ZipfKind, Count: count, Exponent: exponent, First: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func drawn(t *testing.T, s schedule.Source, seed uint64) func(int) uint64 {
	var buf []byte
	return func(i int) uint64 {
		buf = s.Append(buf[:0], seed, uint64(i))
		v, err := strconv.ParseUint(string(buf), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestDrawnKeysHitAsTheLogDid: independent requests for 100,000 items with an
// exponent of 0.8. Identifiers drawn with what was learned must give caches
// the hit ratios of the log itself, within a point.
func TestDrawnKeysHitAsTheLogDid(t *testing.T) {
	if testing.Short() {
		t.Skip("a million requests")
	}
	const n = 1_000_000
	truth := drawn(t, zipfSource(t, 100_000, 0.8), 7)
	p := mustRead(t, Options{}, generated(n, func(dst []byte, i int) []byte { return itemLine(dst, i, 1000, truth(i)) }))
	id, err := p.Find("/items/{id}", "")
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(id.Zipf.Exponent-0.8) > 0.01 {
		t.Errorf("exponent %g, want 0.8", id.Zipf.Exponent)
	}
	if id.Population < 97_000 || id.Population > 103_000 {
		t.Errorf("population %d, want 100000; %d were seen", id.Population, id.Distinct)
	}
	if len(id.Refused) > 0 {
		t.Errorf("refused: %v", id.Refused)
	}
	pop := id.Popularity()
	source, err := schedule.NewSource(schedule.SourceSpec{
		Name: "items", Kind: schedule.ProfileKind, Count: pop.Count, Head: pop.Head, TailMass: pop.TailMass, Exponent: pop.Exponent,
	})
	if err != nil {
		t.Fatal(err)
	}
	again := drawn(t, source, 8)
	for _, size := range []int{1000, 5000, 20_000} {
		want := lruHits(size, n, truth)
		if got := lruHits(size, n, again); math.Abs(got-want) > 0.01 {
			t.Errorf("cache of %d: drawn identifiers hit %.4f, the log %.4f", size, got, want)
		}
		if got := id.LRUHit[strconv.Itoa(size)]; math.Abs(got-want) > 0.003 {
			t.Errorf("cache of %d: the profile says %.4f, the log hits %.4f", size, got, want)
		}
		if got := id.IRMHit[strconv.Itoa(size)]; math.Abs(got-want) > 0.003 {
			t.Errorf("cache of %d: shuffled %.4f, want %.4f", size, got, want)
		}
	}
}

// TestTemporalLocality: half of the requests repeat one of the last hundred.
func TestTemporalLocality(t *testing.T) {
	const n = 200_000
	base := drawn(t, zipfSource(t, 20_000, 0.8), 7)
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, n)
	for i := range keys {
		if keys[i] = base(i); i > 100 && r.IntN(2) == 0 {
			keys[i] = keys[i-1-r.IntN(100)]
		}
	}
	read := func() *Identifiers {
		p := mustRead(t, Options{}, generated(n, func(dst []byte, i int) []byte { return itemLine(dst, i, 100, keys[i]) }))
		id, err := p.Find("/items/{id}", "")
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	id := read()
	if !contains(id.Refused, NonIRM) {
		t.Errorf("locality is not told: %v, shuffled %v", id.LRUHit, id.IRMHit)
	}
	if want := lruHits(500, n, func(i int) uint64 { return keys[i] }); math.Abs(id.LRUHit["500"]-want) > 0.003 {
		t.Errorf("hits %.4f of 500 entries, want %.4f", id.LRUHit["500"], want)
	}
	r.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	if id := read(); contains(id.Refused, NonIRM) {
		t.Errorf("the same requests in random order are said to be local: %v, shuffled %v", id.LRUHit, id.IRMHit)
	}
}

// TestKeysInLittleMemory: many more values than fit.
func TestKeysInLittleMemory(t *testing.T) {
	p := &pool{most: 1 << 14}
	k := p.newKeys(true)
	small := p.newKeys(true)
	const n, count = 300_000, 100_000
	source := drawn(t, zipfSource(t, count, 0.9), 3)
	seen := map[uint64]uint64{}
	for i := range n {
		v := source(i)
		seen[v]++
		k.add(mix(v))
		small.add(mix(v % 10))
	}
	if p.slots > p.most || len(k.slots) > p.most {
		t.Errorf("%d slots in use, %d allowed", p.slots, p.most)
	}
	if small.top != nil || small.distinct() != 10 {
		t.Errorf("the small table was thinned out: %d of 10 values", small.distinct())
	}
	if k.top == nil {
		t.Fatal("everything was counted exactly; the test wants more values")
	}
	if got, want := float64(k.distinct()), float64(len(seen)); math.Abs(got/want-1) > 0.03 {
		t.Errorf("%g different values, want %g", got, want)
	}
	top := k.ranked(100)
	for i, r := range top[:20] {
		if want := seen[unmix(r.hash)]; r.count < want || float64(r.count) > 1.02*float64(want)+20 {
			t.Errorf("rank %d: %d requests, want %d", i+1, r.count, want)
		}
	}
	size := []float64{1000, 10_000}
	hits := k.stack.hits(n, size)
	for i, s := range size {
		if want := lruHits(int(s), n, func(i int) uint64 { return source(i) }); math.Abs(hits[i]-want) > 0.02 {
			t.Errorf("cache of %g: %.4f, want %.4f", s, hits[i], want)
		}
	}
}

// unmix inverts mix.
func unmix(h uint64) uint64 {
	h ^= h>>31 ^ h>>62
	h *= 0x319642b2d24d8ec3
	h ^= h>>27 ^ h>>54
	h *= 0x96de1b173f119089
	return h ^ h>>30 ^ h>>60
}

func TestStackDistances(t *testing.T) {
	// a b c a a c b: distances of the repeats are 3, 1, 2, 3.
	p := &pool{most: 1 << 10}
	k := p.newKeys(true)
	for _, c := range []byte("abcaacb") {
		k.add(mix(uint64(c)))
	}
	got := k.stack.hits(7, []float64{1, 2, 3, 4})
	for i, want := range []float64{1, 2, 4, 4} {
		if math.Abs(got[i]*7-want) > 1e-9 {
			t.Errorf("cache of %d: %g hits, want %g", i+1, got[i]*7, want)
		}
	}
}

func TestTailDistinct(t *testing.T) {
	p := Popularity{TailMass: 50_000, Exponent: 0.8}
	for _, count := range []uint64{1000, 30_000, 200_000} {
		probabilities := make([]float64, count)
		var norm float64
		for i := range probabilities {
			probabilities[i] = math.Pow(float64(i+1), -0.8)
			norm += probabilities[i]
		}
		for i := range probabilities {
			probabilities[i] /= norm
		}
		want, refused := stat.ExpectedDistinct(probabilities, p.TailMass)
		if refused != "" {
			t.Fatal(refused)
		}
		if got := tailDistinct(p, count); math.Abs(got/want-1) > 0.002 {
			t.Errorf("%d identifiers: %g different, want %g", count, got, want)
		}
	}
}

func TestShape(t *testing.T) {
	source := drawn(t, zipfSource(t, 2000, 1.1), 7)
	p := mustRead(t, Options{}, generated(50_000, func(dst []byte, i int) []byte { return itemLine(dst, i, 100, source(i)) }))
	var b bytes.Buffer
	if err := p.Shape().Encode(&b); err != nil {
		t.Fatal(err)
	}
	shape, err := Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	id, err := shape.Find("/items/{id}", "segment 2")
	if err != nil {
		t.Fatal(err)
	}
	pop := id.Popularity()
	if !shape.ShapeOnly || len(pop.Head) != 0 || len(id.Pseudonyms) != 0 || math.Abs(pop.Exponent-1.1) > 0.05 || pop.Count < 1900 {
		t.Errorf("shape %+v", pop)
	}
	if _, err := shape.Find("/orders/{id}", ""); err == nil {
		t.Error("identifiers of an unknown route are found")
	}
}
