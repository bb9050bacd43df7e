package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// poissonInstants draws n instants of a Poisson process, in nanoseconds.
func poissonInstants(rng *rand.Rand, n int, rate float64) []int64 {
	return instantsOf(n, func() float64 { return rng.ExpFloat64() / rate })
}

func instantsOf(n int, gap func() float64) []int64 {
	at := make([]int64, n)
	var t float64
	for i := range at {
		t += gap()
		at[i] = int64(t * 1e9)
	}
	return at
}

// periodicShards interleaves k periodic streams of random phase.
func periodicShards(rng *rand.Rand, n, k int, rate float64) []int64 {
	var at []int64
	period := float64(k) / rate
	for range k {
		phase := rng.Float64() * period
		for i := range n / k {
			at = append(at, int64((phase+float64(i)*period)*1e9))
		}
	}
	slices.Sort(at)
	return at
}

// gammaModulated draws a Poisson process whose rate is drawn anew every
// 0.1 s from a gamma distribution with squared variation 0.1 (shape 10).
func gammaModulated(rng *rand.Rand, n int, rate float64) []int64 {
	var at []int64
	for slot := 0; len(at) < n; slot++ {
		var g float64
		for range 10 {
			g += rng.ExpFloat64() / 10
		}
		for t := rng.ExpFloat64() / (rate * g); t < 0.1; t += rng.ExpFloat64() / (rate * g) {
			at = append(at, int64((float64(slot)*0.1+t)*1e9))
		}
	}
	return at[:n]
}

func rounded(at []int64, tick int64) []int64 {
	out := make([]int64, len(at))
	for i, v := range at {
		out[i] = (v + tick - 1) / tick * tick
	}
	return out
}

// stalledSends holds back what is due in the first 20 ms of each second.
func stalledSends(at []int64) []int64 {
	out := make([]int64, len(at))
	for i, v := range at {
		if in := v % 1e9; in < 20e6 {
			v += 20e6 - in
		}
		out[i] = v
	}
	return out
}

// METHODS G4 and the power table of part g.
func TestArrivalVerdict(t *testing.T) {
	const n, rate = 10001, 1000.0
	for _, c := range []struct {
		name string
		make func(*rand.Rand) (scheduled, sent []int64)
		rate float64
		want string
	}{
		{"Poisson", func(r *rand.Rand) ([]int64, []int64) {
			s := poissonInstants(r, n, rate)
			return s, s
		}, rate, ""},
		{"four Poisson shards", func(r *rand.Rand) ([]int64, []int64) {
			var s []int64
			for range 4 {
				s = append(s, poissonInstants(r, n/4+200, rate/4)...)
			}
			slices.Sort(s)
			s = s[:n-400]
			return s, s
		}, rate, ""},
		{"40 µs late, as a good sender", func(r *rand.Rand) ([]int64, []int64) {
			s := poissonInstants(r, n, rate)
			sent := slices.Clone(s)
			for i := range sent {
				sent[i] += 20e3 + r.Int64N(40e3)
			}
			return s, sent
		}, rate, ""},
		{"rounded to 1 µs", func(r *rand.Rand) ([]int64, []int64) {
			s := poissonInstants(r, n, rate)
			return s, rounded(s, 1e3)
		}, rate, ""},
		{"rounded to 100 µs", func(r *rand.Rand) ([]int64, []int64) {
			s := poissonInstants(r, n, rate)
			return s, rounded(s, 100e3)
		}, rate, ArrivalsRounded},
		{"rounded to 1 ms", func(r *rand.Rand) ([]int64, []int64) {
			s := poissonInstants(r, n, rate)
			return s, rounded(s, 1e6)
		}, rate, ArrivalsRounded},
		{"rounded to 1 ms with jitter, schedule unknown", func(r *rand.Rand) ([]int64, []int64) {
			s := rounded(poissonInstants(r, n, rate), 1e6)
			for i := range s {
				s[i] += r.Int64N(60e3)
			}
			return nil, s
		}, rate, ArrivalsRounded},
		{"Erlang-2 gaps", func(r *rand.Rand) ([]int64, []int64) {
			s := instantsOf(n, func() float64 { return (r.ExpFloat64() + r.ExpFloat64()) / (2 * rate) })
			return s, s
		}, rate, ArrivalsTooRegular},
		{"gamma-modulated", func(r *rand.Rand) ([]int64, []int64) {
			s := gammaModulated(r, n, rate)
			return s, s
		}, rate, ArrivalsBursty},
		{"4 periodic shards", func(r *rand.Rand) ([]int64, []int64) {
			s := periodicShards(r, n, 4, rate)
			return s, s
		}, rate, ArrivalsDependent},
		{"100 periodic shards", func(r *rand.Rand) ([]int64, []int64) {
			s := periodicShards(r, n, 100, rate)
			return s, s
		}, rate, ArrivalsDependent},
		{"1000 periodic shards", func(r *rand.Rand) ([]int64, []int64) {
			s := periodicShards(r, n, 1000, rate)
			return s, s
		}, rate, ArrivalsDependent + " or " + ArrivalsBursty}, // one second, over and over
		{"20 ms stall each second", func(r *rand.Rand) ([]int64, []int64) {
			s := poissonInstants(r, n, rate)
			return s, stalledSends(s)
		}, rate, ArrivalsStalled},
		{"rate rises by a seventh half-way", func(r *rand.Rand) ([]int64, []int64) {
			i := 0
			s := instantsOf(n, func() float64 { i++; return r.ExpFloat64() / (rate * []float64{.93, 1.07}[i/(n/2+2)]) })
			return s, s
		}, rate, ArrivalsDrifting + " or " + ArrivalsBursty},
		{"at 10 % more than planned", func(r *rand.Rand) ([]int64, []int64) {
			s := poissonInstants(r, n, 1.1*rate)
			return s, s
		}, rate, ArrivalsWrongRate},
		{"the same, plan unknown", func(r *rand.Rand) ([]int64, []int64) {
			s := poissonInstants(r, n, 1.1*rate)
			return s, s
		}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			hits := 0
			var reasons []string
			const seeds = 10
			for seed := range uint64(seeds) {
				rng := rand.New(rand.NewPCG(seed, 99))
				var windows []ArrivalWindow
				for range 2 {
					scheduled, sent := c.make(rng)
					windows = append(windows, ArrivalWindow{ScheduledNS: scheduled, SentNS: sent, Rate: c.rate})
				}
				got := ArrivalVerdict(windows, ArrivalOpts{ResponseP50NS: 1e6, Seed: seed})
				reasons = append(reasons, got.Reason)
				if (got.Reason == c.want || got.Reason != "" && slices.Contains(strings.Split(c.want, " or "), got.Reason)) && (got.Verdict == ArrivalsAccepted) == (c.want == "") && got.Windows == 2 {
					hits++
				}
			}
			if hits < 9 {
				t.Errorf("%d of %d said %q: %q", hits, seeds, c.want, reasons)
			}
		})
	}
}

