package stat

import "math"

// Portmanteau is the result of LjungBox.
type Portmanteau struct {
	R       []float64 // autocorrelations at lags 1, 2, …
	MaxR    float64   // largest of them in size
	Q       float64
	P       float64
	Refused Refusal
}

// LjungBox tests whether x is free of autocorrelation at the first lags:
// Q = n(n+2) Σ r_k²/(n−k) against chi-squared. It refuses TooShort unless
// there are more values than lags, NotFinite, and BadShape for equal values.
// It panics when lags < 1.
func LjungBox(x []float64, lags int) Portmanteau {
	if lags < 1 {
		panic("stat: Ljung–Box over no lag")
	}
	if !Finite(x) {
		return Portmanteau{Refused: NotFinite}
	}
	if len(x) <= lags {
		return Portmanteau{Refused: TooShort}
	}
	mean, m2 := meanM2(x)
	if m2 == 0 || math.IsInf(m2, 0) {
		return Portmanteau{Refused: BadShape}
	}
	n := float64(len(x))
	p := Portmanteau{R: make([]float64, lags)}
	for k := 1; k <= lags; k++ {
		var c float64
		for i := k; i < len(x); i++ {
			c += (x[i] - mean) * (x[i-k] - mean)
		}
		r := c / m2
		p.R[k-1] = r
		p.MaxR = max(p.MaxR, math.Abs(r))
		p.Q += r * r / (n - float64(k))
	}
	p.Q *= n * (n + 2)
	p.P = ChiSquaredUpperTail(p.Q, float64(lags))
	return p
}

// Dispersion is the result of DispersionTest.
type Dispersion struct {
	Index   float64 // variance / mean of the counts; 1 for a Poisson process
	X       float64 // (n−1) × Index
	PUpper  float64 // probability of an index at least as large, for a Poisson process
	PLower  float64 // probability of one at most as large
	N       int
	Refused Refusal
}

// DispersionTest compares counts in equal windows with a Poisson process:
// (n−1)s²/x̄ against chi-squared with n−1 degrees of freedom. It refuses
// TooShort below two counts, NotFinite, and BadShape for negative counts or
// a mean of 0.
func DispersionTest(counts []float64) Dispersion {
	if len(counts) < 2 {
		return Dispersion{Refused: TooShort}
	}
	if r := checkGaps(counts); r != "" {
		return Dispersion{Refused: r}
	}
	mean, m2 := meanM2(counts)
	if !(mean > 0) || math.IsInf(m2, 0) {
		return Dispersion{Refused: BadShape}
	}
	df := float64(len(counts) - 1)
	d := Dispersion{X: m2 / mean, Index: m2 / mean / df, N: len(counts)}
	d.PUpper = ChiSquaredUpperTail(d.X, df)
	d.PLower = 1 - d.PUpper
	return d
}
