package stat

import "math"

// Batches is the number of batches that the percentile intervals use.
const Batches = 10

// Tail describes the share of requests above a value, and with it the
// interval for the percentile at that value.
type Tail struct {
	P       float64  // share of requests above the value
	SE      float64  // standard error of P, from the batches
	LogitSE float64  // the same on the logit scale
	Share   Interval // 95 % interval of the share
	// Levels are quantile levels in [0,1]: the percentile's interval runs
	// from the value at Levels[0] to the value at Levels[1] of the merged
	// histogram.
	Levels       Interval
	DesignEffect float64 // variance over what independent requests would give
	Batches      int
	// Independent is the number of intervals divided by the correlation
	// time of their shares; 0 where it was not computed.
	Independent float64
	// Caution is set when Independent is below 15: the interval may be too
	// narrow.
	Caution bool
	Refused Refusal
}

// TailInterval gives the 95 % interval for the share of requests above a
// value (exceed out of total, interval by interval), from ten contiguous
// batches, so that correlation between intervals is in it.
//
// It refuses with TooFewIntervals below ten intervals, TailTooThin where
// fewer than 30 requests lie above (or they lie in fewer than half of the
// batches, or the ends of the interval are more than a factor of ten apart),
// and TooCorrelated where the intervals are worth fewer than five
// independent ones. Intervals without requests are left out of the
// correlation.
//
// Method: Woodruff's inversion with batch means on the logit scale; METHODS
// part f.
func TailInterval(exceed, total []uint64) Tail {
	if len(exceed) != len(total) {
		return Tail{Refused: BadShape}
	}
	if len(total) == 0 {
		return Tail{Refused: NoData}
	}
	if len(total) < Batches {
		return Tail{Refused: TooFewIntervals}
	}
	t := BatchTail(SumBlocks(exceed, Batches), SumBlocks(total, Batches))
	if t.Refused != "" {
		return t
	}
	share := make([]float64, 0, len(total))
	for i, n := range total {
		if exceed[i] > n {
			return Tail{Refused: BadShape}
		}
		if n > 0 {
			share = append(share, float64(exceed[i])/float64(n))
		}
	}
	t.Independent = float64(len(share))
	if r, ok := Autocorrelation(share, 1); ok && r > 0 {
		t.Independent *= (1 - r) / (1 + r)
	}
	t.Caution = t.Independent < 15
	if t.Independent < 5 {
		t.Refused = TooCorrelated
	}
	return t
}

// BatchTail is TailInterval on batches that are already cut: exceed out of
// total in each. It does not test the correlation inside the batches. At
// least two batches are needed.
func BatchTail(exceed, total []uint64) Tail {
	b := len(total)
	if len(exceed) != b {
		return Tail{Refused: BadShape}
	}
	var sumE, sumN uint64
	nonzero := 0
	for i := range total {
		if exceed[i] > total[i] {
			return Tail{Refused: BadShape}
		}
		sumE += exceed[i]
		sumN += total[i]
		if exceed[i] > 0 {
			nonzero++
		}
	}
	if sumN == 0 {
		return Tail{Refused: NoData}
	}
	t := Tail{P: float64(sumE) / float64(sumN), Batches: b}
	if b < 2 {
		t.Refused = TooFewIntervals
		return t
	}
	if sumE < 30 || sumN == sumE || 2*nonzero < b {
		t.Refused = TailTooThin
		return t
	}
	var ss float64
	for i := range total {
		d := float64(exceed[i]) - t.P*float64(total[i])
		ss += d * d
	}
	t.SE = math.Sqrt(float64(b)/float64(b-1)*ss) / float64(sumN)
	t.LogitSE = t.SE / (t.P * (1 - t.P))
	t.DesignEffect = t.SE * t.SE * float64(sumN) / (t.P * (1 - t.P))
	half := StudentQuantile(0.975, float64(b-1)) * t.LogitSE
	mid := math.Log(t.P / (1 - t.P))
	t.Share = Interval{logistic(mid - half), logistic(mid + half)}
	t.Levels = Interval{logistic(-mid - half), logistic(-mid + half)}
	if t.Share[1] > 10*t.Share[0] {
		t.Refused = TailTooThin
	}
	return t
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
