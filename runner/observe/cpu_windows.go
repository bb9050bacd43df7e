package observe

import "golang.org/x/sys/windows"

// processCPU is the processor time that this process has used, in ns.
func processCPU() (int64, bool) {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &exited, &kernel, &user) != nil {
		return 0, false
	}
	ticks := func(f windows.Filetime) int64 { return int64(f.HighDateTime)<<32 | int64(f.LowDateTime) }
	return 100 * (ticks(kernel) + ticks(user)), true
}
