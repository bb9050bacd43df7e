package sim

import (
	"encoding/json"
	"time"
)

// Truth is what GET /truth answers: what the service is, and what it did.
type Truth struct {
	CapacityRPS float64 `json:"capacity_rps"` // workers / mean service time
	Workers     int     `json:"workers"`
	Service     string  `json:"service"`
	MeanMS      float64 `json:"mean_ms"` // the slow share included
	Queue       *int    `json:"queue"`   // null: no limit
	ShedAfterMS float64 `json:"shed_after_ms"`
	Abandon     bool    `json:"abandon"`
	Freezes     []Span  `json:"freezes"`
	Leak        string  `json:"leak"`
	SlowShare   float64 `json:"slow_share"`
	SlowFactor  float64 `json:"slow_factor"`
	WrongShare  float64 `json:"wrong_share"`
	Noise       float64 `json:"noise"`
	Depends     bool    `json:"depends"`
	Seed        uint64  `json:"seed"`

	UptimeS     float64  `json:"uptime_s"`
	BegunNS     int64    `json:"begun_ns"`          // first request of work, on the machine's monotonic clock; 0 = none yet
	LastNS      int64    `json:"last_departure_ns"` // on the same clock; 0 = none yet
	Counters    Counters `json:"counters"`
	Left        uint64   `json:"departed_after_client_left"`
	Connections struct {
		Opened int64 `json:"opened"`
		Open   int64 `json:"open"`
	} `json:"connections"`
	LeakedConnections int64 `json:"leaked_connections"`
	LeakedBytes       int64 `json:"leaked_bytes"`

	// Lateness is how long after its departure an answer was released: the
	// service's own error, in µs; null before the first.
	Lateness *Lateness `json:"lateness_us"`
}

// Span is a freeze, in ms from the first request of work.
type Span struct {
	AtMS  float64 `json:"at_ms"`
	ForMS float64 `json:"for_ms"`
}

// Lateness is a distribution in µs.
type Lateness struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Truth returns the state of the service as of now.
func (c *core) truth() Truth {
	o := c.o
	t := Truth{
		CapacityRPS: o.Capacity(), Workers: o.Workers, Service: o.Service.String(), MeanMS: o.meanNS() / 1e6,
		ShedAfterMS: millis(o.ShedAfter), Abandon: !o.KeepWorking, Freezes: []Span{}, Leak: o.Leak.String(),
		SlowShare: o.Slow.Share, SlowFactor: o.Slow.Factor, WrongShare: o.Wrong, Noise: o.Noise.Sigma,
		Depends: o.Depends != "", Seed: o.Seed,
	}
	if o.Queue != 0 {
		places := max(o.Queue, 0)
		t.Queue = &places
	}
	for _, f := range o.Freezes {
		t.Freezes = append(t.Freezes, Span{millis(f.At), millis(f.For)})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	c.q.step(now)
	t.Counters = c.q.Counters()
	t.Left = c.left
	t.UptimeS = time.Duration(now).Seconds()
	if c.begun >= 0 {
		t.BegunNS = c.begun + c.shift
	}
	if c.last > 0 {
		t.LastNS = c.last + c.shift
	}
	t.Connections.Opened, t.Connections.Open = c.opened.Load(), c.open.Load()
	t.LeakedConnections, t.LeakedBytes = c.leaked.connections.Load(), c.leaked.bytes.Load()
	if c.late.Count() > 0 {
		t.Lateness = &Lateness{c.late.QuantileUS(.5), c.late.QuantileUS(.99), c.late.QuantileUS(1)}
	}
	return t
}

func (c *core) truthJSON() []byte {
	b, err := json.MarshalIndent(c.truth(), "", "  ")
	if err != nil { // plain numbers and strings: cannot happen
		return []byte("{}\n")
	}
	return append(b, '\n')
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }
