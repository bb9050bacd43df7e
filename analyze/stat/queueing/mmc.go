package queueing

import (
	"fmt"
	"math"
)

// ErlangB returns the share of arrivals that c servers without a queue turn
// away at an offered load of a = λ/μ erlangs, by the recursion
// B_k = a·B_{k−1}/(k + a·B_{k−1}).
func ErlangB(c int, a float64) float64 {
	if c < 1 || !(a > 0) {
		panic(fmt.Sprintf("queueing: ErlangB(%d, %v)", c, a))
	}
	b := 1.0
	for k := 1; k <= c; k++ {
		b = a * b / (float64(k) + a*b)
	}
	return b
}

// ErlangC returns the share of arrivals that have to wait for one of c
// servers at an offered load of a erlangs, a < c.
func ErlangC(c int, a float64) float64 {
	if !(a < float64(c)) {
		panic(fmt.Sprintf("queueing: ErlangC(%d, %v) is not stable", c, a))
	}
	b := ErlangB(c, a)
	rho := a / float64(c)
	return b / (1 - rho*(1-b))
}

// MMC is the M/M/c queue: Poisson arrivals at Lambda, Servers servers each
// working at Mu, unlimited queue, first come first served.
type MMC struct {
	Servers    int
	Lambda, Mu float64
}

// Rho returns the utilisation of a server.
func (q MMC) Rho() float64 { return q.Lambda / (float64(q.Servers) * q.Mu) }

// WaitProbability returns the share of requests that wait.
func (q MMC) WaitProbability() float64 { return ErlangC(q.Servers, q.Lambda/q.Mu) }

// Wq returns the mean wait.
func (q MMC) Wq() float64 {
	return q.WaitProbability() / (float64(q.Servers)*q.Mu - q.Lambda)
}

// W returns the mean response time.
func (q MMC) W() float64 { return q.Wq() + 1/q.Mu }

// L returns the mean number of requests in the system.
func (q MMC) L() float64 { return q.Lambda * q.W() }

// ResponseTail returns P(T > t).
func (q MMC) ResponseTail(t float64) float64 {
	c := q.WaitProbability()
	drain := float64(q.Servers)*q.Mu - q.Lambda
	gap := drain - q.Mu // (c−1−a)μ
	if math.Abs(gap) < 1e-9*q.Mu {
		return math.Exp(-q.Mu*t) * (1 + c*q.Mu*t)
	}
	return math.Exp(-q.Mu*t) + c*q.Mu*(math.Exp(-q.Mu*t)-math.Exp(-drain*t))/gap
}

// ResponseQuantile returns the p-quantile of the response time.
func (q MMC) ResponseQuantile(p float64) float64 {
	return invert(q.ResponseTail, 1-p, q.W())
}

// WaitQuantile returns the p-quantile of the wait; 0 where fewer than 1−p of
// the requests wait at all.
func (q MMC) WaitQuantile(p float64) float64 {
	c := q.WaitProbability()
	if c <= 1-p {
		return 0
	}
	return math.Log(c/(1-p)) / (float64(q.Servers)*q.Mu - q.Lambda)
}

// MMCK is the M/M/c/K queue: as MMC, but with room for K requests in all,
// those in service included; arrivals that find it full are turned away.
type MMCK struct {
	Servers, K int
	Lambda, Mu float64
}

// states returns the stationary probabilities of 0…K requests.
func (q MMCK) states() []float64 {
	if q.Servers < 1 || q.K < q.Servers || !(q.Lambda > 0) || !(q.Mu > 0) {
		panic(fmt.Sprintf("queueing: %+v", q))
	}
	// Weights relative to the largest, so that nothing overflows.
	logw := make([]float64, q.K+1)
	top := 0.0
	for n := 1; n <= q.K; n++ {
		logw[n] = logw[n-1] + math.Log(q.Lambda/(q.Mu*float64(min(n, q.Servers))))
		top = max(top, logw[n])
	}
	p := make([]float64, q.K+1)
	var sum float64
	for n := range p {
		p[n] = math.Exp(logw[n] - top)
		sum += p[n]
	}
	for n := range p {
		p[n] /= sum
	}
	return p
}

