package stat

import (
	"math"
	"slices"
)

// Signal is one series around a burst, interval by interval, keyed by when
// requests were due.
type Signal struct {
	Name   string
	Before []float64 // the baseline, before the burst and after the warm-up; NaN where an interval had no value
	After  []float64 // from the end of the burst; NaN where an interval had no value, which counts as outside the band
	Lower  bool      // the band has a floor, as for goodput; otherwise a ceiling
	Least  float64   // a ceiling is never below this: 0.001 for a failure ratio
}

// RecoveryOpts are the parameters of Recovery; zero values mean the defaults.
type RecoveryOpts struct {
	SpacingS float64 // length of an interval in seconds; 0 means 1
	H        int     // following intervals looked at; 0 means 20
	K        int     // how many of them may lie outside; 0 means 3, −1 none
	Q        float64 // quantile of the baseline that the band starts from; 0 means 0.95
	Delta    float64 // share by which the band is wider; 0 means 0.1
	Baseline int     // least number of baseline intervals; 0 means 60
}

func (o RecoveryOpts) withDefaults() RecoveryOpts {
	if o.SpacingS == 0 {
		o.SpacingS = 1
	}
	if o.H == 0 {
		o.H = 20
	}
	switch {
	case o.K == 0:
		o.K = 3
	case o.K < 0:
		o.K = 0
	}
	if o.Q == 0 {
		o.Q = 0.95
	}
	if o.Delta == 0 {
		o.Delta = 0.1
	}
	if o.Baseline == 0 {
		o.Baseline = 60
	}
	return o
}

// RecoveryResult says when the signals came back, in seconds from the end of
// the burst.
type RecoveryResult struct {
	Recovered bool
	TimeS     float64
	CI        Interval // [TimeS − one interval, TimeS]: the resolution, not a confidence
	// CensoredAtS is the length of the record where it ends before the
	// signals are seen to be back: recovery takes longer than the part of it
	// that could be judged, H intervals less.
	CensoredAtS float64
	Last        string    // the signal that was last to come back, or is still out
	Bands       []float64 // ceiling or floor of each signal
	Refused     Refusal
}

// Recovery finds the first interval after a burst that lies inside every
// signal's band and from which, for each signal, at most K of the next H
// intervals lie outside. A band is the baseline's quantile Q, a tenth wider
// (Delta); 1−Q for a floor. So a single outlier after the recovery does not
// restart the clock, and a lucky interval does not stop it. A flat series
// recovers at 0.
//
// It refuses NoData without signals, BadShape for signals of different length
// or parameters out of range, BaselineUnstable for a baseline of fewer than
// 60 values, and NotRecovered, with CensoredAtS, where the record ends first:
// never average recovery times over runs as if these were absent.
//
// Method: k-of-H re-entry; METHODS part c.
func Recovery(signals []Signal, o RecoveryOpts) RecoveryResult {
	o = o.withDefaults()
	var res RecoveryResult
	if len(signals) == 0 || len(signals[0].After) == 0 {
		res.Refused = NoData
		return res
	}
	if !(o.Q > 0.5 && o.Q < 1) || !(o.Delta >= 0) || !(o.SpacingS > 0) || o.H < 1 || o.K > o.H || !Finite([]float64{o.Delta, o.SpacingS}) {
		res.Refused = BadShape
		return res
	}
	n := len(signals[0].After)
	out := make([][]bool, len(signals))
	for i, s := range signals {
		if len(s.After) != n {
			res.Refused = BadShape
			return res
		}
		band, r := Band(s, o)
		if r != "" {
			res.Refused = r
			return res
		}
		res.Bands = append(res.Bands, band)
		out[i] = outside(s, band)
	}
	at, blocking := Reentry(out, o.H, o.K)
	if blocking >= 0 {
		res.Last = signals[blocking].Name
	}
	if at < 0 {
		res.CensoredAtS = float64(n) * o.SpacingS
		res.Refused = NotRecovered
		return res
	}
	res.Recovered = true
	res.TimeS = float64(at) * o.SpacingS
	res.CI = Interval{max(0, res.TimeS-o.SpacingS), res.TimeS}
	return res
}

// Band returns the ceiling of a signal, or its floor, from its baseline. It
// refuses BaselineUnstable for too few values and NotFinite for infinite
// ones. It panics as NormalQuantile does when Q is out of range.
func Band(s Signal, o RecoveryOpts) (float64, Refusal) {
	o = o.withDefaults()
	checkProbability(o.Q)
	base := slices.DeleteFunc(slices.Clone(s.Before), math.IsNaN)
	if len(base) < o.Baseline || len(base) == 0 {
		return 0, BaselineUnstable
	}
	q := o.Q
	if s.Lower {
		q = 1 - q
	}
	v, ok := Quantile(base, q)
	if !ok {
		return 0, NotFinite
	}
	if s.Lower {
		return v - math.Abs(v)*o.Delta, ""
	}
	return max(v+math.Abs(v)*o.Delta, s.Least), ""
}

func outside(s Signal, band float64) []bool {
	out := make([]bool, len(s.After))
	for i, v := range s.After {
		// The comparisons are false for NaN, which is outside.
		inside := v <= band
		if s.Lower {
			inside = v >= band
		}
		out[i] = !inside
	}
	return out
}

// Reentry returns the first interval at which every signal is inside, with at
// most k of its next h intervals outside; −1 where there is none, intervals
// with fewer than h after them not counting. Signals have the same length.
// blocking is the signal that kept the interval before from counting, or the
// last one; −1 for none.
func Reentry(outside [][]bool, h, k int) (at, blocking int) {
	blocking = -1
	if len(outside) == 0 {
		return -1, -1
	}
	n := len(outside[0])
	for t := 0; t+h < n; t++ {
		held := -1
		for s, out := range outside {
			count := 0
			for _, o := range out[t+1 : t+1+h] {
				if o {
					count++
				}
			}
			if out[t] || count > k {
				held = s
				break
			}
		}
		if held < 0 {
			return t, blocking
		}
		blocking = held
	}
	return -1, blocking
}
