package stat

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The last case of METHODS D6: two series of NIST StRD with large offsets.
func TestNISTNumericalAccuracy(t *testing.T) {
	numacc4 := []float64{1.2}
	for range 500 {
		numacc4 = append(numacc4, 1.1, 1.3)
	}
	for _, c := range []struct {
		name         string
		x            []float64
		mean, sd, r1 float64
	}{
		{"NumAcc1", []float64{10000001, 10000003, 10000002}, 10000002, 1, -0.5},
		{"NumAcc2", numacc4, 1.2, 0.1, -0.999},
	} {
		mean, ok := Mean(c.x)
		near(t, c.name+" mean", mean, c.mean, 1e-14)
		sd, ok2 := SD(c.x)
		near(t, c.name+" sd", sd, c.sd, 1e-12)
		r1, ok3 := Autocorrelation(c.x, 1)
		near(t, c.name+" r1", r1, c.r1, 1e-12)
		if !ok || !ok2 || !ok3 {
			t.Errorf("%s: not ok", c.name)
		}
	}
}

func TestMomentsOfFewValues(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name                        string
		x                           []float64
		mean, sd, median, quantile_ bool
	}{
		{"none", nil, false, false, false, false},
		{"one", []float64{4}, true, false, true, true},
		{"two", []float64{4, 6}, true, true, true, true},
		{"with NaN", []float64{1, nan, 2}, false, false, false, false},
		{"with Inf", []float64{1, inf, 2}, false, false, false, false},
		{"too large to square", []float64{1, 1e200}, false, false, false, false},
	} {
		if _, ok := Mean(c.x); ok != c.mean {
			t.Errorf("%s: Mean ok = %v", c.name, ok)
		}
		if _, ok := SD(c.x); ok != c.sd {
			t.Errorf("%s: SD ok = %v", c.name, ok)
		}
		if _, ok := Median(c.x); ok != c.median {
			t.Errorf("%s: Median ok = %v", c.name, ok)
		}
		if _, ok := Quantile(c.x, 0.5); ok != c.quantile_ {
			t.Errorf("%s: Quantile ok = %v", c.name, ok)
		}
	}
	if _, ok := Autocorrelation([]float64{3, 3, 3}, 1); ok {
		t.Error("a constant series has no autocorrelation")
	}
	if _, ok := Autocorrelation([]float64{1, 2}, 2); ok {
		t.Error("lag of the series' length must not be ok")
	}
	if _, ok := Quantile([]float64{1}, 1.5); ok {
		t.Error("quantile 1.5 must not be ok")
	}
}

func TestQuantileIsNearestRank(t *testing.T) {
	twenty := make([]float64, 20)
	for i := range twenty {
		twenty[i] = float64(i + 1)
	}
	for _, c := range []struct {
		x       []float64
		q, want float64
	}{
		{[]float64{1, 2, 3}, 0.4, 2}, // hdrhistogram's rank rule says 1
		{[]float64{3, 1, 2}, 0, 1},
		{[]float64{3, 1, 2}, 1, 3},
		{[]float64{1, 2, 3, 4}, 0.5, 2},
		{twenty, 0.95, 19},
		{twenty, 0.05, 1},
	} {
		if got, _ := Quantile(c.x, c.q); got != c.want {
			t.Errorf("Quantile(%v, %v) = %v, want %v", c.x, c.q, got, c.want)
		}
	}
}

func TestQuantileLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 50).Draw(t, "x")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		v, ok := Quantile(x, q)
		if !ok || !slices.Contains(x, v) {
			t.Fatalf("Quantile = %v, %v: not one of the values", v, ok)
		}
		y := slices.Clone(x)
		slices.Reverse(y)
		if w, _ := Quantile(y, q); w != v {
			t.Fatalf("depends on order: %v and %v", v, w)
		}
		below := 0
		for _, u := range x {
			if u <= v {
				below++
			}
		}
		if float64(below) < q*float64(len(x))*(1-1e-9) {
			t.Fatalf("%d of %d at or below the %v-quantile", below, len(x), q)
		}
	})
}

func TestAutocorrelationIgnoresScaleAndShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-100, 100), 3, 40).Draw(t, "x")
		a := rapid.Float64Range(0.5, 8).Draw(t, "a")
		b := rapid.Float64Range(-100, 100).Draw(t, "b")
		sd, _ := SD(x)
		r, ok := Autocorrelation(x, 1)
		if !ok || sd < 1e-3 {
			return
		}
		y := make([]float64, len(x))
		for i := range x {
			y[i] = a*x[i] + b
		}
		s, _ := Autocorrelation(y, 1)
		if math.Abs(r-s) > 1e-6 || math.Abs(r) > 1 {
			t.Fatalf("r = %v, after scaling %v", r, s)
		}
	})
}

func TestBlocks(t *testing.T) {
	if got := SumBlocks([]uint64{1, 2, 3, 4, 5, 6, 7}, 3); !slices.Equal(got, []uint64{3, 7, 18}) {
		t.Errorf("SumBlocks = %v", got)
	}
	if got := MinBlocks([]float64{3, 1, 2, 9, 8, 7}, 2); !slices.Equal(got, []float64{1, 7}) {
		t.Errorf("MinBlocks = %v", got)
	}
	if got := MedianBlocks([]float64{3, 1, 2, 9, 8, 7}, 2); !slices.Equal(got, []float64{2, 8}) {
		t.Errorf("MedianBlocks = %v", got)
	}
	if got := MeanBlocks([]float64{3, 1, 2, 9, 8, 7}, 2); !slices.Equal(got, []float64{2, 8}) {
		t.Errorf("MeanBlocks = %v", got)
	}
	if SumBlocks(nil, 1) != nil || MeanBlocks([]float64{1}, 2) != nil || MeanBlocks([]float64{math.NaN()}, 1) != nil {
		t.Error("blocks cut from too little or from NaN")
	}
}

func TestSumBlocksKeepsTheSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Uint64Range(0, 1000), 1, 60).Draw(t, "x")
		b := rapid.IntRange(1, len(x)).Draw(t, "b")
		var want, got uint64
		for _, v := range x {
			want += v
		}
		for _, v := range SumBlocks(x, b) {
			got += v
		}
		if got != want {
			t.Fatalf("blocks sum to %d, values to %d", got, want)
		}
	})
}

func TestRanksShareTies(t *testing.T) {
	got := ranks([]float64{5, 1, 5, 2, 5})
	if want := []float64{4, 1, 4, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("ranks = %v, want %v", got, want)
	}
}
