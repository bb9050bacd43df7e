package analyze

import (
	"math"
	"testing"

	"headroom/store/record"
)

func TestMargin(t *testing.T) {
	// Three runs of one plan, METHODS B1: 1199.577 [1155.82, 1244.99].
	k := Knee{Status: KneeFound, RPS: number(1199.934294), CI95: &Interval{1182.614638, 1217.507601}}
	m := marginOf(&k, record.Production{PeakRPS: 640})
	near(t, "margin", *m.Value, 1.874897, 1e-6)
	near(t, "lower end", m.CI95[0], 1.847835, 1e-6)
	near(t, "upper end", m.CI95[1], 1.902356, 1e-6)

	for _, c := range []struct {
		k       Knee
		refused string
		atLeast bool
	}{
		{Knee{Status: NotReached, AtLeast: number(1280)}, "", true},
		{Knee{Status: GeneratorLimited, AtLeast: number(1280)}, GeneratorLimited, false},
		{Knee{Status: Soft}, Soft, false},
		{Knee{Status: AlreadySaturated}, AlreadySaturated, false},
		{Knee{Status: KneeInconclusive, Reason: reasonTooNoisy}, reasonTooNoisy, false},
	} {
		m := marginOf(&c.k, record.Production{PeakRPS: 640})
		if m.Refused != c.refused || m.AtLeast != c.atLeast || (m.Value != nil) != c.atLeast || m.CI95 != nil {
			t.Errorf("%s: %+v", c.k.Status, m)
		}
		if c.atLeast {
			near(t, "margin at least", *m.Value, 2, 1e-12)
		}
	}
}

func TestNextPeak(t *testing.T) {
	k := Knee{Status: KneeFound, RPS: number(1200), CI95: &Interval{1160, 1240}}
	m := marginOf(&k, record.Production{PeakRPS: 640, DailyPeaks: []float64{612, 598, 640, 575, 603, 588, 621, 594, 607, 581, 599, 616}})
	if m.NextRefused != "too_few_days" || m.ValueNext != nil {
		t.Errorf("twelve days: %+v", m)
	}
	var daily []float64
	for i := range 45 {
		daily = append(daily, 600+20*math.Sin(float64(i)*2.3))
	}
	m = marginOf(&k, record.Production{PeakRPS: 640, DailyPeaks: daily})
	if m.NextRefused != "" || m.PeakNextP95 == nil || *m.PeakNextP95 < 620 {
		t.Fatalf("45 days: %+v", m)
	}
	near(t, "margin over the next peak", *m.ValueNext, 1160 / *m.PeakNextP95, 1e-12)
	for i := range daily {
		daily[i] += 10 * float64(i)
	}
	if m := marginOf(&k, record.Production{PeakRPS: 640, DailyPeaks: daily}); m.NextRefused != "peak_trending" {
		t.Errorf("a rising peak: %q", m.NextRefused)
	}
}

// kneeAt is a knee with plateaus around and past it.
func kneeAt(rps float64, past ...judgedPlateau) *found {
	f := &found{p: 1, Knee: Knee{Status: KneeFound, RPS: number(rps), CI95: interval(0.99*rps, 1.01*rps)}}
	f.sweep.valid = append([]judgedPlateau{plateauOf(0, 0.5*rps, 0.5*rps, 1, &yes), plateauOf(1, 0.9*rps, 0.9*rps, 1, &yes)}, past...)
	f.sweep.all = f.sweep.valid
	return f
}

func TestPastTheKnee(t *testing.T) {
	for _, c := range []struct {
		name    string
		past    []judgedPlateau
		ratio   float64
		shape   string
		refused string
		interp  bool
	}{
		// METHODS B3: M/M/8/40 at 1200/s.
		{"admission", []judgedPlateau{plateauOf(2, 1200, 799.999804, 1, &no)}, 0.99999976, "holds", "", false},
		{"within five percent", []judgedPlateau{plateauOf(2, 1150, 600, 1, &no)}, 0.75, "degrades", "", false},
		{"collapse", []judgedPlateau{plateauOf(2, 1200, 300, 1, &no)}, 0.375, "collapses", "", false},
		{"between two", []judgedPlateau{plateauOf(2, 1000, 700, 1, &no), plateauOf(3, 1400, 500, 1, &no)}, 0.75, "degrades", "", true},
		{"none there", []judgedPlateau{plateauOf(2, 1000, 700, 1, &no)}, 0, "", "no_plateau", false},
		{"above 1 is 1", []judgedPlateau{plateauOf(2, 1200, 803, 1, &no)}, 1, "holds", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := kneeAt(800, c.past...).past(1.5)
			if p.Refused != c.refused || p.Shape != c.shape || p.Interpolated != c.interp {
				t.Fatalf("%+v", p)
			}
			if c.refused != "" {
				return
			}
			near(t, "ratio", *p.Ratio, c.ratio, 1e-8)
			if p.CI95[0] > *p.Ratio || p.CI95[1] < *p.Ratio || p.CI95[0] < 0 || p.CI95[1] > 1 {
				t.Errorf("interval %v around %v", *p.CI95, *p.Ratio)
			}
		})
	}
	if p := (&found{Knee: Knee{Status: NotReached}}).past(1.5); p.Refused != "no_knee" || p.Ratio != nil {
		t.Errorf("without a knee: %+v", p)
	}
}
