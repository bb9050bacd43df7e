package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/plot/vg"
	"pgregory.net/rapid"

	"headroom/store/record"
)

var update = flag.Bool("update", false, "write the golden files anew")

var nan = math.NaN()

// exampleCurve is a service of 1000/s that collapses: five plateaus, of which
// one can't be judged and two did not hold.
func exampleCurve() Curve {
	out := func(ok, timeout uint64) (o [record.NumOutcomes]uint64) {
		o[record.OK], o[record.Timeout] = ok, timeout
		return o
	}
	return Curve{
		Plateaus: []Plateau{
			{
				Offered: 1500, Goodput: 420, GoodputLow: 400, GoodputHigh: 440, Held: No, Outcomes: out(420, 1080), ResponseP50: nan, ResponseP99: nan, ServiceP50: nan, ServiceP99: nan,
				ResponseP50Beyond: true, ResponseP99Beyond: true, ServiceP50Beyond: true, ServiceP99Beyond: true,
			},
			{Offered: 400, Goodput: 400, GoodputLow: 395, GoodputHigh: 405, Held: Yes, Outcomes: out(400, 0), ResponseP50: 10_000, ResponseP99: 50_000, ServiceP50: 10_000, ServiceP99: 49_000},
			{Offered: 800, Goodput: 800, GoodputLow: 790, GoodputHigh: 810, Held: Yes, Outcomes: out(800, 0), ResponseP50: 12_000, ResponseP99: 70_000, ServiceP50: 12_000, ServiceP99: 69_000},
			{Offered: 1000, Goodput: 985, GoodputLow: nan, GoodputHigh: nan, Held: Unknown, Outcomes: out(985, 15), ResponseP50: 200_000, ResponseP99: 900_000, ServiceP50: 200_000, ServiceP99: 890_000},
			{Offered: 1200, Goodput: 700, GoodputLow: 680, GoodputHigh: 720, Held: No, Outcomes: out(700, 500), ResponseP50: 1_800_000, ResponseP99: nan, ServiceP50: 1_800_000, ServiceP99: nan, ResponseP99Beyond: true, ServiceP99Beyond: true},
		},
		Knee: 990, KneeLow: 960, KneeHigh: 1020, HighestHeld: 800, LowestFailed: 1200, Peak: 450, TimeoutUS: 2e6,
	}
}

func exampleCourse() Course {
	c := Course{LagSuspectUS: 1000, LagUntrustedUS: 10_000, Events: []Event{{25, "payments down acknowledged"}}}
	c.Phases = []Phase{
		{record.Warmup, 0, 10, 50},
		{record.Drain, 10, 12, 0},
		{record.Step, 12, 32, 100},
		{record.Drain, 32, 34, 0},
		{record.Step, 34, 54, 200},
		{record.Refine, 54, 60, 150},
		{record.Beyond, 60, 80, 300},
	}
	for _, p := range c.Phases {
		for at := p.StartS; at < p.EndS; at++ {
			s := Slice{
				StartS: at, WidthS: 1, Quiet: p.Kind == record.Drain, Offered: p.TargetRPS, Goodput: min(p.TargetRPS, 180), Errors: max(0, p.TargetRPS-180), InFlight: p.TargetRPS / 50,
				LagP50: 40, LagP99: 90 + at, LagMax: 200 + at*at,
			}
			c.Slices = append(c.Slices, s)
		}
	}
	return c
}

func exampleHeat() []HeatColumn {
	var cols []HeatColumn
	for i := range 60 {
		cells := map[int]uint64{}
		for k := 40; k < 60; k++ {
			cells[k] = uint64(1 + (k*i)%37)
		}
		cols = append(cols, HeatColumn{StartS: float64(i), WidthS: 1, Cells: cells})
	}
	return cols
}

func exampleSpectrum() []Percentiles {
	l := Percentiles{Name: "response, <b>&\x00\x1b[31m", Q: []float64{0, 0.5, 0.9, 0.99, 0.999, 1}, US: []float64{900, 10_000, 30_000, 90_000, 200_000, 300_000}}
	return []Percentiles{l, {Name: "service", Clock: Service, Faint: true, Q: l.Q, US: l.US}}
}

