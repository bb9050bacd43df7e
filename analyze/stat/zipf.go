package stat

import (
	"math"
)

// Zipf is a Zipf exponent fitted to the most popular keys.
type Zipf struct {
	S       float64 // probability of rank k is proportional to k^−S
	SE      float64
	Ranks   int
	Refused Refusal
}

// ZipfFit fits the exponent to the counts of the most popular keys, most
// popular first: the maximum of the likelihood of a Zipf law truncated at the
// number of counts. Give it the top 1000, not all observed ranks: the tail of
// what was seen is biased by what was not. It refuses TooFewIDs below two
// counts or without requests, NotFinite, BadShape for negative counts or
// counts that rise, and TooFewIDs as well where the likelihood has no maximum
// within ±20, as when one key has all requests.
//
// Method: METHODS part h. A straight line through logarithms of ranks and
// counts finds 0.65 where the truth is 0.8.
func ZipfFit(counts []float64) Zipf {
	if !Finite(counts) {
		return Zipf{Refused: NotFinite}
	}
	if len(counts) < 2 {
		return Zipf{Refused: TooFewIDs}
	}
	var n, sumLog float64
	logRank := make([]float64, len(counts))
	for i, c := range counts {
		if c < 0 || i > 0 && c > counts[i-1] {
			return Zipf{Refused: BadShape}
		}
		logRank[i] = math.Log(float64(i + 1))
		n += c
		sumLog += c * logRank[i]
	}
	if !(n > 0) || math.IsInf(n, 0) || math.IsInf(sumLog, 0) {
		return Zipf{Refused: TooFewIDs}
	}
	target := sumLog / n
	const limit = 20
	lo, hi := -float64(limit), float64(limit)
	if m, _ := zipfMoments(logRank, lo); m <= target {
		return Zipf{Refused: TooFewIDs}
	}
	if m, _ := zipfMoments(logRank, hi); m >= target {
		return Zipf{Refused: TooFewIDs}
	}
	for range 100 {
		mid := (lo + hi) / 2
		if m, _ := zipfMoments(logRank, mid); m > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	s := (lo + hi) / 2
	_, v := zipfMoments(logRank, s)
	se := 1 / math.Sqrt(n*v)
	if math.IsInf(se, 0) || math.IsNaN(se) {
		return Zipf{Refused: TooFewIDs}
	}
	return Zipf{S: s, SE: se, Ranks: len(counts)}
}

// zipfMoments returns mean and variance of ln k under exponent s.
func zipfMoments(logRank []float64, s float64) (mean, variance float64) {
	top := max(0, -s*logRank[len(logRank)-1])
	var w, m, m2 float64
	for _, l := range logRank {
		p := math.Exp(-s*l - top)
		w += p
		m += p * l
		m2 += p * l * l
	}
	mean = m / w
	return mean, max(m2/w-mean*mean, 0)
}

// ZipfWeights returns the probabilities of n keys under exponent s, most
// popular first. It returns nil unless n ≥ 1 and s is finite.
func ZipfWeights(n int, s float64) []float64 {
	if n < 1 || !Finite([]float64{s}) {
		return nil
	}
	p := make([]float64, n)
	top := max(0, -s*math.Log(float64(n)))
	var sum float64
	for i := range p {
		p[i] = math.Exp(-s*math.Log(float64(i+1)) - top)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// ExpectedDistinct returns the expected number of distinct keys in n
// independent draws with the given probabilities. It refuses NoData, NotFinite
// and BadShape for negative values or n.
func ExpectedDistinct(p []float64, n float64) (distinct float64, r Refusal) {
	if r := checkWeights(p); r != "" {
		return 0, r
	}
	if !(n >= 0) || math.IsInf(n, 0) {
		return 0, BadShape
	}
	for _, v := range p {
		if v >= 1 {
			distinct += min(1, n)
			continue
		}
		distinct -= math.Expm1(n * math.Log1p(-v))
	}
	return distinct, ""
}

// checkWeights refuses anything but probabilities that sum to at most 1.
func checkWeights(p []float64) Refusal {
	if len(p) == 0 {
		return NoData
	}
	if !Finite(p) {
		return NotFinite
	}
	var sum float64
	for _, v := range p {
		if v < 0 {
			return BadShape
		}
		sum += v
	}
	if !(sum > 0) || sum > 1+1e-9 {
		return BadShape
	}
	return ""
}

// Unseen is the share of requests that go to keys not seen so far.
type Unseen struct {
	Mass    float64
	Refused Refusal
}

// GoodTuring estimates the share of requests to unseen keys as the number of
// keys seen once over the number of requests. It refuses NoData without
// requests, BadShape for more singletons than requests, and UnseenMassTooBig
// above 5 %, with the mass filled in: the window is too short to learn the
// popularity from.
//
// Method: Good 1953.
func GoodTuring(singletons, requests uint64) Unseen {
	if requests == 0 {
		return Unseen{Refused: NoData}
	}
	if singletons > requests {
		return Unseen{Refused: BadShape}
	}
	u := Unseen{Mass: float64(singletons) / float64(requests)}
	if u.Mass > 0.05 {
		u.Refused = UnseenMassTooBig
	}
	return u
}
