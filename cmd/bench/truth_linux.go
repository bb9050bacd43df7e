package main

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"headroom/runner"
	"headroom/runner/plan"
)

// truthRate is the rate of the rounds against the server's own truth.
const truthRate = 5000

// truth compares what tools say with what the server saw: the built-in service
// writes down when each request came, and knows when it answered. The nth
// request that came is compared with the nth instant of the schedule.
func (b *bench) truth(ctx context.Context, all []generator) error {
	for _, g := range all {
		schedule, err := scheduleOf(g, b.length)
		if err != nil {
			return err
		}
		if schedule == nil {
			continue
		}
		for range b.rounds {
			if err := b.truthRound(ctx, g, schedule); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				b.t.note("%s against the server's truth: %v", g.name(), err)
			}
		}
	}
	return nil
}

// scheduleOf is the instants that a generator wants to send at, in ns; nil for
// those whose schedule is not known.
func scheduleOf(g generator, length time.Duration) ([]int64, error) {
	switch g.(type) {
	case ours:
		return ourSchedule(task{"http://127.0.0.1:1/", truthRate, length})
	case vegeta:
		var all []int64
		for n := range int(truthRate * length.Seconds()) {
			all = append(all, int64(float64(n)*float64(second)/truthRate))
		}
		return all, nil
	}
	return nil, nil
}

func ourSchedule(t task) ([]int64, error) {
	p, err := plan.Parse("plan.yaml", []byte(t.plan()), func(string) (string, bool) { return "", false })
	if err != nil {
		return nil, err
	}
	script, err := runner.ScriptOf(p)
	if err != nil {
		return nil, err
	}
	span, _, _ := script.Next(nil)
	arrivals, err := runner.ArrivalsOf(p, p.Header().Seed)(span, 0)
	if err != nil {
		return nil, err
	}
	var all []int64
	for {
		at, ok := arrivals.Next()
		if !ok || at >= span.Length {
			return all, nil
		}
		all = append(all, at)
	}
}

func (b *bench) truthRound(ctx context.Context, g generator, schedule []int64) error {
	log := filepath.Join(b.dir, "arrivals")
	s, err := b.builtIn(ctx, "--log", log)
	if err != nil {
		return err
	}
	o, err := g.run(ctx, task{s.url, truthRate, b.length})
	s.stop() // writes the rest of the log
	if err != nil {
		return err
	}
	came, err := readArrivals(log)
	if err != nil {
		return err
	}
	if len(came) == 0 || len(came) > len(schedule) {
		return fmt.Errorf("the server saw %d requests, the schedule has %d", len(came), len(schedule))
	}
	if left := len(schedule) - len(came); left > 0 {
		b.t.note("%s left out the last %d of %d requests of a round against the server's truth", g.name(), left, len(schedule))
	}
	slices.Sort(came)
	first := int64(math.MaxInt64)
	for i := range came {
		came[i] -= schedule[i]
		first = min(first, came[i])
	}
	for i := range came {
		came[i] -= first
	}
	seen := quantilesOf(came)
	work, err := time.ParseDuration(builtInWork)
	if err != nil {
		return err
	}
	us := float64(work.Microseconds())
	say("%s at %d/s: it says lag p50/p99 %.0f/%.0f µs, the server saw %.0f/%.0f", g.name(), truthRate, o.lag.p50, o.lag.p99, seen.p50, seen.p99)
	b.t.truthful(g.name(), o, seen, quantiles{seen.p50 + us, seen.p99 + us, seen.p999 + us})
	return nil
}

// readArrivals reads the log of headroom target: the instants, in ns.
func readArrivals(path string) ([]int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []int64
	s := bufio.NewScanner(f)
	for s.Scan() {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		at, _, _ := strings.Cut(s.Text(), " ")
		ns, err := strconv.ParseInt(at, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("log of arrivals: %w", err)
		}
		all = append(all, ns)
	}
	return all, s.Err()
}
