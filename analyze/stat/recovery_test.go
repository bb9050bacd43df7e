package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func flat(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }

// METHODS C4 and refusals.
func TestRecovery(t *testing.T) {
	base := flat(60, 10)
	after := func(changes map[int]float64) []float64 {
		x := flat(100, 10)
		for i, v := range changes {
			x[i] = v
		}
		return x
	}
	until := func(n int) []float64 {
		x := flat(100, 10)
		for i := range n {
			x[i] = 50
		}
		return x
	}
	nan := math.NaN()
	for _, c := range []struct {
		name     string
		signals  []Signal
		o        RecoveryOpts
		time     float64
		censored float64
		refused  Refusal
	}{
		{"flat, no burst", []Signal{{Before: base, After: after(nil)}}, RecoveryOpts{}, 0, 0, ""},
		{"inside the widened band", []Signal{{Before: base, After: flat(100, 10.9)}}, RecoveryOpts{}, 0, 0, ""},
		{"never returns", []Signal{{Before: base, After: flat(100, 50)}}, RecoveryOpts{}, 0, 100, NotRecovered},
		{"back after 40 s", []Signal{{Before: base, After: until(40)}}, RecoveryOpts{}, 40, 0, ""},
		{"intervals of 5 s", []Signal{{Before: base, After: until(40)}}, RecoveryOpts{SpacingS: 5}, 200, 0, ""},
		{"an outlier 15 s after recovery", []Signal{{Before: base, After: func() []float64 { x := until(40); x[55] = 50; return x }()}}, RecoveryOpts{}, 40, 0, ""},
		{"four outliers in the next 20", []Signal{{Before: base, After: func() []float64 {
			x := until(40)
			x[42], x[44], x[46], x[48] = 50, 50, 50, 50
			return x
		}()}}, RecoveryOpts{}, 43, 0, ""},
		{"a lucky interval at 20 s", []Signal{{Before: base, After: func() []float64 { x := until(40); x[20] = 10; return x }()}}, RecoveryOpts{}, 40, 0, ""},
		{"no value is outside", []Signal{{Before: base, After: after(map[int]float64{0: nan, 1: nan, 2: nan, 3: nan})}}, RecoveryOpts{}, 4, 0, ""},
		{"back within the last H", []Signal{{Before: base, After: until(85)}}, RecoveryOpts{}, 0, 100, NotRecovered},
		{"goodput has a floor", []Signal{{Before: base, After: after(map[int]float64{0: 8.9, 1: 30}), Lower: true}}, RecoveryOpts{}, 1, 0, ""},
		{"few failures are nothing", []Signal{{Before: flat(60, 0), After: flat(100, 0.0009), Least: 0.001}}, RecoveryOpts{}, 0, 0, ""},
		{"the slower of two signals", []Signal{{Name: "p99", Before: base, After: until(10)}, {Name: "in flight", Before: base, After: until(30)}}, RecoveryOpts{}, 30, 0, ""},
		{"strict", []Signal{{Before: base, After: func() []float64 { x := until(40); x[55] = 50; return x }()}}, RecoveryOpts{K: -1}, 56, 0, ""},
		{"short baseline", []Signal{{Before: flat(59, 10), After: after(nil)}}, RecoveryOpts{}, 0, 0, BaselineUnstable},
		{"baseline without values", []Signal{{Before: flat(60, nan), After: after(nil)}}, RecoveryOpts{}, 0, 0, BaselineUnstable},
		{"infinite baseline", []Signal{{Before: flat(60, math.Inf(1)), After: after(nil)}}, RecoveryOpts{}, 0, 0, NotFinite},
		{"signals of two lengths", []Signal{{Before: base, After: flat(50, 10)}, {Before: base, After: flat(40, 10)}}, RecoveryOpts{}, 0, 0, BadShape},
		{"no signal", nil, RecoveryOpts{}, 0, 0, NoData},
		{"empty record", []Signal{{Before: base}}, RecoveryOpts{}, 0, 0, NoData},
		{"more outside than looked at", []Signal{{Before: base, After: after(nil)}}, RecoveryOpts{H: 2, K: 3}, 0, 0, BadShape},
	} {
		got := Recovery(c.signals, c.o)
		refused(t, c.name, got.Refused, c.refused)
		if got.TimeS != c.time || got.CensoredAtS != c.censored || got.Recovered != (c.refused == "") {
			t.Errorf("%s: %+v, want %v s, censored at %v", c.name, got, c.time, c.censored)
		}
	}
	got := Recovery([]Signal{{Name: "p99", Before: base, After: until(10)}, {Name: "in flight", Before: base, After: until(30)}}, RecoveryOpts{})
	if got.Last != "in flight" || got.CI != (Interval{29, 30}) {
		t.Errorf("last %q, interval %v", got.Last, got.CI)
	}
}

