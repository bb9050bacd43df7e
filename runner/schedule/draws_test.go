package schedule

import (
	"bytes"
	"container/list"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func source(t testing.TB, spec SourceSpec) Source {
	t.Helper()
	s, err := NewSource(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// acceptable is the chi-square value with the given degrees of freedom that is
// exceeded once in 10,000 (Wilson and Hilferty).
func acceptable(df float64) float64 {
	const z = 3.719
	c := 1 - 2/(9*df) + z*math.Sqrt(2/(9*df))
	return df * c * c * c
}

func TestAliasTableHoldsTheWeightsExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.OneOf(
			rapid.Just(0.0), rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e6),
		), 1, 60).Draw(t, "weights")
		var sum float64
		for _, w := range weights {
			sum += w
		}
		a, err := NewAlias(weights)
		if sum == 0 {
			if err == nil {
				t.Fatal("weights of 0 accepted")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		n := float64(a.Len())
		got := make([]float64, a.Len())
		for i, keep := range a.keep {
			p := float64(keep) * 0x1p-64
			if uint64(a.other[i]) == uint64(i) {
				p = 1
			}
			got[i] += p / n
			got[a.other[i]] += (1 - p) / n
		}
		for i, w := range weights {
			if math.Abs(got[i]-w/sum) > 1e-14 || w == 0 && got[i] != 0 {
				t.Fatalf("index %d has probability %v, want %v", i, got[i], w/sum)
			}
		}
	})
}

func TestAliasRefuses(t *testing.T) {
	for _, w := range [][]float64{nil, {0}, {0, 0}, {-1, 2}, {math.NaN()}, {math.Inf(1)}} {
		if _, err := NewAlias(w); err == nil {
			t.Errorf("%v accepted", w)
		}
	}
}

// pick is how a class, too, is chosen: by the seed and the arrival's number.
func pick(a *Alias, arrival uint64) int {
	s := Derive(7, "class", arrival)
	return a.Pick(s.Uint64())
}

func TestClassesFollowTheirWeights(t *testing.T) {
	weights := []float64{80, 1, 5, 0, 14}
	c, err := NewAlias(weights)
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	counts := make([]float64, len(weights))
	for i := range uint64(n) {
		counts[pick(c, i)]++
	}
	var x float64
	for i, w := range weights {
		if w == 0 {
			if counts[i] != 0 {
				t.Errorf("a class of weight 0 was chosen %v times", counts[i])
			}
			continue
		}
		e := w / 100 * n
		x += (counts[i] - e) * (counts[i] - e) / e
	}
	if limit := acceptable(3); x > limit {
		t.Errorf("chi-square %v > %v: counts %v", x, limit, counts)
	}
}

func TestZipfAgainstTheory(t *testing.T) {
	for _, c := range []struct {
		lo, hi uint64
		s      float64
	}{
		{1, 200_000, 0.8},
		{1, 200_000, 1},
		{1, 200_000, 1.2},
		{1, 200_000, 0.05},
		{1, 1000, 3},
		{1, 1, 1},
		{1, 2, 0.5},
		{1, 10, 20},
		{10_001, 200_000, 0.9},
		{1, 1_000_000, 1.0000000001},
	} {
		z, err := NewZipf(c.lo, c.hi, c.s)
		if err != nil {
			t.Fatal(err)
		}
		// Bins of single ranks at first, then each a tenth wider than the last.
		const n = 400_000
		var ends []uint64
		for end, width := c.lo, 1.0; ; width = max(1, width*1.1) {
			if end >= c.hi {
				ends = append(ends, c.hi)
				break
			}
			ends = append(ends, end)
			end += uint64(width)
		}
		p := make([]float64, len(ends))
		var sum float64
		bin := 0
		for k := c.lo; k <= c.hi; k++ {
			for ends[bin] < k {
				bin++
			}
			w := math.Pow(float64(k), -c.s)
			p[bin] += w
			sum += w
		}
		counts := make([]float64, len(ends))
		stream := Derive(1, "zipf", math.Float64bits(c.s))
		for range n {
			k := z.Rank(&stream)
			if k < c.lo || k > c.hi {
				t.Fatalf("rank %d outside %d to %d", k, c.lo, c.hi)
			}
			i, j := 0, len(ends)-1
			for i < j {
				if m := (i + j) / 2; ends[m] < k {
					i = m + 1
				} else {
					j = m
				}
			}
			counts[i]++
		}
		var x, df, e, o float64
		for i := range ends {
			e += p[i] / sum * n
			o += counts[i]
			if e >= 10 {
				x += (o - e) * (o - e) / e
				df++
				e, o = 0, 0
			}
		}
		if df < 2 {
			continue
		}
		if limit := acceptable(df - 1); x > limit {
			t.Errorf("ranks %d to %d, exponent %v: chi-square %v > %v with %v bins", c.lo, c.hi, c.s, x, limit, df)
		}
		if got := zipfSum(c.lo, c.hi, c.s); math.Abs(got-sum) > 1e-10*sum {
			t.Errorf("ranks %d to %d, exponent %v: sum %v, want %v", c.lo, c.hi, c.s, got, sum)
		}
	}
}

