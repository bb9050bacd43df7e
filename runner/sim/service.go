package sim

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Shape is a family of service times.
type Shape string

// The shapes.
const (
	Constant    Shape = "constant"
	Exponential Shape = "exponential"
	Lognormal   Shape = "lognormal"
)

// Service is a distribution of service times. Its mean is exact whatever the shape.
type Service struct {
	Mean  time.Duration
	Shape Shape
	Sigma float64 // lognormal only: standard deviation of the logarithm
}

// ParseService reads "20ms constant", "20ms exponential" or
// "20ms lognormal(0.5)"; a duration alone is constant. String prints it back.
func ParseService(text string) (Service, error) {
	fail := func(why string) (Service, error) {
		return Service{}, fmt.Errorf("service %q: %s; write it as \"20ms constant\", \"20ms exponential\" or \"20ms lognormal(0.5)\"", text, why)
	}
	words := strings.Fields(text)
	if len(words) == 0 || len(words) > 2 {
		return fail("wants a mean and a shape")
	}
	mean, err := time.ParseDuration(words[0])
	if err != nil {
		return fail(fmt.Sprintf("%q is not a duration", words[0]))
	}
	if mean <= 0 || mean > time.Hour {
		return fail("the mean must be above 0 and at most 1h")
	}
	s := Service{Mean: mean, Shape: Constant}
	if len(words) == 1 {
		return s, nil
	}
	switch shape := words[1]; {
	case shape == string(Constant), shape == string(Exponential):
		s.Shape = Shape(shape)
	case strings.HasPrefix(shape, "lognormal(") && strings.HasSuffix(shape, ")"):
		s.Shape = Lognormal
		inner := shape[len("lognormal(") : len(shape)-1]
		s.Sigma, err = strconv.ParseFloat(inner, 64)
		if err != nil || !(s.Sigma > 0 && s.Sigma <= 4) {
			return fail(fmt.Sprintf("%q is not a sigma above 0 and at most 4", inner))
		}
	default:
		return fail(fmt.Sprintf("unknown shape %q", shape))
	}
	return s, nil
}

// String is the form that ParseService reads.
func (s Service) String() string {
	if s.Shape == Lognormal {
		return fmt.Sprintf("%s lognormal(%s)", s.Mean, strconv.FormatFloat(s.Sigma, 'g', -1, 64))
	}
	return fmt.Sprintf("%s %s", s.Mean, s.Shape)
}

// draw is a service time in ns.
func (s Service) draw(r *stream) float64 {
	mean := float64(s.Mean)
	switch s.Shape {
	case Exponential:
		return -mean * math.Log(r.uniform())
	case Lognormal:
		return mean * math.Exp(s.Sigma*r.normal()-s.Sigma*s.Sigma/2)
	}
	return mean
}