func examples(lang Lang) map[string]*Figure {
	return map[string]*Figure{
		"knee":     KneeCurve(exampleCurve(), lang),
		"latency":  LatencyCurve(exampleCurve(), lang),
		"spectrum": Spectrum(exampleSpectrum(), 2e6, lang),
		"timeline": Timeline(exampleCourse(), lang),
		"heat":     HeatMap(exampleHeat(), exampleCourse(), 2e6, lang),
		"lag":      LagCourse(exampleCourse(), lang),
		"resources": Resources(exampleCourse(), []Series{
			{Name: "open_fds", Unit: "1", AtS: []float64{0, 10, 20}, Value: []float64{5, 50, 20}},
			{Name: "<memory> & more", Unit: "bytes", AtS: []float64{0, 10, 20}, Value: []float64{5e6, 50e6, 20e6}},
			{Name: "change", Unit: "1/s", AtS: []float64{0, 10, 20}, Value: []float64{-5, 5, 0}},
		}, lang),
	}
}

// hostile are values that a figure must survive: nothing, one point, zeros and
// negatives on logarithmic axes, what is not finite, what is very large.
func hostile() map[string]*Figure {
	inf := math.Inf(1)
	empty := Course{LagSuspectUS: nan, LagUntrustedUS: nan}
	odd := Course{LagSuspectUS: -1, LagUntrustedUS: inf, Slices: []Slice{
		{StartS: 0, WidthS: 0, Offered: nan, Goodput: inf, Errors: -1, InFlight: nan, LagP50: 0, LagP99: -5, LagMax: nan},
		{StartS: 1e9, WidthS: 1, Offered: 1e12},
	}, Phases: []Phase{{record.Step, 5, 5, nan}, {record.Beyond, 9, 3, inf}}}
	one := Curve{
		Plateaus: []Plateau{{Offered: 1, Goodput: 1, GoodputLow: nan, GoodputHigh: nan, ResponseP50: 1, ResponseP99: 1, ServiceP50: 1, ServiceP99: 1}},
		Knee:     nan, KneeLow: nan, KneeHigh: nan, HighestHeld: nan, LowestFailed: nan, Peak: nan, TimeoutUS: nan,
	}
	bad := Curve{
		Plateaus: []Plateau{{Offered: nan}, {Offered: 0, ResponseP50: 0}, {Offered: inf}, {Offered: 5, Goodput: nan, GoodputLow: 9, GoodputHigh: 1, ResponseP99: -3}},
		Knee:     inf, KneeLow: 7, KneeHigh: 3, HighestHeld: -1, LowestFailed: inf, Peak: 0, TimeoutUS: 0,
	}
	return map[string]*Figure{
		"knee, nothing": KneeCurve(Curve{}, English), "knee, one": KneeCurve(one, English), "knee, bad": KneeCurve(bad, English),
		"latency, nothing": LatencyCurve(Curve{}, English), "latency, one at 1 µs": LatencyCurve(one, English), "latency, bad": LatencyCurve(bad, English),
		"spectrum, nothing": Spectrum(nil, nan, English),
		"spectrum, bad":     Spectrum([]Percentiles{{Q: []float64{0, 2, nan, 1}, US: []float64{0, -1, nan, inf}}, {Q: []float64{0.5}}}, -1, English),
		"spectrum, one":     Spectrum([]Percentiles{{Q: []float64{0.5}, US: []float64{1}}}, 2e6, English),
		"timeline, nothing": Timeline(empty, English), "timeline, odd": Timeline(odd, English),
		"resources, nothing": Resources(empty, nil, English),
		"resources, odd":     Resources(odd, []Series{{Name: "a\x00b", AtS: []float64{0, math.NaN(), math.Inf(1)}, Value: []float64{math.NaN(), 1, math.Inf(-1)}}, {AtS: []float64{1}}}, English),
		"lag, nothing":       LagCourse(empty, English), "lag, odd": LagCourse(odd, English),
		"heat, nothing": HeatMap(nil, empty, nan, English), "heat, odd": HeatMap([]HeatColumn{{StartS: 0, WidthS: 0, Cells: map[int]uint64{3: 1}}, {StartS: 1, WidthS: 1, Cells: map[int]uint64{0: 0, 500: 7}}}, odd, inf, English),
		"heat, one cell": HeatMap([]HeatColumn{{StartS: 0, WidthS: 1, Cells: map[int]uint64{0: 1}}}, exampleCourse(), nan, English),
	}
}

