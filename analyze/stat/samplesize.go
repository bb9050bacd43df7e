package stat

import "math"

// RequestsNeeded returns how many requests a plateau needs so that ten blocks
// resolve a deficit of eps, a share of the arrivals, at saturation:
// 2·t²/eps² with t the 97.5 % quantile at nine degrees of freedom. It holds
// for Poisson arrivals and exponential service; steadier systems need fewer.
// It is not ok unless 0 < eps < 1.
func RequestsNeeded(eps float64) (requests float64, ok bool) {
	if !(eps > 0 && eps < 1) {
		return 0, false
	}
	t := StudentQuantile(0.975, 9)
	return math.Ceil(2 * t * t / (eps * eps)), true
}
