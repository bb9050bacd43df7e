package observe

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

func systemFacts(facts map[string]string) {
	readFacts(facts, "/proc", "/sys")
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		facts["kernel"] = unix.ByteSliceToString(u.Release[:])
	}
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		facts["file_limit"] = strconv.FormatUint(files.Cur, 10)
	}
}

// readFacts reads facts from the file systems proc and sys.
func readFacts(facts map[string]string, proc, sys string) {
	if b, err := os.ReadFile(filepath.Join(sys, "devices/system/clocksource/clocksource0/current_clocksource")); err == nil {
		facts["clock_source"] = strings.TrimSpace(string(b))
	}
	fs, err := procfs.NewFS(proc)
	if err != nil {
		return
	}
	if cpus, err := fs.CPUInfo(); err == nil && len(cpus) > 0 && cpus[0].ModelName != "" {
		facts["cpu_model"] = cpus[0].ModelName
	}
	if r, err := fs.SysctlInts("net/ipv4/ip_local_port_range"); err == nil && len(r) == 2 {
		facts["local_ports"] = fmt.Sprintf("%d-%d", r[0], r[1])
	}
	self, err := fs.Self()
	if err != nil {
		return
	}
	if set, err := affinity(fs, self.PID); err == nil {
		facts["cpus_allowed"] = list(set)
	}
	if groups, err := self.Cgroups(); err == nil {
		if q := quota(filepath.Join(sys, "fs/cgroup"), groups); !math.IsInf(q, 1) {
			facts["cpu_quota"] = strconv.FormatFloat(q, 'f', -1, 64)
		}
	}
}

// list writes a set as the kernel does: 0-3,8.
func list(set unix.CPUSet) string {
	var parts []string
	limit := len(set) * 64
	for i := 0; i < limit; i++ {
		if !set.IsSet(i) {
			continue
		}
		j := i
		for j+1 < limit && set.IsSet(j+1) {
			j++
		}
		if i == j {
			parts = append(parts, strconv.Itoa(i))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", i, j))
		}
		i = j
	}
	return strings.Join(parts, ",")
}

// timeWait is the state of a closed socket that is kept back, in /proc/net/tcp.
const timeWait = 6

// LocalPorts reads the range of local ports and how many are in use. It reads
// the whole table of connections, so it is for the start and the end of a run.
func LocalPorts() (Ports, error) { return localPorts("/proc") }

func localPorts(mount string) (Ports, error) {
	fs, err := procfs.NewFS(mount)
	if err != nil {
		return Ports{}, fmt.Errorf("local ports: %w", err)
	}
	r, err := fs.SysctlInts("net/ipv4/ip_local_port_range")
	if err != nil {
		return Ports{}, fmt.Errorf("local ports: %w", err)
	}
	if len(r) != 2 || r[0] > r[1] {
		return Ports{}, fmt.Errorf("local ports: the range %v can't be understood", r)
	}
	p := Ports{First: r[0], Last: r[1]}
	//lint:ignore SA1019 a netlink library for one reading at the start is not worth its weight
	v4, err4 := fs.NetTCP()
	//lint:ignore SA1019 as above
	v6, err6 := fs.NetTCP6()
	if err4 != nil && err6 != nil {
		return p, fmt.Errorf("local ports: %w", err4)
	}
	for _, s := range slices.Concat(v4, v6) {
		if s.LocalPort < uint64(p.First) || s.LocalPort > uint64(p.Last) {
			continue
		}
		p.InUse++
		if s.St == timeWait {
			p.TimeWait++
		}
	}
	return p, nil
}
