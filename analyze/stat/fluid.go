package stat

import "math"

// Fluid is a burst poured into a queue of known capacity, everything being a
// smooth flow: the base load, the load during the burst and the capacity in
// requests per second, and the length of the burst in seconds.
type Fluid struct {
	Base, Burst, Capacity, LengthS float64
}

// FluidDrain is what the fluid model predicts.
type FluidDrain struct {
	Backlog   float64 // requests waiting when the burst ends
	DrainS    float64 // seconds from there until nothing waits
	PeakWaitS float64 // wait of a request that arrives when the burst ends
	Refused   Refusal
}

func (f Fluid) check() Refusal {
	switch {
	case !Finite([]float64{f.Base, f.Burst, f.Capacity, f.LengthS}):
		return NotFinite
	case f.Capacity <= 0:
		return KneeUnknown
	case f.Base < 0 || f.Burst < 0 || f.LengthS < 0:
		return BadShape
	}
	return ""
}

// Drain returns the backlog (λ_b − K)·D, the time to drain it at K − λ_0 and
// the longest wait. It refuses KneeUnknown for a capacity that is not
// positive, BadShape for negative rates, NotFinite, and NeverDrains when the
// base load is at or above the capacity while something waits, with Backlog
// and PeakWaitS filled in.
func (f Fluid) Drain() FluidDrain {
	if r := f.check(); r != "" {
		return FluidDrain{Refused: r}
	}
	var d FluidDrain
	d.Backlog = max(0, f.Burst-f.Capacity) * f.LengthS
	d.PeakWaitS = d.Backlog / f.Capacity
	switch {
	case d.Backlog == 0:
	case f.Base >= f.Capacity:
		d.Refused = NeverDrains
	default:
		d.DrainS = d.Backlog / (f.Capacity - f.Base)
	}
	if !Finite([]float64{d.Backlog, d.DrainS, d.PeakWaitS}) {
		return FluidDrain{Refused: NotFinite}
	}
	return d
}

// FluidTimeouts is how many requests give up when the server works first come
// first served, finishes what nobody waits for any more, and nobody retries.
type FluidTimeouts struct {
	During, After float64 // requests due during the burst and after it that wait longer than the timeout
	LastS         float64 // when the last of them was due, in seconds after the burst; 0 where all were due before
	Refused       Refusal
}

// TimedOut predicts the requests that wait longer than timeoutS seconds, the
// time in service being neglected. Refusals as Drain; BadShape for a timeout
// that is negative or not finite.
func (f Fluid) TimedOut(timeoutS float64) FluidTimeouts {
	d := f.Drain()
	switch {
	case d.Refused != "":
		return FluidTimeouts{Refused: d.Refused}
	case !(timeoutS >= 0) || math.IsInf(timeoutS, 0):
		return FluidTimeouts{Refused: BadShape}
	case d.PeakWaitS <= timeoutS:
		return FluidTimeouts{}
	}
	var t FluidTimeouts
	// During the burst the wait grows by (λ_b−K)/K a second.
	t.During = (f.LengthS - timeoutS*f.Capacity/(f.Burst-f.Capacity)) * f.Burst
	t.LastS = (d.Backlog - timeoutS*f.Capacity) / (f.Capacity - f.Base)
	t.After = t.LastS * f.Base
	if !Finite([]float64{t.During, t.After, t.LastS}) {
		return FluidTimeouts{Refused: NotFinite}
	}
	return t
}

// RetryAttempts returns the expected number of attempts for one request when
// each fails with probability f and is repeated at most m times:
// (1 − f^{m+1})/(1 − f). It is not ok unless 0 ≤ f ≤ 1 and m ≥ 0.
func RetryAttempts(f float64, m int) (attempts float64, ok bool) {
	if !(f >= 0 && f <= 1) || m < 0 {
		return 0, false
	}
	if f == 1 {
		return float64(m) + 1, true
	}
	return (1 - math.Pow(f, float64(m)+1)) / (1 - f), true
}

// Vulnerable reports whether clients with at most m retries can hold a service
// down by themselves once every request fails: base·(m+1) > capacity.
func Vulnerable(base float64, m int, capacity float64) bool {
	return base*float64(m+1) > capacity
}

// VulnerableBudget is Vulnerable for clients whose retries are at most a share
// of their requests: base·(1+budget) > capacity.
func VulnerableBudget(base, budget, capacity float64) bool {
	return base*(1+budget) > capacity
}

// SpiralInput is what is seen of a service after a burst.
type SpiralInput struct {
	AfterS          float64   // seconds since the end of the burst at which the record ends, the load being back at its base
	PredictedDrainS float64   // by the fluid model; 0 where it is not known
	Goodput         []float64 // good answers per block over the last part of the record, equal blocks
	BaselineGoodput float64   // per block, before the burst
	FailureRatio    []float64 // per block after the burst, in order
	Amplification   float64   // attempts / first attempts over the same part; 0 where it is not known
	AtBound         bool      // as many requests are in flight as are let in
}

// The states of a service after a burst.
const (
	SpiralNo         = "no"         // goodput is back
	SpiralYes        = "yes"        // it keeps itself down
	SpiralRecovering = "recovering" // failures are declining
)

// Spiral judges whether a service that has not recovered keeps itself down:
// max(3 × predicted drain, 30 s) have passed, goodput is below 95 % of the
// baseline with 95 % confidence, the failure ratio does not decline (one-sided
// Mann–Kendall, p > 0.05), and requests are repeated (amplification above 1.1)
// or pile up at a bound. It refuses TooShort when too little time has passed,
// or for fewer than five blocks, BadShape for a baseline that is not positive,
// and NotFinite.
//
// Method: METHODS part c.
func Spiral(in SpiralInput) (state string, r Refusal) {
	if !Finite(in.Goodput) || !Finite(in.FailureRatio) || !Finite([]float64{in.AfterS, in.PredictedDrainS, in.Amplification}) {
		return "", NotFinite
	}
	if !(in.BaselineGoodput > 0) || math.IsInf(in.BaselineGoodput, 0) {
		return "", BadShape
	}
	if in.AfterS <= max(3*in.PredictedDrainS, 30) || len(in.Goodput) < 5 || len(in.FailureRatio) < 5 {
		return "", TooShort
	}
	mean, _ := Mean(in.Goodput)
	sd, _ := SD(in.Goodput)
	n := float64(len(in.Goodput))
	high := mean + StudentQuantile(0.975, n-1)*sd/math.Sqrt(n)
	if high >= 0.95*in.BaselineGoodput {
		return SpiralNo, ""
	}
	t := MannKendall(in.FailureRatio)
	declines := t.Refused == "" && NormalUpperTail(-t.ZAR) <= 0.05
	if declines || !(in.Amplification > 1.1 || in.AtBound) {
		return SpiralRecovering, ""
	}
	return SpiralYes, ""
}