func TestZipfRefuses(t *testing.T) {
	for _, c := range []struct {
		lo, hi uint64
		s      float64
	}{{0, 10, 1}, {5, 4, 1}, {1, 1 << 50, 1}, {1, 10, 0}, {1, 10, -1}, {1, 10, math.NaN()}, {1, 10, 21}} {
		if _, err := NewZipf(c.lo, c.hi, c.s); err == nil {
			t.Errorf("%v accepted", c)
		}
	}
}

// lru is the hit ratio of a cache that keeps the most recently used values.
func lru(s Source, size int, warm, n uint64) float64 {
	order := list.New()
	where := make(map[string]*list.Element)
	var buf []byte
	hits := 0
	for i := range warm + n {
		buf = s.Append(buf[:0], 1, i)
		if e, ok := where[string(buf)]; ok {
			order.MoveToFront(e)
			if i >= warm {
				hits++
			}
			continue
		}
		if order.Len() == size {
			last := order.Back()
			delete(where, last.Value.(string))
			order.Remove(last)
		}
		k := string(buf)
		where[k] = order.PushFront(k)
	}
	return float64(hits) / float64(n)
}

func TestCacheHitRatios(t *testing.T) {
	// Che's approximation; exact for the three keys of weights .5, .3, .2.
	for _, c := range []struct {
		count uint64
		s     float64
		size  int
		want  float64
	}{
		{100, 1, 10, .39762886},
		{1000, .8, 100, .37779022},
		{1000, 1, 100, .57652462},
		{10_000, .8, 1000, .43665972},
		{10_000, 1, 1000, .67560179},
		{10_000, 1.2, 1000, .86143480},
	} {
		s := source(t, SourceSpec{Name: "k", Kind: ZipfKind, Count: c.count, Exponent: c.s})
		if got := lru(s, c.size, 20_000, 200_000); math.Abs(got-c.want) > 0.005 {
			t.Errorf("%d keys, exponent %v, cache of %d: hit ratio %.4f, want %.4f", c.count, c.s, c.size, got, c.want)
		}
	}
	three := source(t, SourceSpec{Name: "k", Kind: ChoiceKind, Values: []string{"a", "b", "c"}, Weights: []float64{.5, .3, .2}})
	for size, want := range map[int]float64{1: .38, 2: .7192857143} {
		if got := lru(three, size, 100, 200_000); math.Abs(got-want) > 0.005 {
			t.Errorf("three keys, cache of %d: hit ratio %.4f, want %.4f", size, got, want)
		}
	}
}

func TestPermutationIsABijection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 3000).Draw(t, "n")
		p := NewPermutation(rapid.Uint64().Draw(t, "key"), n)
		seen := make([]bool, n)
		for i := range n {
			j := p.Apply(i)
			if j >= n {
				t.Fatalf("%d of %d goes to %d", i, n, j)
			}
			if seen[j] {
				t.Fatalf("two of %d go to %d", n, j)
			}
			seen[j] = true
		}
	})
}

