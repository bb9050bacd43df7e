package record

// PhaseKind labels a span of the schedule.
type PhaseKind string

// The kinds of phase.
const (
	Warmup   PhaseKind = "warmup"
	Step     PhaseKind = "step"
	Refine   PhaseKind = "refine"
	Beyond   PhaseKind = "beyond"
	Drain    PhaseKind = "drain"
	Base     PhaseKind = "base"
	Burst    PhaseKind = "burst"
	Recovery PhaseKind = "recovery"
	Soak     PhaseKind = "soak"
	FaultOn  PhaseKind = "fault"
	Steady   PhaseKind = "steady"
)

// Judged reports whether a phase of this kind is a plateau of a step load.
func (k PhaseKind) Judged() bool { return k == Step || k == Refine || k == Beyond }

// Phase is a labelled span of the schedule. It is written when it begins and
// again, with Ended set, when its last request has ended.
type Phase struct {
	Index     int       `json:"index"` // position in the run, from 0
	Kind      PhaseKind `json:"kind"`
	Step      int       `json:"step"` // number of the plateau in a step load, from 0; -1 elsewhere
	TargetRPS float64   `json:"target_rps"`
	Users     int       `json:"users,omitempty"` // closed model
	StartNS   int64     `json:"start_ns"`
	EndNS     int64     `json:"end_ns"` // as declared; for a drain, as it came out
	SettleNS  int64     `json:"settle_ns"`
	Multiple  float64   `json:"multiple,omitempty"` // beyond: of the knee found so far
	Ended     bool      `json:"ended"`              // ran to its declared end
	// Inherits says that the service had not become idle when the phase began:
	// what it shows is in part the phase before.
	Inherits bool `json:"inherits,omitempty"`
}

// Cell is what one class did in one interval. Everything in it belongs to the
// requests that were scheduled in the interval, whenever they ended.
type Cell struct {
	Class      int
	Counts     Counts
	OKResponse *Histogram // response time of the valid answers in time
	// OtherResponse is the response time of all other requests that have one:
	// late, shed, wrong, failed, timed out.
	OtherResponse *Histogram
	Service       *Histogram // of every last attempt that was made
	Lag           *Histogram // of every first attempt
	AtOrBelow     []uint64   // per threshold of the header: valid answers (response, service) or sends (lag) at or below it
	Status        map[int]uint64
	Errors        map[ErrorKind]uint64
	LateSends     [4]uint64 // sends later than 1 ms, 10 ms, 100 ms, 1 s
}

// Moment is what happened during an interval by the clock, whenever the
// requests had been scheduled, and how the generator was.
type Moment struct {
	InFlight      int64               // at the interval's end: sent, not ended
	Waiting       int64               // at the interval's end: due, waiting for a connection
	Sends         uint64              // attempts written
	Done          [NumOutcomes]uint64 // requests that ended, by outcome
	PeakSent100ms uint64              // most attempts written in any 100 ms slice that ended in the interval
	LimitedNS     int64               // how long a connection or in-flight limit of our own was reached
	ConnsOpen     int64
	Gen           Generator
}

// Generator is the generator's watch on itself during one interval.
type Generator struct {
	CPUNS       int64 // processor time the process used
	CapacityNS  int64 // processor time it could have used: processors it may run on x elapsed time
	StolenNS    int64 // time runnable but not running, of the sending thread
	GCPauseNS   int64 // longest stop of the world
	SleeperNS   int64 // latest wake-up of a sleeper that should wake every 50 ms
	Descriptors int64
	HeapBytes   int64
	MachineBusy float64 // share of the machine's processors that was busy, 0 to 1; NaN unknown
}

// Interval is a fixed slice of a phase.
type Interval struct {
	Phase   int
	Index   int // within the phase
	StartNS int64
	WidthNS int64
	Cells   []Cell // rising class, only classes that had something
	// Flows are the cells of classes that count whole flows. They are kept
	// apart because their requests are in Cells already.
	Flows  []Cell
	Moment Moment
}

// Total sums the counts of all cells.
func (iv *Interval) Total() Counts {
	var c Counts
	for i := range iv.Cells {
		c.Add(&iv.Cells[i].Counts)
	}
	return c
}

// SendSample is a window of consecutive send instants, kept for the tests of
// the arrival process.
type SendSample struct {
	Phase     int
	Window    int     // number of the window within the phase, from 0
	Scheduled []int64 // ns since origin, rising
	Sent      []int64 // ns since origin, same order as Scheduled
}

// Severity of a note or finding.
type Severity string

// The severities.
const (
	NoteSeverity Severity = "note"
	Caution      Severity = "caution"
	Invalidates  Severity = "invalidates"
)

// Note is something that the run wants remembered: a stable code, the instant,
// where it applies and the numbers.
type Note struct {
	AtNS     int64    `json:"at_ns"`
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Phase    int      `json:"phase"` // -1: the whole run
	Measured float64  `json:"measured"`
	Limit    float64  `json:"limit"`
	Text     string   `json:"text"` // for people; never holds addresses, bodies or error texts
}

// FaultEvent is an instant at which a fault was acknowledged or lifted.
type FaultEvent struct {
	Fault int    `json:"fault"` // index into Header.Faults
	Event string `json:"event"` // acknowledged, lifted, failed
	AtNS  int64  `json:"at_ns"`
}
