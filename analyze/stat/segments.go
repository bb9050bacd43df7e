package stat

import "math"

// SegmentDispersion is the index of dispersion of counts whose level moves
// slowly.
type SegmentDispersion struct {
	Index    float64 // Σ variances / Σ means over the segments; 1 for a Poisson process
	Segments int     // segments of two counts or more
	Refused  Refusal
}

// DispersionOf pools the index of dispersion within segments of counts in
// equal windows, so that the daily curve does not count as burstiness: cut
// ten-minute segments. Segments of fewer than two counts are left out. It
// refuses NoData where none is left, NotFinite, and BadShape for negative
// counts or a mean of 0.
//
// Method: Gusella 1991 within segments; METHODS part h.
func DispersionOf(segments [][]float64) SegmentDispersion {
	var variance, mean float64
	var d SegmentDispersion
	for _, s := range segments {
		if len(s) == 0 {
			continue
		}
		if r := checkGaps(s); r != "" {
			return SegmentDispersion{Refused: r}
		}
		if len(s) < 2 {
			continue
		}
		m, m2 := meanM2(s)
		variance += m2 / float64(len(s)-1)
		mean += m
		d.Segments++
	}
	switch {
	case d.Segments == 0:
		return SegmentDispersion{Refused: NoData}
	case !(mean > 0):
		return SegmentDispersion{Refused: BadShape}
	}
	d.Index = variance / mean
	if math.IsNaN(d.Index) || math.IsInf(d.Index, 0) {
		return SegmentDispersion{Refused: NotFinite}
	}
	return d
}

// Segments cuts values into segments of the given length; what is left over at
// the end is the last segment. It panics when length < 1.
func Segments(x []float64, length int) [][]float64 {
	if length < 1 {
		panic("stat: segments of no values")
	}
	out := make([][]float64, 0, len(x)/length+1)
	for len(x) > length {
		out = append(out, x[:length:length])
		x = x[length:]
	}
	if len(x) > 0 {
		out = append(out, x)
	}
	return out
}

// GammaRate is the rate of a Poisson process that is drawn anew every second
// from a gamma distribution: counts are negative binomial.
type GammaRate struct {
	CV2   float64 // squared relative variation of the rate
	Shape float64 // of the gamma distribution, 1/CV2
}

// BurstModel returns the gamma rate with which counts per second of the given
// mean have the given index of dispersion. It is not ok unless the mean is
// positive and the index above 1: at or below it a plain Poisson process is
// what to replay.
func BurstModel(mean, index float64) (g GammaRate, ok bool) {
	v := (index - 1) / mean
	if !(mean > 0) || !(v > 0) || math.IsInf(mean, 0) || math.IsInf(v, 0) || math.IsInf(1/v, 0) {
		return GammaRate{}, false
	}
	return GammaRate{CV2: v, Shape: 1 / v}, true
}