func TestPopularIdentifiersAreNotNeighbours(t *testing.T) {
	p := NewPermutation(5, 200_000)
	near := 0
	for i := range uint64(1000) {
		a, b := p.Apply(i), p.Apply(i+1)
		if max(a, b)-min(a, b) < 100 {
			near++
		}
	}
	// By chance one pair in 1000.
	if near > 8 {
		t.Errorf("%d of 1000 neighbouring ranks are within 100 of each other", near)
	}
}

func TestProfileKeepsHeadAndTail(t *testing.T) {
	spec := SourceSpec{
		Name: "customers", Kind: ProfileKind, Count: 1000, First: 1,
		Head: []float64{500, 200, 100}, TailMass: 200, Exponent: 1,
	}
	s := source(t, spec)
	var sum float64
	for rank := range uint64(1002) {
		sum += s.Probability(rank)
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("probabilities sum to %v", sum)
	}
	counts := make(map[string]float64)
	const n = 200_000
	for i := range uint64(n) {
		counts[string(s.Append(nil, 3, i))]++
	}
	for rank, want := range map[uint64]float64{1: .5, 2: .2, 3: .1} {
		id := NewPermutation(keyed{hash("data/customers")}.key(3), 1000).Apply(rank-1) + 1
		got := counts[strconv.FormatUint(id, 10)] / n
		if math.Abs(got-want) > 0.005 || s.Probability(rank) != want {
			t.Errorf("rank %d: share %v, probability %v, want %v", rank, got, s.Probability(rank), want)
		}
	}
	if len(counts) < 990 {
		t.Errorf("only %d of 1000 identifiers drawn", len(counts))
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"unix", "a\nb\nc\n", []string{"a", "b", "c"}},
		{"windows, no end, mark, gaps", "\ufeffa b\r\n\r\n\nc", []string{"a b", "c"}},
		{"one", "x", []string{"x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := source(t, SourceSpec{Name: "f", Kind: FileKind, Lines: strings.NewReader(c.text), Order: Sequential})
			for i := range uint64(2 * len(c.want)) {
				if got := string(s.Append(nil, 1, i)); got != c.want[i%uint64(len(c.want))] {
					t.Errorf("arrival %d: %q", i, got)
				}
			}
			random := source(t, SourceSpec{Name: "f", Kind: FileKind, Lines: strings.NewReader(c.text), Order: Random})
			seen := make(map[string]bool)
			for i := range uint64(200) {
				seen[string(random.Append(nil, 1, i))] = true
			}
			if len(seen) != len(c.want) {
				t.Errorf("random order drew %d of %d lines", len(seen), len(c.want))
			}
		})
	}
}

func TestSourcesRefuse(t *testing.T) {
	file := func(r string) SourceSpec {
		return SourceSpec{Name: "f", Kind: FileKind, Order: Random, Lines: strings.NewReader(r)}
	}
	for _, c := range []struct {
		want string
		spec SourceSpec
	}{
		{"no name", SourceSpec{Kind: ZipfKind}},
		{"unknown kind", SourceSpec{Name: "x", Kind: "gauss"}},
		{"no values", file("")},
		{"no values", file("\r\n\n")},
		{"no file", SourceSpec{Name: "f", Kind: FileKind, Order: Random}},
		{"sequential or random", SourceSpec{Name: "f", Kind: FileKind}},
		{"broken", SourceSpec{Name: "f", Kind: FileKind, Order: Random, Lines: iotest.ErrReader(errors.New("broken"))}},
		{"count 0", SourceSpec{Name: "z", Kind: ZipfKind, Exponent: 1}},
		{"exponent 0", SourceSpec{Name: "z", Kind: ZipfKind, Count: 5}},
		{"given twice", SourceSpec{Name: "c", Kind: ChoiceKind, Values: []string{"a", "a"}, Weights: []float64{1, 2}}},
		{"2 values but 1 weights", SourceSpec{Name: "c", Kind: ChoiceKind, Values: []string{"a", "b"}, Weights: []float64{1}}},
		{"at least one", SourceSpec{Name: "c", Kind: ChoiceKind}},
		{"empty", SourceSpec{Name: "r", Kind: RangeKind, From: 2, To: 1}},
		{"must fall", SourceSpec{Name: "p", Kind: ProfileKind, Count: 9, Head: []float64{1, 2}}},
		{"counts for 2", SourceSpec{Name: "p", Kind: ProfileKind, Count: 1, Head: []float64{2, 1}}},
	} {
		if _, err := NewSource(c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want one that says %q", c.spec, err, c.want)
		}
	}
}

