package analyze

// Schema names the layout of Analysis.
const Schema = "headroom.analysis/1"

// Verdict of a run or a gate. The zero value is inconclusive.
type Verdict string

// The verdicts.
const (
	Pass         Verdict = "pass"
	Fail         Verdict = "fail"
	Inconclusive Verdict = "inconclusive"
	NoData       Verdict = "no_data" // gates only
)

// Interval is a pair [low, high]; nil pointers to it mean "not known".
type Interval [2]float64

// Sentence is what a manager reads.
type Sentence struct {
	EN   string `json:"en"`
	PTBR string `json:"pt_br"`
}

// Analysis is headroom.analysis/1. Every number that may be absent is a
// pointer; NaN and Inf never occur.
type Analysis struct {
	Schema         string           `json:"schema"`
	Sentence       Sentence         `json:"sentence"`
	Verdict        Verdict          `json:"verdict"`
	Run            *RunInfo         `json:"run"`
	Accounting     *Accounting      `json:"accounting"`
	Trust          *Trust           `json:"trust"`
	Latency        *Latencies       `json:"latency"`
	Thresholds     []ThresholdCount `json:"thresholds"`
	Judged         *JudgedPart      `json:"judged"`
	Classes        []ClassResult    `json:"classes"`
	Steps          []StepResult     `json:"steps"`
	Knee           *Knee            `json:"knee"`
	PeakGoodput    *PeakGoodput     `json:"peak_goodput"`
	Margin         *Margin          `json:"margin"`
	PostSaturation []PostSaturation `json:"post_saturation"`
	Burst          *BurstResult     `json:"burst"`
	Soak           *SoakResult      `json:"soak"`
	Chaos          []ChaosResult    `json:"chaos"`
	Resources      []Resource       `json:"resources"`
	Gates          []GateResult     `json:"gates"`
	Findings       []Finding        `json:"findings"`
}

// RunInfo says which run was analysed.
type RunInfo struct {
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	Release        string      `json:"release"`
	Model          string      `json:"model"`
	Format         string      `json:"format"`
	Started        string      `json:"started"` // RFC 3339, UTC
	State          string      `json:"state"`   // complete, interrupted, failed
	StateReason    string      `json:"state_reason"`
	Seed           uint64      `json:"seed"`
	IntervalS      float64     `json:"interval_s"`
	DurationS      float64     `json:"duration_s"`
	TimeoutS       float64     `json:"timeout_s"`
	DeadlineS      float64     `json:"deadline_s"`
	PlanDigest     string      `json:"plan_digest"`
	EvidenceDigest string      `json:"evidence_digest"`
	ComparableKey  string      `json:"comparable_key"`
	ToolVersion    string      `json:"tool_version"`
	Shards         int         `json:"shards"`
	Facts          FactsResult `json:"facts"`
}

// FactsResult repeats the run's facts.
type FactsResult struct {
	Generator map[string]string `json:"generator"`
	Target    map[string]string `json:"target"`
	Changed   []string          `json:"changed"`
}

// Accounting is the law, written out: scheduled = sum of the ten outcomes.
type Accounting struct {
	Scheduled      uint64            `json:"scheduled"`
	Sent           uint64            `json:"sent"`
	OK             uint64            `json:"ok"`
	Late           uint64            `json:"late"`
	Shed           uint64            `json:"shed"`
	Wrong          uint64            `json:"wrong"`
	HTTPError      uint64            `json:"http_error"`
	Timeout        uint64            `json:"timeout"`
	ConnectError   uint64            `json:"connect_error"`
	GeneratorError uint64            `json:"generator_error"`
	Dropped        uint64            `json:"dropped"`
	Unfinished     uint64            `json:"unfinished"`
	Attempts       uint64            `json:"attempts"`
	Amplification  *float64          `json:"amplification"` // attempts / requests sent
	ByStatus       map[string]uint64 `json:"by_status"`
	ByError        map[string]uint64 `json:"by_error"`
	BytesIn        uint64            `json:"bytes_in"`
	BytesOut       uint64            `json:"bytes_out"`
	Connections    ConnectionCounts  `json:"connections"`
}

// ConnectionCounts counts what the generator's connections did.
type ConnectionCounts struct {
	Opened            uint64 `json:"opened"`
	Reused            uint64 `json:"reused"`
	FullHandshakes    uint64 `json:"full_handshakes"`
	ResumedHandshakes uint64 `json:"resumed_handshakes"`
}

// Outcomes is a table of the ten outcomes.
type Outcomes map[string]uint64

// Quantiles holds one number at each of four quantiles; nil where there is no data.
type Quantiles struct {
	P50  *float64 `json:"p50"`
	P90  *float64 `json:"p90"`
	P99  *float64 `json:"p99"`
	P999 *float64 `json:"p99_9"`
}

// LagUS is the generator's delay in microseconds.
type LagUS struct {
	Quantiles
	Max *float64 `json:"max"`
}

