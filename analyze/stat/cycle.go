package stat

import "math"

// CycleLength returns the length, in values, of the cycle that a series
// repeats, such as a heap between collections: the highest autocorrelation
// after the first trough, once a straight line is taken out. It is not ok
// where there is no trough below −0.2, the peak is below 0.3, twice the
// length does not correlate at 0.1 or more, the cycle is shorter than four values
// or longer than a quarter of the series, or a value is not finite. Series longer than
// 3000 values are averaged down first, so that the length is good to n/3000.
func CycleLength(x []float64) (length int, ok bool) {
	const most = 3000
	if len(x) < 16 || !Finite(x) {
		return 0, false
	}
	y, scale := x, 1.0
	if len(x) > most {
		y = MeanBlocks(x, most)
		scale = float64(len(x)) / most
	}
	y = withoutLine(y)
	_, m2 := meanM2(y)
	if m2 == 0 {
		return 0, false
	}
	r := make([]float64, len(y)/2+1)
	for k := range r {
		var c float64
		for i := k; i < len(y); i++ {
			c += y[i] * y[i-k]
		}
		r[k] = c / m2
	}
	lag := 0
	for lag < len(r) && r[lag] > 0 {
		lag++
	}
	trough := 0.0
	for lag < len(r) && r[lag] <= 0 {
		trough = min(trough, r[lag])
		lag++
	}
	best, at := 0.0, 0
	for lag < len(r) && r[lag] > 0 {
		if r[lag] > best {
			best, at = r[lag], lag
		}
		lag++
	}
	if trough > -0.2 || best < 0.3 || at < 4 || at > len(y)/4 {
		return 0, false
	}
	again := 0.0
	for k := 2*at - at/4; k <= 2*at+at/4 && k < len(r); k++ {
		again = max(again, r[k])
	}
	if again < 0.1 {
		return 0, false
	}
	return int(math.Ceil(float64(at) * scale)), true
}

// withoutLine returns y less its least-squares line.
func withoutLine(y []float64) []float64 {
	n := float64(len(y))
	mean, _ := meanM2(y)
	mid := (n - 1) / 2
	var sxy float64
	for i, v := range y {
		sxy += (float64(i) - mid) * (v - mean)
	}
	slope := sxy / (n * (n*n - 1) / 12)
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = v - mean - slope*(float64(i)-mid)
	}
	return out
}
