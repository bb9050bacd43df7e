package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"headroom/runner/observe"
	"headroom/runner/plan"
	"headroom/runner/send"
	"headroom/runner/send/loop"
	"headroom/runner/send/std"
	"headroom/store/record"
)

// makeRoom lets the generator keep its schedule beside other work: it goes
// first where the user may have that, and the sending thread, which comes out
// of the kernel thousands of times a second, always finds one of the runtime's
// processors free, even while the storage and the collector hold two.
//
// It comes after the target was started, which must not inherit the precedence.
var makeRoom = sync.OnceFunc(func() {
	observe.Precede()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2)
})

// startObserver watches the generator and what the plan wants observed.
func startObserver(ctx context.Context, p *plan.Plan, t *running) (*observe.Observer, error) {
	var all []observe.Collector
	for _, o := range p.Observe {
		from := o.From.Value()
		switch o.Kind {
		case "process":
			pid := t.pid
			if from != "target" {
				n, err := strconv.Atoi(from)
				if err != nil {
					return nil, usagef("observe.process %q: it is target or a process id", from)
				}
				pid = n
			}
			if pid == 0 {
				return nil, usagef("observe.process: target: the process of this target is not known; give its process id")
			}
			c, err := observe.NewProcess("process", pid)
			if err != nil {
				return nil, fmt.Errorf("observe.process: %w", err)
			}
			all = append(all, c)
		case "prometheus":
			c, err := observe.NewPrometheus(ctx, from, o.Only)
			if err != nil {
				return nil, fmt.Errorf("observe.prometheus: %w", err)
			}
			all = append(all, c)
		case "postgres":
			c, err := observe.NewPostgres(from)
			if err != nil {
				return nil, fmt.Errorf("observe.postgres: %w", err)
			}
			all = append(all, c)
		default:
			return nil, usagef("observe.%s is not supported yet by this version", o.Kind)
		}
	}
	return observe.Start(all...), nil
}

// gatherFacts describes the generator and, as far as it is known, the target.
func gatherFacts(t *running) record.Facts {
	f := record.Facts{Generator: observe.GeneratorFacts(), Target: map[string]string{}}
	for k, v := range t.facts {
		f.Target[k] = v
	}
	if t.pid != 0 {
		if shares, known := observe.SharesCPUs(t.pid); known {
			f.Generator["shares_cpus_with_target"] = strconv.FormatBool(shares)
		}
	} else if t.loopback() {
		f.Generator["shares_cpus_with_target"] = "unknown"
	}
	return f
}

// newEngine makes the engine for a target: the loop of our own where it can
// serve it, net/http's connections elsewhere.
func newEngine(c send.Config) (send.Engine, error) {
	if c.TLS.CAFile != "" {
		if _, err := os.Stat(c.TLS.CAFile); err != nil {
			return nil, fmt.Errorf("http.tls.ca: %w", err)
		}
	}
	if useLoop(c) {
		return loop.New(c, time.Now())
	}
	// What net/http's client finds odd in a server's answers it writes to the
	// standard logger; no transport can be given another. Nothing else in a run
	// uses that logger, and the terminal belongs to the run.
	log.SetOutput(io.Discard)
	return std.New(c, time.Now())
}
