package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drive offers Poisson arrivals at rate per second for length and returns the
// response times in ns of what departed, in order of departure, and the number
// of arrivals. Everything admitted departs.
func drive(t *testing.T, o Options, rate float64, length time.Duration, patience time.Duration) (response []int64, q *Queue) {
	t.Helper()
	q = NewQueue(o)
	r := newStream(o.Seed, 99)
	type leaving struct {
		at int64
		j  *Job
	}
	var patient []leaving
	collect := func(now int64) {
		for j := q.Depart(now); j != nil; j = q.Depart(now) {
			if j.Departed > now || j.Departed < j.Arrived {
				t.Fatalf("job %d: arrived %d, departed %d, now %d", j.Number, j.Arrived, j.Departed, now)
			}
			response = append(response, j.Departed-j.Arrived)
		}
	}
	for at := 0.0; ; {
		at += -math.Log(r.uniform()) / rate * 1e9
		if at > float64(length) {
			break
		}
		now := int64(at)
		for len(patient) > 0 && patient[0].at <= now {
			q.Cancel(patient[0].at, patient[0].j)
			patient = patient[1:]
		}
		collect(now)
		if j, why := q.Admit(now, nil); why == Admitted && patience > 0 {
			patient = append(patient, leaving{now + int64(patience), j})
		}
	}
	for _, p := range patient {
		q.Cancel(p.at, p.j)
		collect(p.at)
	}
	collect(math.MaxInt64 / 2)
	return response, q
}

func conserve(t *testing.T, q *Queue) {
	t.Helper()
	if err := q.Counters().Check(); err != nil {
		t.Error(err)
	}
}

func meanMS(ns []int64) float64 {
	var sum float64
	for _, v := range ns {
		sum += float64(v)
	}
	return sum / float64(len(ns)) / 1e6
}

func quantileMS(ns []int64, p float64) float64 {
	s := slices.Clone(ns)
	slices.Sort(s)
	return float64(s[int(math.Ceil(p*float64(len(s))))-1]) / 1e6
}

func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*want {
		t.Errorf("%s: got %.4f, want %.4f ± %g %%", what, got, want, 100*share)
	}
}

// The tables of queueing theory: METHODS part i. An unlimited queue.
func TestQueueAgainstTheory(t *testing.T) {
	ms := func(mean float64, shape Shape) Service {
		return Service{Mean: time.Duration(mean * 1e6), Shape: shape}
	}
	lognormal := Service{Mean: time.Millisecond, Shape: Lognormal, Sigma: math.Sqrt(math.Log(3))} // cv² = 2
	tests := []struct {
		name         string
		workers      int
		service      Service
		slow         Slow
		rate         float64
		seconds      int
		w, t50, t99  float64 // ms; 0 = not compared
		tolW, tolT99 float64
	}{
		{"M/M/1 .5", 1, ms(1, Exponential), Slow{}, 500, 1000, 2, 1.386294, 9.210340, .02, .03},
		{"M/M/1 .8", 1, ms(1, Exponential), Slow{}, 800, 1500, 5, 3.465736, 23.025851, .03, .05},
		{"M/M/1 .9", 1, ms(1, Exponential), Slow{}, 900, 2000, 10, 6.931472, 46.051702, .06, .10},
		{"M/M/2 .9", 2, ms(10, Exponential), Slow{}, 180, 8000, 52.631579, 37.691594, 233.444300, .06, .10},
		{"M/M/8 .8", 8, ms(10, Exponential), Slow{}, 640, 1500, 12.860281, 9.863344, 51.521816, .02, .04},
		{"M/M/8 .9", 8, ms(10, Exponential), Slow{}, 720, 2000, 18.769162, 14.893553, 70.873474, .04, .08},
		{"M/M/8 .95", 8, ms(10, Exponential), Slow{}, 760, 4000, 31.104216, 24.100539, 123.660486, .08, .12},
		{"M/M/16 .9", 16, ms(10, Exponential), Slow{}, 1440, 1000, 13.695896, 10.780098, 52.698346, .03, .06},
		{"M/D/1 .5", 1, ms(1, Constant), Slow{}, 500, 1000, 1.5, 1, 4.336256, .01, .03},
		{"M/D/1 .8", 1, ms(1, Constant), Slow{}, 800, 1500, 3, 2.275940, 11.355887, .03, .06},
		{"M/D/1 .9", 1, ms(1, Constant), Slow{}, 900, 2000, 5.5, 4.013048, 22.898237, .05, .10},
		{"M/LN/1 .8", 1, lognormal, Slow{}, 800, 2000, 7, 0, 0, .06, 0},
		// 90 % x 0.5 ms + 10 % x 5.5 ms: a mean of 1 ms, E S² = 3.25.
		{"tail .8", 1, ms(.5, Constant), Slow{.1, 11}, 800, 2000, 7.5, 0, 0, .06, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := Options{Workers: tt.workers, Service: tt.service, Slow: tt.slow, Seed: 11}
			got, q := drive(t, o, tt.rate, time.Duration(tt.seconds)*time.Second/2, 0)
			conserve(t, q)
			near(t, "mean response", meanMS(got), tt.w, tt.tolW)
			if tt.t50 > 0 {
				near(t, "median", quantileMS(got, .5), tt.t50, tt.tolW)
				near(t, "p99", quantileMS(got, .99), tt.t99, tt.tolT99)
			}
		})
	}
}

