package web

import (
	"context"
	"errors"
	"io"
	"time"

	"headroom/store/record"
)

// Library is where runs are. Its methods may be called from several goroutines.
type Library interface {
	// List returns all runs, readable or not, in the order of time.
	List(ctx context.Context) ([]Entry, error)
	// Open opens the evidence of an entry of List. The caller closes it.
	Open(ctx context.Context, e Entry) (Evidence, error)
	// Live returns what a run that is being recorded shows, or ErrNoFeed.
	Live(ctx context.Context, e Entry) (*LiveStatus, error)
	// Receive writes the run that a stream of records holds. An error that
	// wraps a *Refusal is the sender's fault.
	Receive(ctx context.Context, from io.Reader) (Receipt, error)
}

// Evidence is an open run.
type Evidence interface {
	record.Evidence
	io.Closer
}

// Entry is one run of a library.
type Entry struct {
	Key       string // names the run in addresses; unique within the library
	Version   string // changes whenever the evidence does; the digest of a sealed run
	RunID     string
	State     record.State
	Started   time.Time // or when the file was last changed, where it can't be read
	Bytes     int64
	Digest    string        // "" where there is no seal
	Header    record.Header // zero where Refused is not empty or the run is being recorded
	End       record.End
	Refused   string // why it can't be read, in a sentence; "" where it can
	Recording bool
	Feed      bool // a run that is being recorded shows itself
}

// Readable reports whether the evidence can be opened.
func (e *Entry) Readable() bool { return e.Refused == "" && !e.Recording }

// ErrNoFeed is a run that is not recorded, or whose recorder shows nothing.
var ErrNoFeed = errors.New("this run shows nothing of itself; record it with run --ui 127.0.0.1:0")

// Receipt says that a run is in the library.
type Receipt struct {
	RunID   string `json:"run_id"`
	Digest  string `json:"digest"`
	Already bool   `json:"already"` // it was there before
}

// Refusal is why a run was not received. Code is stable.
type Refusal struct {
	Code string // not_a_run, too_large, conflict, interrupted, busy
	Text string
}

func (r *Refusal) Error() string { return r.Text }

// LiveStatus is headroom.live/1: what the feed of a run answers.
type LiveStatus struct {
	Schema    string      `json:"schema"`
	RunID     string      `json:"run_id"`
	Name      string      `json:"name"`
	Release   string      `json:"release"`
	Format    string      `json:"format"`
	Model     string      `json:"model"`
	Started   string      `json:"started"`
	State     string      `json:"state"`
	ElapsedS  float64     `json:"elapsed_s"`
	IntervalS float64     `json:"interval_s"`
	TimeoutS  float64     `json:"timeout_s"`
	Phase     LivePhase   `json:"phase"`
	Recent    LiveRecent  `json:"recent"`
	Total     LiveTotal   `json:"total"`
	InFlight  int64       `json:"in_flight"`
	Waiting   int64       `json:"waiting"`
	SoFar     LiveSoFar   `json:"so_far"`
	Classes   []LiveClass `json:"classes"`
	Phases    []LivePhase `json:"phases"`
	Rows      []LiveRow   `json:"rows"`
}

// LivePhase is a span of the schedule, in seconds since the run's origin.
type LivePhase struct {
	Index     int     `json:"index"`
	Kind      string  `json:"kind"`
	Step      int     `json:"step"`
	TargetRPS float64 `json:"target_rps"`
	StartS    float64 `json:"start_s"`
	EndS      float64 `json:"end_s"`
}

// LiveRecent is what the last seconds show.
type LiveRecent struct {
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
	Omission      *float64          `json:"omission_factor"`
}

// LiveTotal accounts for the run so far.
type LiveTotal struct {
	Scheduled uint64            `json:"scheduled"`
	Sent      uint64            `json:"sent"`
	Attempts  uint64            `json:"attempts"`
	Outcomes  map[string]uint64 `json:"outcomes"`
}

// LiveClass is what one class did so far.
type LiveClass struct {
	Name      string            `json:"class"`
	Scheduled uint64            `json:"scheduled"`
	Outcomes  map[string]uint64 `json:"outcomes"`
}

// LiveSoFar is what the ended plateaus say.
type LiveSoFar struct {
	Plateaus         int      `json:"plateaus"`
	HighestHeldRPS   *float64 `json:"highest_held_rps"`
	LowestFailedRPS  *float64 `json:"lowest_failed_rps"`
	KneeRPS          *float64 `json:"knee_rps"`
	UntrustedReasons []string `json:"untrusted_reasons"`
}

// LiveRow is one closed interval.
type LiveRow struct {
	StartS        float64  `json:"start_s"`
	WidthS        float64  `json:"width_s"`
	Phase         int      `json:"phase"`
	Quiet         bool     `json:"quiet"`
	OfferedRPS    float64  `json:"offered_rps"`
	GoodputRPS    float64  `json:"goodput_rps"`
	ShedRPS       float64  `json:"shed_rps"`
	ErrorRPS      float64  `json:"error_rps"`
	InFlight      int64    `json:"in_flight"`
	Waiting       int64    `json:"waiting"`
	ResponseP50US *float64 `json:"response_p50_us"`
	ResponseP99US *float64 `json:"response_p99_us"`
	ServiceP99US  *float64 `json:"service_p99_us"`
	LagP50US      *float64 `json:"lag_p50_us"`
	LagP99US      *float64 `json:"lag_p99_us"`
	LagMaxUS      *float64 `json:"lag_max_us"`
}