// An M/M/8 queue of capacity 800/s takes 10 s of 1600/s and drains; the fluid
// model says after how long.
func TestRecoveryTimeOfAQueue(t *testing.T) {
	for _, c := range []struct {
		base, want float64
		low, high  float64 // for the median of the runs
	}{{600, 40, 37, 43}, {400, 20, 18, 21}} {
		var times []float64
		for seed := range uint64(25) {
			before, after := burstOnQueue(rand.New(rand.NewPCG(seed, 91)), c.base)
			got := Recovery([]Signal{{Name: "mean", Before: before, After: after}}, RecoveryOpts{})
			if !got.Recovered {
				t.Fatalf("base %v, seed %d: %+v", c.base, seed, got)
			}
			times = append(times, got.TimeS)
		}
		if mid, _ := Median(times); mid < c.low || mid > c.high {
			t.Errorf("base %v: median recovery %v s, want about %v (%v)", c.base, mid, c.want, times)
		}
		near(t, "fluid drain", Fluid{c.base, 1600, 800, 10}.Drain().DrainS, c.want, 1e-9)
	}
}

// burstOnQueue returns the mean response per second of arrival, 100 s before
// a burst and 120 s after it.
func burstOnQueue(rng *rand.Rand, base float64) (before, after []float64) {
	const lead, burst, tail = 100, 10, 120
	var free [8]float64
	sum, n := make([]float64, lead+burst+tail), make([]float64, lead+burst+tail)
	for at := 0.0; ; {
		rate := base
		if at >= lead && at < lead+burst {
			rate = 1600
		}
		at += rng.ExpFloat64() / rate
		if at >= lead+burst+tail {
			break
		}
		first := 0
		for i := range free {
			if free[i] < free[first] {
				first = i
			}
		}
		free[first] = max(at, free[first]) + rng.ExpFloat64()/100
		sum[int(at)] += free[first] - at
		n[int(at)]++
	}
	for i := range sum {
		sum[i] /= n[i]
	}
	return sum[10:lead], sum[lead+burst:]
}

// METHODS C1.
func TestFluid(t *testing.T) {
	f := Fluid{Base: 600, Burst: 2000, Capacity: 1000, LengthS: 10}
	d := f.Drain()
	refused(t, "C1", d.Refused, "")
	if d.Backlog != 10000 || d.DrainS != 25 || d.PeakWaitS != 10 {
		t.Errorf("C1: %+v, want 10000, 25 s, 10 s", d)
	}
	to := f.TimedOut(2)
	refused(t, "C1 timeouts", to.Refused, "")
	near(t, "failed in the burst", to.During, 16000, 1e-9)
	near(t, "failed after", to.After, 12000, 1e-9)
	near(t, "last failing arrival", to.LastS, 20, 1e-9)
	if got := f.TimedOut(11); got != (FluidTimeouts{}) {
		t.Errorf("a timeout above the longest wait: %+v", got)
	}
	// METHODS C2: retries may be at most a tenth of the requests.
	near(t, "drain with a 10 % retry budget", Fluid{600 * 1.1, 2000, 1000, 10}.Drain().DrainS, 29.4117647, 1e-8)
	// METHODS C3.
	near(t, "public scenario", Fluid{8, 40, 20, 10}.Drain().DrainS, 16.6666667, 1e-7)
	near(t, "its backlog", Fluid{8, 40, 20, 10}.Drain().Backlog, 200, 1e-9)

	if got := (Fluid{600, 900, 1000, 10}).Drain(); got != (FluidDrain{}) {
		t.Errorf("a burst below capacity: %+v, want nothing to drain", got)
	}
	never := Fluid{1000, 2000, 1000, 10}.Drain()
	refused(t, "base at capacity", never.Refused, NeverDrains)
	if never.Backlog != 10000 || never.DrainS != 0 {
		t.Errorf("base at capacity: %+v", never)
	}
	refused(t, "no capacity", Fluid{1, 2, 0, 3}.Drain().Refused, KneeUnknown)
	refused(t, "negative base", Fluid{-1, 2, 1, 3}.Drain().Refused, BadShape)
	refused(t, "NaN", Fluid{1, math.NaN(), 1, 3}.Drain().Refused, NotFinite)
	refused(t, "negative timeout", f.TimedOut(-1).Refused, BadShape)
}