// M/M/c/K: blocking, goodput and response of the accepted. K counts the
// workers, Options.Queue does not.
func TestQueueLimitAgainstTheory(t *testing.T) {
	tests := []struct {
		workers, k           int
		mean                 time.Duration
		rate                 float64
		blocked, w, t50, t99 float64
	}{
		{1, 10, time.Millisecond, 800, .02349286, 3.797098, 2.95584, 13.69701},
		{1, 10, time.Millisecond, 1200, .19258650, 6.926138, 6.71572, 16.66753},
		{1, 10, time.Millisecond, 1500, .33723208, 8.176476, 7.96338, 17.45245},
		{1, 100, time.Millisecond, 1200, .16666667, 95.000001, 94.98793, 121.31903},
		{8, 8, 10 * time.Millisecond, 800, .23557026, 10, 6.93147, 46.05170},
		{8, 8, 10 * time.Millisecond, 1200, .42265511, 10, 6.93147, 46.05170},
		{8, 40, 10 * time.Millisecond, 760, .00968004, 22.522888, 19.76533, 67.86702},
		{8, 40, 10 * time.Millisecond, 960, .16690001, 43.825032, 42.61348, 83.94329},
		{8, 40, 10 * time.Millisecond, 1600, .5, 48.75, 46.88634, 87.60389},
		{8, 108, 10 * time.Millisecond, 1200, .33333333, 132.5, 131.26223, 177.31984},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("M/M/%d/%d at %g", tt.workers, tt.k, tt.rate), func(t *testing.T) {
			t.Parallel()
			o := Options{Workers: tt.workers, Service: Service{Mean: tt.mean, Shape: Exponential}, Queue: tt.k - tt.workers, Seed: 5}
			if o.Queue == 0 {
				o.Queue = NoQueue
			}
			seconds := 200.0
			if rho := tt.rate * tt.mean.Seconds() / float64(tt.workers); rho > .9 && rho < 1.1 {
				seconds = 600 // its fluctuations last longer
			}
			got, q := drive(t, o, tt.rate, time.Duration(seconds*1e9), 0)
			conserve(t, q)
			c := q.Counters()
			blocked := float64(c.RefusedFull) / float64(c.Received)
			if d := math.Abs(blocked - tt.blocked); d > .01*tt.blocked+.002 {
				t.Errorf("blocked: got %.5f, want %.5f", blocked, tt.blocked)
			}
			near(t, "goodput", float64(c.Departed)/seconds, tt.rate*(1-tt.blocked), .01)
			near(t, "mean response", meanMS(got), tt.w, .02)
			near(t, "median", quantileMS(got, .5), tt.t50, .03)
			near(t, "p99", quantileMS(got, .99), tt.t99, .03)
		})
	}
}

