package runner

import (
	"context"
	"math"

	"headroom/analyze"
	"headroom/store/record"
)

// probe asks a service that has just been overloaded, one request at a time,
// until it answers as it does when it is idle: three times in a row no slower
// than twice the 99th percentile at the lowest plateau. Probes are part of the
// drain and are recorded in it. It reports whether the service became idle
// before the end of the phase.
func (r *run) probe(hard context.Context, p record.Phase) bool {
	idle, ok := analyze.IdleResponseNS(r.plateaus)
	if !ok {
		return true
	}
	calm := 0
	r.c.onProbe = func(response int64, valid bool) {
		if valid && response <= idle {
			calm++
			return
		}
		calm = 0
	}
	defer func() { r.c.onProbe = nil }()
	class := r.c.probeClass()
	for at := r.Engine.Now(); calm < 3 && at < p.EndNS; at = max(at+r.probePause(), r.Engine.Now()) {
		j := r.c.newJob(class, r.c.base+uint64(r.c.number), -1, at, nil)
		r.c.number++
		j.probe = true
		r.c.push(later{at: at, job: j})
		if r.Engine.Drive(hard, r.c, p.EndNS, true) != nil {
			break
		}
	}
	if calm < 3 {
		r.rec.send(record.Note{
			AtNS: r.Engine.Now(), Code: "not_idle", Severity: record.Caution, Phase: p.Index,
			Measured: float64(calm), Limit: 3,
			Text: "the service did not become idle within the drain: the next plateau inherits work",
		})
	}
	return calm == 3
}

// probePause is the time between two probes, in ns: the load that they make is
// at most 20 requests per second and a fifth of the lowest plateau's. A service
// that refuses is not kept busy by being asked whether it still does.
func (r *run) probePause() int64 {
	lowest := math.Inf(1)
	for i := range r.plateaus {
		lowest = min(lowest, r.plateaus[i].TargetRPS)
	}
	return int64(max(50e6, 5e9/lowest))
}

// probeClass is the plain class with the greatest weight; a flow's first step
// where there is none.
func (c *conductor) probeClass() int {
	best := -1
	for i, class := range c.h.Classes {
		if class.Flow || class.Step != "" {
			continue
		}
		if best < 0 || class.Weight > c.h.Classes[best].Weight {
			best = i
		}
	}
	if best >= 0 {
		return best
	}
	for i, class := range c.h.Classes {
		if class.Flow {
			first, _ := c.traffic.Step(i, 0)
			return first
		}
	}
	return 0
}
