package main

import (
	"context"
	"math"
	"slices"
	"time"
)

// task is what a generator is asked for. A closed generator ignores the rate.
type task struct {
	url    string
	rate   float64
	length time.Duration
}

// limit bounds the time of a task, the tail of a generator that fell behind included.
func (t task) limit() time.Duration { return t.length + time.Minute }

// outcome is what came of a task.
type outcome struct {
	answered float64
	failed   float64 // requests without a good answer, dropped ones included
	achieved float64 // good answers per second of the asked length, or of the time it really took
	used
	lag      quantiles // µs; NaN where the tool does not say
	response quantiles // µs
}

func (o *outcome) cpuPerRequest() float64 {
	return float64(o.cpu.Microseconds()) / o.answered
}

// quantiles are those of a distribution, in µs.
type quantiles struct{ p50, p99, p999 float64 }

var unknown = quantiles{math.NaN(), math.NaN(), math.NaN()}

// quantilesOf sorts ns.
func quantilesOf(ns []int64) quantiles {
	if len(ns) == 0 {
		return unknown
	}
	slices.Sort(ns)
	at := func(q float64) float64 { return float64(ns[min(len(ns)-1, int(q*float64(len(ns))))]) / 1e3 }
	return quantiles{at(.5), at(.99), at(.999)}
}

// generator is a load generator, ours or another.
type generator interface {
	name() string
	// open reports whether it keeps a schedule of its own, not the server's.
	open() bool
	run(context.Context, task) (outcome, error)
	// held reports whether the rate was held, by what the tool says; see doc.go.
	held(task, outcome) bool
}

// kept is the rule for all tools that keep a schedule.
func kept(t task, o outcome) bool {
	return o.achieved >= 0.99*t.rate && o.failed == 0
}

const lagLimitUS = 1000
