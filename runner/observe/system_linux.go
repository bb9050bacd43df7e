package observe

import (
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// system reads /proc.
type system struct {
	processors float64 // that this process may use
	proc       procfs.FS
	known      bool // proc can be read
	allowed    unix.CPUSet
}

func newSystem() system {
	s := system{processors: float64(min(runtime.NumCPU(), runtime.GOMAXPROCS(0)))}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return s
	}
	s.proc, s.known = fs, true
	if set, err := affinity(fs, os.Getpid()); err == nil && set.Count() > 0 {
		s.allowed = set
		s.processors = float64(min(set.Count(), runtime.GOMAXPROCS(0)))
	}
	if self, err := fs.Self(); err == nil {
		if groups, err := self.Cgroups(); err == nil {
			s.processors = min(s.processors, quota("/sys/fs/cgroup", groups))
		}
	}
	return s
}

func (s system) descriptors() int64 {
	if !s.known {
		return 0
	}
	self, err := s.proc.Self()
	if err != nil {
		return 0
	}
	n, err := self.FileDescriptorsLen()
	if err != nil {
		return 0
	}
	return int64(n)
}

// waited is how long a thread of this process was runnable but not running, ns.
func (s system) waited(thread int) (int64, bool) {
	if !s.known {
		return 0, false
	}
	t, err := s.proc.Thread(os.Getpid(), thread)
	if err != nil {
		return 0, false
	}
	stat, err := t.Schedstat()
	if err != nil {
		return 0, false
	}
	return int64(stat.WaitingNanoseconds), true
}

// machine sums the processors that this process may run on. Guest time is part
// of user time already; time stolen by other machines counts as busy.
func (s system) machine() busy {
	if !s.known {
		return busy{}
	}
	stat, err := s.proc.Stat()
	if err != nil {
		return busy{}
	}
	var b busy
	for id, c := range stat.CPU {
		if s.allowed.Count() > 0 && !s.allowed.IsSet(int(id)) {
			continue
		}
		used := c.User + c.Nice + c.System + c.IRQ + c.SoftIRQ + c.Steal
		b.used += used
		b.total += used + c.Idle + c.Iowait
		b.known = true
	}
	return b
}

// affinity is the set of processors that the threads of a process may run on.
func affinity(fs procfs.FS, pid int) (unix.CPUSet, error) {
	threads, err := fs.AllThreads(pid)
	if err != nil {
		return unix.CPUSet{}, err
	}
	var all unix.CPUSet
	found := false
	for _, t := range threads {
		var set unix.CPUSet
		// A thread may have ended since it was listed.
		if err = unix.SchedGetaffinity(t.PID, &set); err != nil {
			continue
		}
		found = true
		for i := range set {
			all[i] |= set[i]
		}
	}
	if !found && err != nil {
		return unix.CPUSet{}, err
	}
	return all, nil
}

// SharesCPUs reports whether a process may run on processors that this one may
// run on too; known is false where that can't be read.
func SharesCPUs(pid int) (shares, known bool) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return false, false
	}
	own, err := affinity(fs, os.Getpid())
	if err != nil {
		return false, false
	}
	other, err := affinity(fs, pid)
	if err != nil || other.Count() == 0 {
		return false, false
	}
	return overlap(own, other), true
}

func overlap(a, b unix.CPUSet) bool {
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}

// quota is how many processors' time the control groups allow, +Inf where they
// set no limit. The smallest limit on the way to the root holds. It knows
// version 2 (cpu.max) and version 1 (cpu.cfs_quota_us).
func quota(root string, groups []procfs.Cgroup) float64 {
	least := math.Inf(1)
	for _, g := range groups {
		var read func(dir string) float64
		var mounts []string
		switch {
		case g.HierarchyID == 0:
			read, mounts = quota2, []string{root, filepath.Join(root, "unified")}
		case slices.Contains(g.Controllers, "cpu"):
			read, mounts = quota1, []string{filepath.Join(root, "cpu"), filepath.Join(root, strings.Join(g.Controllers, ","))}
		default:
			continue
		}
		for _, mount := range mounts {
			for p := path.Clean("/" + g.Path); ; p = path.Dir(p) {
				least = min(least, read(filepath.Join(mount, p)))
				if p == "/" {
					break
				}
			}
		}
	}
	return least
}

func quota2(dir string) float64 {
	b, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
	if err != nil {
		return math.Inf(1)
	}
	limit, period, _ := strings.Cut(strings.TrimSpace(string(b)), " ")
	return share(limit, period)
}

func quota1(dir string) float64 {
	limit, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us"))
	if err != nil {
		return math.Inf(1)
	}
	period, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us"))
	if err != nil {
		return math.Inf(1)
	}
	return share(strings.TrimSpace(string(limit)), strings.TrimSpace(string(period)))
}

// share is limit / period; a limit of "max" or -1 is none.
func share(limit, period string) float64 {
	l, err1 := strconv.ParseFloat(limit, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err1 != nil || err2 != nil || !(l > 0) || !(p > 0) {
		return math.Inf(1)
	}
	return l / p
}
