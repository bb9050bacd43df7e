package analyze

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"headroom/store/record"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) || math.Abs(got-want) > tolerance {
		t.Errorf("%s is %.10g, want %.10g ± %.3g", what, got, want, tolerance)
	}
}

func repeat(v float64, n int) []float64 { return slices.Repeat([]float64{v}, n) }

func TestDeficit(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, g    []float64
		class   class
		d, hi   float64
		se, tol float64
	}{
		{name: "everything answered", a: repeat(1000, 10), g: repeat(1000, 10), class: stable},
		{name: "a tenth is missing", a: repeat(1120, 10), g: repeat(1000, 10), class: saturated, d: 0.1071428571, hi: 0.1071428571},
		{
			name: "one and a half percent, noisy", a: repeat(1000, 10),
			g:     []float64{985, 995, 975, 1000, 990, 970, 985, 995, 980, 975},
			class: indeterminate, d: 0.015, hi: 0.0221535628, se: 0.0031622777,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			class, d, se, _, hi := deficit(c.a, c.g, 0)
			if class != c.class {
				t.Errorf("class %v, want %v", class, c.class)
			}
			near(t, "deficit", d, c.d, 1e-9)
			near(t, "upper end", hi, c.hi, 1e-8)
			near(t, "standard error", se, c.se, 1e-9)
		})
	}
}

func points(lambda, g []float64) []hingePoint {
	out := make([]hingePoint, len(g))
	for i := range g {
		out[i] = hingePoint{lambda: lambda[i], g: g[i], se: 5, df: 9}
	}
	return out
}

func TestHinge(t *testing.T) {
	four := []float64{1100, 1210, 1331, 1464.1}
	three := four[:3]
	decline := make([]float64, 4)
	for i, l := range four {
		decline[i] = 1000 - 0.2*(l-1000)
	}
	for _, c := range []struct {
		name       string
		lambda, g  []float64
		p          float64
		knee, b    float64
		tolerance  float64
		wantNoDrop bool
	}{
		{name: "flat", lambda: four, g: repeat(1000, 4), p: 1, knee: 1000, tolerance: 1e-9},
		{name: "declining", lambda: four, g: decline, p: 1, knee: 1000, b: -0.2, tolerance: 1e-9},
		{name: "noise is no decline", lambda: four, g: []float64{1004, 996, 1001, 999}, p: 1, knee: 1000, tolerance: 0.01},
		{name: "base failures", lambda: three, g: repeat(995, 3), p: 0.995, knee: 1000, tolerance: 1e-9},
		{name: "rising is not followed", lambda: three, g: []float64{990, 1000, 1010}, p: 1, knee: 1000, tolerance: 0.2},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := fitHinge(points(c.lambda, c.g), c.p)
			near(t, "knee", f.knee, c.knee, c.tolerance)
			near(t, "slope", f.b, c.b, 1e-9)
		})
	}
}

// plateauOf makes a judged plateau from its verdict and goodput, for the tests
// of what follows from the verdicts.
func plateauOf(i int, offered, goodput, se float64, held *bool) judgedPlateau {
	p := &Plateau{Index: i, Phase: i, Kind: record.Step, TargetRPS: offered, LengthS: 60, Trust: PlateauTrust{Verdict: Trusted}}
	return judgedPlateau{p, Judged{
		Held: held, OfferedRPS: offered, GoodputRPS: goodput, GoodputSE: se, Blocks: 10, WidthS: 50,
		Deficit: 1 - goodput/offered, SE: se / offered, valid: true,
	}}
}

var (
	yes = true
	no  = false
)

func TestCollapseGivesABracket(t *testing.T) {
	f := found{p: 1, Knee: Knee{Status: KneeInconclusive}}
	f.sweep.valid = []judgedPlateau{
		plateauOf(0, 800, 800, 1, &yes), plateauOf(1, 1000, 1000, 1, &yes),
		plateauOf(2, 1100, 600, 5, &no), plateauOf(3, 1210, 610, 5, &no), plateauOf(4, 1331, 590, 5, &no),
	}
	f.locate(1, 2, 1)
	if f.Status != KneeFound || f.Method != "bracket" {
		t.Fatalf("%s, want a bracket", tellKnee(&f.Knee))
	}
	near(t, "upper end", f.CI95[1], 1100, 1e-9)
	if lo := f.CI95[0]; lo < 990 || lo > 1000 {
		t.Errorf("lower end %v, want just below the 1000 that were demonstrated", lo)
	}
	near(t, "knee", *f.RPS, math.Sqrt(f.CI95[0]*1100), 1e-9)
}

