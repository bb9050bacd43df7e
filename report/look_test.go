package report

import (
	"os"
	"path/filepath"
	"testing"
)

var gallery = map[string]synthetic{
	"usual":       {rates: []float64{200, 400, 600, 800, 1000, 1200, 1400, 1600}, refine: []float64{1100, 1150, 1180}, beyond: []float64{1500, 1800}, plateauS: 40, capacity: 1200, peak: 450, collapse: true},
	"sheds":       {rates: []float64{100, 200, 300, 400, 500, 600}, refine: []float64{450, 475}, beyond: []float64{625, 750}, plateauS: 30, capacity: 500, peak: 310, sheds: true},
	"one":         {rates: []float64{300}, plateauS: 20, capacity: 1200},
	"no_knee":     {rates: []float64{200, 400, 600, 800}, plateauS: 20, capacity: 1200, peak: 450},
	"two_hundred": {rates: ladder(10, 10, 200), plateauS: 6, capacity: 1500, peak: 700},
	"four_hours":  {rates: ladder(20, 5, 20), plateauS: 720, capacity: 95, peak: 60},
	"slow":        {rates: []float64{0.5, 1, 1.5, 2, 2.5}, plateauS: 60, capacity: 2, peak: 0.7},
}

func ladder(from, by float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = from + by*float64(i)
	}
	return out
}

// TestLook writes the pictures and pages into a folder for people to look at.
func TestLook(t *testing.T) {
	dir := os.Getenv("HEADROOM_LOOK")
	if dir == "" {
		t.Skip("HEADROOM_LOOK names no folder to write pictures into")
	}
	for name, s := range gallery {
		a, m := s.make()
		pics, err := Pictures(a, m, English)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pics {
			png, err := p.Figure.PNG()
			if err != nil {
				t.Fatal(err)
			}
			svg, err := p.Figure.SVG()
			if err != nil {
				t.Fatal(err)
			}
			t.Log(name, p.Name, len(png), len(svg))
			if err := os.WriteFile(filepath.Join(dir, name+"-"+p.Name+".png"), png, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLookAtPages writes whole reports into a folder for people to look at.
func TestLookAtPages(t *testing.T) {
	dir := os.Getenv("HEADROOM_LOOK")
	if dir == "" {
		t.Skip("HEADROOM_LOOK names no folder to write reports into")
	}
	for _, name := range []string{"usual", "sheds", "no_knee", "one"} {
		a, m := gallery[name].make()
		for _, lang := range Languages() {
			if _, err := Write(filepath.Join(dir, name+"-"+string(lang)), a, m, Options{Lang: lang, NoPNG: true}); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name+".txt"), []byte(Text(a, TextOptions{Files: []string{"out/report.html", "out/report.md"}})), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
