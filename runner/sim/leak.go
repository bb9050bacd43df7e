package sim

import (
	"fmt"
	"strconv"
	"strings"
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
	if !(l.PerSecond > 0 && l.PerSecond < 1e12) {
		return Leak{}, fmt.Errorf("the rate must be above 0")
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
