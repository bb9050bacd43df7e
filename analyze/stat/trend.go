package stat

import (
	"math"
	"slices"
)

// Trend is the result of MannKendall. A positive Z means rising.
type Trend struct {
	S      int     // pairs that rise less pairs that fall
	V      float64 // variance of S for independent values, ties taken into account
	Z      float64 // (S − sign S)/√V, 0 where V is 0
	R1     float64 // lag-1 autocorrelation of the ranks after the trend is taken out
	R      float64 // the same, corrected for the number of values and kept in [0, 0.95]
	Factor float64 // by which an AR(1) series with R inflates V
	ZAR    float64 // (S − sign S)/√(V·Factor), 0 where V is 0
	// Slope is the Theil–Sen slope per step.
	Slope   float64
	Refused Refusal
}

// MannKendall tests y, equally spaced in time, for a trend. It refuses
// NotFinite, and TooShort below five values. It takes time and memory in the
// square of the number of values: use blocks.
//
// Method: Mann–Kendall with ties, the variance inflated by Hamed and Rao's
// factor for an AR(1) autocorrelation of the de-trended ranks; METHODS
// part d.
func MannKendall(y []float64) Trend {
	slopes, r := pairSlopes(y)
	if r != "" {
		return Trend{Refused: r}
	}
	k := len(y)
	if k < 5 {
		return Trend{Refused: TooShort}
	}
	var t Trend
	for i := range y {
		for j := i + 1; j < k; j++ {
			t.S += int(signum(y[j] - y[i]))
		}
	}
	t.V = mannKendallVariance(y)
	t.Slope = medianSorted(slopes)
	rest := make([]float64, k)
	var size float64
	for i := range y {
		rest[i] = y[i] - t.Slope*float64(i)
		size = max(size, math.Abs(y[i])+math.Abs(t.Slope)*float64(i))
	}
	// Values that are equal but for rounding share a rank.
	if grain := size * 1e-12; grain > 0 {
		for i := range rest {
			rest[i] = math.Round(rest[i] / grain)
		}
	}
	n := float64(k)
	if r1, ok := Autocorrelation(ranks(rest), 1); ok {
		t.R1 = r1
		t.R = min(max((n*r1+2)/(n-4), 0), 0.95)
	}
	var sum float64
	rj := 1.0
	for j := 1; j < k; j++ {
		rj *= t.R
		m := n - float64(j)
		sum += m * (m - 1) * (m - 2) * rj
	}
	t.Factor = 1 + 2*sum/(n*(n-1)*(n-2))
	if t.V > 0 {
		s := float64(t.S) - signum(float64(t.S))
		t.Z = s / math.Sqrt(t.V)
		t.ZAR = s / math.Sqrt(t.V*t.Factor)
	}
	return t
}

func mannKendallVariance(y []float64) float64 {
	s := slices.Clone(y)
	slices.Sort(s)
	n := float64(len(s))
	v := n * (n - 1) * (2*n + 5)
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] == s[i] {
			j++
		}
		t := float64(j - i)
		v -= t * (t - 1) * (2*t + 5)
		i = j
	}
	return v / 18
}

// pairSlopes returns (y_j − y_i)/(j − i) for i < j in ascending order.
func pairSlopes(y []float64) ([]float64, Refusal) {
	if !Finite(y) {
		return nil, NotFinite
	}
	if len(y) < 2 {
		return nil, TooShort
	}
	s := make([]float64, 0, len(y)*(len(y)-1)/2)
	for i := range y {
		for j := i + 1; j < len(y); j++ {
			s = append(s, (y[j]-y[i])/float64(j-i))
		}
	}
	if !Finite(s) {
		return nil, NotFinite
	}
	slices.Sort(s)
	return s, ""
}

// Line is a Theil–Sen line through equally spaced values.
type Line struct {
	Slope     float64 // per step
	Intercept float64 // median of y less slope times the middle index, at index 0
	Level     float64 // the line at the last value: median of y_i − slope·i (i from 1), plus slope·n
	Refused   Refusal

	pairs []float64 // slopes of all pairs, ascending
}

// TheilSen fits the line of median slope to y. It refuses NotFinite, and
// TooShort below two values. Time and memory grow as the square of the
// number of values.
//
// Method: Theil 1950, Sen 1968.
func TheilSen(y []float64) Line {
	pairs, r := pairSlopes(y)
	if r != "" {
		return Line{Refused: r}
	}
	l := Line{Slope: medianSorted(pairs), pairs: pairs}
	n := float64(len(y))
	med, _ := Median(y)
	l.Intercept = med - l.Slope*(n-1)/2
	rest := make([]float64, len(y))
	for i := range y {
		rest[i] = y[i] - l.Slope*float64(i+1)
	}
	med, _ = Median(rest)
	l.Level = med + l.Slope*n
	if !Finite([]float64{l.Intercept, l.Level}) {
		return Line{Refused: NotFinite}
	}
	return l
}

// Interval returns the 95 % interval of the slope, given the variance of the
// Mann–Kendall statistic: [Trend].V for independent values, V·Factor for
// correlated ones. It is the slope twice where the line was refused.
//
// Method: Sen 1968; ranks as in scipy.stats.theilslopes.
func (l Line) Interval(variance float64) Interval {
	m := len(l.pairs)
	if m == 0 || !(variance >= 0) {
		return Interval{l.Slope, l.Slope}
	}
	half := NormalQuantile(0.975) * math.Sqrt(variance)
	low := int(math.Floor((float64(m) - half) / 2))
	high := int(math.Ceil((float64(m)+half)/2)) + 1
	return Interval{l.pairs[min(max(low, 1), m)-1], l.pairs[min(max(high, 1), m)-1]}
}

// Exhaustion is the time until a rising line meets a limit, in the unit of
// the slope's step. A nil end is never.
type Exhaustion struct {
	At *float64
	CI [2]*float64
}

// TimeToLimit returns when a line that now stands at level and rises by slope
// per step meets an upper limit; slopes holds the interval of the slope. A
// level at or above the limit has met it at 0. For a lower limit negate all
// arguments and swap the ends of the interval.
func TimeToLimit(limit, level, slope float64, slopes Interval) Exhaustion {
	at := func(b float64) *float64 {
		t := (limit - level) / b
		switch {
		case level >= limit:
			t = 0
		case !(b > 0) || math.IsInf(t, 0) || math.IsNaN(t):
			return nil
		}
		return &t
	}
	return Exhaustion{At: at(slope), CI: [2]*float64{at(slopes[1]), at(slopes[0])}}
}
