package schedule

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func arrivals(t testing.TB, s Spec, seed uint64, phase int) Arrivals {
	t.Helper()
	a, err := New(s, seed, phase)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func all(a Arrivals) []int64 {
	var out []int64
	for at, ok := a.Next(); ok; at, ok = a.Next() {
		out = append(out, at)
	}
	return out
}

// idc is the index of dispersion of the counts in windows of the given width.
func idc(instants []int64, width int64, windows int) float64 {
	counts := make([]float64, windows)
	for _, at := range instants {
		counts[at/width]++
	}
	var mean, squares float64
	for _, c := range counts {
		mean += c
	}
	mean /= float64(windows)
	for _, c := range counts {
		squares += (c - mean) * (c - mean)
	}
	return squares / float64(windows-1) / mean
}

func TestPoissonScheduleIsFrozen(t *testing.T) {
	// Computed by a second implementation, in Python: -ln(u)/1000 summed over
	// the stream (7, "arrivals", 0).
	a := arrivals(t, Spec{Process: Poisson, Shape: Steady(1000, 3600*second)}, 7, 0)
	var got []int64
	for range 8 {
		at, _ := a.Next()
		got = append(got, at)
	}
	want := []int64{697891, 1011323, 2184128, 3157725, 3435369, 3872923, 5384906, 7064472}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var at int64
	for range 2_000_000 - 8 {
		at, _ = a.Next()
	}
	if want := int64(1999467884698); max(at-want, want-at) > 1000 {
		t.Errorf("arrival 2,000,000 at %d ns, want %d ± 1000", at, want)
	}
}

func TestSeedsAndPhasesGiveOtherSchedules(t *testing.T) {
	spec := Spec{Process: Poisson, Shape: Steady(500, 2*second)}
	base := all(arrivals(t, spec, 1, 0))
	if !slices.Equal(base, all(arrivals(t, spec, 1, 0))) {
		t.Error("the same seed and phase gave another schedule")
	}
	if slices.Equal(base, all(arrivals(t, spec, 2, 0))) {
		t.Error("another seed gave the same schedule")
	}
	if slices.Equal(base, all(arrivals(t, spec, 1, 1))) {
		t.Error("another phase gave the same schedule")
	}
}

func TestPoissonCounts(t *testing.T) {
	// Acceptance at 99.9 % for 600 windows.
	const lo, hi = 0.820727, 1.201137
	for _, rate := range []float64{5, 333, 2000} {
		for seed := range uint64(3) {
			got := all(arrivals(t, Spec{Process: Poisson, Shape: Steady(rate, 600*second)}, seed, 0))
			want := rate * 600
			if d := math.Abs(float64(len(got))-want) / math.Sqrt(want); d > 4 {
				t.Errorf("rate %v, seed %d: %d arrivals, %v standard deviations from %v", rate, seed, len(got), d, want)
			}
			if v := idc(got, second, 600); v < lo || v > hi {
				t.Errorf("rate %v, seed %d: index of dispersion %v, want %v to %v", rate, seed, v, lo, hi)
			}
			if !slices.IsSorted(got) {
				t.Errorf("rate %v, seed %d: not rising", rate, seed)
			}
		}
	}
}

func TestExponentialGaps(t *testing.T) {
	// One-sample Kolmogorov-Smirnov against the exponential of the configured
	// rate; √n·D below 1.949 at 99.9 %.
	const rate = 1000
	got := all(arrivals(t, Spec{Process: Poisson, Shape: Steady(rate, 10*second)}, 11, 2))
	gaps := make([]float64, len(got))
	var last int64
	for i, at := range got {
		gaps[i] = float64(at-last) / second
		last = at
	}
	slices.Sort(gaps)
	n := float64(len(gaps))
	var d float64
	for i, g := range gaps {
		f := 1 - math.Exp(-rate*g)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	if d*math.Sqrt(n) > 1.949475 {
		t.Errorf("√n·D = %v", d*math.Sqrt(n))
	}
}

func TestDispersion(t *testing.T) {
	for _, c := range []struct {
		rate, dispersion float64
	}{{1000, 5}, {1000, 21}, {200, 3}, {20, 40}} {
		const windows = 3600
		spec := Spec{Process: Poisson, Shape: Steady(c.rate, windows*second), Dispersion: c.dispersion}
		got := all(arrivals(t, spec, 5, 1))
		// The relative standard error of a variance of a negative binomial
		// count, by its kurtosis 2 + (6 + 1/variance·…) / r, r = rate/(dispersion-1).
		r := c.rate / (c.dispersion - 1)
		excess := 6/r + 1/(c.rate*c.dispersion)
		se := c.dispersion * math.Sqrt((2+excess)/windows+1/c.rate/windows)
		if v := idc(got, second, windows); math.Abs(v-c.dispersion) > 4*se {
			t.Errorf("rate %v: index of dispersion %v, want %v ± %v", c.rate, v, c.dispersion, 4*se)
		}
		sd := math.Sqrt(c.rate * c.dispersion * windows)
		if n := float64(len(got)); math.Abs(n-c.rate*windows) > 4*sd {
			t.Errorf("rate %v: %v arrivals, want %v ± %v", c.rate, n, c.rate*windows, 4*sd)
		}
	}
}

func TestConstantCountsAreExact(t *testing.T) {
	for _, c := range []struct {
		rate   float64
		length int64
		want   int
	}{
		{7, 60 * second, 420},
		{333, 3600 * second, 1198800},
		{0.5, 60 * second, 30},
		{0.5, second, 1},
		{0.1, 10 * second, 1},
		{0.3, 100 * second, 30},
		{1000, 4 * 3600 * second, 14400000},
		{305.17578125, 64 * second, 19532}, // 19531.25: the last starts before the end
		{0, 60 * second, 0},
		{1e6, second / 1000, 1000},
	} {
		spec := Spec{Process: Constant, Shape: Steady(c.rate, c.length)}
		a := arrivals(t, spec, 1, 0)
		n := 0
		for _, ok := a.Next(); ok; _, ok = a.Next() {
			n++
		}
		if n != c.want {
			t.Errorf("%v/s for %d ns: %d arrivals, want %d", c.rate, c.length, n, c.want)
		}
		if e := spec.Expected(); e != float64(c.want) {
			t.Errorf("%v/s for %d ns: %v expected, want %d", c.rate, c.length, e, c.want)
		}
	}
}

// exact is k·10^9/rate, rounded half up, in unbounded integers.
func exact(k uint64, rate float64) int64 {
	r := new(big.Rat).SetFloat64(rate)
	q := new(big.Rat).SetFrac(new(big.Int).Mul(new(big.Int).SetUint64(k), big.NewInt(2*second)), big.NewInt(1))
	q.Quo(q, r)
	num := new(big.Int).Add(q.Num(), q.Denom())
	return num.Div(num, new(big.Int).Mul(q.Denom(), big.NewInt(2))).Int64()
}

func TestConstantArrivalsAreExactAtAnyDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(
			rapid.Float64Range(1e-3, MaxRPS),
			rapid.Map(rapid.IntRange(1, 100000), func(i int) float64 { return float64(i) }),
			rapid.Map(rapid.IntRange(1, 100000), func(i int) float64 { return float64(i) / 10 }),
		).Draw(t, "rate")
		hours := rapid.Int64Range(1, 48).Draw(t, "hours")
		length := hours * 3600 * second
		last := uint64(rate * float64(hours*3600))
		k := rapid.Uint64Range(0, last).Draw(t, "k")
		v := newInverse(Steady(rate, length))
		at, ok := v.at(position{whole: k})
		if want := exact(k, rate); ok && at != want || !ok && want < length {
			t.Fatalf("arrival %d at %v/s: %d ns (%v), want %d", k, rate, at, ok, want)
		}
	})
}

