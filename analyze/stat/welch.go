package stat

import (
	"math"
)

// Welch is the comparison of two samples of runs by Welch's t. Differences
// are second less first, on the scale of the values; for [LogWelch] that is
// the logarithm, and Ratio, CI and the one-sided bounds are ratios second /
// first.
type Welch struct {
	Diff, SE, DF, T float64
	P               float64 // two-sided
	Ratio           float64 // exp(Diff); 0 where it is not a ratio
	CI              Interval
	// Low and High are the one-sided 95 % bounds: Low bounds the ratio (or
	// difference) from below.
	Low, High float64
	SDA, SDB  float64 // standard deviations between runs, on the scale of the values
	NA, NB    int
	log       bool
	Refused   Refusal
}

// WelchT compares two samples on their own scale; Ratio is 0. It refuses
// NoData and NotFinite. With fewer than three values on either side Diff is
// filled in and the result refused, with OneRunEach for one value each and
// TooFewRuns otherwise.
func WelchT(a, b []float64) Welch {
	w := Welch{NA: len(a), NB: len(b)}
	if len(a) == 0 || len(b) == 0 {
		w.Refused = NoData
		return w
	}
	if !Finite(a) || !Finite(b) {
		w.Refused = NotFinite
		return w
	}
	ma, qa := meanM2(a)
	mb, qb := meanM2(b)
	w.Diff = mb - ma
	switch {
	case len(a) == 1 && len(b) == 1:
		w.Refused = OneRunEach
		return w
	case len(a) < 3 || len(b) < 3:
		w.Refused = TooFewRuns
		return w
	}
	w.welch(qa, qb)
	return w
}

// welch fills in the test from the sums of squares. Two samples without any
// spread have an interval of one point and p of 0 or 1.
func (w *Welch) welch(qa, qb float64) {
	na, nb := float64(w.NA), float64(w.NB)
	w.SDA, w.SDB = math.Sqrt(qa/(na-1)), math.Sqrt(qb/(nb-1))
	va, vb := w.SDA*w.SDA/na, w.SDB*w.SDB/nb
	w.SE = math.Sqrt(va + vb)
	if w.SE == 0 || w.SE < 1e-15*math.Abs(w.Diff) {
		w.DF = na + nb - 2
		w.P = 1
		if w.Diff != 0 {
			w.P = 0
		}
		w.CI = Interval{w.Diff, w.Diff}
		w.Low, w.High = w.Diff, w.Diff
		return
	}
	// Shares of the variance, so that squares neither overflow nor vanish.
	sa, sb := va/(va+vb), vb/(va+vb)
	w.DF = 1 / (sa*sa/(na-1) + sb*sb/(nb-1))
	w.T = w.Diff / w.SE
	w.P = min(1, 2*StudentUpperTail(math.Abs(w.T), w.DF))
	two := StudentQuantile(0.975, w.DF) * w.SE
	one := StudentQuantile(0.95, w.DF) * w.SE
	w.CI = Interval{w.Diff - two, w.Diff + two}
	w.Low, w.High = w.Diff-one, w.Diff+one
}

// LogWelch compares one positive number per run on either side, a before and
// b after, by Welch's t on the logarithms, and gives the ratio b/a of the
// geometric means with its interval. Refusals as WelchT, and BadShape for a
// value that is not positive. Ratio is filled in with OneRunEach and
// TooFewRuns.
//
// Method: METHODS part e. The unit is the run, never the interval.
func LogWelch(a, b []float64) Welch {
	la, ra := logs(a)
	lb, rb := logs(b)
	for _, r := range []Refusal{ra, rb} {
		if r != "" {
			return Welch{NA: len(a), NB: len(b), Refused: r}
		}
	}
	w := WelchT(la, lb)
	w.log = true
	w.Ratio = math.Exp(w.Diff)
	if w.Refused == "" {
		w.CI = Interval{math.Exp(w.CI[0]), math.Exp(w.CI[1])}
		w.Low, w.High = math.Exp(w.Low), math.Exp(w.High)
	}
	if !Finite([]float64{w.Ratio, w.CI[0], w.CI[1], w.Low, w.High}) {
		return Welch{NA: w.NA, NB: w.NB, Refused: NotFinite}
	}
	return w
}

// The verdicts of a comparison.
const (
	Regression   = "regression"
	NoRegression = "no_regression"
	Undecided    = "inconclusive"
)

