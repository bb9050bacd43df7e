// Package sim is the built-in service of known capacity: a FIFO queue in front
// of workers whose time is kept on a virtual clock of departures, so that its
// capacity is workers / mean service time exactly, whatever the machine does.
//
// It comes in three forms around one Queue: the pure model itself; Serve, a
// real HTTP server that answers at the model's instants (headroom target); and
// Engine, which runs a send.Feed against the model in virtual time, a
// 40-minute run in seconds.
package sim

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// NoQueue as Options.Queue leaves no place to wait: a request that finds all
// workers busy is refused.
const NoQueue = -1

// Options describe a service. The zero value of every field but Workers and
// Service is the default; fill in those two.
type Options struct {
	Workers     int           // default 1
	Service     Service       // default 20ms exponential
	Queue       int           // places to wait, beyond which 503 is answered at once; 0 = no limit, NoQueue = none
	ShedAfter   time.Duration // refuses when the expected wait is longer; 0 = never
	KeepWorking bool          // --abandon=false: works for clients that have left
	Freezes     []Freeze      // workers stand still; refusals go on
	Leak        Leak
	Slow        Slow
	Wrong       float64 // share of the answers with wrong content
	Noise       Noise
	Seed        uint64

	// Hold keeps a worker after its work until Release is called, for work that
	// ends with a call to a dependency. Serve sets it from Depends.
	Hold bool

	// Of the server only.
	Listen     string // default 127.0.0.1:0
	Depends    string // URL that each request asks after its own work, its worker waiting
	TLS        bool   // with a certificate made at the start
	CAFile     string // where to write that certificate, for clients to verify with
	H2C        bool   // HTTP/2 in plain text beside HTTP/1.1
	Log        string // file of arrivals
	WithParent bool   // ends when standard input is closed
}

// Freeze stops all workers at an instant, counted from the first request of
// work (in an Engine: from the origin), for a time.
type Freeze struct{ At, For time.Duration }

// Slow makes a share of the requests cost a factor more.
type Slow struct{ Share, Factor float64 }

// Noise varies the speed of all workers from period to period, with the given
// standard deviation relative to the mean speed.
type Noise struct {
	Sigma  float64
	Period time.Duration // default 1s
}

// LeakKind is what a service loses.
type LeakKind string

// The kinds of leak.
const (
	LeakNone        LeakKind = ""
	LeakConnections LeakKind = "connections" // descriptors that are never closed
	LeakMemory      LeakKind = "memory"      // bytes that are never freed
	LeakLatency     LeakKind = "latency"     // seconds that are added to each answer, without a worker
)

// Leak is a loss at a steady rate, counted from the first request of work.
type Leak struct {
	Kind      LeakKind
	PerSecond float64 // connections, bytes, or seconds of latency, per second
}

// filled is o with defaults filled in and nothing shared with o.
func (o Options) filled() Options {
	if o.Workers == 0 {
		o.Workers = 1
	}
	if o.Service == (Service{}) {
		o.Service = Service{Mean: 20 * time.Millisecond, Shape: Exponential}
	}
	if o.Noise.Period == 0 {
		o.Noise.Period = time.Second
	}
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	o.Freezes = slices.Clone(o.Freezes)
	slices.SortFunc(o.Freezes, func(a, b Freeze) int { return int(a.At - b.At) })
	return o
}

// Check reports everything that is wrong with o.
func (o Options) Check() error {
	o = o.filled()
	var all []error
	bad := func(cond bool, format string, args ...any) {
		if cond {
			all = append(all, fmt.Errorf(format, args...))
		}
	}
	bad(o.Workers < 1 || o.Workers > 100_000, "workers %d: must be 1 to 100000", o.Workers)
	bad(o.Service.Mean <= 0, "service %s: the mean must be above 0", o.Service)
	bad(o.Queue < NoQueue, "queue %d: must be 0 or more, or unlimited", o.Queue)
	bad(o.ShedAfter < 0, "shed-after %s: must not be negative", o.ShedAfter)
	bad(!(o.Wrong >= 0 && o.Wrong <= 1), "wrong %g: must be a share from 0 to 1", o.Wrong)
	bad(!(o.Slow.Share >= 0 && o.Slow.Share <= 1), "slow %g: must be a share from 0 to 1", o.Slow.Share)
	bad(o.Slow.Share > 0 && !(o.Slow.Factor > 0 && o.Slow.Factor <= 1e6), "slow factor %g: must be above 0 and at most 1000000", o.Slow.Factor)
	bad(!(o.Noise.Sigma >= 0 && o.Noise.Sigma <= 0.5), "noise %g: must be 0 to 0.5", o.Noise.Sigma)
	bad(!(o.Leak.PerSecond >= 0), "leak %s: must not be negative", o.Leak)
	var end time.Duration
	for i, f := range o.Freezes {
		bad(f.At < 0 || f.For < 0, "freeze %s: must not be negative", f)
		bad(i > 0 && f.At < end, "freeze %s: overlaps the one before it", f)
		end = f.At + f.For
	}
	bad(o.CAFile != "" && !o.TLS, "ca-file %s: there is no certificate without tls", o.CAFile)
	bad(o.TLS && o.H2C, "tls and h2c exclude each other: h2c is HTTP/2 without TLS")
	return errors.Join(all...)
}

// meanNS is the mean service time in ns, the slow share included.
func (o Options) meanNS() float64 {
	return float64(o.Service.Mean) * (1 + o.Slow.Share*(o.Slow.Factor-1))
}

// Capacity is the true capacity in requests per second: workers / mean service
// time, the slow share included. Freezes, dependencies and clients that leave
// are not in it.
func (o Options) Capacity() float64 {
	o = o.filled()
	return float64(o.Workers) * 1e9 / o.meanNS()
}
