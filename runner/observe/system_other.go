//go:build !linux

package observe

import (
	"context"
	"errors"
	"runtime"

	"headroom/store/record"
)

// system reads what only Linux tells; here it knows the processors alone.
type system struct{ processors float64 }

func newSystem() system {
	return system{processors: float64(min(runtime.NumCPU(), runtime.GOMAXPROCS(0)))}
}

func (system) descriptors() int64         { return 0 }
func (system) waited(int) (int64, bool)   { return 0, false }
func (system) machine() busy              { return busy{} }
func systemFacts(map[string]string)       {}
func SharesCPUs(int) (shares, known bool) { return false, false }
func LocalPorts() (Ports, error)          { return Ports{}, errLinux }

var errLinux = errors.New("this is read on Linux only")

// Process would read a process; it is read on Linux only.
type Process struct{}

// NewProcess returns an error: processes are read on Linux only.
func NewProcess(string, int) (*Process, error) { return nil, errLinux }

// Series implements Collector.
func (*Process) Series() []record.SeriesInfo { return nil }

// Collect implements Collector.
func (*Process) Collect(context.Context, int64) ([]record.Sample, error) { return nil, errLinux }