func TestArrivalVerdictLateness(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	s := poissonInstants(rng, 4001, 1000)
	late := func(share float64, by int64) ArrivalWindow {
		sent := slices.Clone(s)
		for i := range sent {
			if float64(i%1000) < share*1000 {
				sent[i] += by
			}
		}
		return ArrivalWindow{ScheduledNS: s, SentNS: sent, Rate: 1000}
	}
	for _, c := range []struct {
		name   string
		window ArrivalWindow
		o      ArrivalOpts
		want   string
	}{
		{"on time", late(0, 0), ArrivalOpts{}, ""},
		{"one dropped", late(0, 0), ArrivalOpts{Dropped: 1}, ArrivalsStalled},
		{"2 % by 2 ms", late(0.02, 2e6), ArrivalOpts{}, ArrivalsStalled},
		{"2 % by 2 ms of a 100 ms service", late(0.02, 2e6), ArrivalOpts{ResponseP50NS: 100e6}, ""},
		{"0.3 % by 11 ms", late(0.003, 11e6), ArrivalOpts{ResponseP50NS: 1e9}, ArrivalsStalled},
	} {
		got := ArrivalVerdict([]ArrivalWindow{c.window}, c.o)
		if got.Reason != c.want {
			t.Errorf("%s: reason %q, want %q (%+v)", c.name, got.Reason, c.want, got)
		}
	}
}

func TestArrivalVerdictNotTested(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, c := range []struct {
		name    string
		windows []ArrivalWindow
		reason  string
	}{
		{"no window", nil, ArrivalsTooFew},
		{"400 gaps", []ArrivalWindow{{SentNS: poissonInstants(rng, 401, 10)}}, ArrivalsTooFew},
		{"900 gaps, halves of 450", []ArrivalWindow{{SentNS: poissonInstants(rng, 901, 10)}}, ArrivalsTooFew},
		{"all at one instant", []ArrivalWindow{{SentNS: make([]int64, 2000)}, {SentNS: make([]int64, 2000)}}, ArrivalsTooFew},
		{"different lengths", []ArrivalWindow{{ScheduledNS: make([]int64, 3), SentNS: make([]int64, 2)}}, string(BadShape)},
	} {
		got := ArrivalVerdict(c.windows, ArrivalOpts{})
		if got.Verdict != ArrivalsNotTested || got.Reason != c.reason {
			t.Errorf("%s: %+v, want not_tested, %s", c.name, got, c.reason)
		}
	}
}

func TestArrivalVerdictIsStable(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	s := poissonInstants(rng, 15001, 2000)
	shuffled := slices.Clone(s)
	rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	o := ArrivalOpts{Seed: 3}
	a := ArrivalVerdict([]ArrivalWindow{{SentNS: s, Rate: 2000}}, o)
	b := ArrivalVerdict([]ArrivalWindow{{SentNS: shuffled, Rate: 2000}}, o)
	if a != b {
		t.Errorf("depends on the order within a window:\n%+v\n%+v", a, b)
	}
	if math.Abs(a.GapCV-1) > 0.05 || math.Abs(a.Dispersion-1) > 0.4 {
		t.Errorf("a Poisson stream has GapCV %v and dispersion %v", a.GapCV, a.Dispersion)
	}
}

// METHODS G4, test by test, on one window of 10,000 gaps.
func TestWhatEachArrivalTestSees(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	window := func(at []int64) windowTests {
		got, ok := testWindow(ArrivalWindow{SentNS: at, Rate: 1000}, rng)
		if !ok {
			t.Fatal("not tested")
		}
		return got
	}
	periodic := window(periodicShards(rng, 10001, 4, 1000))
	if periodic.correlation.P > arrivalAlpha || periodic.counts.PLower > arrivalAlpha {
		t.Errorf("periodic shards: Ljung–Box p %v, dispersion %+v", periodic.correlation.P, periodic.counts)
	}
	ms := window(rounded(poissonInstants(rng, 10001, 1000), 1e6))
	if !fails(ms.lewis) || fails(ms.uniform) || ms.tick != 1e6 {
		t.Errorf("1 ms clock: Lewis %+v, CU %+v, tick %d", ms.lewis, ms.uniform, ms.tick)
	}
	plain := window(poissonInstants(rng, 10001, 1000))
	if fails(plain.lewis) || fails(plain.rate) || plain.correlation.P < arrivalAlpha || plain.tick != 0 {
		t.Errorf("Poisson: %+v", plain)
	}
}
