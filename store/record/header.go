package record

import "time"

// Model says whether requests waited for answers.
type Model string

// The models.
const (
	Open    Model = "open"
	Closed  Model = "closed"
	Unknown Model = "unknown" // an import that does not say
)

// Header opens every run. It is written before the first request.
type Header struct {
	RunID       string    `json:"run_id"`
	Name        string    `json:"name"`
	Release     string    `json:"release"`
	Model       Model     `json:"model"`
	Format      string    `json:"format"` // step, burst, soak, chaos, steady, closed, import
	Started     time.Time `json:"started"`
	Seed        uint64    `json:"seed"`
	IntervalNS  int64     `json:"interval_ns"`
	TimeoutNS   int64     `json:"timeout_ns"`
	DeadlineNS  int64     `json:"deadline_ns"`
	MaxUS       int64     `json:"max_us"` // highest trackable value of every histogram
	Arrivals    string    `json:"arrivals"`
	MaxInFlight int       `json:"max_in_flight"`
	MaxConns    int       `json:"max_connections"` // 0 = no limit
	KeepAlive   bool      `json:"keepalive"`
	HTTPVersion string    `json:"http_version"`
	Retries     int       `json:"retries"`
	ToolVersion string    `json:"tool_version"`
	PlanDigest  string    `json:"plan_digest"`    // SHA-256 of the plan's canonical form
	Comparable  string    `json:"comparable_key"` // the same without release label, target address and seed
	Shard       int       `json:"shard"`
	Shards      int       `json:"shards"` // 1 unless sharded
	BuiltIn     bool      `json:"builtin_target"`
	Imported    string    `json:"imported,omitempty"` // the other tool's name, for an import
	TargetRPS   float64   `json:"target_rps,omitempty"`

	Classes    []Class            `json:"classes"`
	Thresholds []Threshold        `json:"thresholds"`
	Gates      []string           `json:"gates"`
	Load       Load               `json:"load"`
	Production *Production        `json:"production,omitempty"`
	Observed   []SeriesInfo       `json:"observed,omitempty"`
	Faults     []Fault            `json:"faults,omitempty"`
	Limits     map[string]float64 `json:"limits,omitempty"` // of observed series, by name
	Plan       string             `json:"plan,omitempty"`   // the plan's canonical form, secrets and addresses left out
}

// Class is a named kind of request.
type Class struct {
	Name   string  `json:"name"`
	Weight float64 `json:"weight"`
	Flow   bool    `json:"flow,omitempty"`    // counts a whole flow, from its scheduled instant to its end
	Step   string  `json:"step_of,omitempty"` // the flow that this class is a step of
}

// Load is the shape of the schedule, for the analysis; durations in nanoseconds.
type Load struct {
	FromRPS   float64   `json:"from_rps,omitempty"`
	ByRPS     float64   `json:"by_rps,omitempty"`
	Factor    float64   `json:"factor,omitempty"`
	ToRPS     float64   `json:"to_rps,omitempty"`
	PlateauNS int64     `json:"plateau_ns,omitempty"`
	SettleNS  int64     `json:"settle_ns,omitempty"`
	DrainNS   int64     `json:"drain_ns,omitempty"`
	StopAfter int       `json:"stop_after,omitempty"`
	Refine    int       `json:"refine,omitempty"`
	Beyond    []float64 `json:"beyond,omitempty"`
	RateRPS   float64   `json:"rate_rps,omitempty"` // steady, soak, chaos; the base of a burst
	LengthNS  int64     `json:"length_ns,omitempty"`
	BurstRPS  float64   `json:"burst_rps,omitempty"`
	Users     int       `json:"users,omitempty"`
}

// Production is what the plan says of production's peak.
type Production struct {
	PeakRPS     float64   `json:"peak_rps"`
	WindowDays  float64   `json:"window_days"`
	ResolutionS float64   `json:"resolution_s"`
	Taken       string    `json:"taken"` // date, yyyy-mm-dd
	Source      string    `json:"source"`
	DailyPeaks  []float64 `json:"daily_peaks,omitempty"` // requests per second, one a day, oldest first
}

// Clock says which duration of a request a number is about.
type Clock string

// The clocks.
const (
	Response Clock = "response" // done - scheduled: what the user feels
	Service  Clock = "service"  // done - sent: what the server's dashboard sees
	Lag      Clock = "lag"      // sent - scheduled: the generator's own delay
)

// Threshold is a limit that is counted exactly, in nanoseconds, while the run goes on.
type Threshold struct {
	Name    string `json:"name"` // as in "response<=150ms"
	Clock   Clock  `json:"clock"`
	LimitNS int64  `json:"limit_ns"`
}

// Fault is a planned disturbance, as the plan states it.
type Fault struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	On    string `json:"on"`
	AtNS  int64  `json:"at_ns"`
	ForNS int64  `json:"for_ns"`
}

// SeriesInfo names a resource series on the run's time axis.
type SeriesInfo struct {
	ID     int    `json:"id"`
	Name   string `json:"name"`
	Source string `json:"source"`
	Unit   string `json:"unit"`
}

// Sample is one reading of a resource series.
type Sample struct {
	Series int
	AtNS   int64
	Value  float64
}

// Facts describe where and against what a run ran.
type Facts struct {
	Generator map[string]string `json:"generator"`
	Target    map[string]string `json:"target"`
	Changed   []string          `json:"changed,omitempty"` // facts that were different at the end
}

// State is how a run ended.
type State string

// The states of a run.
const (
	Recording   State = "recording" // not ended, or ended without saying so: a reader calls it interrupted
	Complete    State = "complete"
	Interrupted State = "interrupted"
	Failed      State = "failed"
)

// End closes a run.
type End struct {
	State  State       `json:"state"`
	Reason string      `json:"reason,omitempty"` // a stable code, then words
	AtNS   int64       `json:"at_ns"`
	Conns  Connections `json:"connections"`
	// Omission bounds the omission factor of an import whose schedule was
	// rebuilt from an expected interval; nil elsewhere.
	Omission *OmissionEstimate `json:"omission_estimate,omitempty"`
}

// OmissionEstimate bounds an omission factor at the EstimateQuantiles.
type OmissionEstimate struct {
	IntervalNS int64      `json:"interval_ns"` // between requests, as the importer was told
	Omitted    uint64     `json:"omitted"`     // requests that were due and are not in the file
	Low        [4]float64 `json:"low"`
	High       [4]float64 `json:"high"`
}

// EstimateQuantiles are those of an OmissionEstimate.
func EstimateQuantiles() [4]float64 { return [4]float64{0.5, 0.9, 0.99, 0.999} }

// How Header.Arrivals names the schedule of an import.
const (
	ArrivalsRecorded = "recorded" // the file says when each request was due
	ArrivalsRebuilt  = "rebuilt"  // from the first request, the sequence and an expected interval
	ArrivalsUnknown  = "unknown"  // neither: response time is service time
)

// Connections counts what the generator's connections did.
type Connections struct {
	Opened            uint64 `json:"opened"`
	Reused            uint64 `json:"reused"`
	FullHandshakes    uint64 `json:"full_handshakes"`
	ResumedHandshakes uint64 `json:"resumed_handshakes"`
}