func kinds() []SourceSpec {
	return []SourceSpec{
		{Name: "sizes", Kind: ChoiceKind, Values: []string{"20", "100"}, Weights: []float64{.9, .1}},
		{Name: "products", Kind: ZipfKind, Count: 1_000_000, Exponent: 1.05, First: 1},
		{Name: "customers", Kind: ProfileKind, Count: 5000, Head: []float64{9, 5, 2}, TailMass: 40, Exponent: .8},
		{Name: "lines", Kind: FileKind, Order: Random, Lines: strings.NewReader("a\nb\nc")},
		{Name: "days", Kind: RangeKind, From: -5, To: 360},
		{Name: "any", Kind: RangeKind, From: math.MinInt64, To: math.MaxInt64},
	}
}

func TestValuesAreFunctionsOfSeedNameArrivalAndOccurrence(t *testing.T) {
	for _, spec := range kinds() {
		s := source(t, spec)
		if spec.Kind == FileKind {
			spec.Lines = strings.NewReader("a\nb\nc")
		}
		spec.Name += "2"
		other := source(t, spec)
		var base, seeded, named, nth, again bytes.Buffer
		for i := range uint64(200) {
			fmt.Fprintf(&base, "%s ", s.Append(nil, 1, i))
			fmt.Fprintf(&seeded, "%s ", s.Append(nil, 2, i))
			fmt.Fprintf(&named, "%s ", other.Append(nil, 1, i))
			fmt.Fprintf(&nth, "%s ", s.AppendNth(nil, 1, i, 1))
			fmt.Fprintf(&again, "%s ", s.AppendNth(nil, 1, i, 0))
		}
		if base.String() != again.String() {
			t.Errorf("%s: the same draw gave another value", spec.Name)
		}
		for _, b := range []*bytes.Buffer{&seeded, &named, &nth} {
			if base.String() == b.String() {
				t.Errorf("%s: another seed, name or occurrence gave the same values", spec.Name)
			}
		}
	}
}

// The values below may never change. A second implementation, in Python, gives
// the same zipf, file and range values.
func TestValuesAreFrozen(t *testing.T) {
	want := []string{
		"20 20 20 20 ",
		"420284 67340 116355 580608 ",
		"2981 3345 125 3136 ",
		"b c c a ",
		"252 75 225 156 ",
		"-5179365860248235009 4606653843749916911 -1917952190187946486 -8090941743782242763 ",
	}
	var got []string
	for _, spec := range kinds() {
		s := source(t, spec)
		var b []byte
		for i := range uint64(4) {
			b = append(s.Append(b, 7, i), ' ')
		}
		got = append(got, string(b))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 0, 64)
	for _, spec := range kinds() {
		s := source(t, spec)
		var i uint64
		if n := testing.AllocsPerRun(1000, func() {
			buf = s.Append(buf[:0], 1, i)
			i++
		}); n != 0 {
			t.Errorf("%s: %v allocations a value", spec.Name, n)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\nb\n\nc"))
	f.Add([]byte("\xef\xbb\xbf\r\n\r"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := NewSource(SourceSpec{Name: "f", Kind: FileKind, Order: Sequential, Lines: bytes.NewReader(text)})
		if err != nil {
			return
		}
		for i := range s.Distinct() {
			v := s.Append(nil, 1, i)
			if len(v) == 0 || bytes.ContainsRune(v, '\n') {
				t.Fatalf("value %d is %q", i, v)
			}
		}
	})
}

func BenchmarkZipf(b *testing.B) {
	s := source(b, SourceSpec{Name: "products", Kind: ZipfKind, Count: 1_000_000, Exponent: 1.05, First: 1})
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	var i uint64
	for b.Loop() {
		buf = s.Append(buf[:0], 1, i)
		i++
	}
}