func TestBracketRefusals(t *testing.T) {
	ladder := func(held ...*bool) []judgedPlateau {
		var out []judgedPlateau
		for i, h := range held {
			offered := 500 * math.Pow(1.12, float64(i))
			good := offered
			if h != nil && !*h {
				good = 0.9 * offered
			}
			out = append(out, plateauOf(i, offered, good, 1, h))
		}
		return out
	}
	close := func(held ...*bool) []judgedPlateau {
		out := ladder(held...)
		for i := range out {
			out[i].OfferedRPS = 790 + 5*float64(i)
		}
		return out
	}
	for _, c := range []struct {
		name     string
		plateaus []judgedPlateau
		low, up  int
		unstable bool
	}{
		{"plain", ladder(&yes, &yes, &no, &no), 1, 2, false},
		{"between nothing can be said", ladder(&yes, nil, nil, &no), 0, 3, false},
		{"nothing failed", ladder(&yes, &yes, nil), 1, -1, false},
		{"nothing held", ladder(nil, &no, &no), -1, 1, false},
		{"held far above a failure", ladder(&yes, &no, nil, &yes, &no), 3, 1, true},
		{"held a little above a failure", close(&yes, &no, &yes, &no), 0, 3, false},
		{"a little above, but nothing is left around", close(&no, &yes, &no), 1, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sweep{valid: c.plateaus}
			low, up, unstable := s.bracket()
			if unstable != c.unstable || !unstable && (low != c.low || up != c.up) {
				t.Errorf("got %d, %d, unstable %v; want %d, %d, %v", low, up, unstable, c.low, c.up, c.unstable)
			}
		})
	}
}

func TestUnstableSweepIsRefused(t *testing.T) {
	m := simulate(system{servers: 8, service: 10 * time.Millisecond, room: 108},
		load{rates: []float64{300, 400, 500, 600, 700, 900, 1000, 1100}, plateau: 20 * time.Second, settle: 2 * time.Second, interval: time.Second, seed: 5})
	frozen := simulate(system{servers: 4, service: 10 * time.Millisecond, room: 108},
		load{rates: []float64{300, 500}, plateau: 20 * time.Second, settle: 2 * time.Second, interval: time.Second, seed: 5})
	good, bad := plateausOf(t, m), plateausOf(t, frozen)
	slow := bad[1] // 500/s at a service that was slower for a while
	slow.Phase = good[2].Phase
	good[2] = slow
	k := FindKnee(good, 1)
	if k.Status != KneeInconclusive || k.Reason != reasonUnstable {
		t.Errorf("%s, want inconclusive unstable", tellKnee(&k))
	}
	sane(t, &k)
}

func TestNoPlateaus(t *testing.T) {
	k := FindKnee(nil, 1)
	if k.Status != KneeInconclusive || k.Reason != reasonNoPlateaus {
		t.Errorf("%s, want inconclusive no_plateaus", tellKnee(&k))
	}
}

func TestAllUntrusted(t *testing.T) {
	m := simulate(system{servers: 8, service: 10 * time.Millisecond, capRPS: 100},
		load{rates: ladder(300, 1.2, 800), plateau: 20 * time.Second, settle: 2 * time.Second, interval: time.Second, seed: 5})
	k := FindKnee(plateausOf(t, m), 1)
	if k.Status != GeneratorLimited || k.AtLeast != nil {
		t.Errorf("%s, at least %v; want generator_limited and no bound", tellKnee(&k), k.AtLeast)
	}
	sane(t, &k)
}

// A plateau that began before the service was idle counts against it only at
// rates that were too much for an idle service as well.
func TestInheritedWork(t *testing.T) {
	m := simulate(system{servers: 8, service: 10 * time.Millisecond, room: 108},
		load{rates: []float64{300, 400, 500, 600, 700, 900, 1000, 1100}, plateau: 20 * time.Second, settle: 2 * time.Second, interval: time.Second, seed: 5})
	for _, c := range []struct {
		inherits []int
		valid    int
	}{{nil, 8}, {[]int{6, 7}, 8}, {[]int{2}, 7}, {[]int{5, 6, 7}, 5}} {
		plateaus := plateausOf(t, m)
		for _, i := range c.inherits {
			plateaus[i].Inherits = true
		}
		if s := judgeSweep(plateaus); len(s.valid) != c.valid {
			t.Errorf("plateaus %v inherit work: %d can be judged, want %d", c.inherits, len(s.valid), c.valid)
		}
	}
}

// The order of the plateaus does not matter, and neither does anything but the
// plateaus and the seed.
func TestKneeIsRepeatable(t *testing.T) {
	m := simulate(system{servers: 8, service: 10 * time.Millisecond, room: 108},
		load{rates: ladder(290, 1.12, 1450), plateau: 20 * time.Second, settle: 2 * time.Second, interval: time.Second, seed: 7})
	plateaus := plateausOf(t, m)
	first, err := json.Marshal(FindKnee(plateaus, 42))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		rng.Shuffle(len(plateaus), func(i, j int) { plateaus[i], plateaus[j] = plateaus[j], plateaus[i] })
		again, err := json.Marshal(FindKnee(plateaus, 42))
		if err != nil {
			t.Fatal(err)
		}
		if string(first) != string(again) {
			t.Fatalf("another order, another answer:\n%s\n%s", first, again)
		}
	}
}