func TestRamp(t *testing.T) {
	// 0 to 100/s over 10 s: Λ(t) = 5 t², so arrival k is at √(k/5) s.
	spec := Spec{Process: Constant, Shape: []Segment{{Length: 10 * second, From: 0, To: 100}}}
	got := all(arrivals(t, spec, 1, 0))
	if len(got) != 500 {
		t.Fatalf("%d arrivals, want 500", len(got))
	}
	for k, at := range got {
		want := math.Sqrt(float64(k)/5) * second
		if math.Abs(float64(at)-want) > 1 {
			t.Errorf("arrival %d at %d ns, want %.1f", k, at, want)
		}
	}
	// Down again: the same, mirrored.
	spec.Shape = []Segment{{Length: 10 * second, From: 100, To: 0}}
	down := all(arrivals(t, spec, 1, 0))
	if len(down) != 500 {
		t.Fatalf("%d arrivals on the way down, want 500", len(down))
	}
	for k := 1; k < 500; k++ {
		if sum := down[k] + got[500-k]; max(sum-10*second, 10*second-sum) > 2 {
			t.Errorf("arrival %d down at %d ns, not the mirror of %d", k, down[k], got[500-k])
		}
	}
}

func TestPiecewise(t *testing.T) {
	spec := Spec{Process: Constant, Shape: []Segment{
		{Length: 2 * second, From: 10, To: 10},
		{Length: second, From: 0, To: 0},
		{Length: second, From: 40, To: 40},
		{Length: 2 * second, From: 10, To: 20},
	}}
	got := all(arrivals(t, spec, 1, 0))
	perSecond := make([]int, 6)
	for _, at := range got {
		perSecond[at/second]++
	}
	// The rate at the start of second 5 is 15, at its end 20.
	if d := cmp.Diff([]int{10, 10, 0, 40, 13, 17}, perSecond); d != "" {
		t.Error(d)
	}
	if got[20] != 3*second {
		t.Errorf("the first arrival after the gap is at %d ns, want %d", got[20], 3*second)
	}
	poisson := spec
	poisson.Process = Poisson
	for _, at := range all(arrivals(t, poisson, 4, 0)) {
		if at >= 2*second && at < 3*second {
			t.Errorf("an arrival at %d ns, where the rate is 0", at)
		}
	}
}