// LateSends counts sends that left late.
type LateSends struct {
	Over1ms   uint64 `json:"over_1ms"`
	Over10ms  uint64 `json:"over_10ms"`
	Over100ms uint64 `json:"over_100ms"`
	Over1s    uint64 `json:"over_1s"`
}

// Trust says how far the run's own numbers can be trusted.
type Trust struct {
	Verdict        string     `json:"verdict"` // trusted, suspect, untrusted
	Reasons        []string   `json:"reasons"` // finding codes
	OmissionFactor *Quantiles `json:"omission_factor"`
	// OmissionEstimate bounds the factor of an import whose schedule was
	// rebuilt from an expected interval. Nothing else has it.
	OmissionEstimate  *OmissionEstimate `json:"omission_estimate,omitempty"`
	LagUS             *LagUS            `json:"lag_us"`
	LateSends         LateSends         `json:"late_sends"`
	PeakSentRPS100ms  *float64          `json:"peak_sent_rps_100ms"`
	Arrivals          *ArrivalFit       `json:"arrivals"`
	CPU               GeneratorCPU      `json:"cpu"`
	GCPauseMaxMS      *float64          `json:"gc_pause_max_ms"`
	SleeperLateMaxMS  *float64          `json:"sleeper_late_max_ms"`
	LimitedShare      *float64          `json:"limited_share"` // of the time, an own limit was reached
	LittlesLawRatio   *float64          `json:"littles_law_ratio"`
	UntrustedPlateaus []int             `json:"untrusted_plateaus"` // step indexes
}

// OmissionEstimate holds a lower and an upper bound at each of four quantiles.
type OmissionEstimate struct {
	P50  *Interval `json:"p50"`
	P90  *Interval `json:"p90"`
	P99  *Interval `json:"p99"`
	P999 *Interval `json:"p99_9"`
}

// ArrivalFit is what the arrival tests say of the send instants.
type ArrivalFit struct {
	Model      string   `json:"model"`   // poisson, constant, …
	Verdict    string   `json:"verdict"` // accepted, rejected, not_tested
	Reason     string   `json:"reason"`  // stalled, rounded_clock, bursty, dependent, wrong_rate, …
	Dispersion *float64 `json:"dispersion_1s"`
	GapCV      *float64 `json:"gap_cv"`
	GapKSP     *float64 `json:"gap_ks_p"`
	Windows    int      `json:"windows"`
}

// GeneratorCPU is the generator's use of processors.
type GeneratorCPU struct {
	GeneratorShareMax *float64 `json:"generator_share_max"` // of the processors it may use, highest interval
	SharesWithTarget  *bool    `json:"shares_cpus_with_target"`
}

// Latencies holds the clocks. Values in microseconds.
type Latencies struct {
	Response       LatencyUS `json:"response_us"`
	Service        LatencyUS `json:"service_us"`
	OKResponse     LatencyUS `json:"ok_response_us"`
	FailedResponse LatencyUS `json:"failed_response_us"`
}

// LatencyUS summarises durations in microseconds. A percentile beyond which
// requests timed out is nil and named in Censored.
type LatencyUS struct {
	Count    uint64               `json:"count"`
	Min      *float64             `json:"min"`
	Mean     *float64             `json:"mean"`
	P50      *float64             `json:"p50"`
	P90      *float64             `json:"p90"`
	P95      *float64             `json:"p95"`
	P99      *float64             `json:"p99"`
	P999     *float64             `json:"p99_9"`
	Max      *float64             `json:"max"`
	Clamped  uint64               `json:"clamped"`
	CI95     map[string]*Interval `json:"ci95"`     // by "p50" …; nil where refused
	Refused  map[string]string    `json:"refused"`  // by "p99" …: tail_too_thin, too_correlated, too_few_intervals
	Censored map[string]float64   `json:"censored"` // by "p99" …: the value is greater than this many µs (the timeout)
}

// ThresholdCount is an exact count, from nanoseconds.
type ThresholdCount struct {
	Name      string  `json:"name"`
	LimitUS   float64 `json:"limit_us"`
	AtOrBelow uint64  `json:"at_or_below"`
	Total     uint64  `json:"total"`
}

// JudgedPart is what the judged phases did together, settling left out. Rates
// are requests per second, by when requests were scheduled.
type JudgedPart struct {
	Seconds    float64  `json:"seconds"`
	Scheduled  uint64   `json:"scheduled"`
	OfferedRPS float64  `json:"offered_rps"`
	GoodputRPS float64  `json:"goodput_rps"`
	Outcomes   Outcomes `json:"outcomes"`
}

// ClassResult is one class over the judged part of the run.
type ClassResult struct {
	Class     string    `json:"class"`
	Scheduled uint64    `json:"scheduled"`
	Outcomes  Outcomes  `json:"outcomes"`
	Response  LatencyUS `json:"response_us"`
	Service   LatencyUS `json:"service_us"`
}

