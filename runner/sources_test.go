package runner

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"headroom/runner/plan"
)

// TestProfileSources: identifiers of a profile are drawn with its counts, as
// numbers or as the lines of a file.
func TestProfileSources(t *testing.T) {
	var lines strings.Builder
	for i := range 10 {
		fmt.Fprintf(&lines, "customer-%d\r\n", i)
	}
	data := []plan.Source{
		{Name: "n", Kind: "profile", First: 100, Count: 1000, Head: []float64{500, 300}, TailMass: 200, Exponent: 1},
		{Name: "f", Kind: "profile", First: 1, Count: 1000, Head: []float64{500, 300}, TailMass: 200, Exponent: 1, Content: []byte(lines.String())},
		{Name: "shape", Kind: "profile", First: 1, Count: 50, Exponent: 1},
	}
	sources, err := newSources(data)
	if err != nil {
		t.Fatal(err)
	}
	const draws = 20_000
	for name, want := range map[string]struct {
		distinct int
		top      float64
	}{"n": {1000, 0.5}, "f": {10, 0.5}, "shape": {50, 0.222}} {
		counts := map[string]int{}
		var buf []byte
		for i := range uint64(draws) {
			buf = sources[name].Append(buf[:0], 7, i)
			counts[string(buf)]++
		}
		most := 0
		for v, n := range counts {
			most = max(most, n)
			if (name == "f") != strings.HasPrefix(v, "customer-") {
				t.Fatalf("%s: drew %q", name, v)
			}
		}
		if got := float64(most) / draws; math.Abs(got-want.top) > 0.02 {
			t.Errorf("%s: the most popular has %.3f of the draws, want %.3f", name, got, want.top)
		}
		if len(counts) > want.distinct || (want.distinct < 100 && len(counts) < want.distinct) {
			t.Errorf("%s: %d different, want %d", name, len(counts), want.distinct)
		}
	}
	if _, err := newSources([]plan.Source{{Name: "x", Kind: "profile"}}); err == nil {
		t.Error("a profile that was not read makes a source")
	}
}