// Blocking returns the share of arrivals that are turned away.
func (q MMCK) Blocking() float64 { return q.states()[q.K] }

// Goodput returns the rate of answered requests.
func (q MMCK) Goodput() float64 {
	// Summed over the states, because λ(1−B) loses digits when B is near 1.
	var g float64
	for n, p := range q.states() {
		g += p * q.Mu * float64(min(n, q.Servers))
	}
	return g
}

// L returns the mean number of requests in the system.
func (q MMCK) L() float64 {
	var l float64
	for n, p := range q.states() {
		l += float64(n) * p
	}
	return l
}

// W returns the mean response time of the requests that are let in.
func (q MMCK) W() float64 { return q.L() / q.Goodput() }

// ResponseTail returns P(T > t) of the requests that are let in.
func (q MMCK) ResponseTail(t float64) float64 {
	p := q.states()
	admitted := 1 - p[q.K]
	var tail float64
	for n := range q.K {
		w := p[n] / admitted
		if n < q.Servers {
			tail += w * math.Exp(-q.Mu*t)
			continue
		}
		tail += w * q.waitThenServe(n-q.Servers+1, t)
	}
	return tail
}

// waitThenServe returns P(E + S > t) where E is the sum of k exponentials at
// rate cμ and S one at rate μ.
func (q MMCK) waitThenServe(k int, t float64) float64 {
	fast := float64(q.Servers) * q.Mu
	if q.Servers == 1 {
		return poissonBelow(k+1, fast*t)
	}
	// P(E > t) + ∫ P(E ∈ ds) e^{−μ(t−s)}; the integral is
	// e^{−μt}(cμ/(cμ−μ))^k P(Erlang(k, cμ−μ) ≤ t).
	slow := fast - q.Mu
	growth := float64(k)*math.Log(fast/slow) - q.Mu*t
	return poissonBelow(k, fast*t) + math.Exp(growth)*poissonAtLeast(k, slow*t)
}

// ResponseQuantile returns the p-quantile of the response time of the
// requests that are let in.
func (q MMCK) ResponseQuantile(p float64) float64 {
	return invert(q.ResponseTail, 1-p, q.W())
}

// poissonBelow returns P(N < k) for N Poisson with the given mean.
func poissonBelow(k int, mean float64) float64 {
	var s float64
	for i := range k {
		s += poisson(i, mean)
	}
	return min(s, 1)
}

// poissonAtLeast returns P(N ≥ k), summed upward so that small values keep
// their digits.
func poissonAtLeast(k int, mean float64) float64 {
	if float64(k) <= mean {
		return 1 - poissonBelow(k, mean)
	}
	var s float64
	for i := k; ; i++ {
		p := poisson(i, mean)
		s += p
		if p < 1e-18*s || p == 0 {
			return s
		}
	}
}

func poisson(k int, mean float64) float64 {
	if mean == 0 {
		if k == 0 {
			return 1
		}
		return 0
	}
	lg, _ := math.Lgamma(float64(k) + 1)
	return math.Exp(float64(k)*math.Log(mean) - mean - lg)
}

// invert finds the t at which a falling tail reaches target, by doubling
// from scale and bisection.
func invert(tail func(float64) float64, target, scale float64) float64 {
	if !(target > 0 && target < 1) {
		panic(fmt.Sprintf("queueing: quantile %v is outside (0,1)", 1-target))
	}
	if tail(0) <= target {
		return 0
	}
	lo, hi := 0.0, scale
	for tail(hi) > target {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1e-13*hi {
		mid := lo + (hi-lo)/2
		if tail(mid) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// Relaxation returns the time in which an M/M/1 queue forgets its start,
// 1/(μ(1−√ρ)²).
func Relaxation(lambda, mu float64) float64 {
	if !(lambda > 0) || !(lambda < mu) {
		panic(fmt.Sprintf("queueing: Relaxation(%v, %v)", lambda, mu))
	}
	r := 1 - math.Sqrt(lambda/mu)
	return 1 / (mu * r * r)
}
