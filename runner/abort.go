package runner

import (
	"fmt"

	"headroom/runner/plan"
	"headroom/runner/tally"
	"headroom/store/record"
)

// A target is dead when for so long, and at least so many attempts, nothing
// answered, whatever the answer would have been.
const (
	deadAfter = 5 * second
	deadEnds  = 3
)

// abortRules end a run early: a rule that held during every interval for as
// long as it says. An interval in which nothing ended, though requests are
// under way, changes nothing.
type abortRules struct {
	rules  []*abortRule
	answer uint64 // requests that ended with any status, in the interval
	ended  uint64
	silent struct {
		since int64
		ended uint64
	}
}

type abortRule struct {
	plan.Abort
	class     int // -1: all
	threshold record.Threshold
	heldNS    int64

	// Of the interval, requests of the class that ended, and those at or below
	// the threshold.
	recent *Recent
	below  uint64
}

func newAbortRules(rules []plan.Abort, h *record.Header) (*abortRules, error) {
	if len(rules) == 0 {
		return nil, nil
	}
	a := &abortRules{}
	for _, r := range rules {
		rule := &abortRule{Abort: r, class: -1, recent: newRecent(h.MaxUS)}
		if !r.TargetDead {
			rule.threshold, _ = r.Gate.Threshold()
			if r.Gate.Class != "" {
				for i, c := range h.Classes {
					if c.Name == r.Gate.Class {
						rule.class = i
					}
				}
				if rule.class < 0 {
					return nil, fmt.Errorf("abort: no class is named %q", r.Gate.Class)
				}
			}
		}
		a.rules = append(a.rules, rule)
	}
	return a, nil
}

// scheduled counts a request that became due.
func (a *abortRules) scheduled(class int) {
	for _, r := range a.rules {
		if r.class < 0 || r.class == class {
			r.recent.Scheduled++
		}
	}
}

// done counts a request's end; whole flows are told apart by flow.
func (a *abortRules) done(e *tally.End, flow bool) {
	if !flow {
		a.ended++
		if e.Status != 0 {
			a.answer++
		}
	}
	for _, r := range a.rules {
		if r.TargetDead || r.class >= 0 && r.class != e.Class || r.class < 0 && flow {
			continue
		}
		r.recent.By[e.Outcome]++
		r.recent.Attempts += uint64(e.Attempts)
		if e.Attempts == 0 {
			continue
		}
		r.recent.Sent++
		response, service, lag := e.Done-e.Scheduled, e.Done-e.Sent, e.FirstSent-e.Scheduled
		good := false
		switch r.Gate.Metric {
		case "response":
			good = e.Outcome.Valid() && response <= r.threshold.LimitNS
		case "service":
			good = e.Outcome.Valid() && service <= r.threshold.LimitNS
		case "lag":
			good = lag <= r.threshold.LimitNS
		case "omission":
			r.recent.Response.Record(response)
			r.recent.Service.Record(service)
		}
		if good {
			r.below++
		}
	}
}

// tick judges an interval of so many ns that ended at the instant now, and
// begins the next. It returns the rule that ends the run, or "".
func (a *abortRules) tick(p record.Phase, now, width int64, inFlight int) string {
	width = max(width, 1)
	reason := ""
	quiet := p.Kind == record.Drain
	for _, r := range a.rules {
		switch {
		case r.TargetDead:
			if !quiet && a.dead(now, width) {
				reason = r.Rule
			}
		case quiet || r.Gate.Phase != "" && r.Gate.Phase != string(p.Kind):
			r.heldNS = 0
		default:
			holds, known := r.holds(width)
			switch {
			case known && holds, !known && inFlight > 0 && r.heldNS > 0:
				r.heldNS += width
			default:
				r.heldNS = 0
			}
			if known && holds && r.heldNS >= int64(r.For) && reason == "" {
				reason = r.Rule
			}
		}
		*r.recent = *newRecent(r.recent.Response.MaxUS())
		r.below = 0
	}
	a.answer, a.ended = 0, 0
	return reason
}

// dead reports whether nothing has answered for long enough.
func (a *abortRules) dead(now, width int64) bool {
	if a.answer > 0 || a.ended == 0 && a.silent.ended == 0 {
		a.silent.since, a.silent.ended = 0, 0
		return false
	}
	if a.silent.ended == 0 {
		a.silent.since = now - width
	}
	a.silent.ended += a.ended
	return a.silent.ended >= deadEnds && now-a.silent.since >= deadAfter
}

// holds reports whether the rule's condition held during the interval; known is
// false where nothing ended that it could be judged on.
func (r *abortRule) holds(width int64) (holds, known bool) {
	c := r.recent
	n := c.Done()
	if r.Gate.Quantile > 0 {
		if r.Gate.Metric == "lag" {
			n = c.Sent
		}
		// At or below the limit lies at least the share that the percentile
		// names, or it does not: in whole requests.
		within := float64(r.below) >= r.Gate.Quantile*float64(n)
		return within == (r.Gate.Op == "<=" || r.Gate.Op == "<"), n > 0
	}
	v, known := 0.0, n > 0
	ratio := func(part uint64) float64 { return float64(part) / float64(max(n, 1)) }
	switch r.Gate.Metric {
	case "goodput":
		v, known = float64(c.By[record.OK])/float64(width)*1e9, true
	case "goodput_ratio":
		v = ratio(c.By[record.OK])
	case "error_ratio":
		v = ratio(n - c.By[record.OK] - c.By[record.Shed])
	case "shed_ratio":
		v = ratio(c.By[record.Shed])
	case "wrong":
		v = float64(c.By[record.Wrong])
	case "unexpected":
		v = float64(n - c.By[record.OK] - c.By[record.Shed])
	case "amplification":
		v, known = float64(c.Attempts)/float64(max(c.Sent, 1)), c.Sent > 0
	case "omission":
		if known = c.Response.Count() > 0; known {
			v = max(c.Response.QuantileUS(0.99), 1000) / max(c.Service.QuantileUS(0.99), 1000)
		}
	default:
		return false, false
	}
	return compares(v, r.Gate.Op, r.Gate.Limit), known
}

func compares(v float64, op string, limit float64) bool {
	switch op {
	case "<=":
		return v <= limit
	case "<":
		return v < limit
	case ">=":
		return v >= limit
	case ">":
		return v > limit
	}
	return v == limit
}
