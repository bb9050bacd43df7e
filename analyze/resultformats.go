package analyze

// BurstResult says whether the service came back. Times in seconds.
type BurstResult struct {
	BaseRPS            float64   `json:"base_rps"`
	BurstRPS           float64   `json:"burst_rps"`
	LengthS            float64   `json:"length_s"`
	PeakBacklog        *float64  `json:"peak_backlog"`
	Recovered          *bool     `json:"recovered"`
	RecoveryS          *float64  `json:"recovery_s"`
	RecoveryCI95       *Interval `json:"recovery_ci95"`
	CensoredAtS        *float64  `json:"censored_at_s"` // not recovered within this long
	GoodputDuringRatio *float64  `json:"goodput_during_ratio"`
	AmplificationAfter *float64  `json:"amplification_after"`
	Spiral             *bool     `json:"spiral"`
	PredictedDrainS    *float64  `json:"predicted_drain_s"`
	PredictedBacklog   *float64  `json:"predicted_backlog"`
	KneeRPS            *float64  `json:"knee_rps"`    // as given, for the prediction
	Vulnerable         *bool     `json:"vulnerable"`  // retries alone could hold the service down; nil where the knee is not known
	LastSignal         string    `json:"last_signal"` // the one that was last to come back, or is still out
	Refused            string    `json:"refused"`
}

// SoakResult says what drifted.
type SoakResult struct {
	Hours   float64          `json:"hours"`
	Drift   map[string]Drift `json:"drift"`
	Leaks   []string         `json:"leaks"`
	Refused string           `json:"refused"`
}

// Drift of one series.
type Drift struct {
	SlopePerHour   *float64   `json:"slope_per_hour"`
	CI95           *Interval  `json:"ci95"`
	P              *float64   `json:"p"`      // one-sided
	PHolm          *float64   `json:"p_holm"` // the same, adjusted for the number of series
	Kind           string     `json:"kind"`   // none, leak, drift, step, saw_tooth, warm_up
	Limit          *float64   `json:"limit"`
	ExhaustionH    *float64   `json:"exhaustion_h"`
	ExhaustionCI95 []*float64 `json:"exhaustion_ci95"` // [low, high]; high nil = never
	Refused        string     `json:"refused"`
	Unit           string     `json:"unit"`    // of the slope, per hour: that of the series; "share" of itself for a latency
	Samples        int        `json:"samples"` // after the warm-up
	Level          *float64   `json:"level"`   // of the line at the end, in the unit of the series
	StepAtS        *float64   `json:"step_at_s"`
}

// ChaosResult is one fault. Times in seconds since the run's origin or long.
type ChaosResult struct {
	Fault              string   `json:"fault"`
	AtS                float64  `json:"at_s"`
	ForS               float64  `json:"for_s"`
	AcknowledgedAtS    *float64 `json:"acknowledged_at_s"`
	GoodputRatioDuring *float64 `json:"goodput_ratio_during"`
	DegradedMode       string   `json:"degraded_mode"` // yes, partial, no; "" unknown
	OutcomesDuring     Outcomes `json:"outcomes_during"`
	DetectedAfterS     *float64 `json:"detected_after_s"`
	RecoveryS          *float64 `json:"recovery_s"`
	Recovered          *bool    `json:"recovered"`
	CensoredAtS        *float64 `json:"censored_at_s"` // not recovered within this long
	Spiral             *bool    `json:"spiral"`        // it keeps itself down; nil unless it did not recover
	Refused            string   `json:"refused"`
}

// Resource summarises one observed series.
type Resource struct {
	Name    string   `json:"name"`
	Source  string   `json:"source"`
	Unit    string   `json:"unit"`
	Samples uint64   `json:"samples"`
	Min     *float64 `json:"min"`
	Mean    *float64 `json:"mean"`
	Max     *float64 `json:"max"`
	AtKnee  *float64 `json:"at_knee"`
	Series  string   `json:"series"`
}
