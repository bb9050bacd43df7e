package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"headroom/store/record"
)

// recoveryReading is the burst's recovery time, or that of the slowest fault
// where there was no burst.
func (r *analysis) recoveryReading() reading {
	if b := r.out.Burst; b != nil {
		if b.Refused != "" {
			return unclear("recovery cannot be judged: %s", b.Refused)
		}
		return r.backAfter(b.RecoveryS, b.CensoredAtS, "")
	}
	worst, seen := noData("the run has no burst and no fault that was judged"), false
	for i := range r.out.Chaos {
		c := &r.out.Chaos[i]
		if c.Refused == whyNeverLifted {
			continue
		}
		if c.Refused != "" {
			return unclear("recovery from %s cannot be judged: %s", c.Fault, c.Refused)
		}
		m := r.backAfter(c.RecoveryS, c.CensoredAtS, "after "+c.Fault)
		if !seen || m.lo > worst.lo {
			worst, seen = m, true
		}
	}
	return worst
}

// backAfter is a recovery time. One that was not seen is longer than the part of the
// record that could be judged, which ends the length of a window before the record.
func (r *analysis) backAfter(took, censored *float64, where string) reading {
	switch {
	case took != nil:
		return exactly(*took, where)
	case censored != nil:
		least := max(0, *censored-recoveryWindow*float64(r.header.IntervalNS)/1e9)
		return reading{lo: least, hi: math.Inf(1), shown: censored, why: strings.TrimSpace("not recovered when the record ended " + where)}
	}
	return noData("no recovery time")
}

// leaksReading counts what grows. A series that could not be judged may grow
// as well.
func (r *analysis) leaksReading() reading {
	s := r.out.Soak
	if s == nil {
		return noData("the run is no soak")
	}
	if s.Refused != "" {
		return unclear("no series could be judged: %s", s.Refused)
	}
	var unknown []string
	for name, d := range s.Drift {
		if d.Refused != "" && d.Kind == "" && !strings.HasPrefix(name, "response_p99") && d.Refused != whyNoSamples {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	n := float64(len(s.Leaks))
	m := reading{lo: n, hi: n + float64(len(unknown)), shown: number(n), why: strings.Join(s.Leaks, ", ")}
	if len(unknown) > 0 {
		m.why = join(m.why, "cannot be judged: "+strings.Join(unknown, ", "))
		m.why = strings.TrimPrefix(m.why, "; ")
	}
	return m
}

// degradedReading is the share of goodput that is left while a fault lasts:
// the least of those with the name.
func (r *analysis) degradedReading(fault string) reading {
	m := noData("the run has no fault %q", fault)
	for i := range r.out.Chaos {
		c := &r.out.Chaos[i]
		if c.Fault != fault && !r.faultIs(i, fault) {
			continue
		}
		switch {
		case c.GoodputRatioDuring == nil:
			return unclear("fault %s cannot be judged: %s", fault, orWord(c.Refused, "no goodput before it"))
		case m.missing || *c.GoodputRatioDuring < m.lo:
			m = exactly(*c.GoodputRatioDuring, "degraded mode: "+c.DegradedMode)
		}
	}
	return m
}

// faultIs reports whether a gate's name means a fault: its name, or what it
// acts on.
func (r *analysis) faultIs(i int, name string) bool {
	return i < len(r.header.Faults) && (r.header.Faults[i].Name == name || r.header.Faults[i].On == name)
}

// usersLost is how many users of a closed population were without a valid
// answer in the last quarter of its last phase: the population times the
// share of the cycles begun then that got none, rounded up.
func (r *analysis) usersLost() reading {
	if r.header.Model != record.Closed {
		return noData("users are lost in a closed model only")
	}
	users, last := r.header.Load.Users, -1
	for _, p := range r.phases {
		if p.Kind == record.Steady && p.Users > 0 {
			users, last = p.Users, p.Index
		}
	}
	var course []instant
	for _, i := range r.course {
		if i.phase == last {
			course = append(course, i)
		}
	}
	if len(course) < 4 || users == 0 {
		return noData("no phase with a population is long enough for a last quarter")
	}
	c := sum(course[len(course)*3/4:])
	if c.Scheduled == 0 {
		return exactly(float64(users), "no user began a cycle in the last quarter")
	}
	lost := c.Scheduled - min(c.By[record.OK]+c.By[record.Late], c.Scheduled)
	return exactly(math.Ceil(float64(users)*float64(lost)/float64(c.Scheduled)), fmt.Sprintf("%d of %d cycles begun in the last quarter got no valid answer", lost, c.Scheduled))
}
