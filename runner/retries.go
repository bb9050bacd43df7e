package runner

import (
	"slices"

	"headroom/runner/plan"
	"headroom/runner/schedule"
	"headroom/store/record"
)

// retries decides whether a failed attempt is made again, and when. It is off
// unless the plan asks for it.
type retries struct {
	plan     plan.Retries
	seed     uint64
	requests float64 // credit of the budget
}

func newRetries(p plan.Retries, seed uint64) *retries { return &retries{plan: p, seed: seed} }

// budgetWindow bounds the credit that a quiet time builds up, in requests.
const budgetWindow = 100

// next is the pause in ns before attempt number attempt (1 is the first retry).
// A budget of b allows b retries per request that ended its first attempt.
func (r *retries) next(arrival uint64, attempt int, o record.Outcome, status int) (int64, bool) {
	p := &r.plan
	if p.Max == 0 || attempt > p.Max || o.Valid() {
		return 0, false
	}
	if !slices.Contains(p.Outcomes, o) && (status == 0 || !slices.Contains(p.Status, status)) {
		return 0, false
	}
	if p.Budget > 0 {
		if attempt == 1 {
			r.requests = min(r.requests+p.Budget, budgetWindow*p.Budget)
		}
		if r.requests < 1 {
			return 0, false
		}
		r.requests--
	}
	pause := float64(p.Backoff)
	for range attempt - 1 {
		pause *= max(p.Factor, 1)
	}
	if p.Jitter == "full" {
		s := schedule.Derive(r.seed, "retry", arrival, uint64(attempt))
		pause *= s.Float64()
	}
	return int64(pause), true
}
