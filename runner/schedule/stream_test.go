package schedule

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestMixIsSplitmix64(t *testing.T) {
	// The first outputs of the reference implementation for seed 1234567
	// (Vigna, splitmix64.c; also in Rosetta Code's task of that name).
	s := Stream{1234567}
	for i, want := range []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423,
		4593380528125082431, 16408922859458223821,
	} {
		if got := s.Uint64(); got != want {
			t.Errorf("number %d: %d, want %d", i, got, want)
		}
	}
}

// The numbers below may never change: every recorded seed depends on them. They
// were computed by a second implementation, in Python.
func TestDerivedStreamsAreFrozen(t *testing.T) {
	for _, c := range []struct {
		seed    uint64
		purpose string
		n       []uint64
		want    [3]uint64
	}{
		{0, "arrivals", []uint64{0}, [3]uint64{0x162b505332284101, 0x163eb5b58e566a29, 0xd6bfb7aaeb9537ce}},
		{7, "arrivals", []uint64{0}, [3]uint64{0x7f64eeb8a8a75e03, 0xbb1e7ded385518e1, 0x4f3b3a9df0d9689a}},
		{7, "arrivals", []uint64{1}, [3]uint64{0x1c184e53405e22ab, 0x7bfec2f274329d08, 0xaa02d1cea5c41b41}},
		{7, "class", nil, [3]uint64{0xf6cdce2f43baac17, 0x6e169e44e49a807, 0x29ac30a96d3d3b}},
	} {
		s := Derive(c.seed, c.purpose, c.n...)
		got := [3]uint64{s.Uint64(), s.Uint64(), s.Uint64()}
		if got != c.want {
			t.Errorf("Derive(%d, %q, %d): %#v, want %#v", c.seed, c.purpose, c.n, got, c.want)
		}
	}
}

func TestFloat64IsInsideTheOpenInterval(t *testing.T) {
	for _, bitsOut := range []uint64{0, math.MaxUint64} {
		f := (float64(bitsOut>>12) + 0.5) * 0x1p-52
		if f <= 0 || f >= 1 {
			t.Errorf("bits %#x give %v", bitsOut, f)
		}
	}
	s := Derive(1, "test")
	var sum, squares float64
	const n = 200_000
	for range n {
		f := s.Float64()
		sum += f
		squares += f * f
	}
	mean := sum / n
	if d := math.Abs(mean-0.5) / (math.Sqrt(1.0/12) / math.Sqrt(n)); d > 4 {
		t.Errorf("mean %v is %v standard errors from 1/2", mean, d)
	}
	if v := squares/n - mean*mean; math.Abs(v-1.0/12) > 0.002 {
		t.Errorf("variance %v, want 1/12", v)
	}
}

func TestFrozenFunctionsAgreeWithMath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1e-300, 1e300).Draw(t, "x")
		if a, b := ln(x), math.Log(x); math.Abs(a-b) > 2e-16*math.Max(math.Abs(b), 1e-3) {
			t.Fatalf("ln(%v) = %v, want %v", x, a, b)
		}
		y := rapid.Float64Range(-700, 700).Draw(t, "y")
		if a, b := exp(y), math.Exp(y); math.Abs(a-b) > 3e-16*b {
			t.Fatalf("exp(%v) = %v, want %v", y, a, b)
		}
		z := rapid.Float64Range(-0.9, 3).Draw(t, "z")
		if a, b := expm1(z), math.Expm1(z); math.Abs(a-b) > 1e-15*math.Abs(b) {
			t.Fatalf("expm1(%v) = %v, want %v", z, a, b)
		}
		if a, b := log1p(z), math.Log1p(z); math.Abs(a-b) > 1e-15*math.Abs(b) {
			t.Fatalf("log1p(%v) = %v, want %v", z, a, b)
		}
	})
	if exp(-1000) != 0 || !math.IsInf(exp(1000), 1) || exp(0) != 1 || ln(1) != 0 {
		t.Error("wrong at the edges")
	}
}

func TestGammaMoments(t *testing.T) {
	for _, shape := range []float64{0.2, 0.9, 1, 2.5, 50, 250} {
		s := Derive(3, "gamma", math.Float64bits(shape))
		const n = 200_000
		var sum, squares float64
		for range n {
			g := s.Gamma(shape)
			sum += g
			squares += g * g
		}
		mean := sum / n
		variance := squares/n - mean*mean
		// Variance 1/shape; its standard error from the excess kurtosis 6/shape.
		if se := math.Sqrt(1 / shape / n); math.Abs(mean-1) > 4*se {
			t.Errorf("shape %v: mean %v, want 1 ± %v", shape, mean, 4*se)
		}
		if se := math.Sqrt((2+6/shape)/n) / shape; math.Abs(variance-1/shape) > 4*se {
			t.Errorf("shape %v: variance %v, want %v ± %v", shape, variance, 1/shape, 4*se)
		}
	}
}
