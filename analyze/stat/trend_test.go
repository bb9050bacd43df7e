package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Three years of monthly shampoo sales, the series of METHODS part d.
var shampoo = []float64{
	266.0, 145.9, 183.1, 119.3, 180.3, 168.5, 231.8, 224.5, 192.8, 122.9, 336.5, 185.9,
	194.3, 149.5, 210.1, 273.3, 191.4, 287.0, 226.0, 303.6, 289.9, 421.6, 264.5, 342.3,
	339.7, 440.4, 315.9, 439.3, 401.3, 437.4, 575.5, 407.6, 682.0, 475.3, 581.3, 646.9,
}

// METHODS D1 and D3.
func TestMannKendall(t *testing.T) {
	got := MannKendall(shampoo)
	refused(t, "shampoo", got.Refused, "")
	if got.S != 440 || got.V != 5390 {
		t.Errorf("S = %d, V = %v, want 440 and 5390", got.S, got.V)
	}
	near(t, "z", got.Z, 5.979572523983071, 1e-12)
	near(t, "slope", got.Slope, 11.509375, 1e-12)
	near(t, "r1", got.R1, -0.0122908623, 1e-9)
	near(t, "r", got.R, 0.0486727799, 1e-9)
	near(t, "f", got.Factor, 1.0933887724, 1e-9)
	near(t, "V f", got.V*got.Factor, 5893.365483, 1e-9)
	near(t, "z, AR(1)", got.ZAR, 5.7185093121, 1e-9)
}

// METHODS D1 and D4.
func TestTheilSen(t *testing.T) {
	line := TheilSen(shampoo)
	refused(t, "shampoo", line.Refused, "")
	near(t, "slope", line.Slope, 11.509375, 1e-12)
	near(t, "intercept", line.Intercept, 78.7359375, 1e-12)
	near(t, "level", line.Level, 500.903125, 1e-12)
	trend := MannKendall(shampoo)
	iid := line.Interval(trend.V)
	nearInterval(t, "iid slope", iid, 8.625, 14.4133333333, 1e-9)
	ar := line.Interval(trend.V * trend.Factor)
	nearInterval(t, "AR(1) slope", ar, 8.4545454545, 14.6526315789, 1e-9)

	for _, c := range []struct {
		name   string
		ci     Interval
		lo, hi float64
	}{{"iid", iid, 34.627443, 57.866304}, {"AR(1)", ar, 34.061928, 59.032964}} {
		e := TimeToLimit(1000, line.Level, line.Slope, c.ci)
		near(t, c.name+" time", *e.At, 43.364377, 1e-7)
		near(t, c.name+" time low", *e.CI[0], c.lo, 1e-7)
		near(t, c.name+" time high", *e.CI[1], c.hi, 1e-7)
	}
}

func TestTimeToLimit(t *testing.T) {
	e := TimeToLimit(100, 50, 5, Interval{-1, 10})
	if *e.At != 10 || *e.CI[0] != 5 || e.CI[1] != nil {
		t.Errorf("slope that may be falling: %v %v %v, want 10, 5, never", e.At, e.CI[0], e.CI[1])
	}
	e = TimeToLimit(100, 120, 5, Interval{1, 10})
	if *e.At != 0 || *e.CI[0] != 0 || *e.CI[1] != 0 {
		t.Error("a level above the limit has met it")
	}
	e = TimeToLimit(100, 50, 0, Interval{0, 0})
	if e.At != nil || e.CI[0] != nil || e.CI[1] != nil {
		t.Error("a flat line never meets the limit")
	}
}

// METHODS D6, ties and refusals.
func TestMannKendallEdges(t *testing.T) {
	flat := MannKendall([]float64{7, 7, 7, 7, 7, 7, 7, 7, 7, 7})
	if flat.S != 0 || flat.V != 0 || flat.Z != 0 || flat.ZAR != 0 || flat.Refused != "" {
		t.Errorf("constant series: %+v", flat)
	}
	// 1 1 2 2 3 3: 12 rising pairs, three ties of two.
	ties := MannKendall([]float64{1, 1, 2, 2, 3, 3})
	if ties.S != 12 {
		t.Errorf("S with ties = %d, want 12", ties.S)
	}
	near(t, "V with ties", ties.V, (6*5*17-3*2*1*9)/18., 1e-12)
	line := MannKendall([]float64{1, 2, 3, 4, 5, 6})
	if line.S != 15 || line.R != 0 {
		t.Errorf("straight line: %+v", line)
	}
	refused(t, "four values", MannKendall([]float64{1, 2, 3, 4}).Refused, TooShort)
	refused(t, "none", MannKendall(nil).Refused, TooShort)
	refused(t, "NaN", MannKendall([]float64{1, 2, 3, 4, math.NaN()}).Refused, NotFinite)
	refused(t, "one value", TheilSen([]float64{1}).Refused, TooShort)
	refused(t, "overflow", TheilSen([]float64{-math.MaxFloat64, math.MaxFloat64}).Refused, NotFinite)
}

func TestMannKendallLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.IntRange(0, 20), 5, 40).Draw(t, "x")
		y, mirrored, scaled := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
		for i, v := range x {
			y[i] = float64(v)
			mirrored[i] = -y[i]
			scaled[i] = 4*y[i] + 8
		}
		a, b, c := MannKendall(y), MannKendall(mirrored), MannKendall(scaled)
		if a.S != -b.S || a.V != b.V || math.Abs(a.ZAR+b.ZAR) > 1e-9 {
			t.Fatalf("mirror: %+v, %+v", a, b)
		}
		if a.S != c.S || a.V != c.V || math.Abs(a.ZAR-c.ZAR) > 1e-9 || math.Abs(4*a.Slope-c.Slope) > 1e-9 {
			t.Fatalf("scale: %+v, %+v", a, c)
		}
		if a.V < 0 || math.IsNaN(a.ZAR) || a.Factor < 1 {
			t.Fatalf("%+v", a)
		}
	})
}

func TestCycleLength(t *testing.T) {
	for _, c := range []struct {
		name string
		n    int
		x    func(i int) float64
		want float64
	}{
		{"saw-tooth of 40", 600, func(i int) float64 { return float64(i % 40) }, 40},
		{"leaking saw-tooth of 40", 600, func(i int) float64 { return float64(i%40) + float64(i)*0.5 }, 40},
		{"saw-tooth of 400 in 12,000", 12000, func(i int) float64 { return float64(i % 400) }, 400},
		{"straight line", 600, func(i int) float64 { return float64(i) }, 0},
		{"constant", 600, func(i int) float64 { return 3 }, 0},
	} {
		x := make([]float64, c.n)
		for i := range x {
			x[i] = c.x(i)
		}
		got, ok := CycleLength(x)
		if ok != (c.want > 0) || math.Abs(float64(got)-c.want) > c.want/20 {
			t.Errorf("%s: cycle %d, %v, want %v", c.name, got, ok, c.want)
		}
	}
	rng := rand.New(rand.NewPCG(31, 32))
	noise := make([]float64, 600)
	for i := range noise {
		noise[i] = rng.NormFloat64()
	}
	if n, ok := CycleLength(noise); ok {
		t.Errorf("white noise has a cycle of %d", n)
	}
}
