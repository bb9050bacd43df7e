package queueing

import (
	"fmt"
	"math/big"
)

// PollaczekKhinchine returns the mean wait of an M/G/1 queue with arrivals at
// lambda, mean service time es and mean squared service time es2:
// λ·E[S²]/(2(1−λ·E[S])).
func PollaczekKhinchine(lambda, es, es2 float64) float64 {
	rho := lambda * es
	if !(lambda > 0) || !(es > 0) || !(es2 >= es*es) || !(rho < 1) {
		panic(fmt.Sprintf("queueing: PollaczekKhinchine(%v, %v, %v)", lambda, es, es2))
	}
	return lambda * es2 / (2 * (1 - rho))
}

// MD1 is the M/D/1 queue: Poisson arrivals at Lambda, one server, every
// request takes D.
type MD1 struct {
	Lambda, D float64
}

// Rho returns the utilisation.
func (q MD1) Rho() float64 { return q.Lambda * q.D }

// Wq returns the mean wait.
func (q MD1) Wq() float64 { return PollaczekKhinchine(q.Lambda, q.D, q.D*q.D) }

// W returns the mean response time.
func (q MD1) W() float64 { return q.Wq() + q.D }

// L returns the mean number of requests in the system.
func (q MD1) L() float64 { return q.Lambda * q.W() }

// bits is the precision of WaitCDF, whose terms alternate and grow.
const bits = 512

// WaitCDF returns P(wait ≤ t) = (1−ρ) Σ_{k≤t/D} (λ(kD−t))^k e^{−λ(kD−t)}/k!.
func (q MD1) WaitCDF(t float64) float64 {
	if t < 0 {
		return 0
	}
	lambda, d, bt := exact(q.Lambda), exact(q.D), exact(t)
	var sum, x, step, scale big.Float
	sum.SetPrec(bits)
	// e^{−λ(kD−t)} is scale/step^k.
	scale.Set(exp(exact(0).Mul(lambda, bt)))
	step.Set(exp(exact(0).Mul(lambda, d)))
	for k := int64(0); ; k++ {
		x.SetPrec(bits).Mul(d, exact(float64(k)))
		if x.Cmp(bt) > 0 {
			break
		}
		x.Sub(&x, bt).Mul(&x, lambda)
		term := exact(0).Set(&scale)
		for i := int64(1); i <= k; i++ {
			term.Mul(term, &x)
			term.Quo(term, exact(float64(i)))
		}
		sum.Add(&sum, term)
		scale.Quo(&scale, &step)
	}
	f, _ := sum.Float64()
	return (1 - q.Rho()) * f
}

// WaitQuantile returns the p-quantile of the wait.
func (q MD1) WaitQuantile(p float64) float64 {
	if q.Rho() >= 1 {
		panic(fmt.Sprintf("queueing: %+v is not stable", q))
	}
	return invert(func(t float64) float64 { return 1 - q.WaitCDF(t) }, 1-p, q.W())
}

func exact(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }

// exp returns e^x for x ≥ 0, as (e^{x/2^s})^{2^s} with x/2^s ≤ 1.
func exp(x *big.Float) *big.Float {
	s := max(x.MantExp(nil), 0)
	small := exact(0).SetMantExp(x, -s)
	sum, term := exact(1), exact(1)
	for i := 1; ; i++ {
		term.Mul(term, small)
		term.Quo(term, exact(float64(i)))
		if term.Sign() == 0 || term.MantExp(nil) < -bits {
			break
		}
		sum.Add(sum, term)
	}
	for range s {
		sum.Mul(sum, sum)
	}
	return sum
}
