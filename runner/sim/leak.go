package sim

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// ParseLeak reads "2/s" or "2/s connections", "512KiB/s" (memory) and
// "1ms/m" (latency); the time is s, m or h.
func ParseLeak(text string) (Leak, error) {
	rate, kind, _ := strings.Cut(text, " ")
	amount, per, ok := strings.Cut(rate, "/")
	seconds := map[string]float64{"s": 1, "m": 60, "min": 60, "h": 3600}[per]
	if !ok || seconds == 0 {
		return Leak{}, fmt.Errorf("wants a rate: 2/s (connections), 512KiB/s (memory) or 1ms/m (latency)")
	}
	var l Leak
	if n, err := strconv.ParseFloat(amount, 64); err == nil {
		l = Leak{LeakConnections, n / seconds}
	} else if d, err := time.ParseDuration(amount); err == nil {
		l = Leak{LeakLatency, d.Seconds() / seconds}
	} else if b, err := parseSize(amount); err == nil {
		l = Leak{LeakMemory, b / seconds}
	} else {
		return Leak{}, fmt.Errorf("%q is neither a number of connections, nor a size, nor a duration", amount)
	}
	if kind = strings.TrimSpace(kind); kind != "" && LeakKind(kind) != l.Kind {
		return Leak{}, fmt.Errorf("%q leaks %s, not %s", rate, l.Kind, kind)
	}
	limit := 1e12
	if l.Kind == LeakLatency {
		limit = 10
	}
	if !(l.PerSecond > 0 && l.PerSecond < limit) {
		return Leak{}, fmt.Errorf("the rate must be above 0 and below %g per second", limit)
	}
	return l, nil
}

// String is a form that ParseLeak reads; "" for no leak.
func (l Leak) String() string {
	switch l.Kind {
	case LeakConnections:
		return floatText(l.PerSecond*3600) + "/h"
	case LeakMemory:
		return strconv.FormatFloat(l.PerSecond*3600, 'f', 0, 64) + "B/h"
	case LeakLatency:
		return time.Duration(l.PerSecond*3600e9).String() + "/h"
	}
	return ""
}

// parseSize reads a number of bytes with a unit: B, kB, MB, GB, KiB, MiB, GiB.
func parseSize(text string) (float64, error) {
	digits := strings.TrimRight(text, "BKMGki")
	unit := map[string]float64{
		"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9,
		"KiB": 1 << 10, "kiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30,
	}[text[len(digits):]]
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || unit == 0 {
		return 0, fmt.Errorf("%q is not a size, as in 512KiB", text)
	}
	return n * unit, nil
}

// leaked is what a service has lost so far.
type leaked struct {
	connections, bytes atomic.Int64

	conns  []net.Conn
	memory [][]byte
}

// run leaks l until done is closed.
func (k *leaked) run(l Leak, done <-chan struct{}) {
	start := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		want := int64(l.PerSecond * time.Since(start).Seconds())
		switch l.Kind {
		case LeakConnections:
			for k.connections.Load() < want {
				c, err := net.Dial("udp", "127.0.0.1:9") // sends nothing, holds a descriptor
				if err != nil {
					break // no descriptor left: that is what a leak comes to
				}
				k.conns = append(k.conns, c)
				k.connections.Add(1)
			}
		case LeakMemory:
			if n := want - k.bytes.Load(); n > 0 {
				b := make([]byte, n)
				for i := 0; i < len(b); i += 512 {
					b[i] = 1 // so that it is resident
				}
				k.memory = append(k.memory, b)
				k.bytes.Add(n)
			}
		}
	}
}

func (k *leaked) free() {
	for _, c := range k.conns {
		c.Close()
	}
	k.conns, k.memory = nil, nil
}
