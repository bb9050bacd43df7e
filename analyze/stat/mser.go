package stat

// Cut says where a series settles.
type Cut struct {
	Discard int     // values to drop from the start
	Value   float64 // the statistic at the cut, in the square of the series' unit
	// Settled is false when the best cut would drop half of the series or
	// more: it never reached a steady state.
	Settled bool
	Refused Refusal
}

// MSERSize returns the number of values that MSER should average: 5, or 1
// for a series shorter than 100.
func MSERSize(n int) int {
	if n < 100 {
		return 1
	}
	return 5
}

// MSER finds the warm-up of x: with z the means of m consecutive values, the
// smallest d ≤ len(z)/2 that minimises Σ_{i>d}(z_i − z̄_d)²/(n−d)². Values at
// the end that do not fill a mean are left out. It refuses NoData,
// NotFinite, and TooShort below four means; it panics when m < 1.
//
// Method: marginal standard error rule, White 1997; METHODS part a. Do not
// use it on a saturated plateau, whose queue has no steady state.
func MSER(x []float64, m int) Cut {
	if m < 1 {
		panic("stat: MSER over fewer than one value")
	}
	if len(x) == 0 {
		return Cut{Refused: NoData}
	}
	if !Finite(x) {
		return Cut{Refused: NotFinite}
	}
	n := len(x) / m
	if n < 4 {
		return Cut{Refused: TooShort}
	}
	z := make([]float64, n)
	for i := range z {
		z[i], _ = meanM2(x[i*m : (i+1)*m])
	}
	// Welford's recurrence from the end gives the sum of squares of every
	// suffix in one pass, exactly 0 for a constant suffix.
	var mean, m2 float64
	best, at := 0.0, -1
	for d := n - 1; d >= 0; d-- {
		k := float64(n - d)
		delta := z[d] - mean
		mean += delta / k
		m2 += delta * (z[d] - mean)
		if d > n/2 {
			continue
		}
		// ≤ prefers the smaller cut.
		if v := m2 / (k * k); at < 0 || v <= best {
			best, at = v, d
		}
	}
	return Cut{Discard: at * m, Value: best, Settled: at < n/2}
}
