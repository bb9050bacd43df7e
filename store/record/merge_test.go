package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Merging shards must not depend on their order or grouping.
func TestMergeIsCommutativeAndAssociative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ivs [3]*Interval
		for i := range ivs {
			cells := genCells(DefaultMaxUS, 2)
			ivs[i] = &Interval{
				Phase: 1, Index: 2, StartNS: 5, WidthNS: rapid.Int64Range(1, 9).Draw(t, "width"),
				Cells: cells.Draw(t, "cells"), Flows: cells.Draw(t, "flows"),
			}
			m := &ivs[i].Moment
			m.InFlight, m.Sends, m.LimitedNS = rapid.Int64Range(0, 9).Draw(t, "in flight"), rapid.Uint64Range(0, 9).Draw(t, "sends"), rapid.Int64Range(0, 9).Draw(t, "limited")
			m.Gen.GCPauseNS, m.Gen.MachineBusy = rapid.Int64Range(0, 9).Draw(t, "pause"), rapid.Float64Range(0, 1).Draw(t, "busy")
		}
		merge := func(list ...*Interval) *Interval {
			sum := &Interval{Phase: 1, Index: 2, StartNS: 5}
			for _, iv := range list {
				if err := sum.Merge(iv); err != nil {
					t.Fatal(err)
				}
			}
			return sum
		}
		a, b, c := ivs[0], ivs[1], ivs[2]
		left := merge(merge(a, b), c)
		for name, other := range map[string]*Interval{"a(bc)": merge(a, merge(b, c)), "cba": merge(c, b, a)} {
			if diff := cmp.Diff(left, other, sameValues); diff != "" {
				t.Fatalf("(ab)c and %s differ\n%s", name, diff)
			}
		}
		want := a.Total()
		for _, iv := range []*Interval{b, c} {
			n := iv.Total()
			want.Add(&n)
		}
		if got := left.Total(); got != want {
			t.Fatalf("total %+v, want %+v", got, want)
		}
	})
}

// Three shards of one histogram are that histogram.
func TestMergedHistogramIsTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := NewHistogram(DefaultMaxUS)
		shards := []*Histogram{NewHistogram(DefaultMaxUS), NewHistogram(DefaultMaxUS), NewHistogram(DefaultMaxUS)}
		n := rapid.IntRange(0, 3000).Draw(t, "n")
		step := rapid.Int64Range(1, 100_000_000).Draw(t, "step")
		for i := range int64(n) {
			whole.Record(i * i % 97 * step)
			shards[i%3].Record(i * i % 97 * step)
		}
		sum := NewHistogram(DefaultMaxUS)
		for _, h := range shards {
			if rapid.Bool().Draw(t, "from file") {
				var err error
				if h, err = FromParts(h.Parts()); err != nil {
					t.Fatal(err)
				}
			}
			if err := sum.Merge(h); err != nil {
				t.Fatal(err)
			}
		}
		if !sum.Equal(whole) {
			t.Fatalf("%+v\n%+v", sum.Parts(), whole.Parts())
		}
		// Also once more values come after the merge.
		whole.Record(12345)
		sum.Record(12345)
		if !sum.Equal(whole) {
			t.Fatal("differ after another value")
		}
	})
}
