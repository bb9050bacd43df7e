package main

import (
	"context"
	"math"
	"sort"
)

// The rates of the comparison, per second.
var rates = []float64{5000, 20000, 40000}

// compare measures all generators at the same rates against the same server,
// each once a round.
func (b *bench) compare(ctx context.Context, all []generator) error {
	s, what, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	b.t.server = what
	for _, rate := range rates {
		for range b.rounds {
			for _, g := range all {
				if !g.open() && rate != rates[0] {
					continue
				}
				t := task{s.next(), rate, b.length}
				o, err := g.run(ctx, t)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if !g.open() {
					t.rate = math.Inf(1)
				}
				if err != nil {
					say("%s at %.0f/s: %v", g.name(), t.rate, err)
					b.t.note("%s at %.0f/s: %v", g.name(), t.rate, err)
					continue
				}
				say("%s at %.0f/s: %.1f µs of CPU per request, %.0f/s, lag p99 %.0f µs, response p99 %.0f µs", g.name(), t.rate, o.cpuPerRequest(), o.achieved, o.lag.p99, o.response.p99)
				b.t.compared(g.name(), t.rate, o)
			}
		}
	}
	return nil
}

// ladder is the rates of the search: 12 % apart, from 1,000/s to 150,000/s.
func ladder() []float64 {
	var all []float64
	for r := 1000.0; r < 150_000; r *= 1.12 {
		all = append(all, math.Round(r/100)*100)
	}
	return all
}

// search finds the highest rate that each generator holds.
func (b *bench) search(ctx context.Context, all []generator) error {
	s, _, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	for range b.rounds {
		for _, g := range all {
			if !g.open() {
				continue
			}
			rate := b.highest(ctx, g, s)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			say("%s holds %.0f/s", g.name(), rate)
			b.t.heldRate(g.name(), rate)
		}
	}
	return nil
}

// highest is the highest rate of the ladder that is held, 0 where none is.
func (b *bench) highest(ctx context.Context, g generator, s *background) float64 {
	rungs := ladder()
	n := sort.Search(len(rungs), func(i int) bool {
		for range 2 {
			t := task{s.next(), rungs[i], b.probe}
			o, err := g.run(ctx, t)
			if err != nil {
				say("%s at %.0f/s: %v", g.name(), t.rate, err)
			}
			if err == nil && g.held(t, o) {
				return false
			}
		}
		return true
	})
	if n == 0 {
		return 0
	}
	return rungs[n-1]
}
