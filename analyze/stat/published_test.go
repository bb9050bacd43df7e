package stat

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The published histories with known changes of level: ours lie within two
// values of them. The quality control series wander besides, so there it is the
// most certain change.
func TestPublishedChanges(t *testing.T) {
	dir := os.Getenv("HEADROOM_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(filepath.Join(dir, "D")); err != nil {
		t.Skip("no published histories here: set HEADROOM_DATA to the folder of the shared test data")
	}
	column := func(file, name string) (out []float64) {
		f, err := os.Open(filepath.Join(dir, "D", "otava", file))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		rows, err := csv.NewReader(f).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for c, h := range rows[0] {
			for _, row := range rows[1:] {
				if h == name {
					v, err := strconv.ParseFloat(row[c], 64)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, v)
				}
			}
		}
		return out
	}
	quality := func(file string) []float64 {
		b, err := os.ReadFile(filepath.Join(dir, "D", "tcpd", file))
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Series []struct{ Raw []float64 }
		}
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}
		return d.Series[0].Raw
	}
	for _, c := range []struct {
		name string
		x    []float64
		want []int
	}{
		{"otava three steps", column("three_step_sequence.csv", "value"), []int{5, 8}},
		{"otava series1", column("two_metrics.csv", "series1"), []int{6}},
		{"otava series2", column("two_metrics.csv", "series2"), []int{4}},
		{"quality control 1", quality("quality_control_1.json"), []int{146}},
		{"quality control 2", quality("quality_control_2.json"), []int{97}},
	} {
		got, refused := ChangePoints(c.x, ChangeOpts{MinMagnitude: 1e-9})
		if strings.HasPrefix(c.name, "quality") && len(got) > 1 {
			got = []ChangePoint{slices.MaxFunc(got, func(a, b ChangePoint) int { return cmp.Compare(math.Abs(a.T), math.Abs(b.T)) })}
		}
		if refused != "" || len(got) != len(c.want) {
			t.Errorf("%s: %+v %s, want %v", c.name, got, refused, c.want)
			continue
		}
		for i, p := range got {
			if d := p.Index - c.want[i]; d < -2 || d > 2 {
				t.Errorf("%s: a change at %d, want %d", c.name, p.Index, c.want[i])
			}
		}
	}
}
