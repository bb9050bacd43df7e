package stat

import (
	"math"
)

// ChangeOpts says what counts as a change.
type ChangeOpts struct {
	P            float64 // largest p-value; 0 means 0.001
	MinMagnitude float64 // least difference of the means before and after, in the unit of the series; 0 means ln 1.03, a change of 3 % in logarithms
	MinSegment   int     // least number of values between changes; 0 means 3
}

func (o ChangeOpts) withDefaults() ChangeOpts {
	if o.P == 0 {
		o.P = 0.001
	}
	if o.MinMagnitude == 0 {
		o.MinMagnitude = math.Log(1.03)
	}
	if o.MinSegment == 0 {
		o.MinSegment = 3
	}
	o.MinSegment = max(o.MinSegment, 2)
	return o
}

// ChangePoint is a place where the level of a series changes.
type ChangePoint struct {
	Index         int     // first value after the change
	T             float64 // Student's t between the neighbouring segments
	P             float64 // two-sided
	Before, After float64 // means of the neighbouring segments
	Q             float64 // the divergence that proposed it
}

// ChangePoints finds the places where the level of x changes, in order: the
// point of the largest energy distance between what lies before and after is
// proposed, within each segment in turn, and kept while Student's t between
// the neighbouring segments is significant. Points are proposed at ten times
// the p-value and the weakest dropped, one at a time, until all stand at it. A
// run of fewer than MinSegment values is never a segment, so that one spike
// is no change.
//
// It refuses NotFinite, BadShape for options out of range, and TooShort for
// fewer than two segments' worth of values. Time grows as the square of the
// number of values, for each change that is proposed.
//
// Method: E-divisive means (Matteson and James 2014) with the t-test of
// Hunter (Fleming et al. 2023); METHODS part e. Use logarithms of per-release
// means.
func ChangePoints(x []float64, o ChangeOpts) ([]ChangePoint, Refusal) {
	o = o.withDefaults()
	if !(o.P > 0 && o.P < 1) || !(o.MinMagnitude >= 0) || math.IsInf(o.MinMagnitude, 0) {
		return nil, BadShape
	}
	if !Finite(x) {
		return nil, NotFinite
	}
	if len(x) < 2*o.MinSegment {
		return nil, TooShort
	}
	cuts := []int{0, len(x)}
	qs := map[int]float64{}
	for {
		at, q := propose(x, cuts, o)
		if at == 0 {
			break
		}
		cuts = insert(cuts, at)
		qs[at] = q
	}
	for {
		points, weakest := segments(x, cuts), -1
		for i, p := range points {
			weak := p.P > o.P || math.Abs(p.After-p.Before) < o.MinMagnitude
			if weak && (weakest < 0 || p.P > points[weakest].P) {
				weakest = i
			}
		}
		if weakest < 0 {
			for i := range points {
				points[i].Q = qs[points[i].Index]
			}
			return points, ""
		}
		cuts = append(cuts[:weakest+1], cuts[weakest+2:]...)
	}
}

func insert(cuts []int, at int) []int {
	out := make([]int, 0, len(cuts)+1)
	for _, c := range cuts {
		if at > 0 && c > at {
			out = append(out, at)
			at = 0
		}
		out = append(out, c)
	}
	return out
}

// propose returns the most divergent point over all segments that passes the
// looser test; 0 where there is none.
func propose(x []float64, cuts []int, o ChangeOpts) (at int, q float64) {
	for i := 1; i < len(cuts); i++ {
		from, to := cuts[i-1], cuts[i]
		tau, v := Divergence(x[from:to], o.MinSegment)
		if tau == 0 || v <= q {
			continue
		}
		left, right := compareMeans(x[from:from+tau], x[from+tau:to]), from+tau
		if left.P <= min(10*o.P, 0.5) {
			at, q = right, v
		}
	}
	return at, q
}

func segments(x []float64, cuts []int) []ChangePoint {
	points := make([]ChangePoint, 0, len(cuts))
	for i := 1; i < len(cuts)-1; i++ {
		p := compareMeans(x[cuts[i-1]:cuts[i]], x[cuts[i]:cuts[i+1]])
		p.Index = cuts[i]
		points = append(points, p)
	}
	return points
}

// compareMeans is Student's t with a pooled variance.
func compareMeans(a, b []float64) ChangePoint {
	ma, qa := meanM2(a)
	mb, qb := meanM2(b)
	na, nb := float64(len(a)), float64(len(b))
	p := ChangePoint{Before: ma, After: mb, P: 1}
	df := na + nb - 2
	se := math.Sqrt((qa + qb) / df * (1/na + 1/nb))
	diff := ma - mb
	switch {
	case diff == 0:
	case se < 1e-15*math.Abs(diff):
		p.P = 0
	default:
		p.T = diff / se
		p.P = min(1, 2*StudentUpperTail(math.Abs(p.T), df))
	}
	return p
}

// Divergence returns the split of x with the largest energy distance: tau
// values before, at least least, and the rest of the series or a part of it,
// at least least, after. tau is 0 where x is too short or nothing diverges.
//
// Q(X,Y) = 2/(m+n) Σ|x−y| − 2m/((m+n)(n−1)) Σ_{i<k}|x_i−x_k|
// − 2n/((m+n)(m−1)) Σ_{j<k}|y_j−y_k|, with n values in X and m in Y.
func Divergence(x []float64, least int) (tau int, q float64) {
	least = max(least, 2)
	n := len(x)
	// within[i] = Σ |x_j − x_k| over j < k < i.
	within := make([]float64, n+1)
	for i := 1; i < n; i++ {
		within[i+1] = within[i]
		for j := range i {
			within[i+1] += math.Abs(x[i] - x[j])
		}
	}
	// left[k] = Σ |x_k − x_i| over i < t.
	left := make([]float64, n)
	for t := 1; t <= n-least; t++ {
		for k := t; k < n; k++ {
			left[k] += math.Abs(x[k] - x[t-1])
		}
		if t < least {
			continue
		}
		var across, after float64
		for k := t; k < n; k++ {
			across += left[k]
			after = within[k+1] - within[t] - across
			nx, my := float64(t), float64(k+1-t)
			if k+1-t < least {
				continue
			}
			v := 2/(nx+my)*across - 2*my/((nx+my)*(nx-1))*within[t] - 2*nx/((nx+my)*(my-1))*after
			if v > q*(1+1e-12) {
				tau, q = t, v
			}
		}
	}
	return tau, q
}