// Judgement is a verdict on a comparison.
type Judgement struct {
	Verdict string // regression, no_regression, inconclusive
	// RunsNeeded is the number of runs a side that would decide it, were
	// difference and spread to stay as they are; 0 where it is decided, where
	// the comparison was refused, and where the difference is the threshold
	// itself, so that no number of runs would do.
	RunsNeeded int
}

// Judge holds the comparison against a practical threshold m. A threshold
// above the point of no change (1 for ratios, 0 for differences) is a limit
// on growth: a regression is certain when the one-sided 95 % lower bound is
// above it, and excluded when the upper bound is below. A threshold below
// that point is a limit on shrinking, as for goodput, and works the other
// way round; m at that very point limits growth. A refused comparison is
// inconclusive. It panics when m is not a number, or not positive for
// ratios.
func (w Welch) Judge(m float64) Judgement {
	checkNumber("threshold", m)
	neutral, at, low, high := 0.0, m, w.Low, w.High
	if w.log {
		checkPositive("threshold of a ratio", m)
		neutral, at = 1, math.Log(m)
	}
	if w.Refused != "" {
		return Judgement{Verdict: Undecided}
	}
	worse, better := low > m, high < m
	if m < neutral {
		worse, better = better, worse
	}
	switch {
	case worse:
		return Judgement{Verdict: Regression}
	case better:
		return Judgement{Verdict: NoRegression}
	}
	j := Judgement{Verdict: Undecided}
	if w.SE == 0 || at == w.Diff {
		return j
	}
	h := StudentQuantile(0.95, w.DF) * w.SE / math.Abs(at-w.Diff)
	runs := float64(max(w.NA, w.NB))
	if need := math.Ceil(runs * h * h); need < 1e6 {
		j.RunsNeeded = max(int(runs)+2, int(need))
	}
	return j
}

// Logit returns the log odds of k out of n, as ln((k+½)/(n−k+½)), so that 0 of
// n and n of n have one. It is not ok when n is 0 or k > n. Compare failure
// ratios with [WelchT] on it.
func Logit(k, n uint64) (v float64, ok bool) {
	if n == 0 || k > n {
		return 0, false
	}
	return math.Log((float64(k) + 0.5) / (float64(n-k) + 0.5)), true
}

// LogitThreshold returns how much the log odds of a share grow when the share
// grows by add: the threshold for [Welch.Judge] that stands for an absolute
// tolerance. It is not ok unless share and share+add lie within (0,1) and add
// is not negative.
func LogitThreshold(share, add float64) (m float64, ok bool) {
	if !(share > 0) || !(add >= 0) || !(share+add < 1) {
		return 0, false
	}
	return math.Log((share+add)/(1-share-add)) - math.Log(share/(1-share)), true
}

// Fieller returns the interval at the given confidence for the ratio of the
// means b/a, without logarithms. It is not ok with fewer than two values a
// side, with values that are not finite, or where the mean of a is not
// clearly different from 0. It panics unless 0 < confidence < 1.
//
// Method: Fieller 1954 with Welch–Satterthwaite degrees of freedom: those of
// the comparison of logarithms where all values are positive, so that both
// intervals rest on the same t, and their first-order form otherwise.
func Fieller(a, b []float64, confidence float64) (iv Interval, ok bool) {
	checkProbability(confidence)
	if len(a) < 2 || len(b) < 2 || !Finite(a) || !Finite(b) {
		return Interval{}, false
	}
	ma, qa := meanM2(a)
	mb, qb := meanM2(b)
	na, nb := float64(len(a)), float64(len(b))
	va, vb := qa/(na-1)/na, qb/(nb-1)/nb
	ratio := mb / ma
	if !Finite([]float64{ratio, ratio * ratio * va}) {
		return Interval{}, false
	}
	// The variance of b − ratio·a.
	wa, wb := ratio*ratio*va, vb
	sum := wa + wb
	if sum == 0 {
		return Interval{ratio, ratio}, true
	}
	sa, sb := wa/sum, wb/sum
	df := 1 / (sa*sa/(na-1) + sb*sb/(nb-1))
	if w := LogWelch(a, b); w.Refused == "" {
		df = w.DF
	}
	t := StudentQuantile(1-(1-confidence)/2, df)
	g := t * t * va / (ma * ma)
	if !(g < 1) {
		return Interval{}, false
	}
	half := t / math.Abs(ma) * math.Sqrt(vb*(1-g)+ratio*ratio*va)
	iv = Interval{(ratio - half) / (1 - g), (ratio + half) / (1 - g)}
	return iv, Finite(iv[:])
}