// StepResult is one plateau. Rates are requests per second over the judged window.
type StepResult struct {
	Index          int       `json:"index"`
	Phase          int       `json:"phase"`
	Kind           string    `json:"kind"` // step, refine, beyond
	TargetRPS      float64   `json:"target_rps"`
	OfferedRPS     float64   `json:"offered_rps"`
	GoodputRPS     float64   `json:"goodput_rps"`
	GoodputCI95    *Interval `json:"goodput_ci95"`
	CompletionsRPS float64   `json:"completions_rps"`
	Held           *bool     `json:"held"`    // nil where it can't be said
	Why            string    `json:"why"`     // a code: keeps_up, deficit, indeterminate, untrusted, never_settled, too_short
	Deficit        *float64  `json:"deficit"` // share of the offered load that got no good answer, less the base failure ratio
	DeficitCI95    *Interval `json:"deficit_ci95"`
	Trust          string    `json:"trust"`   // trusted, suspect, untrusted
	Reasons        []string  `json:"reasons"` // finding codes
	WindowS        Interval  `json:"window_s"`
	Response       LatencyUS `json:"response_us"`
	Service        LatencyUS `json:"service_us"`
	LagP99US       *float64  `json:"lag_p99_us"`
	OmissionFactor *float64  `json:"omission_factor"` // at p99
	BacklogStart   *float64  `json:"backlog_start"`
	BacklogEnd     *float64  `json:"backlog_end"`
	BacklogSlope   *float64  `json:"backlog_slope_per_s"`
	Outcomes       Outcomes  `json:"outcomes"`
}

// Knee is the arrival rate above which goodput stops growing.
type Knee struct {
	Status            string    `json:"status"` // found, not_reached, already_saturated, generator_limited, soft, inconclusive
	Reason            string    `json:"reason"` // base_errors, too_few_steps, too_noisy, unstable, untrusted, …
	Kind              string    `json:"kind"`   // queueing, shedding, timing_out, policy; "" where there is no knee
	RPS               *float64  `json:"rps"`
	CI95              *Interval `json:"ci95"`
	AtLeast           *float64  `json:"at_least_rps"` // not_reached, generator_limited: the knee lies above
	HighestHeld       *float64  `json:"highest_held_rps"`
	LowestFailed      *float64  `json:"lowest_failed_rps"`
	DwellS            *float64  `json:"dwell_s"`
	Criterion         string    `json:"criterion"`
	Method            string    `json:"method"` // hinge, bracket
	NextRun           string    `json:"next_run"`
	LatencyRiseHeld   *float64  `json:"latency_rise_held"`   // p50 at the highest held / p50 at the base
	LatencyRiseFailed *float64  `json:"latency_rise_failed"` // p50 at the lowest failed / p50 at the highest held
	BaseErrorRatio    *float64  `json:"base_error_ratio"`
}

// PeakGoodput is the best plateau.
type PeakGoodput struct {
	RPS          *float64  `json:"rps"`
	CI95         *Interval `json:"ci95"`
	AtOfferedRPS *float64  `json:"at_offered_rps"`
}

// Margin is knee / production peak.
type Margin struct {
	Value       *float64  `json:"value"`
	CI95        *Interval `json:"ci95"`
	AtLeast     bool      `json:"at_least"` // one-sided: the knee was not reached
	Refused     string    `json:"refused"`  // a code where there is no value
	PeakRPS     float64   `json:"production_peak_rps"`
	PeakNextP95 *float64  `json:"peak_next_p95_rps"`
	ValueNext   *float64  `json:"value_next"`
	NextRefused string    `json:"next_refused"`
	WindowDays  float64   `json:"window_days"`
	ResolutionS float64   `json:"resolution_s"`
	Taken       string    `json:"taken"`
	AgeDays     *float64  `json:"age_days"` // at the start of the run
	Source      string    `json:"source"`
}

// PostSaturation is what is left past the knee.
type PostSaturation struct {
	At           float64   `json:"at"` // multiple of the knee
	OfferedRPS   *float64  `json:"offered_rps"`
	GoodputRPS   *float64  `json:"goodput_rps"`
	Ratio        *float64  `json:"ratio"` // goodput there / knee
	CI95         *Interval `json:"ci95"`
	Shape        string    `json:"shape"` // holds, degrades, collapses; "" where refused
	Refused      string    `json:"refused"`
	Interpolated bool      `json:"interpolated"`
}

// GateResult is one gate, judged.
type GateResult struct {
	Rule     string   `json:"rule"`
	Measured *float64 `json:"measured"`
	Unit     string   `json:"unit"`
	Limit    float64  `json:"limit"`
	Outcome  Verdict  `json:"outcome"`
	Why      string   `json:"why"`
	Findings []string `json:"findings"`
}

// Finding is something that makes a number doubtful, or worth knowing, beside it.
type Finding struct {
	Code     string   `json:"code"`
	Severity string   `json:"severity"` // note, caution, invalidates
	Scope    string   `json:"scope"`    // run, step 3, class view, …
	Measured *float64 `json:"measured"`
	Limit    *float64 `json:"limit"`
	Text     string   `json:"text"`
}
