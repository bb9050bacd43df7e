package runner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"headroom/runner/send"
	"headroom/store/record"
)

const flowPlan = `
name: flow
seed: 3
target: {builtin: {workers: 64, service: 10ms}}
http: {timeout: 2s}
arrivals: constant
load: {steady: {rate: 50, length: 20s}}
data: {items: {zipf: {count: 100, exponent: 1}}}
requests:
  - class: buy
    weight: 1
    flow:
      - {post: /carts, body: '{"item": "{items}"}', capture: {cart: json $.id, token: header X-Token, part: 'regex part=(\d+)'}}
      - {get: "/carts/{cart}/{part}?item={items}", headers: {X-Token: "{token}"}}
      - {post: "/carts/{cart}/checkout", think: 200ms}
`

// answers are what the service says to the steps of flowPlan; broken says what
// is wrong with the answer to a step.
func answers(broken func(r *send.Request) string) func(*send.Request, *send.Result) {
	return func(r *send.Request, res *send.Result) {
		id := fmt.Sprintf("c %d", r.Arrival) // a blank, to be encoded
		res.Status = 200
		res.Body = []byte(`{"id": "` + id + `", "text": "part=` + fmt.Sprint(r.Arrival*7) + `"}`)
		res.HeaderValue = func(name string) string {
			if strings.EqualFold(name, "X-Token") {
				return fmt.Sprintf("t%d", r.Arrival)
			}
			return ""
		}
		switch broken(r) {
		case "status":
			res.Status = 500
		case "body":
			res.Body = []byte(`{}`)
		}
	}
}

// The steps of a flow carry what earlier ones captured; the next begins when
// the one before ended, plus its think time; the flow's own response time counts
// from its arrival to its end; data is drawn once for the whole flow.
func TestFlow(t *testing.T) {
	o := constant(10 * time.Millisecond)
	type sent struct {
		path, body, token string
		scheduled, done   int64
	}
	flows := map[uint64][]sent{}
	s := &spy{}
	s.fired = func(r *send.Request, now int64) {
		x := sent{path: string(r.Path), body: string(r.Body), scheduled: r.Scheduled}
		for _, f := range r.Fields {
			if f.Name == "X-Token" {
				x.token = string(f.Value)
			}
		}
		flows[r.Arrival] = append(flows[r.Arrival], x)
	}
	reply := answers(func(*send.Request) string { return "" })
	s.done = func(r *send.Request, res *send.Result) {
		reply(r, res)
		f := flows[r.Arrival]
		f[len(f)-1].done = res.Done
	}
	m := execute(t, parse(t, flowPlan), o, context.Background(), context.Background(), watched(s, o))
	if len(flows) != 1000 {
		t.Fatalf("%d flows, want 1000", len(flows))
	}
	for n, f := range flows {
		if len(f) != 3 {
			t.Fatalf("flow %d has %d steps", n, len(f))
		}
		item := strings.TrimSuffix(strings.TrimPrefix(f[0].body, `{"item": "`), `"}`)
		if want := fmt.Sprintf("/carts/c%%20%d/%d?item=%s", n, n*7, item); f[1].path != want || f[1].token != fmt.Sprintf("t%d", n) {
			t.Fatalf("flow %d: second step %s with token %s, want %s", n, f[1].path, f[1].token, want)
		}
		if want := fmt.Sprintf("/carts/c%%20%d/checkout", n); f[2].path != want {
			t.Fatalf("flow %d: third step %s, want %s", n, f[2].path, want)
		}
		if f[0].scheduled != int64(n)*20*ms || f[1].scheduled != f[0].done || f[2].scheduled != f[1].done+200*ms {
			t.Fatalf("flow %d: steps due at %d, %d and %d, ended at %d, %d", n, f[0].scheduled, f[1].scheduled, f[2].scheduled, f[0].done, f[1].done)
		}
	}
	flow := counts(m, "buy")
	if flow.Counts.Scheduled != 1000 || flow.Counts.By[record.OK] != 1000 {
		t.Errorf("flows: %+v", flow.Counts)
	}
	if got := flow.OKResponse.MaxNS(); got != 230*ms || flow.OKResponse.MinNS() != 230*ms {
		t.Errorf("a flow takes %d to %d ns, want three answers of 10 ms and 200 ms to think", flow.OKResponse.MinNS(), got)
	}
	for _, class := range []string{"buy/1", "buy/2", "buy/3"} {
		if c := counts(m, class); c.Counts.By[record.OK] != 1000 || c.OKResponse.MaxNS() != 10*ms {
			t.Errorf("%s: %+v, up to %d ns", class, c.Counts, c.OKResponse.MaxNS())
		}
	}
}