func TestPlateausThatCannotBeJudged(t *testing.T) {
	full := func() *record.Memory {
		return simulate(system{servers: 8, service: 10 * time.Millisecond},
			load{rates: []float64{400}, plateau: 20 * time.Second, settle: 2 * time.Second, interval: time.Second, seed: 3})
	}
	drop := func(m *record.Memory, keep func(*record.Interval) bool) *record.Memory {
		m.Iv = slices.DeleteFunc(m.Iv, func(iv *record.Interval) bool { return !keep(iv) })
		return m
	}
	for _, c := range []struct {
		name string
		m    *record.Memory
		why  string
	}{
		{"whole", full(), whyKeepsUp},
		{"cut off in the middle", drop(full(), func(iv *record.Interval) bool { return iv.StartNS < 11e9 }), whyInterrupted},
		{"nothing recorded", drop(full(), func(*record.Interval) bool { return false }), whyNoArrivals},
		{"four intervals", simulate(system{servers: 8, service: 10 * time.Millisecond},
			load{rates: []float64{400}, plateau: 4 * time.Second, interval: time.Second, seed: 3}), whyTooShort},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plateausOf(t, c.m)
			j := Classify(&p[0], 0)
			if j.Why != c.why || (j.Held != nil) != (c.why == whyKeepsUp) {
				t.Errorf("held %v because %s, want %s", j.Held, j.Why, c.why)
			}
		})
	}
}

// A backlog that takes most of the plateau to go away leaves no steady state,
// and one that goes away quickly is cut off.
func TestSettling(t *testing.T) {
	make := func(backlog func(i int) int64) *Plateau {
		p := &Plateau{LengthS: 40, Trust: PlateauTrust{Verdict: Trusted}}
		var last int64 = backlog(-1)
		p.before = last
		for i := range 40 {
			r := row{startNS: int64(i) * 1e9, widthNS: 1e9, scheduled: 1000, arrivals: 1000, backlog: backlog(i)}
			r.done[record.OK] = uint64(1000 + last - r.backlog)
			last = r.backlog
			p.rows = append(p.rows, r)
		}
		return p
	}
	wobble := func(i int) int64 { return int64((i*7919)%5) - 2 }
	for _, c := range []struct {
		name    string
		backlog func(int) int64
		why     string
		fromS   float64
	}{
		{"steady", func(i int) int64 { return 20 + wobble(i) }, whyKeepsUp, 0},
		{"an inheritance of ten seconds", func(i int) int64 { return 20 + max(0, 1000-100*int64(i)) + wobble(i) }, whyKeepsUp, 8},
		{"falling to the end", func(i int) int64 { return 4000 - 80*int64(i) + wobble(i) }, whyNeverSettled, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := Classify(make(c.backlog), 0)
			if j.Why != c.why || float64(j.FromNS)/1e9 < c.fromS {
				t.Errorf("%s from %v s, want %s from %v s on", j.Why, float64(j.FromNS)/1e9, c.why, c.fromS)
			}
		})
	}
}

// Answers that come after the plateau are not goodput of the plateau, although
// every one of its requests ended well.
func TestGoodputIsCountedByTheClock(t *testing.T) {
	m := simulate(system{servers: 8, service: 10 * time.Millisecond},
		load{rates: []float64{1200}, plateau: 20 * time.Second, settle: 2 * time.Second, interval: time.Second, seed: 3})
	p := plateausOf(t, m)[0]
	if ok := p.Counts.By[record.OK]; ok != p.Counts.Scheduled {
		t.Fatalf("%d of %d requests ended well; all should have, in the end", ok, p.Counts.Scheduled)
	}
	j := Classify(&p, 0)
	if j.Held == nil || *j.Held {
		t.Errorf("%s: the service was offered half more than it can do", j.Why)
	}
	near(t, "goodput", j.GoodputRPS, 800, 25)
	near(t, "growth of the backlog per second", j.BacklogSlope, 400, 40)
	if !j.BacklogGrows {
		t.Error("the backlog is not seen to grow")
	}
}

func TestNextRunsNameRates(t *testing.T) {
	for _, c := range []struct{ status, reason, want string }{
		{NotReached, "", "1000 to 3000"},
		{AlreadySaturated, "", "up to 750"},
		{GeneratorLimited, "", "above 1000"},
		{Soft, "", "1200"},
		{KneeInconclusive, reasonTooNoisy, "1047, 1095 and 1147"},
		{KneeInconclusive, reasonUnstable, "1200 to 1000"},
		{KneeInconclusive, reasonTooFewSteps, "1380 to 1800"},
		{KneeInconclusive, reasonBaseErrors, "500"},
	} {
		f := found{Knee: Knee{Status: c.status, Reason: c.reason, HighestHeld: number(1000), LowestFailed: number(1200)}}
		f.sweep.all = []judgedPlateau{plateauOf(0, 500, 500, 1, &yes), plateauOf(1, 1500, 1000, 1, &no)}
		if got := f.nextRun(); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %q does not name %q", c.status, c.reason, got, c.want)
		}
	}
}

func ExampleFindKnee() {
	k := FindKnee(nil, 1)
	fmt.Println(k.Status, k.Reason)
	// Output: inconclusive no_plateaus
}