// wellFormed fails unless the document is XML without NaN, infinities, or a
// reference to anything outside it.
func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		if el, ok := tok.(xml.StartElement); ok {
			for _, a := range el.Attr {
				if a.Name.Local == "href" || a.Name.Local == "src" || strings.Contains(a.Value, "url(") {
					t.Errorf("<%s> refers to %q", el.Name.Local, a.Value)
				}
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Fatalf("<%s %s=%q>", el.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

func TestFiguresRender(t *testing.T) {
	all := hostile()
	for _, lang := range []Lang{English, Portuguese} {
		for name, f := range examples(lang) {
			all[name+" "+string(lang)] = f
		}
	}
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			svg, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, svg)
			if f.Title() == "" || f.About() == "" || !bytes.Contains(svg, []byte(`role="img"`)) {
				t.Error("a picture without a name for those who can't see it")
			}
			raw, err := f.PNG()
			if err != nil {
				t.Fatal(err)
			}
			img, err := png.DecodeConfig(bytes.NewReader(raw))
			if err != nil || img.Width != 2400 {
				t.Errorf("PNG %d wide, %v; want 2400", img.Width, err)
			}
		})
	}
}

func TestSameValuesSameBytes(t *testing.T) {
	first := map[string][]byte{}
	for name, f := range examples(English) {
		svg, err := f.SVG()
		if err != nil {
			t.Fatal(err)
		}
		first[name] = svg
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for name, f := range examples(English) {
				svg, err := f.SVG()
				if err != nil || !bytes.Equal(svg, first[name]) {
					t.Errorf("%s differs when drawn again (%v)", name, err)
				}
			}
		})
	}
	wg.Wait()
}

