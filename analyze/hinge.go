package analyze

import (
	"math"
	"math/rand/v2"
	"slices"

	"headroom/analyze/stat"
)

const (
	hingeDraws  = 1000
	hingeFloor  = 0.005 // the interval is never narrower than this share of the knee, each way
	hingeGap    = 1.05  // plateaus count as past the knee from this multiple of the best goodput on
	hingeModel  = 0.001 // of the goodput: what the model itself is not right about
	maxInflate  = 4
	steepest    = -0.5
	demonstrate = 0.98
)

// hingePoint is a saturated plateau.
type hingePoint struct {
	lambda, g, se, df float64
}

func (p hingePoint) weight() float64 { return 1 / (p.se*p.se + hingeModel*hingeModel*p.g*p.g) }

// hingeFit is the line g = a + b lambda through the saturated plateaus, and
// the knee where it meets p lambda.
type hingeFit struct {
	a, b, knee, inflate float64
}

// fitHinge fits the line. The slope is kept only where at least three
// plateaus show a significant decline.
func fitHinge(pts []hingePoint, p float64) hingeFit {
	var sw, mx, my float64
	for _, q := range pts {
		w := q.weight()
		sw, mx, my = sw+w, mx+w*q.lambda, my+w*q.g
	}
	mx, my = mx/sw, my/sw
	var sxx, sxy float64
	for _, q := range pts {
		w := q.weight()
		sxx += w * (q.lambda - mx) * (q.lambda - mx)
		sxy += w * (q.lambda - mx) * (q.g - my)
	}
	f := hingeFit{a: my}
	if len(pts) >= 3 && sxx > 0 {
		if b := sxy / sxx; b < -2/math.Sqrt(sxx) {
			f.b, f.a = b, my-b*mx
		}
	}
	var chi2 float64
	for _, q := range pts {
		r := q.g - f.a - f.b*q.lambda
		chi2 += q.weight() * r * r
	}
	f.inflate = 1
	if len(pts) > 1 {
		f.inflate = max(1, math.Sqrt(chi2/float64(len(pts)-1)))
	}
	f.knee = f.a / (p - f.b)
	return f
}

// draw is one replication of the bootstrap: the knee, and the goodput of each
// plateau past it that went with it.
type draw struct {
	knee float64
	good []float64 // parallel to the points
}

// bootstrapHinge repeats the fit on goodputs drawn around what was measured.
// The same seed gives the same draws.
func bootstrapHinge(pts []hingePoint, p float64, f hingeFit, seed uint64) []draw {
	rng := rand.New(rand.NewPCG(seed, 0x6b6e6565)) // "knee"
	draws := make([]draw, 0, hingeDraws)
	for range hingeDraws {
		again := slices.Clone(pts)
		good := make([]float64, len(pts))
		for i := range again {
			again[i].g = pts[i].g + f.inflate/math.Sqrt(pts[i].weight())*studentDraw(rng, pts[i].df)
			good[i] = again[i].g
		}
		if k := fitHinge(again, p).knee; k > 0 && !math.IsInf(k, 0) {
			draws = append(draws, draw{knee: k, good: good})
		}
	}
	return draws
}

// studentDraw is a variate of Student's t: a normal over the root of a
// chi-squared that is the sum of df squared normals.
func studentDraw(rng *rand.Rand, df float64) float64 {
	n := max(int(df), 1)
	z := rng.NormFloat64()
	var chi2 float64
	for range n {
		v := rng.NormFloat64()
		chi2 += v * v
	}
	return z / math.Sqrt(chi2/float64(n))
}

// percentileInterval is the middle 95 % of the values.
func percentileInterval(values []float64) (lo, hi float64, ok bool) {
	if len(values) < hingeDraws/2 {
		return 0, 0, false
	}
	lo, ok1 := stat.Quantile(values, 0.025)
	hi, ok2 := stat.Quantile(values, 0.975)
	return lo, hi, ok1 && ok2
}
