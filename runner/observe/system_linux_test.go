package observe

import (
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// tree writes files into a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		p := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// The name holds what breaks readers that split at blanks and brackets.
const stat42 = "42 (my ) (srv x) S 1 42 42 0 -1 4194560 100 0 5 0 250 50 0 0 20 0 7 0 9000 123456789 1000 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

func TestProcess(t *testing.T) {
	root := tree(t, map[string]string{
		"42/stat": stat42, "42/fd/0": "", "42/fd/1": "", "42/fd/7": "",
	})
	p, err := newProcess(root, "process", 42)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Collect(context.Background(), 5)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]float64{}
	for _, s := range got {
		if s.AtNS != 5 {
			t.Errorf("sample at %d, want 5", s.AtNS)
		}
		byName[p.Series()[s.Series].Name] = s.Value
	}
	want := map[string]float64{
		"process.rss_bytes":   1000 * float64(os.Getpagesize()),
		"process.cpu_seconds": 3,
		"process.open_fds":    3,
		"process.threads":     7,
	}
	if d := cmp.Diff(want, byName); d != "" {
		t.Error(d)
	}

	// Without the right to see its files, the rest is read all the same.
	if err := os.RemoveAll(filepath.Join(root, "42/fd")); err != nil {
		t.Fatal(err)
	}
	if got, err = p.Collect(context.Background(), 6); err == nil || len(got) != 3 {
		t.Errorf("%d samples, error %v; want 3 and an error", len(got), err)
	}

	// Another process under the same number is not this one.
	other := strings.Replace(stat42, " 9000 ", " 9999 ", 1)
	if err := os.WriteFile(filepath.Join(root, "42/stat"), []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err = p.Collect(context.Background(), 7); err == nil || len(got) != 0 {
		t.Errorf("%d samples, error %v; want none and an error", len(got), err)
	}
	if _, err := newProcess(root, "process", 43); err == nil {
		t.Error("a process that is not there was accepted")
	}
}

func TestQuota(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  map[string]string
		groups []procfs.Cgroup
		want   float64
	}{
		{"none", nil, []procfs.Cgroup{{Path: "/a"}}, math.Inf(1)},
		{"version 2", map[string]string{"a/b/cpu.max": "150000 100000\n"}, []procfs.Cgroup{{Path: "/a/b"}}, 1.5},
		{"version 2, no limit", map[string]string{"a/cpu.max": "max 100000\n"}, []procfs.Cgroup{{Path: "/a"}}, math.Inf(1)},
		{"the parent is tighter", map[string]string{"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "50000 100000\n"}, []procfs.Cgroup{{Path: "/a/b"}}, 0.5},
		{"own namespace", map[string]string{"cpu.max": "200000 100000\n"}, []procfs.Cgroup{{Path: "/"}}, 2},
		{
			"version 1",
			map[string]string{"cpu/x/cpu.cfs_quota_us": "25000\n", "cpu/x/cpu.cfs_period_us": "50000\n"},
			[]procfs.Cgroup{{HierarchyID: 4, Controllers: []string{"memory"}, Path: "/x"}, {HierarchyID: 3, Controllers: []string{"cpu", "cpuacct"}, Path: "/x"}},
			0.5,
		},
		{
			"version 1, no limit",
			map[string]string{"cpu,cpuacct/cpu.cfs_quota_us": "-1\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n"},
			[]procfs.Cgroup{{HierarchyID: 3, Controllers: []string{"cpu", "cpuacct"}, Path: "/"}},
			math.Inf(1),
		},
		{"garbage", map[string]string{"a/cpu.max": "fast\n"}, []procfs.Cgroup{{Path: "/a"}}, math.Inf(1)},
	} {
		if got := quota(tree(t, c.files), c.groups); got != c.want {
			t.Errorf("%s: %v processors, want %v", c.name, got, c.want)
		}
	}
}

func TestMachineBusy(t *testing.T) {
	read := func(text string, allowed ...int) busy {
		fs, err := procfs.NewFS(tree(t, map[string]string{"stat": text}))
		if err != nil {
			t.Fatal(err)
		}
		s := system{proc: fs, known: true}
		for _, c := range allowed {
			s.allowed.Set(c)
		}
		return s.machine()
	}
	const text = "cpu  300 0 100 600 0 0 0 0 0 0\n" +
		"cpu0 200 0 100 100 0 0 0 0 0 0\n" +
		"cpu1 50 0 0 300 50 10 20 20 50 0\n" +
		"intr 1 2 3\nctxt 1\nbtime 1\nprocesses 1\nprocs_running 1\nprocs_blocked 0\nsoftirq 1 1 1 1 1 1 1 1 1 1 1\n"
	if b := read(text, 0); !b.known || math.Abs(b.used-3) > 1e-9 || math.Abs(b.total-4) > 1e-9 {
		t.Errorf("processor 0: %+v, want 3 of 4 s", b)
	}
	if b := read(text); math.Abs(b.used-4) > 1e-9 || math.Abs(b.total-8.5) > 1e-9 {
		t.Errorf("both processors: %+v, want 4 of 8.5 s", b)
	}
	if b := read("nonsense\n"); b.known {
		t.Errorf("nonsense gives %+v", b)
	}
}

func TestLocalPorts(t *testing.T) {
	const head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	line := func(port, state string) string {
		return "   0: 0100007F:" + port + " 0100007F:1F90 " + state + " 00000000:00000000 00:00000000 00000000     0        0 1 1 0000000000000000 100 0 0 10 0\n"
	}
	files := map[string]string{
		"sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
		// 8080 listening, 40000 established, 40001 and 60999 kept back, 61000 outside.
		"net/tcp": head + line("1F90", "0A") + line("9C40", "01") + line("9C41", "06") + line("EE47", "06") + line("EE48", "06"),
	}
	got, err := localPorts(tree(t, files))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Ports{First: 32768, Last: 60999, InUse: 3, TimeWait: 2}); got != want || got.Size() != 28232 {
		t.Errorf("%+v (%d ports), want %+v", got, got.Size(), want)
	}
	delete(files, "net/tcp")
	if _, err := localPorts(tree(t, files)); err == nil {
		t.Error("no error without a table of connections")
	}
	files["sys/net/ipv4/ip_local_port_range"] = "5 4"
	if _, err := localPorts(tree(t, files)); err == nil {
		t.Error("no error for a range that falls")
	}
}

func TestReadFacts(t *testing.T) {
	proc := tree(t, map[string]string{
		"cpuinfo":                          "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some CPU @ 2.00GHz\n\n",
		"sys/net/ipv4/ip_local_port_range": "1024\t65535\n",
	})
	sys := tree(t, map[string]string{"devices/system/clocksource/clocksource0/current_clocksource": "tsc\n"})
	got := map[string]string{}
	readFacts(got, proc, sys)
	delete(got, "cpu_model") // laid out per architecture
	if d := cmp.Diff(map[string]string{"clock_source": "tsc", "local_ports": "1024-65535"}, got); d != "" {
		t.Error(d)
	}
	none := map[string]string{}
	readFacts(none, filepath.Join(proc, "nowhere"), filepath.Join(sys, "nowhere"))
	if len(none) != 0 {
		t.Errorf("facts from nowhere: %v", maps.Collect(maps.All(none)))
	}
}

func TestList(t *testing.T) {
	for want, cpus := range map[string][]int{"": nil, "0": {0}, "0-3,8": {0, 1, 2, 3, 8}, "1,3,5": {1, 3, 5}, "63-64": {63, 64}} {
		var set unix.CPUSet
		for _, c := range cpus {
			set.Set(c)
		}
		if got := list(set); got != want {
			t.Errorf("%v: %q, want %q", cpus, got, want)
		}
	}
}

func TestSharesCPUs(t *testing.T) {
	if shares, known := SharesCPUs(os.Getpid()); !known || !shares {
		t.Errorf("shares %v, known %v with itself", shares, known)
	}
	if _, known := SharesCPUs(1 << 30); known {
		t.Error("known of a process that is not there")
	}
	var a, b unix.CPUSet
	a.Set(0)
	b.Set(1)
	if overlap(a, b) {
		t.Error("processors 0 and 1 overlap")
	}
	b.Set(0)
	if !overlap(a, b) {
		t.Error("processors 0 and 0,1 do not overlap")
	}
}

var _ Collector = (*Process)(nil)

func TestProcessOfThisProcess(t *testing.T) {
	p, err := NewProcess("process", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Collect(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range got {
		if s.Series != 1 && s.Value < 1 {
			t.Errorf("%s is %v", p.Series()[s.Series].Name, s.Value)
		}
	}
	if diff := cmp.Diff(4, len(got)); diff != "" {
		t.Error(diff)
	}
}
