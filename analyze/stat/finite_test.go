package stat

import (
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// checkFinite fails when v holds, at any depth, a number that is not finite.
func checkFinite(t *rapid.T, what string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			t.Fatalf("%s: %v came out", what, f)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			checkFinite(t, what, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			checkFinite(t, what, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				checkFinite(t, what+"."+f.Name, v.Field(i))
			}
		}
	}
}

// Whatever goes in, no NaN and no infinity comes out.
func TestNothingInfiniteComesOut(t *testing.T) {
	odd := rapid.SampledFrom([]float64{
		0, 1, -1, 0.5, 1e-300, -1e-300, 5e-324, 1e300, -1e300, math.MaxFloat64, -math.MaxFloat64,
		math.NaN(), math.Inf(1), math.Inf(-1), 1 + 1e-15,
	})
	number := rapid.OneOf(odd, rapid.Float64Range(0, 10), rapid.Float64Range(-1e3, 1e3))
	positive := rapid.OneOf(rapid.SampledFrom([]float64{5e-324, 1e-300, 1, 1e300, math.MaxFloat64}), rapid.Float64Range(1e-3, 10))
	rapid.Check(t, func(t *rapid.T) {
		gen := number
		if rapid.Bool().Draw(t, "positive") {
			gen = positive
		}
		x := rapid.SliceOfN(gen, 0, 30).Draw(t, "x")
		y := rapid.SliceOfN(gen, 0, 30).Draw(t, "y")
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		n := rapid.IntRange(1, 40).Draw(t, "n")
		long := x
		for len(long) > 0 && len(long) < 400 {
			long = append(long, long...)
		}
		for _, c := range []struct {
			name string
			f    func() []any
		}{
			{"Mean", func() []any { v, _ := Mean(x); return []any{v} }},
			{"SD", func() []any { v, _ := SD(x); return []any{v} }},
			{"Median", func() []any { v, _ := Median(x); return []any{v} }},
			{"Quantile", func() []any { v, _ := Quantile(x, a); return []any{v} }},
			{"Autocorrelation", func() []any { v, _ := Autocorrelation(x, n); return []any{v} }},
			{"Blocks", func() []any { return []any{MeanBlocks(x, n), MedianBlocks(x, n), MinBlocks(x, n)} }},
			{"MSER", func() []any { return []any{MSER(x, 1), MSER(x, 3)} }},
			{"KS", func() []any { return []any{KSUniform(x), KSExponential(x, a), ConditionalUniformKS(x), LewisKS(x)} }},
			{"AD", func() []any { return []any{AndersonDarling(x, a), AndersonDarlingMean(x)} }},
			{"LjungBox", func() []any { return []any{LjungBox(x, n)} }},
			{"Dispersion", func() []any { return []any{DispersionTest(x), DispersionOf([][]float64{x, y})} }},
			{"MeanOfRuns", func() []any { return []any{MeanOfRuns(x, 0.95)} }},
			{"Gumbel", func() []any {
				g, r := GumbelFit(x)
				if r != "" {
					return nil
				}
				return []any{g, PeakNext(x, 90, 0.95)}
			}},
			{"PoissonPeak", func() []any { v, _ := PoissonPeak(min(a, 1e6), 1000, 0.5); return []any{v} }},
			{"MannKendall", func() []any { return []any{MannKendall(x)} }},
			{"TheilSen", func() []any {
				l := TheilSen(x)
				return []any{l, l.Interval(a), TimeToLimit(1e6, l.Level, l.Slope, l.Interval(100))}
			}},
			{"CycleLength", func() []any { v, _ := CycleLength(long); return []any{v} }},
			{"Drift", func() []any {
				return []any{
					Drift(long, DriftOpts{SpacingH: 1, Limit: &a}), Drift(long, DriftOpts{SpacingH: b, HorizonH: a}),
					Drift(long, DriftOpts{SpacingH: 1, Latency: true, Limit: &b, WarmUpRemoved: true, Load: y}),
				}
			}},
			{"Welch", func() []any { return []any{WelchT(x, y), LogWelch(x, y)} }},
			{"Fieller", func() []any { v, _ := Fieller(x, y, 0.95); return []any{v} }},
			{"MannWhitney", func() []any { v, _ := MannWhitney(x, y); return []any{v} }},
			{"Adjusted", func() []any { return []any{Holm(x), BenjaminiHochberg(x)} }},
			{"ChangePoints", func() []any { v, _ := ChangePoints(x, ChangeOpts{}); return []any{v} }},
			{"Recovery", func() []any {
				return []any{
					Recovery([]Signal{{Before: x, After: long}}, RecoveryOpts{Baseline: 1}),
					Recovery([]Signal{{Before: x, After: long, Lower: true}}, RecoveryOpts{Baseline: 1, SpacingS: a, Delta: b}),
				}
			}},
			{"Fluid", func() []any {
				f := Fluid{a, b, 10, 5}
				return []any{f.Drain(), f.TimedOut(a), Fluid{1, a, b, a}.Drain(), Fluid{1, a, b, a}.TimedOut(1)}
			}},
			{"RetryAttempts", func() []any { v, _ := RetryAttempts(a, n); return []any{v} }},
			{"ZipfFit", func() []any { return []any{ZipfFit(x)} }},
			{"ZipfWeights", func() []any { return []any{ZipfWeights(n, a)} }},
			{"Caches", func() []any { return []any{CheLRU(x, a), LRUExact(x[:min(len(x), 8)], n), LFUBound(x, n)} }},
			{"Distinct", func() []any { v, _ := ExpectedDistinct(x, a); return []any{v} }},
			{"BurstModel", func() []any { v, _ := BurstModel(a, b); return []any{v} }},
			{"Spiral", func() []any { Spiral(SpiralInput{a, b, x, 1, y, b, true}); return nil }},
			{"LogitThreshold", func() []any { v, _ := LogitThreshold(a, b); return []any{v} }},
		} {
			for _, v := range c.f() {
				checkFinite(t, c.name, reflect.ValueOf(v))
			}
		}
	})
}