// Above capacity the departures are the capacity, exactly for constant work.
func TestQueueCapacity(t *testing.T) {
	q := NewQueue(Options{Workers: 8, Service: Service{Mean: 10 * time.Millisecond, Shape: Constant}})
	for range 10_000 {
		q.Admit(0, nil)
	}
	n := 0
	for q.Depart(int64(10*time.Second)) != nil {
		n++
	}
	if n != 8000 {
		t.Errorf("%d departures in 10 s, want 8 / 10 ms x 10 s = 8000", n)
	}
}

// METHODS C1 without a freeze, and the same backlog made by one: the fluid
// prediction is backlog = rate x freeze, drain = backlog / (capacity - rate).
func TestQueueFreezeDrains(t *testing.T) {
	freeze := Freeze{At: 10 * time.Second, For: 10 * time.Second}
	o := Options{Workers: 10, Service: Service{Mean: 10 * time.Millisecond, Shape: Constant}, Freezes: []Freeze{freeze}}
	const gap = int64(time.Second) / 600 // 600/s against 1000/s
	q := NewQueue(o)
	var worst, recovered int64
	for now := gap; now < int64(60*time.Second); now += gap {
		q.Admit(now, nil)
		for j := q.Depart(now); j != nil; j = q.Depart(now) {
			if j.Departed > int64(freeze.At) && j.Departed < int64(freeze.At+freeze.For) {
				t.Fatalf("a departure at %s, during the freeze", time.Duration(j.Departed))
			}
			r := j.Departed - j.Arrived
			worst = max(worst, r)
			if r > 20*int64(time.Millisecond) {
				recovered = j.Departed
			}
		}
		if now/gap == 600*20-1 {
			near(t, "backlog", float64(q.Counters().Waiting), 6000, .01)
		}
	}
	near(t, "peak response in s", float64(worst)/1e9, 10, .01)
	near(t, "drained at s", float64(recovered)/1e9, 20+6000./(1000-600), .01)
	conserve(t, q)
}

func TestQueueShedAfter(t *testing.T) {
	o := Options{Workers: 4, Service: Service{Mean: 10 * time.Millisecond, Shape: Exponential}, ShedAfter: 50 * time.Millisecond, Seed: 3}
	got, q := drive(t, o, 800, 300*time.Second, 0) // twice the capacity
	c := q.Counters()
	conserve(t, q)
	if c.MaxWaiting != 20 { // 20 x 10 ms / 4 = 50 ms
		t.Errorf("at most %d waited, want 20", c.MaxWaiting)
	}
	near(t, "departures", float64(len(got))/300, 400, .02)
	near(t, "refused", float64(c.RefusedWait)/float64(c.Received), .5, .02)
}

// Clients that leave after 200 ms: dropping their work keeps the capacity for
// those who stay, working for them starves everybody.
func TestQueueAbandon(t *testing.T) {
	o := Options{Workers: 8, Service: Service{Mean: 10 * time.Millisecond, Shape: Exponential}, Seed: 3}
	inTime := func(all []int64) (n int) {
		for _, r := range all {
			if r <= int64(200*time.Millisecond) {
				n++
			}
		}
		return n
	}
	dropped, q := drive(t, o, 1200, 100*time.Second, 200*time.Millisecond)
	conserve(t, q)
	near(t, "departures", float64(len(dropped))/100, 800, .02)
	near(t, "abandoned", float64(q.Counters().Abandoned)/100, 400, .05)
	for _, r := range dropped {
		if r > int64(time.Second) {
			t.Fatalf("a response of %s with 200 ms of patience", time.Duration(r))
		}
	}
	kept, q := drive(t, o, 1200, 100*time.Second, 0)
	conserve(t, q)
	if good, bad := inTime(dropped), inTime(kept); bad > good/20 {
		t.Errorf("in time: %d with dropped work, %d without: want a collapse", good, bad)
	}
}

