package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// used is what a process has cost.
type used struct {
	cpu    time.Duration // user and system
	memory int64         // bytes, the peak of what was resident
	own    int64         // bytes, the peak of that without pages of files, as far as samples show
	wall   time.Duration
}

// anywhere is no core in particular.
const anywhere = -1

// start starts cmd on one core, before other work where the user may have that.
func start(cmd *exec.Cmd, core int) error {
	started := make(chan error)
	go func() {
		// The thread is not unlocked: it ends with the goroutine, and what was
		// done to it with it. The child inherits it.
		runtime.LockOSThread()
		if core != anywhere {
			var set unix.CPUSet
			set.Set(core)
			if err := unix.SchedSetaffinity(0, &set); err != nil {
				started <- fmt.Errorf("core %d: %w", core, err)
				return
			}
		}
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20) // where it is refused, it is refused to all
		started <- cmd.Start()
	}()
	return <-started
}

// pinned runs a program on a core to its end and returns what it printed.
// limit bounds its time.
func pinned(ctx context.Context, core int, limit time.Duration, program string, args ...string) (string, used, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	from := time.Now()
	if err := start(cmd, core); err != nil {
		return "", used{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// The peak is read from /proc: that of rusage begins with the parent's.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	u := used{}
	var err error
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
		case <-tick.C:
			peak, own := memory(cmd.Process.Pid)
			u.memory, u.own = max(u.memory, peak), max(u.own, own)
		}
	}
	u.wall = time.Since(from)
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		return out.String(), u, fmt.Errorf("%s: %w: %s", filepath.Base(program), err, lastLines(words.String(), 3))
	}
	return out.String(), u, nil
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "; ")
}

// memory is what a process had resident at its peak, and what of its own it has
// now, in bytes; 0 where it has ended.
func memory(pid int) (peak, own int64) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(b)) {
		name, v, _ := strings.Cut(line, ":")
		kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(v), " kB"), 10, 64)
		switch name {
		case "VmHWM":
			peak = kb << 10
		case "RssAnon":
			own = kb << 10
		}
	}
	return peak, own
}

// background is a server of ours.
type background struct {
	url  string
	cmd  *exec.Cmd
	many bool // it listens at more than one address, see next
	turn int
}

// stop ends the server in an orderly way, by force after five seconds.
func (s *background) stop() {
	_ = s.cmd.Process.Signal(unix.SIGTERM)
	force := time.AfterFunc(5*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer force.Stop()
	_ = s.cmd.Wait() // how it ends does not matter any more
}
