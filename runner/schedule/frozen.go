package schedule

import "math"

// The functions below repeat FreeBSD's algorithms (e_log.c and e_exp.c, Sun
// Microsystems 1993, freely granted) with explicit conversions, which forbid
// the compiler to fuse a product and a sum. math.Sqrt, math.Frexp, math.Ldexp
// and math.Floor are exact, hence the same everywhere.

const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

func sqrt(x float64) float64 { return math.Sqrt(x) }

// ln is the natural logarithm of a finite number above 0, to within one unit in
// the last place.
func ln(x float64) float64 {
	const (
		l1 = 6.666666666666735130e-01
		l2 = 3.999999999940941908e-01
		l3 = 2.857142874366239149e-01
		l4 = 2.222219843214978396e-01
		l5 = 1.818357216161805012e-01
		l6 = 1.531383769920937332e-01
		l7 = 1.479819860511658591e-01
	)
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	f, k := m-1, float64(e)
	s := f / (2 + f)
	s2 := s * s
	s4 := s2 * s2
	t1 := s2 * (l1 + float64(s4*(l3+float64(s4*(l5+float64(s4*l7))))))
	t2 := s4 * (l2 + float64(s4*(l4+float64(s4*l6))))
	r := float64(t1) + float64(t2)
	half := float64(0.5 * f * f)
	return float64(k*ln2Hi) - ((half - (float64(s*(half+r)) + float64(k*ln2Lo))) - f)
}

// exp is e to the power of x, to within one unit in the last place; 0 below
// -745 and +Inf above 709.78.
func exp(x float64) float64 {
	const (
		p1 = 1.66666666666666657415e-01
		p2 = -2.77777777770155933842e-03
		p3 = 6.61375632143793436117e-05
		p4 = -1.65339022054652515390e-06
		p5 = 4.13813679705723846039e-08
	)
	switch {
	case x > 709.782712893384:
		return math.Inf(1)
	case x < -745.133219101941:
		return 0
	}
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	t := float64(r * r)
	c := r - float64(t*(p1+float64(t*(p2+float64(t*(p3+float64(t*(p4+float64(t*p5)))))))))
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	return math.Ldexp(y, int(k))
}

// expm1 is exp(x) - 1 and log1p is ln(1 + x), accurate near 0 by Kahan's
// correction.
func expm1(x float64) float64 {
	u := exp(x)
	switch {
	case u == 1:
		return x
	case u-1 == -1:
		return -1
	case math.IsInf(u, 1):
		return u
	}
	return float64((u-1)*x) / ln(u)
}

func log1p(x float64) float64 {
	u := 1 + x
	if u == 1 {
		return x
	}
	return float64(ln(u)*x) / (u - 1)
}
