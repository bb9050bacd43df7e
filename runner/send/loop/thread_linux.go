package loop

import "golang.org/x/sys/unix"

// slice is the time slice, in ns, that the loop's thread asks for: the shortest
// that the kernel grants. A thread with short slices is run soon after it wakes
// (EEVDF, Linux 6.12), also where another of ours keeps the processor busy.
const slice = 100_000

// urgent is the niceness that the loop's thread asks for. Only a privileged
// user gets it; the schedule is then kept on a machine that has other work too.
const urgent = -20

// punctual makes the calling thread wake on time, as far as it may, and returns
// what undoes that: timers without slack (50 µs otherwise), a short time slice,
// precedence over other work. Where the kernel refuses, the loop is as late as
// any thread, which its lag shows.
func punctual() (undo func()) {
	slack, errSlack := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if errSlack == nil {
		errSlack = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	attr, errAttr := unix.SchedGetAttr(0, 0)
	if errAttr == nil && attr.Policy == unix.SCHED_NORMAL {
		short := *attr
		short.Runtime, short.Nice = slice, min(attr.Nice, urgent)
		if errAttr = unix.SchedSetAttr(0, &short, 0); errAttr != nil {
			short.Nice = attr.Nice
			errAttr = unix.SchedSetAttr(0, &short, 0)
		}
	}
	return func() {
		if errSlack == nil {
			_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0)
		}
		if errAttr == nil && attr.Policy == unix.SCHED_NORMAL {
			_ = unix.SchedSetAttr(0, attr, 0)
		}
	}
}
