package observe

import (
	"os"
	"runtime"
	"strconv"
)

// GeneratorFacts describe the machine and the program that generate the load.
// What can't be read is left out.
func GeneratorFacts() map[string]string {
	facts := map[string]string{
		"os":         runtime.GOOS,
		"arch":       runtime.GOARCH,
		"go_version": runtime.Version(),
		"gomaxprocs": strconv.Itoa(runtime.GOMAXPROCS(0)),
		"cpus":       strconv.Itoa(runtime.NumCPU()),
	}
	if host, err := os.Hostname(); err == nil {
		facts["host"] = host
	}
	systemFacts(facts)
	return facts
}

// Ports says how far the local ports for new connections are used up.
type Ports struct {
	First, Last int // of the range that connections take theirs from
	InUse       int // sockets on such a port, in any state
	TimeWait    int // of those, closed and kept back
}

// Size is the number of ports in the range: how many connections one address
// can have to one address and port of a target.
func (p Ports) Size() int { return p.Last - p.First + 1 }
