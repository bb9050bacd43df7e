package stat

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// StudentQuantile returns the p-quantile of Student's t with df degrees of
// freedom; df need not be whole. It panics unless 0 < p < 1 and df > 0.
func StudentQuantile(p, df float64) float64 {
	checkProbability(p)
	checkPositive("degrees of freedom", df)
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// StudentUpperTail returns P(T > t) for Student's t with df degrees of
// freedom. It panics unless t is a number and df > 0.
func StudentUpperTail(t, df float64) float64 {
	checkNumber("t", t)
	checkPositive("degrees of freedom", df)
	// The survival function of gonum is 1−CDF and loses small tails; the
	// distribution is symmetric.
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(-t)
}

// NormalQuantile returns the p-quantile of the standard normal distribution.
// It panics unless 0 < p < 1.
func NormalQuantile(p float64) float64 {
	checkProbability(p)
	return distuv.UnitNormal.Quantile(p)
}

// NormalUpperTail returns P(Z > z). It panics when z is not a number.
func NormalUpperTail(z float64) float64 {
	checkNumber("z", z)
	return math.Erfc(z/math.Sqrt2) / 2
}

// ChiSquaredQuantile returns the p-quantile of chi-squared with df degrees of
// freedom. It panics unless 0 < p < 1 and df > 0.
func ChiSquaredQuantile(p, df float64) float64 {
	checkProbability(p)
	checkPositive("degrees of freedom", df)
	return distuv.ChiSquared{K: df}.Quantile(p)
}

// ChiSquaredUpperTail returns P(X > x) for chi-squared with df degrees of
// freedom; 1 for x ≤ 0. It panics unless x is a number and df > 0.
func ChiSquaredUpperTail(x, df float64) float64 {
	checkNumber("x", x)
	checkPositive("degrees of freedom", df)
	if x <= 0 {
		return 1
	}
	return distuv.ChiSquared{K: df}.Survival(x)
}

// ClopperPearson returns the exact two-sided interval at the given confidence
// (0.95, say) for the share of which k of n were seen. It is not ok when n is
// 0 or k > n. It panics unless 0 < confidence < 1.
func ClopperPearson(k, n uint64, confidence float64) (iv Interval, ok bool) {
	checkProbability(confidence)
	if n == 0 || k > n {
		return Interval{}, false
	}
	half := (1 - confidence) / 2
	return Interval{betaLow(k, n, half), betaHigh(k, n, half)}, true
}

// ClopperPearsonUpper returns the exact one-sided upper bound at the given
// confidence for the share of which k of n were seen. It is not ok when n is
// 0 or k > n. It panics unless 0 < confidence < 1.
func ClopperPearsonUpper(k, n uint64, confidence float64) (upper float64, ok bool) {
	checkProbability(confidence)
	if n == 0 || k > n {
		return 0, false
	}
	return betaHigh(k, n, 1-confidence), true
}

func betaLow(k, n uint64, tail float64) float64 {
	if k == 0 {
		return 0
	}
	return distuv.Beta{Alpha: float64(k), Beta: float64(n-k) + 1}.Quantile(tail)
}

func betaHigh(k, n uint64, tail float64) float64 {
	switch k {
	case n:
		return 1
	case 0:
		return -math.Expm1(math.Log(tail) / float64(n))
	}
	return distuv.Beta{Alpha: float64(k) + 1, Beta: float64(n - k)}.Quantile(1 - tail)
}

func checkProbability(p float64) {
	if !(p > 0 && p < 1) {
		panic(fmt.Sprintf("stat: probability %v is outside (0,1)", p))
	}
}

func checkPositive(what string, v float64) {
	if !(v > 0) || math.IsInf(v, 0) {
		panic(fmt.Sprintf("stat: %s %v is not positive and finite", what, v))
	}
}

func checkNumber(what string, v float64) {
	if math.IsNaN(v) {
		panic("stat: " + what + " is not a number")
	}
}
