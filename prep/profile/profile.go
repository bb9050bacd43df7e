package profile

import "time"

// Profile is what was learned. Counts are of the lines that were read; where
// the logs are a sample of all requests, rates are scaled up and Sampled is set.
type Profile struct {
	Schema    string  `json:"schema"`
	ShapeOnly bool    `json:"shape_only,omitempty"` // no counts of single identifiers, only laws
	Sampled   float64 `json:"sampled,omitempty"`    // share of requests that the logs hold; absent for all

	Lines    Lines   `json:"lines"`
	Window   Window  `json:"window"`
	Requests uint64  `json:"requests"`
	Clients  Clients `json:"clients"`
	URLs     URLs    `json:"urls"`

	Peak       Peak               `json:"peak"`
	Dispersion map[string]float64 `json:"dispersion"` // by window: 0.1s, 1s, 10s, 60s; what was refused is absent
	Burstiness []Burstiness       `json:"dispersion_detail"`
	RateCurve  RateCurve          `json:"rate_curve"`

	Status  map[string]uint64 `json:"status"` // "-" where none was sent
	Methods map[string]uint64 `json:"methods"`
	Bytes   Sizes             `json:"bytes"`
	Service *Sizes            `json:"service_us"` // null where no duration is logged

	Routes      []Route       `json:"routes"` // most requests first
	Identifiers []Identifiers `json:"identifiers"`

	Refused []Refusal `json:"refused"` // what this profile does not say, and why
	Notes   []Refusal `json:"notes"`   // what to keep in mind
}

// Lines says what became of the lines: Read = Parsed + Directives + Blank + Σ Rejected.
type Lines struct {
	Read          uint64            `json:"read"`
	Parsed        uint64            `json:"parsed"`
	Directives    uint64            `json:"directives"` // #Fields and its like
	Blank         uint64            `json:"blank"`
	Rejected      map[string]uint64 `json:"rejected"`
	FirstRejected map[string][]int  `json:"first_rejected"`  // numbers of the first five lines, counted within their file
	RejectedInput map[string][]int  `json:"rejected_inputs"` // and which log of the command line each is in, from 1
	Formats       map[string]uint64 `json:"formats"`
	Inputs        int               `json:"inputs"`
	CutInputs     int               `json:"cut_inputs"` // that end in the middle, or are damaged from somewhere on
}

// Window is the time that the logs cover.
type Window struct {
	From    string  `json:"from"` // RFC 3339, UTC; empty without requests
	To      string  `json:"to"`
	Seconds float64 `json:"seconds"`
	Days    float64 `json:"days"`
}

// Clients are the addresses that requests came from.
type Clients struct {
	Distinct uint64 `json:"distinct"`
	Exact    bool   `json:"exact"`
	Busiest  uint64 `json:"busiest"` // requests of the client with the most
	Unknown  uint64 `json:"unknown"` // requests without an address
}

// URLs are the different targets.
type URLs struct {
	Paths     uint64 `json:"paths"` // without query
	WithQuery uint64 `json:"with_query"`
	Exact     bool   `json:"exact"`
}

// Peak are the busiest spans, by the clock in UTC; null where refused.
type Peak struct {
	Second     *Busiest `json:"second"`
	TenSeconds *Busiest `json:"ten_seconds"`
	Minute     *Busiest `json:"minute"`
	Daily      []Day    `json:"daily"`
}

// Busiest is the span with the most requests.
type Busiest struct {
	RPS      float64 `json:"rps"` // mean over the span
	Requests uint64  `json:"requests"`
	At       string  `json:"at"`   // start of the span, the first of several equal ones
	Ties     int     `json:"ties"` // spans that are as busy, this one included
	// PoissonRPS is what the busiest second of the same minute would hold,
	// as a median, if arrivals were random at the minute's rate; 0 for other spans.
	PoissonRPS float64 `json:"poisson_rps,omitempty"`
}

// Day is one day in UTC.
type Day struct {
	Date      string  `json:"date"`
	Requests  uint64  `json:"requests"`
	SecondRPS float64 `json:"second_rps"`
	MinuteRPS float64 `json:"minute_rps"`
}

