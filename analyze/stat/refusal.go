package stat

// Refusal names the reason why a method gives no answer. The empty string
// means that it answered.
type Refusal string

// The reasons.
const (
	NoData           Refusal = "no_data"             // nothing to compute from
	NotFinite        Refusal = "not_finite"          // a NaN or an infinity among the values
	BadShape         Refusal = "bad_shape"           // slices of different length, counts that contradict each other, values outside the domain
	TooShort         Refusal = "too_short"           // too few values for the method
	TooFewIntervals  Refusal = "too_few_intervals"   // fewer intervals than batches
	TailTooThin      Refusal = "tail_too_thin"       // too few requests above the percentile
	TooCorrelated    Refusal = "too_correlated"      // too few independent intervals
	TooFewDays       Refusal = "too_few_days"        // fewer than 30 daily maxima
	PeakTrending     Refusal = "peak_trending"       // the daily maxima have a trend
	Persistent       Refusal = "persistent"          // cannot be told from a random walk
	LoadNotConstant  Refusal = "load_not_constant"   // the load itself has a trend
	StepOrWarmUp     Refusal = "step_or_warmup"      // the change is not spread over the series
	OneRunEach       Refusal = "one_run_each"        // a ratio without a verdict
	TooFewRuns       Refusal = "too_few_runs"        // fewer than 3 runs a side
	BaselineUnstable Refusal = "baseline_unstable"   // no band can be drawn from before the burst
	NotRecovered     Refusal = "not_recovered"       // right-censored at the end of the record
	KneeUnknown      Refusal = "knee_unknown"        // the capacity is needed and not known
	NeverDrains      Refusal = "never_drains"        // the base load is not below the capacity
	UnseenMassTooBig Refusal = "unseen_mass_too_big" // the window saw too few of the keys
	TooFewIDs        Refusal = "too_few_ids"         // too few distinct keys
)

// Interval is a pair [low, high] in the unit of the value it belongs to.
type Interval [2]float64