func TestQueueHold(t *testing.T) {
	q := NewQueue(Options{Workers: 1, Service: Service{Mean: 10, Shape: Constant}, Hold: true})
	a, _ := q.Admit(0, nil)
	b, _ := q.Admit(0, nil)
	if j := q.Depart(10); j != a {
		t.Fatalf("first departure %v", j)
	}
	if j := q.Depart(500); j != nil {
		t.Fatalf("%v departed while the only worker was held", j)
	}
	q.Release(600, a)
	q.Release(600, a) // twice is once
	if at, ok := q.Next(); !ok || at != 610 {
		t.Fatalf("next %d %v, want 610", at, ok)
	}
	if j := q.Depart(610); j != b || j.Departed != 610 {
		t.Fatalf("second departure %v", j)
	}
	conserve(t, q)
}

func TestQueueLatencyLeak(t *testing.T) {
	q := NewQueue(Options{Workers: 1, Service: Service{Mean: time.Millisecond, Shape: Constant}, Leak: Leak{LeakLatency, .001}})
	for s := range 100 {
		now := int64(s) * int64(time.Second)
		j, _ := q.Admit(now, nil)
		want := now + int64(time.Millisecond) + int64(.001*float64(now+int64(time.Millisecond)))
		for at, ok := q.Next(); ok; at, ok = q.Next() {
			q.Depart(at)
		}
		if j.Departed != want {
			t.Fatalf("second %d: departed at %d, want %d", s, j.Departed, want)
		}
	}
	conserve(t, q)
}

// Noise changes when work is done, not how much on average.
func TestQueueNoise(t *testing.T) {
	o := Options{Workers: 8, Service: Service{Mean: 10 * time.Millisecond, Shape: Exponential}, Noise: Noise{Sigma: .05}, Seed: 2}
	q := NewQueue(o)
	for range 450_000 {
		q.Admit(0, nil)
	}
	var perSecond [500]float64
	for j := q.Depart(int64(500 * time.Second)); j != nil; j = q.Depart(int64(500 * time.Second)) {
		perSecond[min(j.Departed/int64(time.Second), 499)]++
	}
	var mean, sq float64
	for _, n := range perSecond {
		mean += n / 500
	}
	for _, n := range perSecond {
		sq += (n - mean) * (n - mean) / 500
	}
	near(t, "mean", mean, 800, .01)
	// Poisson counting noise 800 and (5 % of 800)² together.
	near(t, "deviation", math.Sqrt(sq), math.Sqrt(800+1600), .1)
}

// Whatever the order of calls: every request is accounted for, jobs start in
// FIFO order, and never more than the workers and the places are in the queue.
func TestQueueLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{
			Workers: rapid.IntRange(1, 4).Draw(t, "workers"),
			Service: Service{Mean: 100, Shape: rapid.SampledFrom([]Shape{Constant, Exponential}).Draw(t, "shape")},
			Queue:   rapid.IntRange(-1, 5).Draw(t, "queue"),
			Hold:    rapid.Bool().Draw(t, "hold"),
			Freezes: []Freeze{{At: 300, For: 500}, {At: 1000, For: 1}},
		}
		q := NewQueue(o)
		var now, last int64
		var inside, holding []*Job
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			now += rapid.Int64Range(0, 60).Draw(t, "gap")
			switch rapid.IntRange(0, 4).Draw(t, "do") {
			case 0, 1:
				if j, why := q.Admit(now, nil); why == Admitted {
					inside = append(inside, j)
				}
			case 2:
				for j := q.Depart(now); j != nil; j = q.Depart(now) {
					if j.Departed > now || j.Departed < last {
						t.Fatalf("departed at %d after %d, now %d", j.Departed, last, now)
					}
					last = j.Departed
					if o.Hold {
						holding = append(holding, j)
					}
				}
			case 3:
				if len(inside) > 0 {
					q.Cancel(now, rapid.SampledFrom(inside).Draw(t, "leaves"))
				}
			case 4:
				if len(holding) > 0 {
					q.Release(now, holding[0])
					holding = holding[1:]
				}
			}
			c := q.Counters()
			if err := c.Check(); err != nil {
				t.Fatal(err)
			}
			limit := max(o.Queue, 0)
			if o.Queue != 0 && c.Waiting > limit {
				t.Fatalf("%d wait, limit %d", c.Waiting, limit)
			}
		}
	})
}
