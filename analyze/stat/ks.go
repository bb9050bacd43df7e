package stat

import (
	"math"
	"slices"
)

// Test is the result of a test of one hypothesis.
type Test struct {
	Statistic float64
	P         float64 // probability of a statistic at least as large where the hypothesis holds
	N         int     // values that the statistic was computed from
	Refused   Refusal
}

// KSUniform tests whether x is a sample from the uniform distribution on
// [0,1]: Kolmogorov–Smirnov with both sides. It refuses NoData and BadShape
// for values outside [0,1].
func KSUniform(x []float64) Test {
	s := slices.Clone(x)
	slices.Sort(s)
	return ksSorted(s)
}

func ksSorted(s []float64) Test {
	if len(s) == 0 {
		return Test{Refused: NoData}
	}
	n := float64(len(s))
	var d float64
	for i, v := range s {
		if !(v >= 0 && v <= 1) {
			return Test{Refused: BadShape}
		}
		d = max(d, float64(i+1)/n-v, v-float64(i)/n)
	}
	return Test{Statistic: d, P: KSUpperTail(len(s), d), N: len(s)}
}

// KSExponential tests whether the gaps are a sample from the exponential
// distribution of the given rate (per unit of the gaps), which must be known
// beforehand. It refuses NoData, and BadShape for negative gaps or a rate
// that is not positive.
func KSExponential(gaps []float64, rate float64) Test {
	if r := checkGaps(gaps); r != "" {
		return Test{Refused: r}
	}
	if !(rate > 0) || math.IsInf(rate, 0) {
		return Test{Refused: BadShape}
	}
	u := make([]float64, len(gaps))
	for i, g := range gaps {
		u[i] = -math.Expm1(-rate * g)
	}
	slices.Sort(u)
	return ksSorted(u)
}

// ConditionalUniformKS tests whether the arrivals that the gaps lead to are
// uniform on the time they cover, as those of a Poisson process are. It sees
// drifting rates and slow modulation, not wrong gap laws. It needs two gaps.
func ConditionalUniformKS(gaps []float64) Test {
	u, r := arrivalTimes(gaps)
	if r != "" {
		return Test{Refused: r}
	}
	return ksSorted(u)
}

// LewisKS tests whether the gaps come from a Poisson process of any rate: the
// arrival times as in ConditionalUniformKS, then Durbin's transformation of
// their ordered spacings. It is the stronger test against wrong gap laws
// (Kim and Whitt 2014). It needs two gaps.
func LewisKS(gaps []float64) Test {
	u, r := arrivalTimes(gaps)
	if r != "" {
		return Test{Refused: r}
	}
	m := len(u) + 1
	c := make([]float64, m)
	last := 0.0
	for i, v := range u {
		c[i] = v - last
		last = v
	}
	c[m-1] = 1 - last
	slices.Sort(c)
	s := make([]float64, m-1)
	var sum, before float64
	for j := range s {
		sum += float64(m-j) * (c[j] - before)
		before = c[j]
		s[j] = min(sum, 1)
	}
	return ksSorted(s)
}

// arrivalTimes returns T_k/T_n for k < n.
func arrivalTimes(gaps []float64) ([]float64, Refusal) {
	if r := checkGaps(gaps); r != "" {
		return nil, r
	}
	if len(gaps) < 2 {
		return nil, TooShort
	}
	u := make([]float64, len(gaps))
	var t float64
	for i, g := range gaps {
		t += g
		u[i] = t
	}
	if !(t > 0) || math.IsInf(t, 0) {
		return nil, BadShape
	}
	for i := range u {
		u[i] /= t
	}
	return u[:len(u)-1], ""
}

func checkGaps(gaps []float64) Refusal {
	if len(gaps) == 0 {
		return NoData
	}
	if !Finite(gaps) {
		return NotFinite
	}
	for _, g := range gaps {
		if g < 0 {
			return BadShape
		}
	}
	return ""
}

// KSUpperTail returns P(D_n ≥ d) for the two-sided one-sample statistic:
// exact up to n = 100 (Marsaglia, Tsang and Wang 2003), beyond that the
// limit law of √n·D_n. It panics when n < 1.
func KSUpperTail(n int, d float64) float64 {
	if n < 1 {
		panic("stat: Kolmogorov–Smirnov of no values")
	}
	switch {
	case d <= 0:
		return 1
	case d >= 1:
		return 0
	case n <= 100:
		return min(max(1-ksExact(n, d), 0), 1)
	}
	return kolmogorovTail(math.Sqrt(float64(n)) * d)
}

// kolmogorovTail is 2 Σ (−1)^{j−1} e^{−2j²x²}.
func kolmogorovTail(x float64) float64 {
	if x < 0.2 {
		return 1 // by less than 1e-12
	}
	if x < 1 {
		// The other form of the theta function converges here.
		var s float64
		for j := 1; j < 20; j += 2 {
			s += math.Exp(-float64(j*j) * math.Pi * math.Pi / (8 * x * x))
		}
		return min(max(1-math.Sqrt(2*math.Pi)/x*s, 0), 1)
	}
	var s float64
	sign := 2.0
	for j := 1; j < 20; j++ {
		s += sign * math.Exp(-2*float64(j*j)*x*x)
		sign = -sign
	}
	return min(max(s, 0), 1)
}

// ksExact returns P(D_n < d) as n!/n^n times an entry of the n-th power of a
// matrix of order 2k−1, k = ⌈nd⌉, with powers of ten taken out on the way.
func ksExact(n int, d float64) float64 {
	k := int(float64(n)*d) + 1
	m := 2*k - 1
	h := float64(k) - float64(n)*d
	a := make([]float64, m*m)
	for i := range m {
		for j := range m {
			if i-j+1 >= 0 {
				a[i*m+j] = 1
			}
		}
	}
	for i := range m {
		a[i*m] -= math.Pow(h, float64(i+1))
		a[(m-1)*m+i] -= math.Pow(h, float64(m-i))
	}
	if 2*h > 1 {
		a[(m-1)*m] += math.Pow(2*h-1, float64(m))
	}
	for i := range m {
		for j := range m {
			for g := 1; g <= i-j+1; g++ {
				a[i*m+j] /= float64(g)
			}
		}
	}
	p, exponent := matrixPower(a, m, n)
	v := p[(k-1)*m+k-1]
	for i := 1; i <= n; i++ {
		v *= float64(i) / float64(n)
		if v < 1e-140 {
			v *= 1e140
			exponent -= 140
		}
	}
	return v * math.Pow(10, float64(exponent))
}

// matrixPower returns aⁿ for an m×m matrix, times 10^exponent.
func matrixPower(a []float64, m, n int) (p []float64, exponent int) {
	if n == 1 {
		return slices.Clone(a), 0
	}
	p, exponent = matrixPower(a, m, n/2)
	p, exponent = matrixMultiply(p, p, m), 2*exponent
	if n%2 == 1 {
		p = matrixMultiply(a, p, m)
	}
	if p[(m/2)*m+m/2] > 1e140 {
		for i := range p {
			p[i] *= 1e-140
		}
		exponent += 140
	}
	return p, exponent
}

func matrixMultiply(a, b []float64, m int) []float64 {
	c := make([]float64, m*m)
	for i := range m {
		for k := range m {
			if v := a[i*m+k]; v != 0 {
				for j := range m {
					c[i*m+j] += v * b[k*m+j]
				}
			}
		}
	}
	return c
}
