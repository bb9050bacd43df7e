package runner_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"headroom/analyze"
	"headroom/runner/send"
	"headroom/runner/sim"
	"headroom/store/record"
)

const ms = int64(time.Millisecond)

func closedPlan(load string) string {
	return fmt.Sprintf(`
name: closed
target: {builtin: {workers: 8, service: 10ms}}
http: {timeout: 2s}
load: {closed: {%s}}
%s`, load, getView)
}

func constant(mean time.Duration, freezes ...sim.Freeze) sim.EngineOptions {
	return sim.EngineOptions{Service: sim.Options{Workers: 64, Service: sim.Service{Mean: mean, Shape: sim.Constant}, KeepWorking: true, Freezes: freezes}}
}

// 200 users with a cycle of 400 ms begin spread over it: no slice of 40 ms ever
// holds more than twice its share of 20.
func TestUsersBeginSpreadOut(t *testing.T) {
	for _, service := range []sim.EngineOptions{
		constant(10 * time.Millisecond),
		{Service: sim.Options{Workers: 64, Service: sim.Service{Mean: 60 * time.Millisecond, Shape: sim.Exponential}, Seed: 3}},
	} {
		slices := map[int64]int{}
		s := &spy{fired: func(_ *send.Request, now int64) { slices[now/(40*ms)]++ }}
		execute(t, parse(t, closedPlan("users: 200, pacing: 400ms, length: 30s")), service, context.Background(), context.Background(), watched(s, service))
		total := 0
		for at, n := range slices {
			total += n
			if n > 40 {
				t.Errorf("%d requests in the 40 ms from %v", n, time.Duration(at*40*ms))
			}
		}
		if want := 200 * 30 * 1000 / 400; total < want-200 || total > want {
			t.Errorf("%d requests, want about %d", total, want)
		}
	}
}

// A user waits for its answer, then for the rest of its cycle, and never makes
// up for what it missed; with a think time it waits that long after the answer.
func TestUsersWait(t *testing.T) {
	for _, c := range []struct {
		name, load string
		o          sim.EngineOptions
		per        float64 // requests a user makes in the 20 s
		gap        func(started, ended, next int64) bool
	}{
		{
			"pacing", "users: 10, pacing: 400ms, length: 20s", constant(50 * time.Millisecond), 50,
			func(started, _, next int64) bool { return next-started == 400*ms },
		},
		{
			"answers longer than the cycle", "users: 10, pacing: 400ms, length: 20s", constant(700 * time.Millisecond), 20.0 / 0.7,
			func(_, ended, next int64) bool { return next == ended },
		},
		{
			"think time", "users: 10, think: 1s, length: 20s", constant(100 * time.Millisecond), 20 / 1.1,
			func(_, ended, next int64) bool { return next-ended == 1000*ms },
		},
		{
			"a service that stands still for 5 s is not made up for", "users: 10, pacing: 400ms, length: 20s",
			constant(50*time.Millisecond, sim.Freeze{At: 5 * time.Second, For: 1500 * time.Millisecond}), 50 - 3,
			func(started, ended, next int64) bool { return next == max(ended, started+400*ms) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			// With a constant service and a worker for each, answers come back in the
			// order of the users, so that a user is known by its place in the cycle.
			type walk struct{ started, ended int64 }
			var order []*walk
			owner := map[*send.Request]*walk{}
			free := []*walk{}
			n := 0
			s := &spy{}
			s.fired = func(r *send.Request, now int64) {
				n++
				w := &walk{started: now}
				if len(order) < 10 {
					order = append(order, w)
				} else {
					old := free[0]
					free = free[1:]
					if !c.gap(old.started, old.ended, now) {
						t.Fatalf("started at %d, answered at %d, next at %d", old.started, old.ended, now)
					}
				}
				owner[r] = w
			}
			s.done = func(r *send.Request, res *send.Result) {
				w := owner[r]
				w.ended = res.Done
				free = append(free, w)
			}
			m := execute(t, parse(t, closedPlan(c.load)), c.o, context.Background(), context.Background(), watched(s, c.o))
			if got := float64(n) / 10; math.Abs(got-c.per) > 1.5 {
				t.Errorf("%.1f requests a user, want %.1f", got, c.per)
			}
			a, err := analyze.Run(m, analyze.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if a.Run.Model != "closed" || a.Trust.OmissionFactor != nil {
				t.Errorf("model %q, omission factor %v", a.Run.Model, a.Trust.OmissionFactor)
			}
		})
	}
}

// Populations grow step by step; each makes users / cycle requests a second,
// and the users of one are gone before the next begin.
func TestPopulationsGrow(t *testing.T) {
	o := constant(10 * time.Millisecond)
	m := execute(t, parse(t, closedPlan("users: 20, pacing: 200ms, length: 10s, by: 20, to: 70")), o, context.Background(), context.Background(), nil)
	users := []int{20, 40, 60}
	i := 0
	for _, p := range m.P {
		if p.Kind == record.Drain {
			continue
		}
		if i == len(users) || p.Users != users[i] {
			t.Fatalf("phase %d: %d users, want %v", p.Index, p.Users, users)
		}
		var scheduled uint64
		for _, iv := range m.Iv {
			if iv.Phase == p.Index {
				c := iv.Total()
				scheduled += c.Scheduled
				if backlog := iv.Moment.InFlight + iv.Moment.Waiting; backlog > int64(users[i]) {
					t.Errorf("%d in flight of %d users", backlog, users[i])
				}
			}
		}
		if want := float64(users[i]) * 10 / 0.2; math.Abs(float64(scheduled)-want) > float64(users[i]) {
			t.Errorf("%d users: %d requests, want %g", users[i], scheduled, want)
		}
		i++
	}
	if i != len(users) {
		t.Errorf("%d populations", i)
	}
}
