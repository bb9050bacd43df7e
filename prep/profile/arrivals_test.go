package profile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"headroom/analyze/stat"
)

// poisson makes a log of random arrivals at a rate that may change by the
// second; stamps have milliseconds.
func poisson(seconds int, rate func(s int) float64) string {
	r := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	start := time.Date(2024, 1, 3, 0, 0, 0, 0, time.UTC)
	at, most := 0.0, 40.0
	for at < float64(seconds) {
		at += r.ExpFloat64() / most
		if r.Float64() > rate(int(at))/most {
			continue
		}
		fmt.Fprintf(&b, "%s|192.0.2.1|GET|/a|200|0.001\n", start.Add(time.Duration(at*1e9)).Format("2006-01-02T15:04:05.000Z"))
	}
	return b.String()
}

const piped = `$time_iso8601|$remote_addr|$request_method|$request_uri|$status|$request_time`

func TestDispersion(t *testing.T) {
	day := 8 * 3600
	for _, c := range []struct {
		name    string
		seconds int
		rate    func(int) float64
		want    map[string]float64
		within  float64
	}{
		{"random", 3600, func(int) float64 { return 20 }, map[string]float64{"0.1s": 1, "1s": 1, "10s": 1, "60s": 1}, 0.5},
		{
			"random with a daily curve", day, func(s int) float64 { return 10 + 8*math.Sin(float64(s)/float64(day)*math.Pi) },
			map[string]float64{"0.1s": 1, "1s": 1, "10s": 1, "60s": 1},
			0.3,
		},
		{ // a rate that is 0 or 40 from second to second: 1 + variance/mean of the rate = 1 + 400/20
			"bursts", 3600, func(s int) float64 { return []float64{0, 40}[stepOf(s)] }, map[string]float64{"1s": 21}, 3,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := mustRead(t, Options{Format: piped}, textInput(poisson(c.seconds, c.rate)))
			for w, want := range c.want {
				if got, ok := p.Dispersion[w]; !ok || math.Abs(got-want) > c.within {
					t.Errorf("at %s: %.3f (%t), want %.3f", w, got, ok, want)
				}
			}
		})
	}
}

// stepOf is a coin per second.
func stepOf(s int) int { return int(mix(uint64(s)+1) & 1) }

// TestPooledDispersion holds the sums against the method on slices.
func TestPooledDispersion(t *testing.T) {
	a := newArrivals()
	r := rand.New(rand.NewPCG(1, 1))
	counts := make([]float64, 2*segmentS)
	for i := range counts {
		n := r.IntN(5)
		counts[i] = float64(n)
		for range n {
			a.add(int64(i)*1e9+int64(r.IntN(1e9)), true)
		}
	}
	a.add(int64(len(counts))*1e9, true) // the end, which no window holds
	want := stat.DispersionOf(stat.Segments(counts, segmentS))
	if w := a.bursts()[1]; math.Abs(w.within()-want.Index) > 1e-9 {
		t.Errorf("%v, want %v", w.within(), want.Index)
	}
}

func TestArrivalIsStampLessDuration(t *testing.T) {
	// Ten answers end in one second, but their requests came one a second.
	var b strings.Builder
	for i := range 10 {
		fmt.Fprintf(&b, "2024-01-03T00:00:30.500Z|192.0.2.1|GET|/a|200|%d.000\n", i)
	}
	p := mustRead(t, Options{Format: piped}, textInput(b.String()))
	if p.Peak.Second.RPS != 1 || p.Window.Seconds != 10 {
		t.Errorf("busiest second %g/s over %g s, want 1/s over 10 s", p.Peak.Second.RPS, p.Window.Seconds)
	}
}

func TestDailyMaxima(t *testing.T) {
	var b strings.Builder
	for day := 1; day <= 20; day++ {
		for i := range 10 * day {
			fmt.Fprintf(&b, "192.0.2.1 - - [%02d/Mar/2024:12:00:%02d +0000] \"GET / HTTP/1.1\" 200 1\n", day, i%10)
		}
	}
	p := mustRead(t, Options{}, textInput(b.String()))
	if len(p.Peak.Daily) != 20 {
		t.Fatalf("%d days", len(p.Peak.Daily))
	}
	for i, d := range p.Peak.Daily {
		if d.SecondRPS != float64(i+1) || d.Requests != uint64(10*(i+1)) {
			t.Errorf("%+v", d)
		}
	}
	if p.Peak.Second.At != "2024-03-20T12:00:00Z" || p.Peak.Second.Ties != 10 {
		t.Errorf("%+v", p.Peak.Second)
	}
}

// TestPackedSegments: a year of seconds passes through the packed form.
func TestPackedSegments(t *testing.T) {
	a, b := newArrivals(), newArrivals()
	r := rand.New(rand.NewPCG(9, 9))
	b.open = map[int64]*segment{}
	for i := range 40_000 {
		at := int64(i)*800*1e9 + int64(r.IntN(700))*1e9 // 370 days
		a.add(at, false)
		if i%5 == 0 {
			a.add(at-int64(r.IntN(20))*1e9*3600, false) // and back into what is packed
		}
	}
	var sum uint64
	a.each(func(s *segment) {
		for _, n := range s.seconds {
			sum += uint64(n)
		}
	})
	if sum+a.lost != a.total {
		t.Errorf("%d arrivals kept and %d lost of %d", sum, a.lost, a.total)
	}
	if len(a.open) > openMost {
		t.Errorf("%d open segments", len(a.open))
	}
}
