package stat

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func repeat(v uint64, n int) []uint64 {
	return slices.Repeat([]uint64{v}, n)
}

// METHODS F1.
func TestBatchTail(t *testing.T) {
	got := BatchTail([]uint64{80, 95, 110, 70, 130, 105, 90, 120, 85, 115}, repeat(10000, 10))
	refused(t, "F1", got.Refused, "")
	near(t, "P", got.P, 0.01, 1e-12)
	near(t, "SE", got.SE, 0.0006055301, 1e-9)
	near(t, "logit SE", got.LogitSE, 0.0611646536, 1e-9)
	nearInterval(t, "share", got.Share, 0.00871908, 0.01146692, 1e-7)
	nearInterval(t, "levels", got.Levels, 0.98853308, 0.99128092, 1e-7)
	near(t, "design effect", got.DesignEffect, 3.703704, 1e-6)
}

func TestBatchTailRefuses(t *testing.T) {
	for _, c := range []struct {
		name          string
		exceed, total []uint64
		want          Refusal
	}{
		{"nothing", nil, nil, NoData},
		{"no requests", repeat(0, 10), repeat(0, 10), NoData},
		{"one batch", []uint64{50}, []uint64{1000}, TooFewIntervals},
		{"29 above", append(repeat(2, 9), 11), repeat(1000, 10), TailTooThin},
		{"all in four batches", append(repeat(0, 6), 20, 20, 20, 20), repeat(1000, 10), TailTooThin},
		{"everything above", repeat(10, 10), repeat(10, 10), TailTooThin},
		{"one batch holds the tail", append(repeat(1, 9), 4000), repeat(100000, 10), TailTooThin},
		{"more above than requests", repeat(11, 10), repeat(10, 10), BadShape},
		{"different lengths", repeat(1, 9), repeat(10, 10), BadShape},
	} {
		refused(t, c.name, BatchTail(c.exceed, c.total).Refused, c.want)
	}
	refused(t, "30 above, spread", BatchTail(repeat(3, 10), repeat(1000, 10)).Refused, "")
}

func TestTailIntervalSeesCorrelation(t *testing.T) {
	n := 60
	total := repeat(1000, n)
	slow := make([]uint64, n) // one long swell: 60 intervals, worth two or three
	for i := range slow {
		slow[i] = 20
		if i >= n/2 {
			slow[i] = 80
		}
	}
	refused(t, "swell", TailInterval(slow, total).Refused, TooCorrelated)

	rng := rand.New(rand.NewPCG(1, 2))
	independent := make([]uint64, n)
	for i := range independent {
		independent[i] = 20 + uint64(rng.IntN(20))
	}
	got := TailInterval(independent, total)
	refused(t, "independent", got.Refused, "")
	if got.Caution {
		t.Errorf("%.1f independent intervals of %d drew a caution", got.Independent, n)
	}
	refused(t, "nine intervals", TailInterval(repeat(5, 9), repeat(100, 9)).Refused, TooFewIntervals)
	refused(t, "no interval", TailInterval(nil, nil).Refused, NoData)
}

// The levels must hold the truth about as often as they say. The share is
// 1 % in every interval, drawn independently; 200 seeded runs.
func TestTailIntervalCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const runs, n, per, p = 200, 100, 500, 0.01
	hit := 0
	for range runs {
		exceed := make([]uint64, n)
		for i := range exceed {
			for range per {
				if rng.Float64() < p {
					exceed[i]++
				}
			}
		}
		got := TailInterval(exceed, repeat(per, n))
		if got.Refused == "" && got.Share[0] <= p && p <= got.Share[1] {
			hit++
		}
	}
	if hit < 180 {
		t.Errorf("the 95 %% interval held the truth in %d of %d runs", hit, runs)
	}
}

func TestTailLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.IntRange(2, 20).Draw(t, "b")
		total := rapid.SliceOfN(rapid.Uint64Range(100, 10000), b, b).Draw(t, "total")
		exceed := make([]uint64, b)
		for i := range exceed {
			exceed[i] = rapid.Uint64Range(0, total[i]).Draw(t, "exceed")
		}
		got := BatchTail(exceed, total)
		if got.Refused != "" {
			return
		}
		if !(got.Share[0] <= got.P && got.P <= got.Share[1]) || got.Share[0] <= 0 || got.Share[1] >= 1 {
			t.Fatalf("share %v outside %v", got.P, got.Share)
		}
		slices.Reverse(exceed)
		slices.Reverse(total)
		if rev := BatchTail(exceed, total); rev.Refused != "" || rev.SE < got.SE*(1-1e-9) || rev.SE > got.SE*(1+1e-9) {
			t.Fatalf("depends on the order of the batches: %v, %v", got.SE, rev.SE)
		}
	})
}
