package plot

import "testing"

// The areas say where the data lie: inside the picture, one below the other,
// sharing their left and right edges, with the range of the axis.
func TestAreas(t *testing.T) {
	for name, f := range examples(English) {
		_, areas, err := f.Render()
		if err != nil {
			t.Fatal(err)
		}
		if len(areas) != len(f.panels) {
			t.Fatalf("%s: %d areas for %d panels", name, len(areas), len(f.panels))
		}
		below := 0.0
		for i, a := range areas {
			if !(0 < a.Left && a.Left < a.Right && a.Right <= 1 && below < a.Top && a.Top < a.Bottom && a.Bottom < 1 && a.From < a.To) {
				t.Errorf("%s: panel %d lies at %+v", name, i, a)
			}
			if i > 0 && (abs(a.Left-areas[0].Left) > 1e-6 || abs(a.Right-areas[0].Right) > 1e-6) {
				t.Errorf("%s: panel %d is not in line with the first: %+v, %+v", name, i, a, areas[0])
			}
			below = a.Bottom
		}
	}
}

func abs(v float64) float64 { return max(v, -v) }
