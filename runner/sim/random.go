package sim

import "math"

// stream is a SplitMix64 sequence. Each purpose has its own, derived from
// (seed, purpose), so that adding a consumer does not shift the others.
type stream struct{ state uint64 }

// Purposes of the random streams of a service.
const (
	forService uint64 = iota + 1
	forSlow
	forWrong
	forNoise
	forLag
)

func newStream(seed, purpose uint64) *stream {
	return &stream{mix(mix(seed) ^ mix(purpose*0x9e3779b97f4a7c15))}
}

func mix(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *stream) next() uint64 {
	v := mix(s.state)
	s.state += 0x9e3779b97f4a7c15
	return v
}

// uniform is in (0,1), never 0 and never 1.
func (s *stream) uniform() float64 { return (float64(s.next()>>11) + 0.5) / (1 << 53) }

// normal is a standard normal variate, by inversion.
func (s *stream) normal() float64 { return math.Sqrt2 * math.Erfinv(2*s.uniform()-1) }
