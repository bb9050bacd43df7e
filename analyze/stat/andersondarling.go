package stat

import (
	"math"
	"slices"
)

// AndersonDarling tests whether the gaps are a sample from the exponential
// distribution of the given rate, known beforehand. P is the limit law
// (Marsaglia and Marsaglia 2004). Refusals as KSExponential; a gap of zero is
// BadShape, because the statistic is infinite there.
func AndersonDarling(gaps []float64, rate float64) Test {
	a2, r := andersonDarling(gaps, rate)
	if r != "" {
		return Test{Refused: r}
	}
	return Test{Statistic: a2, P: andersonDarlingTail(a2), N: len(gaps)}
}

// AndersonDarlingMean is AndersonDarling with the rate estimated from the
// gaps. Statistic is A²(1 + 0.6/n) and P the approximation of D'Agostino and
// Stephens 1986.
func AndersonDarlingMean(gaps []float64) Test {
	mean, ok := Mean(gaps)
	if !ok || !(mean > 0) {
		if r := checkGaps(gaps); r != "" {
			return Test{Refused: r}
		}
		return Test{Refused: BadShape}
	}
	a2, r := andersonDarling(gaps, 1/mean)
	if r != "" {
		return Test{Refused: r}
	}
	z := a2 * (1 + 0.6/float64(len(gaps)))
	return Test{Statistic: z, P: stephensTail(z), N: len(gaps)}
}

func andersonDarling(gaps []float64, rate float64) (a2 float64, r Refusal) {
	if r := checkGaps(gaps); r != "" {
		return 0, r
	}
	if !(rate > 0) || math.IsInf(rate, 0) {
		return 0, BadShape
	}
	s := slices.Clone(gaps)
	slices.Sort(s)
	n := len(s)
	if s[0] == 0 {
		return 0, BadShape
	}
	for i := range n {
		lower := math.Log(-math.Expm1(-rate * s[i]))
		upper := -rate * s[n-1-i]
		a2 -= float64(2*i+1) * (lower + upper)
	}
	a2 = a2/float64(n) - float64(n)
	if math.IsNaN(a2) || math.IsInf(a2, 0) {
		return 0, BadShape
	}
	return a2, ""
}

func andersonDarlingTail(z float64) float64 {
	if z <= 0 {
		return 1
	}
	if z < 2 {
		poly := 2.00012 + (.247105-(.0649821-(.0347962-(.0116720-.00168691*z)*z)*z)*z)*z
		return 1 - math.Exp(-1.2337141/z)/math.Sqrt(z)*poly
	}
	poly := 1.0776 - (2.30695-(.43424-(.082433-(.008056-.0003146*z)*z)*z)*z)*z
	return -math.Expm1(-math.Exp(poly))
}

func stephensTail(z float64) float64 {
	switch {
	case z < 0.26:
		return 1 - math.Exp(-12.2204+67.459*z-110.3*z*z)
	case z < 0.51:
		return 1 - math.Exp(-6.1327+20.218*z-18.663*z*z)
	case z < 0.95:
		return math.Exp(0.9209 - 3.353*z + 0.300*z*z)
	}
	z = min(z, 8) // the parabola turns up at 10
	return math.Exp(0.731 - 3.009*z + 0.15*z*z)
}
