// Package live is a run seen from outside while it goes on.
//
// A [Feed] stands between the runner and the recorder, keeps what the last
// seconds showed, and serves it as JSON and as Prometheus text. An [Announcement]
// is the small file beside the evidence that says where. Neither ever waits for a
// reader: readers get what was closed last.
package live

import "headroom/store/record"

// Schema names the layout of Status.
const Schema = "headroom.live/1"

// Status is headroom.live/1. Rates are per second, a value that is not known is
// null.
type Status struct {
	Schema    string  `json:"schema"`
	RunID     string  `json:"run_id"`
	Name      string  `json:"name"`
	Release   string  `json:"release"`
	Format    string  `json:"format"`
	Model     string  `json:"model"`
	Started   string  `json:"started"`    // RFC 3339, UTC
	State     string  `json:"state"`      // recording, then as the run ended
	ElapsedS  float64 `json:"elapsed_s"`  // at the last tick
	IntervalS float64 `json:"interval_s"` // ticks come this often
	TimeoutS  float64 `json:"timeout_s"`
	Phase     Phase   `json:"phase"`
	Recent    Recent  `json:"recent"`
	Total     Total   `json:"total"`
	InFlight  int64   `json:"in_flight"`
	Waiting   int64   `json:"waiting"`
	SoFar     SoFar   `json:"so_far"`
	Classes   []Class `json:"classes"`
	Phases    []Phase `json:"phases"`
	Rows      []Row   `json:"rows"` // the last closed intervals, oldest first
}

// Phase is a labelled span of the schedule. Times are seconds since the run's
// origin.
type Phase struct {
	Index     int     `json:"index"`
	Kind      string  `json:"kind"`
	Step      int     `json:"step"` // -1: not a plateau
	TargetRPS float64 `json:"target_rps"`
	StartS    float64 `json:"start_s"`
	EndS      float64 `json:"end_s"`
}

// Recent is what the intervals of the last seconds show that are closed: those
// all of whose requests have ended.
type Recent struct {
	WindowS       float64           `json:"window_s"`
	OfferedRPS    float64           `json:"offered_rps"`
	SentRPS       float64           `json:"sent_rps"`
	GoodputRPS    float64           `json:"goodput_rps"`
	Outcomes      map[string]uint64 `json:"outcomes"`
	ResponseP50US *float64          `json:"response_p50_us"`
	ResponseP99US *float64          `json:"response_p99_us"`
	ServiceP50US  *float64          `json:"service_p50_us"`
	ServiceP99US  *float64          `json:"service_p99_us"`
	LagP99US      *float64          `json:"lag_p99_us"`
	LagMaxUS      *float64          `json:"lag_max_us"`
	Omission      *float64          `json:"omission_factor"` // at p99
}

// Total accounts for all closed intervals of the run.
type Total struct {
	Scheduled uint64            `json:"scheduled"`
	Sent      uint64            `json:"sent"`
	Attempts  uint64            `json:"attempts"`
	Outcomes  map[string]uint64 `json:"outcomes"`
}

// Class is what one class did so far.
type Class struct {
	Name      string            `json:"class"`
	Scheduled uint64            `json:"scheduled"`
	Outcomes  map[string]uint64 `json:"outcomes"`
}

// SoFar is what can be said of a step load before its end.
type SoFar struct {
	Plateaus         int      `json:"plateaus"` // ended
	HighestHeldRPS   *float64 `json:"highest_held_rps"`
	LowestFailedRPS  *float64 `json:"lowest_failed_rps"`
	KneeRPS          *float64 `json:"knee_rps"`
	UntrustedReasons []string `json:"untrusted_reasons"` // of ended plateaus
}

// Row is one closed interval.
type Row struct {
	StartS        float64  `json:"start_s"`
	WidthS        float64  `json:"width_s"`
	Phase         int      `json:"phase"`
	Quiet         bool     `json:"quiet"` // part of a drain
	OfferedRPS    float64  `json:"offered_rps"`
	GoodputRPS    float64  `json:"goodput_rps"`
	ShedRPS       float64  `json:"shed_rps"`
	ErrorRPS      float64  `json:"error_rps"` // all but ok and shed
	InFlight      int64    `json:"in_flight"`
	Waiting       int64    `json:"waiting"`
	ResponseP50US *float64 `json:"response_p50_us"`
	ResponseP99US *float64 `json:"response_p99_us"`
	ServiceP99US  *float64 `json:"service_p99_us"`
	LagP50US      *float64 `json:"lag_p50_us"`
	LagP99US      *float64 `json:"lag_p99_us"`
	LagMaxUS      *float64 `json:"lag_max_us"`
}

// Tick is what the sending loop knows at an interval's end.
type Tick struct {
	AtNS     int64
	Phase    record.Phase
	InFlight int64
}