// Burstiness is the index of dispersion of the counts in equal windows: 1 for
// random arrivals.
type Burstiness struct {
	Window   string  `json:"window"`
	Index    float64 `json:"index"`    // the one that dispersion gives
	Within   float64 `json:"within"`   // pooled within segments of ten minutes, so that the daily curve does not count
	Whole    float64 `json:"whole"`    // over the whole time
	Mean     float64 `json:"mean"`     // requests per window
	Windows  uint64  `json:"windows"`  //
	Segments uint64  `json:"segments"` //
}

// RateCurve is the rate over time.
type RateCurve struct {
	From  string    `json:"from"`
	StepS float64   `json:"step_s"`
	RPS   []float64 `json:"rps"`
}

// Sizes summarises values; quantiles are good to 3 %.
type Sizes struct {
	Count   uint64  `json:"count"`
	Unknown uint64  `json:"unknown"` // requests without the value
	Sum     uint64  `json:"sum"`
	Mean    float64 `json:"mean"`
	P50     uint64  `json:"p50"`
	P90     uint64  `json:"p90"`
	P99     uint64  `json:"p99"`
	P999    uint64  `json:"p999"`
	Max     uint64  `json:"max"`
}

// Route is a method and a template, as in GET /customers/{id}/orders.
type Route struct {
	Template string   `json:"template"`
	Method   string   `json:"method"`
	Share    float64  `json:"share"`
	Requests uint64   `json:"requests"`
	Errors   uint64   `json:"errors"` // statuses 500 and above, or none
	Bytes    Sizes    `json:"bytes"`
	Service  *Sizes   `json:"service_us"`
	Cost     float64  `json:"cost,omitempty"` // mean time taken over the median of all requests
	ByHour   []uint64 `json:"by_hour"`        // requests in each hour of the day, UTC
	Params   []string `json:"params"`         // names of query parameters
}

// Identifiers describes how often each value is asked for in one place.
type Identifiers struct {
	Route    string             `json:"route"` // a template, or * for all requests
	At       string             `json:"at"`    // "segment 2", the name of a query parameter, or "url"
	Covers   []string           `json:"covers,omitempty"`
	Requests uint64             `json:"requests"`
	Distinct uint64             `json:"distinct"`
	Exact    bool               `json:"exact"` // counted, not estimated
	Single   uint64             `json:"singletons"`
	Unseen   float64            `json:"unseen_mass"` // share of requests that go to values not seen before: Good and Turing's
	TopShare map[string]float64 `json:"top_share"`   // of the most popular 1, 10, 100, 1000, 1%, 10%
	Zipf     *Zipf              `json:"zipf"`        // null where there are too few values
	// Population is how many values there are, those not seen included, if
	// the tail goes on as Zipf's law has it.
	Population uint64             `json:"population"`
	LRUHit     map[string]float64 `json:"lru_hit"`           // hit ratio of a cache of so many values, empty at first, in the logs' order
	IRMHit     map[string]float64 `json:"lru_hit_shuffled"`  // the same, the order taken away
	Head       [][2]uint64        `json:"head"`              // [count, how many values have it], falling
	Tail       uint64             `json:"tail"`              // requests of the values beyond the head
	Pseudonyms []string           `json:"pseudonyms"`        // of the most popular; the same value has the same one everywhere in this profile
	Refused    []string           `json:"refused,omitempty"` // codes
}

// Zipf is the exponent of Zipf's law and its standard error.
type Zipf struct {
	Exponent float64 `json:"exponent"`
	SE       float64 `json:"se"`
}

// Refusal is a thing that the profile does not say, or a note.
type Refusal struct {
	Code  string `json:"code"`
	Text  string `json:"text"`
	Route string `json:"route,omitempty"`
	At    string `json:"at,omitempty"`
}

// Has reports whether something was refused under the code.
func (p *Profile) Has(code string) bool {
	for _, r := range p.Refused {
		if r.Code == code {
			return true
		}
	}
	return false
}

func stampText(seconds int64) string {
	return time.Unix(seconds, 0).UTC().Format(time.RFC3339)
}
