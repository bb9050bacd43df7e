package analyze

import (
	"fmt"

	"headroom/analyze/stat"
	"headroom/store/record"
)

const (
	healthyShare   = 0.9 // of the good answers before: back
	brokenShare    = 0.5 // of them: down
	minHealthy     = 10  // intervals before a breakdown
	breakdownNeeds = 2   // broken intervals in a row
)

// breakdown is the first time that a service under a constant load stopped
// giving good answers.
type breakdown struct {
	atS, backS float64 // since the run's origin; length, 0 where it did not come back
	back       bool
	selfMade   bool // it keeps itself down
	left       float64
}

// breakdowns looks for one where the plan states neither a burst nor a fault:
// a service that stood still for a moment comes back, unless its clients' retries
// hold it down.
func (r *analysis) breakdowns() {
	if r.out.Burst != nil || len(r.out.Chaos) > 0 || r.header.Model == record.Closed {
		return
	}
	course := r.ofKind(record.Steady, record.Soak)
	at := firstBroken(course)
	if at < 0 {
		return
	}
	before, after := course[:at], course[at:]
	c := sum(before)
	floor := healthyShare * goodOf(&c)
	out := make([]bool, len(after))
	for i := range after {
		out[i] = after[i].counts.Scheduled > 0 && goodShare(&after[i]) < floor
	}
	b := &breakdown{atS: float64(after[0].startNS) / 1e9}
	window := min(recoveryWindow, max(len(after)/2, 1))
	if back, _ := stat.Reentry([][]bool{out}, window, 3*window/recoveryWindow); back >= 0 {
		b.back, b.backS = true, float64(after[back].startNS-after[0].startNS)/1e9
		r.note("breakdown", "caution", b.backS, 0, fmt.Sprintf("%s s after the start the service stopped giving good answers, and was back %s s later", short(b.atS), short(b.backS)))
		r.broke = b
		return
	}
	late := sum(after[len(after)/2:])
	b.left = goodOf(&late) / goodOf(&c)
	r.note("collapsed", "caution", b.left, healthyShare, fmt.Sprintf("%s s after the start the service stopped giving good answers, and was not back when the record ended: %s %% of goodput is left", short(b.atS), short(100*b.left)))
	b.selfMade = r.spiral(before, after, 0).yes
	r.broke = b
}

// firstBroken is the first of two broken intervals in a row after enough
// healthy ones; −1 where there is none.
func firstBroken(course []instant) int {
	c := sum(course[:min(minHealthy, len(course))])
	for i := minHealthy; i+breakdownNeeds <= len(course); i++ {
		if i > minHealthy {
			c.Add(&course[i-1].counts)
		}
		healthy := goodOf(&c)
		if !(healthy >= brokenShare) {
			return -1
		}
		broken := 0
		for k := i; k < i+breakdownNeeds; k++ {
			if course[k].counts.Scheduled > 0 && goodShare(&course[k]) < brokenShare*healthy {
				broken++
			}
		}
		if broken == breakdownNeeds {
			return i
		}
		// One interval that is wholly lost is a breakdown as well.
		if course[i].counts.Scheduled >= 10 && goodShare(&course[i]) < (1-healthyShare)*healthy {
			return i
		}
	}
	return -1
}

// breakdownWords go into the sentence of a steady load.
func (r *analysis) breakdownWords(l language) string {
	b := r.broke
	switch {
	case b == nil:
		return ""
	case b.back:
		return l.say(", and a breakdown %s after the start lasted %s", ", e uma queda %s após o início durou %s", say(l, span(b.atS)), say(l, span(b.backS)))
	case b.selfMade:
		return l.say(", and the service collapsed %s after the start and keeps itself down since", ", e o serviço entrou em colapso %s após o início e desde então se mantém derrubado por si mesmo", say(l, span(b.atS)))
	}
	return l.say(", and the service collapsed %s after the start and did not come back", ", e o serviço entrou em colapso %s após o início e não voltou", say(l, span(b.atS)))
}
