//go:build unix

package observe

import "golang.org/x/sys/unix"

// processCPU is the processor time that this process has used, in ns.
func processCPU() (int64, bool) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return u.Utime.Nano() + u.Stime.Nano(), true
}
