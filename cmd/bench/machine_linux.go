package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// machine names what is measured on.
func machine() string {
	model := "unknown processor"
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			name, v, _ := strings.Cut(line, ":")
			if strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(v)
				break
			}
		}
	}
	kernel := ""
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel, _, _ = strings.Cut(strings.TrimSpace(string(b)), "-")
	}
	return fmt.Sprintf("%d × %s, Linux %s, %s", runtime.NumCPU(), model, kernel, runtime.Version())
}

// times is processor time up to an instant.
type times struct {
	at   time.Time
	busy time.Duration // of the whole machine, what the host took from it included
	ours time.Duration // of this process and the children that have ended
}

func busyTimes() times {
	t := times{at: time.Now()}
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var r unix.Rusage
		if unix.Getrusage(who, &r) == nil {
			t.ours += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return t
	}
	line, _, _ := strings.Cut(string(b), "\n")
	// user nice system idle iowait irq softirq steal, in hundredths of a second
	for i, f := range strings.Fields(strings.TrimPrefix(line, "cpu")) {
		if n, err := strconv.ParseInt(f, 10, 64); err == nil && i < 8 && i != 3 && i != 4 {
			t.busy += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return t
}

// since is the share of the machine that work which is not ours has had, in [0,1].
func (t times) since(before times) float64 {
	all := t.at.Sub(before.at) * time.Duration(runtime.NumCPU())
	others := (t.busy - before.busy) - (t.ours - before.ours)
	return min(max(others.Seconds()/all.Seconds(), 0), 1)
}

// quietShare is how much of the machine other work may have for figures to count.
const quietShare = 0.05

// quiet waits until other work has had little of the machine for five seconds.
func quiet(ctx context.Context, limit time.Duration) error {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		before := busyTimes()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Second):
		}
		share := busyTimes().since(before)
		if share < quietShare {
			return nil
		}
		say("other work has %.0f %% of the machine", 100*share)
	}
	return nil
}