func TestNoDriftAfterFourHours(t *testing.T) {
	a := arrivals(t, Spec{Process: Poisson, Shape: Steady(1000, 4*3600*second)}, 9, 3)
	// The same uniforms, summed with Neumaier's compensation.
	s := Derive(9, "arrivals", 3)
	var sum, lost float64
	var k int
	var at int64
	for {
		next, ok := a.Next()
		if !ok {
			break
		}
		at = next
		k++
		gap := -math.Log(s.Float64())
		next64 := sum + gap
		lost += gap - (next64 - sum)
		sum = next64
		if want := int64((sum + lost) * 1e6); max(at-want, want-at) > 5 {
			t.Fatalf("arrival %d at %d ns, want %d", k, at, want)
		}
	}
	if n := 14_400_000.0; math.Abs(float64(k)-n) > 4*math.Sqrt(n) {
		t.Errorf("%d arrivals in 4 h, want %v ± %v", k, n, 4*math.Sqrt(n))
	}
	if at < 4*3600*second-second {
		t.Errorf("the last arrival is at %d ns", at)
	}
}

func TestTrace(t *testing.T) {
	in := []int64{0, 1000, 1000, 5000, 9000}
	got := all(arrivals(t, Spec{Process: Trace, Instants: in, Scale: 0.5, Length: 4000}, 1, 0))
	if d := cmp.Diff([]int64{0, 500, 500, 2500}, got); d != "" {
		t.Error(d)
	}
	if got := all(arrivals(t, Spec{Process: Trace, Instants: in}, 1, 0)); !slices.Equal(got, in) {
		t.Errorf("unscaled and uncut: %d, want %d", got, in)
	}
	if e := (Spec{Process: Trace, Instants: in, Scale: 0.5, Length: 4000}).Expected(); e != 4 {
		t.Errorf("expected %v, want 4", e)
	}
}

func TestAnyScheduleRisesAndEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(minRPS, 1), rapid.Float64Range(1, 300))
		var shape []Segment
		var length int64
		for range rapid.IntRange(1, 5).Draw(t, "segments") {
			s := Segment{
				Length: rapid.Int64Range(1, 5*second).Draw(t, "length"),
				From:   rate.Draw(t, "from"), To: rate.Draw(t, "to"),
			}
			if rapid.Bool().Draw(t, "level") {
				s.To = s.From
			}
			shape = append(shape, s)
			length += s.Length
		}
		spec := Spec{Process: rapid.SampledFrom([]Process{Poisson, Constant}).Draw(t, "process"), Shape: shape}
		if spec.Process == Poisson {
			spec.Dispersion = rapid.SampledFrom([]float64{0, 1.001, 3, 1000, 1e6}).Draw(t, "dispersion")
		}
		a, err := New(spec, rapid.Uint64().Draw(t, "seed"), 0)
		if err != nil {
			t.Fatal(err)
		}
		var last int64
		n := 0
		for at, ok := a.Next(); ok; at, ok = a.Next() {
			if at < last || at >= length {
				t.Fatalf("arrival %d at %d ns, after one at %d, in %d ns", n, at, last, length)
			}
			last = at
			n++
			if n > 10_000_000 {
				t.Fatal("no end")
			}
		}
		if e := spec.Expected(); spec.Process == Constant && float64(n) != e {
			t.Fatalf("%d arrivals, %v expected", n, e)
		}
	})
}

func TestEndStaysEnd(t *testing.T) {
	for _, spec := range []Spec{
		{Process: Poisson, Shape: Steady(100, second)},
		{Process: Constant, Shape: Steady(100, second)},
		{Process: Trace, Instants: []int64{1, 2, 3}, Length: 3},
	} {
		a := arrivals(t, spec, 1, 0)
		all(a)
		for range 3 {
			if at, ok := a.Next(); ok {
				t.Errorf("%s: arrival at %d after the end", spec.Process, at)
			}
		}
	}
}

func TestValidateNamesAllProblems(t *testing.T) {
	for _, c := range []struct {
		name string
		spec Spec
		want []string
	}{
		{"empty", Spec{}, []string{"unknown process"}},
		{"no rate", Spec{Process: Poisson}, []string{"no rate"}},
		{"two", Spec{Process: Constant, Shape: []Segment{{Length: -1, From: -3, To: math.NaN()}}}, []string{"lasts -1 ns", "rate of -3", "rate of NaN"}},
		{"dispersion", Spec{Process: Constant, Shape: Steady(1, second), Dispersion: 0.5}, []string{"dispersion of 0.5", "needs poisson"}},
		{"trace", Spec{Process: Trace, Instants: []int64{2, 1}, Scale: -1}, []string{"scale of -1", "instant 1"}},
		{"no trace", Spec{Process: Trace}, []string{"no instants"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(c.spec, 1, 0)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
		})
	}
}

func TestShardsAreAPartition(t *testing.T) {
	spec := Spec{Process: Poisson, Shape: Steady(2000, 30*second)}
	whole := all(arrivals(t, spec, 3, 0))
	for _, n := range []int{1, 2, 3, 7} {
		seen := make(map[uint64]int64)
		for shard := range n {
			var kept []int64
			for i, at := range all(arrivals(t, spec, 3, 0)) {
				number := 100 + uint64(i)
				if !Kept(3, number, shard, n) {
					continue
				}
				if _, twice := seen[number]; twice {
					t.Fatalf("arrival %d kept by two of %d shards", number, n)
				}
				seen[number] = at
				kept = append(kept, at)
			}
			count := len(kept)
			if want := float64(len(whole)) / float64(n); math.Abs(float64(count)-want) > 4*math.Sqrt(want)+1 {
				t.Errorf("shard %d of %d has %d arrivals, want about %v", shard, n, count, want)
			}
			// Acceptance at 99.9 % for 300 windows: each shard is Poisson.
			if v := idc(kept, second/10, 300); v < 0.752578 || v > 1.291201 {
				t.Errorf("shard %d of %d: index of dispersion %v", shard, n, v)
			}
		}
		if len(seen) != len(whole) {
			t.Fatalf("%d shards keep %d arrivals of %d", n, len(seen), len(whole))
		}
		for i, at := range whole {
			if seen[100+uint64(i)] != at {
				t.Fatalf("%d shards: arrival %d at %d, want %d", n, i, seen[100+uint64(i)], at)
			}
		}
	}
}

func BenchmarkPoisson(b *testing.B) {
	a := arrivals(b, Spec{Process: Poisson, Shape: Steady(20000, maxLength)}, 1, 0)
	b.ReportAllocs()
	for b.Loop() {
		a.Next()
	}
}