// TestKneeGolden fixes one picture. What it must mean: the knee with its value,
// both ends of the bracket, the peak, and one marker a plateau.
func TestKneeGolden(t *testing.T) {
	svg, err := KneeCurve(exampleCurve(), English).SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">knee 990/s<", ">highest held 800/s<", ">lowest not held 1200/s<", ">production peak 450/s<", ">timeout<", ">can&#39;t be said<"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("the picture does not say %s", want)
		}
	}
	path := filepath.Join("testdata", "knee.svg")
	if *update {
		if err := os.WriteFile(path, svg, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(svg, golden) {
		t.Errorf("differs from %s; look at both, then go test -update", path)
	}
}

func TestTicks(t *testing.T) {
	w, pt := english, portuguese
	for _, c := range []struct{ got, want string }{
		{w.duration(100), "100 µs"},
		{w.duration(1000), "1 ms"},
		{w.duration(10_000), "10 ms"},
		{w.duration(1e6), "1 s"},
		{w.duration(1e7), "10 s"},
		{w.clock(65, 5), "1:05"},
		{w.clock(3600, 900), "1:00"},
		{w.clock(0.5, 0.5), "0.5"},
		{pt.clock(0.5, 0.5), "0,5"},
		{w.clock(90*60, 600), "90:00"},
		{w.number(1200, 200), "1200"},
		{w.number(12_000, 2000), "12k"},
		{w.number(2.5, 2.5), "2.5"},
		{pt.number(0.05, 0.05), "0,05"},
		{w.number(0, 5), "0"},
		{w.number(2500, 2500), "2.5k"},
		{w.rate(1198.4), "1198/s"},
		{w.rate(20), "20/s"},
		{pt.rate(0.75), "0,75/s"},
		{w.short(0.1), "0.1"},
		{w.short(0.012), "0.012"},
		{w.short(9.2), "9.2"},
		{w.short(1500), "1.5k"},
		{w.short(85), "85"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestAxisLaws: whatever the values, an axis has a proper range, rising ticks,
// and between one and fourteen names, all different.
func TestAxisLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-10, 1e11), 0, 5).Draw(t, "values")
		from := rapid.Float64Range(0, 1e6).Draw(t, "from")
		length := rapid.Float64Range(0, 1e7).Draw(t, "length")
		for _, a := range []axis{
			rateAxis(english, "", 12, values...), durationAxis(english, "", values...),
			timeAxis(english, from, from+length), percentileAxis(english, "", rapid.Float64Range(0, 7).Draw(t, "q")),
		} {
			if !(a.max > a.min) || a.log && a.min <= 0 {
				t.Fatalf("range %g to %g", a.min, a.max)
			}
			names, last := map[string]bool{}, math.Inf(-1)
			for _, tick := range a.ticks {
				if tick.Value <= last || tick.Value < a.min-1e-6*(a.max-a.min) || tick.Value > a.max*(1+1e-9) {
					t.Fatalf("tick %g after %g in %g to %g", tick.Value, last, a.min, a.max)
				}
				last = tick.Value
				if tick.Label != "" {
					if names[tick.Label] {
						t.Fatalf("name %q twice", tick.Label)
					}
					names[tick.Label] = true
				}
			}
			if len(names) < 1 || len(names) > 14 {
				t.Fatalf("%d names from %g to %g", len(names), a.min, a.max)
			}
		}
	})
}

// TestThinKeepsSpikes: one high point among a hundred thousand is on the
// envelope, and the envelope has few points.
func TestThinKeepsSpikes(t *testing.T) {
	var at []vg.Point
	for i := range 100_000 {
		at = append(at, vg.Point{X: vg.Length(i) * 800 / 100_000, Y: 10})
	}
	at[54_321].Y = 300
	mean, envelope := thin(at)
	if len(mean) > 1100 || len(envelope) != 2*len(mean) {
		t.Errorf("%d and %d points of 800 wide", len(mean), len(envelope))
	}
	highest := vg.Length(0)
	for _, p := range envelope {
		highest = max(highest, p.Y)
	}
	if highest != 300 {
		t.Errorf("the spike became %v", highest)
	}
}

func TestLinesBreakAtGaps(t *testing.T) {
	got := runs(points{x: []float64{1, 2, 3, 4, 5, 6}, y: []float64{1, nan, 2, 3, 0, 4}}, true)
	if len(got) != 3 || len(got[1].x) != 2 {
		t.Errorf("runs %v; want [1] [3 4] [6]", got)
	}
	if got := runs(points{x: []float64{1, 2}, y: []float64{0, -1}}, false); len(got) != 1 {
		t.Errorf("zero and below are values of a linear axis: %v", got)
	}
}

func TestHeatCell(t *testing.T) {
	for us, want := range map[float64]int{0: 0, -3: 0, 1: 0, 10: 12, 1000: 36, 1e6: 72} {
		if got := HeatCell(us); got != want {
			t.Errorf("HeatCell(%g) = %d, want %d", us, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Float64Range(1, 1e9).Draw(t, "us")
		k := HeatCell(us)
		if us < cellEdge(k)*(1-1e-6) || us > cellEdge(k+1)*(1+1e-6) {
			t.Fatalf("%g µs in cell %d, %g to %g", us, k, cellEdge(k), cellEdge(k+1))
		}
	})
}

// TestWordsComplete: no language lacks a word.
func TestWordsComplete(t *testing.T) {
	for name, w := range map[string]words{"en": english, "pt-BR": portuguese} {
		for i, s := range stringsOf(w) {
			if s == "" {
				t.Errorf("%s lacks word number %d", name, i)
			}
		}
	}
}