// counts sums a class over the run.
func counts(m *record.Memory, class string) record.Cell {
	sum := record.Cell{
		OKResponse: record.NewHistogram(m.H.MaxUS), Status: map[int]uint64{}, Errors: map[record.ErrorKind]uint64{},
	}
	for _, iv := range m.Iv {
		for _, cells := range [][]record.Cell{iv.Cells, iv.Flows} {
			for i := range cells {
				c := &cells[i]
				if m.H.Classes[c.Class].Name != class {
					continue
				}
				sum.Counts.Add(&c.Counts)
				if err := sum.OKResponse.Merge(c.OKResponse); err != nil {
					panic(err)
				}
				for k, n := range c.Errors {
					sum.Errors[k] += n
				}
			}
		}
	}
	return sum
}

// A step that fails ends its flow and is counted where it failed.
func TestFlowEndsWhereItFails(t *testing.T) {
	o := constant(10 * time.Millisecond)
	for _, c := range []struct {
		broken  func(r *send.Request) string
		outcome record.Outcome
		kind    record.ErrorKind
		step    string
		ends    [3]uint64 // requests of each step
	}{
		{func(r *send.Request) string { return pick(r.Arrival%4 == 0 && string(r.Path) == "/carts", "status") }, record.HTTPError, record.ErrNone, "buy/1", [3]uint64{1000, 750, 750}},
		{func(r *send.Request) string {
			return pick(r.Arrival%4 == 0 && strings.Contains(string(r.Path), "item="), "status")
		}, record.HTTPError, record.ErrNone, "buy/2", [3]uint64{1000, 1000, 750}},
		{func(r *send.Request) string { return pick(r.Arrival%4 == 0 && string(r.Path) == "/carts", "body") }, record.Wrong, record.ErrCapture, "buy/1", [3]uint64{1000, 750, 750}},
	} {
		s := &spy{done: answers(c.broken)}
		m := execute(t, parse(t, flowPlan), o, context.Background(), context.Background(), watched(s, o))
		for i, want := range c.ends {
			if got := counts(m, fmt.Sprintf("buy/%d", i+1)).Counts.Scheduled; got != want {
				t.Errorf("%v at %s: %d requests of step %d, want %d", c.outcome, c.step, got, i+1, want)
			}
		}
		failed, flow := counts(m, c.step), counts(m, "buy")
		if failed.Counts.By[c.outcome] != 250 || flow.Counts.By[c.outcome] != 250 || flow.Counts.By[record.OK] != 750 {
			t.Errorf("%v at %s: %v of the step, %v of the flow", c.outcome, c.step, failed.Counts.By, flow.Counts.By)
		}
		if c.kind != record.ErrNone && failed.Errors[c.kind] != 250 {
			t.Errorf("%v at %s: errors %v", c.outcome, c.step, failed.Errors)
		}
	}
}

func pick(yes bool, s string) string {
	if yes {
		return s
	}
	return ""
}

// A closed population walks through flows: a user's cycle is a whole flow.
func TestUsersWalkThroughFlows(t *testing.T) {
	o := constant(10 * time.Millisecond)
	text := strings.Replace(strings.Replace(flowPlan, "steady: {rate: 50, length: 20s}", "closed: {users: 10, pacing: 500ms, length: 20s}", 1), "arrivals: constant\n", "", 1)
	s := &spy{done: answers(func(*send.Request) string { return "" })}
	m := execute(t, parse(t, text), o, context.Background(), context.Background(), watched(s, o))
	if flow := counts(m, "buy"); flow.Counts.Scheduled != 400 || flow.Counts.By[record.OK] < 398 {
		t.Errorf("%+v, want 10 users with 40 cycles each", flow.Counts)
	}
}
