package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// LogMean is a mean over runs.
type LogMean struct {
	Mean    float64 // geometric mean, in the unit of the values
	CI      Interval
	LogSD   float64 // standard deviation of the logarithms: relative spread between runs
	N       int
	Refused Refusal
}

// MeanOfRuns returns the geometric mean of one positive number per run and
// its interval at the given confidence, by Student's t on the logarithms. It
// refuses NoData, NotFinite, BadShape for a value that is not positive, and
// TooFewRuns below three runs, with the mean filled in. It panics unless
// 0 < confidence < 1.
func MeanOfRuns(x []float64, confidence float64) LogMean {
	checkProbability(confidence)
	y, r := logs(x)
	if r != "" {
		return LogMean{Refused: r}
	}
	n := len(y)
	mean, m2 := meanM2(y)
	m := LogMean{Mean: math.Exp(mean), N: n}
	if n < 3 {
		m.Refused = TooFewRuns
		return m
	}
	m.LogSD = math.Sqrt(m2 / float64(n-1))
	half := StudentQuantile(1-(1-confidence)/2, float64(n-1)) * m.LogSD / math.Sqrt(float64(n))
	m.CI = Interval{math.Exp(mean - half), math.Exp(mean + half)}
	if !Finite(m.CI[:]) {
		return LogMean{Mean: m.Mean, N: n, LogSD: m.LogSD, Refused: NotFinite}
	}
	return m
}

func logs(x []float64) ([]float64, Refusal) {
	if len(x) == 0 {
		return nil, NoData
	}
	if !Finite(x) {
		return nil, NotFinite
	}
	y := make([]float64, len(x))
	for i, v := range x {
		if v <= 0 {
			return nil, BadShape
		}
		y[i] = math.Log(v)
	}
	return y, ""
}

// Gumbel is a Gumbel distribution of maxima: location and scale in the unit
// of the maxima.
type Gumbel struct {
	Mu, Beta float64
}

const eulerGamma = 0.57721566490153286

// GumbelFit fits a Gumbel distribution to maxima by their first two
// L-moments. It refuses NoData, NotFinite, and TooShort below two maxima.
//
// Method: Hosking 1990; METHODS part b.
func GumbelFit(maxima []float64) (Gumbel, Refusal) {
	s, r := sortedFinite(maxima)
	if r != "" {
		return Gumbel{}, r
	}
	n := len(s)
	if n < 2 {
		return Gumbel{}, TooShort
	}
	var b1 float64
	for i, v := range s {
		b1 += float64(i) * (v - s[0])
	}
	b0, _ := meanM2(s)
	l2 := max(2*b1/(float64(n)*float64(n-1))-(b0-s[0]), 0)
	beta := l2 / math.Ln2
	return Gumbel{Mu: b0 - eulerGamma*beta, Beta: beta}, ""
}

// MaxQuantile returns the q-quantile of the maximum of m draws. It panics
// unless 0 < q < 1 and m ≥ 1.
func (g Gumbel) MaxQuantile(m int, q float64) float64 {
	checkProbability(q)
	if m < 1 {
		panic("stat: maximum of no draws")
	}
	return g.Mu + g.Beta*(math.Log(float64(m))-math.Log(-math.Log(q)))
}

// PeakPrediction is an upper bound for the highest of the days to come.
type PeakPrediction struct {
	Value   float64 // in the unit of the maxima
	Fit     Gumbel
	Refused Refusal
}

// PeakNext predicts the value that the highest of the next days' maxima will
// not exceed with probability q, from the daily maxima so far, in order of
// time. It refuses TooFewDays below 30 of them, PeakTrending where they have
// a trend in either direction at 5 %, NoData and NotFinite. It panics as
// MaxQuantile does.
func PeakNext(dailyMaxima []float64, days int, q float64) PeakPrediction {
	fit, r := GumbelFit(dailyMaxima)
	switch {
	case r != "" && r != TooShort:
		return PeakPrediction{Refused: r}
	case len(dailyMaxima) < 30:
		return PeakPrediction{Refused: TooFewDays}
	}
	if math.Abs(MannKendall(dailyMaxima).ZAR) > NormalQuantile(0.975) {
		return PeakPrediction{Refused: PeakTrending}
	}
	return PeakPrediction{Value: fit.MaxQuantile(days, q), Fit: fit}
}

// PoissonPeak returns the q-quantile of the highest of m independent Poisson
// counts of the given mean: what the busiest of m seconds holds when arrivals
// are no more than random. It is not ok unless mean is positive and finite,
// m ≥ 1 and 0 < q < 1.
func PoissonPeak(mean float64, m uint64, q float64) (count uint64, ok bool) {
	if !(mean > 0) || mean > 1e12 || m < 1 || !(q > 0 && q < 1) {
		return 0, false
	}
	d := distuv.Poisson{Lambda: mean}
	// P(max ≤ k) = (1 − P(N > k))^m ≥ q.
	target := -math.Expm1(math.Log(q) / float64(m))
	within := func(k uint64) bool { return poissonUpper(d, k) <= target }
	lo, hi := uint64(0), uint64(mean)+16
	if within(0) {
		return 0, true
	}
	for !within(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if within(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, true
}

// poissonUpper returns P(N > k), summed where it is small so that it keeps
// its digits.
func poissonUpper(d distuv.Poisson, k uint64) float64 {
	if float64(k) < d.Lambda {
		return 1 - d.CDF(float64(k))
	}
	term := d.Prob(float64(k + 1))
	sum := 0.0
	for i := k + 2; term > 1e-17*sum; i++ {
		sum += term
		term *= d.Lambda / float64(i)
	}
	return sum
}

// BeatenProbability returns the probability that the highest of the next m
// days exceeds the highest of the last n, all orders being equally likely:
// m/(m+n). It is not ok unless both are at least 1.
func BeatenProbability(n, m int) (p float64, ok bool) {
	if n < 1 || m < 1 {
		return 0, false
	}
	return float64(m) / (float64(m) + float64(n)), true
}
