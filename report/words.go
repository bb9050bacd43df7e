package report

// words is everything that a report says, once for each language. Sentences
// with %s are filled by words.f, in the order of the English ones.
type words struct {
	Lang, Point, Group string

	Report, Contents, Verdict, Trust, Gates, Findings, Pictures, Plateaus string
	Latency, Accounting, Classes, Thresholds, Refused, Facts, HowToRead   string
	Burst, Soak, Chaos, Resources, Files, Run, PlainWords, Generated      string

	NoSentence, NoGates, NoFindings, NoneRefused, Yes, No, Unknown, Of, AtLeast, Reason string

	// Cards.
	Knee, Margin, PastKnee, PeakGoodput                                 string
	KneeFound, KneeNone, KneeNotReached, KneeKind, KneeBracket          string
	KneeDwell, NextRun, PerSecond, CI                                   string
	MarginMeans, MarginBelow, MarginNone, MarginPeak, MarginNext        string
	MarginAtLeast                                                       string
	PastMeans, PastNone, TrustedMeans, SuspectMeans, UntrustedMeans     string
	PeakAt, Interpolated                                                string
	PassMeans, PassNoGates, FailMeans, InconclusiveMeans                string
	StateIs, StartedAt, Took, ReleaseIs, ModelClosed, UntrustedPlateaus string

	// Table heads.
	Rule, Measured, Limit, Outcome, Why, Code, Severity, Scope, Says, Step, Kind, Target, Offered, Goodput, Held                string
	Completions, Factor, Backlog, Response, Service, OKResponse, FailedResponse, Requests, Share, Mean                          string
	Clock, Class, Name, Value, AtOrBelow, Status, Error, Connections, Opened, Reused, FullHS, ResumedHS                         string
	Bytes, Attempts, Scheduled, Sent, Lag, LateSends, Arrivals, Law, OmissionFactor, OmissionEstimate, PeakSent, CPU, SharesCPU string
	GCPause, Sleeper, Limited, Clamped, Generator, TargetFacts, Changed, Samples, Unit, AtKnee, Source                          string
	Digest, PlanDigest, Comparable, Tool, Seed, Interval, Timeout, Deadline, Shards, RunID, State, Window                       string
	What, TrustOf, LossRatio                                                                                                    string

	// Sentences before tables and below pictures.
	GatesIntro, FindingsIntro, PicturesIntro, StepsIntro, LatencyIntro, AccountingIntro, TrustIntro string
	RefusedIntro, ThresholdsIntro, ClassesIntro, FactsIntro, FilesIntro                             string
	AtHighestHeld, AllJudged, PastLatency                                                           string
	Captions                                                                                        map[string]string // by picture

	// Burst, soak, chaos.
	BurstIs, Backlogs, RecoveredIn, NotRecovered, RecoveryUnknown, DuringBurst, Spirals, NoSpiral, Amplification string
	Slope, Exhaustion, Leaks, NoLeaks, Hours, Fault, At, For, GoodputDuring, Degraded, Detected, Recovery        string

	Terms []term // how to read it

	Outcomes map[string]string // by outcome
	Meaning  map[string]string // what an outcome means
	Codes    map[string]string // verdicts, reasons, findings, kinds
	Phrases  map[string]string // kinds of knee in a sentence
}

// term is one word of the glossary.
type term struct{ Word, Means string }
