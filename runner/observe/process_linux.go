package observe

import (
	"context"
	"fmt"
	"os"

	"github.com/prometheus/procfs"

	"headroom/store/record"
)

// Process reads what one process holds: resident memory, processor time, open
// file descriptors and threads.
type Process struct {
	name string
	proc procfs.Proc
	born uint64 // ticks after the boot: tells a process from a later one with its number
}

// NewProcess observes the process with a number. The series are named
// name.rss_bytes, name.cpu_seconds, name.open_fds and name.threads.
func NewProcess(name string, pid int) (*Process, error) {
	return newProcess(procfs.DefaultMountPoint, name, pid)
}

func newProcess(mount, name string, pid int) (*Process, error) {
	fs, err := procfs.NewFS(mount)
	if err != nil {
		return nil, fmt.Errorf("observe process %d: %w", pid, err)
	}
	p, err := fs.Proc(pid)
	if err != nil {
		return nil, fmt.Errorf("observe process %d: %w; is it running?", pid, err)
	}
	stat, err := p.Stat()
	if err != nil {
		return nil, fmt.Errorf("observe process %d: %w", pid, err)
	}
	return &Process{name: name, proc: p, born: stat.Starttime}, nil
}

// Series implements Collector.
func (p *Process) Series() []record.SeriesInfo {
	const source = "process"
	return []record.SeriesInfo{
		{ID: 0, Name: p.name + ".rss_bytes", Source: source, Unit: "bytes"},
		{ID: 1, Name: p.name + ".cpu_seconds", Source: source, Unit: "seconds"},
		{ID: 2, Name: p.name + ".open_fds", Source: source, Unit: "count"},
		{ID: 3, Name: p.name + ".threads", Source: source, Unit: "count"},
	}
}

// Collect implements Collector.
func (p *Process) Collect(_ context.Context, at int64) ([]record.Sample, error) {
	stat, err := p.proc.Stat()
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", p.proc.PID, err)
	}
	if stat.Starttime != p.born {
		return nil, fmt.Errorf("process %d ended; its number belongs to another one now", p.proc.PID)
	}
	samples := []record.Sample{
		{Series: 0, AtNS: at, Value: float64(stat.RSS) * float64(os.Getpagesize())},
		{Series: 1, AtNS: at, Value: stat.CPUTime()},
		{Series: 3, AtNS: at, Value: float64(stat.NumThreads)},
	}
	fds, err := p.proc.FileDescriptorsLen()
	if err != nil {
		return samples, fmt.Errorf("process %d: open files: %w", p.proc.PID, err)
	}
	return append(samples, record.Sample{Series: 2, AtNS: at, Value: float64(fds)}), nil
}