// METHODS C2 and C3.
func TestRetries(t *testing.T) {
	for _, c := range []struct {
		f    float64
		m    int
		want float64
	}{{.1, 2, 1.11}, {.5, 2, 1.75}, {.9, 2, 2.71}, {1, 2, 3}, {.5, 3, 1.875}, {0, 5, 1}, {.5, 0, 1}} {
		got, ok := RetryAttempts(c.f, c.m)
		if !ok {
			t.Errorf("%v, %d: not ok", c.f, c.m)
		}
		near(t, "attempts", got, c.want, 1e-12)
	}
	for _, c := range []struct {
		f float64
		m int
	}{{-.1, 1}, {1.1, 1}, {.5, -1}, {math.NaN(), 1}} {
		if _, ok := RetryAttempts(c.f, c.m); ok {
			t.Errorf("%v, %d must not be ok", c.f, c.m)
		}
	}
	for m, want := range map[int]bool{0: false, 1: true, 2: true} {
		if Vulnerable(600, m, 1000) != want {
			t.Errorf("600/s with %d retries on 1000/s", m)
		}
	}
	if VulnerableBudget(600, 0.1, 1000) {
		t.Error("a 10 % retry budget keeps 600/s below 1000/s")
	}
	if !Vulnerable(8, 2, 20) {
		t.Error("8/s with three attempts is more than 20/s")
	}
}

func TestSpiral(t *testing.T) {
	rising := []float64{.8, .82, .81, .83, .85, .84, .86, .87}
	falling := []float64{.9, .8, .7, .6, .5, .4, .3, .2}
	down := SpiralInput{
		AfterS: 120, PredictedDrainS: 25, BaselineGoodput: 600,
		Goodput: flat(8, 100), FailureRatio: rising, Amplification: 2.7,
	}
	with := func(f func(*SpiralInput)) SpiralInput { in := down; f(&in); return in }
	for _, c := range []struct {
		name    string
		in      SpiralInput
		want    string
		refused Refusal
	}{
		{"down for good", down, SpiralYes, ""},
		{"failures constant", with(func(in *SpiralInput) { in.FailureRatio = flat(8, 1) }), SpiralYes, ""},
		{"failures decline", with(func(in *SpiralInput) { in.FailureRatio = falling }), SpiralRecovering, ""},
		{"no retries", with(func(in *SpiralInput) { in.Amplification = 1 }), SpiralRecovering, ""},
		{"no retries, queue full", with(func(in *SpiralInput) { in.Amplification = 1; in.AtBound = true }), SpiralYes, ""},
		{"goodput is back", with(func(in *SpiralInput) { in.Goodput = flat(8, 590) }), SpiralNo, ""},
		{"not three drains yet", with(func(in *SpiralInput) { in.AfterS = 70 }), "", TooShort},
		{"four blocks", with(func(in *SpiralInput) { in.Goodput = flat(4, 1) }), "", TooShort},
		{"no baseline", with(func(in *SpiralInput) { in.BaselineGoodput = 0 }), "", BadShape},
		{"NaN", with(func(in *SpiralInput) { in.AfterS = math.NaN() }), "", NotFinite},
	} {
		got, r := Spiral(c.in)
		if got != c.want || r != c.refused {
			t.Errorf("%s: %q, %q, want %q, %q", c.name, got, r, c.want, c.refused)
		}
	}
}
