package plan

import (
	"regexp"
	"time"

	"headroom/prep/profile"
	"headroom/runner/sim"
	"headroom/store/record"
)

// Plan is a plan that was read without a problem, defaults filled in.
type Plan struct {
	Name    string
	Release string // label of the release under test; a flag may replace it
	Seed    uint64 // a flag may replace it

	Target       Target
	HTTP         HTTP
	Arrivals     Arrivals
	Load         Shape
	Warmup       *Warmup // nil: none
	Interval     time.Duration
	Data         []Source
	Requests     []Request
	Retries      Retries
	Neighbours   []Neighbour
	Dependencies []Dependency
	Faults       []Fault
	Observe      []Observed
	Limits       []Limit
	Production   *Production
	Gates        []record.Gate
	Abort        []Abort

	MixFile    string   // requests.from_profile: as written; Requests are made from it
	MixMethods []string // requests.methods

	files   []fileDigest // of the files that Load read
	profile *profile.Profile
}

// Target is the service under test: exactly one of URL, BuiltIn and Exec.
type Target struct {
	URL     *URL
	BuiltIn *BuiltIn
	Exec    *Exec
}

// URL says where the service is.
type URL struct {
	Text    Text   // as written
	Scheme  string // http, https
	Network string // tcp, unix
	Address string // host:port, or the path of a Unix socket
	Host    string // the Host field, without the scheme's own port
	Base    string // path in front of every request's path, "" or /x without a final slash
}

// String is the URL as the plan writes it.
func (u *URL) String() string { return u.Text.plain }

// MarshalText is String.
func (u *URL) MarshalText() ([]byte, error) { return []byte(u.Text.plain), nil }

// BuiltIn is the service of known capacity, in a process of its own.
type BuiltIn struct {
	Options sim.Options
	written []setting // as written, in the order of builtInKeys
}

// setting is one option of the built-in service.
type setting struct{ name, value string }

// Exec starts the service as a process of the run. {port} in a word of the
// command or a value of the environment is the port that was chosen.
type Exec struct {
	Command []Text
	Ready   string // path that answers 2xx once it is ready; "" waits for the port only
	Env     []Variable
	CPUs    string // processors it may use, as in 0-1,3; "" all
	Timeout time.Duration
}

// Variable is one variable of an environment.
type Variable struct {
	Name  string
	Value Text
}

// HTTP is how requests are sent.
type HTTP struct {
	Version       string        // 1.1 (default; h2c where target.builtin speaks it), 2, h2c, auto
	Timeout       time.Duration // from the send
	Deadline      time.Duration // from the scheduled instant
	KeepAlive     bool
	MaxConns      int // 0: as many as the open loop needs
	MaxPerConn    int // requests per connection; 0: no limit
	MaxInFlight   int
	IdleTimeout   time.Duration
	SourceAddress string // "" any
	Headers       []Header
	TLS           TLS
	Resolve       []Resolve
}

// Header is one header field.
type Header struct {
	Name  string
	Value Template
}

// TLS is how TLS connections are made. Load makes relative paths lead to the
// plan's folder; Parse leaves them as they are.
type TLS struct {
	CA, Cert, Key Text
	ServerName    string
	Insecure      bool
	Resumption    bool
}

// Resolve replaces one host:port by another when dialling.
type Resolve struct{ From, To Text }

// Arrivals is the law of the arrivals.
type Arrivals struct {
	Kind       string  // poisson, constant, trace, bursty
	File       string  // trace: as written
	Instants   []int64 // trace, after Load: ns from its start, rising
	Scale      float64 // trace: its time is multiplied by it; 0: so that its mean rate is the load's
	Dispersion float64 // bursty: index of dispersion of counts at 1 s, above 1
	// CV2 is the squared relative variation of the rate from second to
	// second, where Dispersion comes from a profile (File): at another rate
	// the index is another, 1 + CV2 × rate. 0: Dispersion holds at any rate.
	CV2     float64
	Profile bool // File is a profile
	// Shaped asks for production's rate curve, squeezed into the load's
	// length; Curve, after Load, has its steps of equal length, of mean 1.
	Shaped bool
	Curve  []float64
}

// Warmup runs before the load and is never judged.
type Warmup struct {
	Length time.Duration
	Rate   float64 // requests per second; 0: the first rate of the load
}

// Shape is the shape of the schedule: exactly one is not nil.
type Shape struct {
	Step   *StepLoad
	Burst  *BurstLoad
	Soak   *SoakLoad
	Chaos  *SteadyLoad
	Steady *SteadyLoad
	Closed *ClosedLoad
	Ramp   *RampLoad
}

// StepLoad raises the rate plateau by plateau. Rates in requests per second.
type StepLoad struct {
	Auto      bool          // From is found by doubling
	Within    time.Duration // Auto: the time for all of it, from which the plateaus get their lengths; 0: Plateau holds
	From      float64       // 0 with Auto
	By        float64       // 0 where Factor is used
	Factor    float64       // 0 where By is used
	To        float64       // 0 with Auto: no end
	Plateau   time.Duration
	Settle    time.Duration
	Drain     time.Duration
	StopAfter int
	Refine    int
	Beyond    []float64
}

// BurstLoad multiplies the rate for a while.
type BurstLoad struct {
	Base                  float64 // requests per second
	Factor                float64
	Length, Before, After time.Duration
}

// SoakLoad keeps one rate for long.
type SoakLoad struct {
	Rate     float64 // requests per second; 0 where OfKnee is used, until the caller fills it in
	OfKnee   float64 // share of a knee found earlier
	KneeFrom string  // the run that found it, a path relative to the plan's folder
	Length   time.Duration
}

// SteadyLoad keeps one rate.
type SteadyLoad struct {
	Rate   float64 // requests per second; 0 with a trace: as recorded
	Length time.Duration
}

// ClosedLoad is a population that waits for its answers.
type ClosedLoad struct {
	Users  int
	Pacing time.Duration // from start to start; 0 where Think is used
	Think  time.Duration // from end to start
	Length time.Duration // of each population
	By, To int           // larger populations; 0: only Users
}

// RampLoad raises or lowers the rate in a straight line.
type RampLoad struct {
	From, To float64 // requests per second
	Length   time.Duration
}

// Source is where values for {name} come from.
type Source struct {
	Name     string
	Kind     string   // choice, zipf, file, range, profile
	Choices  []Choice // choice
	First    uint64   // zipf: lowest value
	Count    uint64   // zipf: values First to First+Count-1
	Exponent float64  // zipf: above 0
	File     string   // file, profile: as written
	Order    string   // file: random, sequential
	Content  []byte   // file, after Load: one value a line
	From, To int64    // range, both included
	Route    string   // profile: "" takes the folded segment with the most requests
	At       string   // profile: "segment 2" or the name of a query parameter; "" the route's last folded segment
	Values   string   // profile: file of identifiers to draw from, one a line, as written; "" draws First and up

	Head     []float64 // profile, after Load: requests of the most popular, most popular first
	TailMass float64   // profile, after Load: requests of all others together; Exponent and Count are theirs and all
	place    *profile.Identifiers
	implied  bool // made by requests.from_profile
}

// Choice is a value with its weight.
type Choice struct {
	Value  string
	Weight float64
}

// Request is a named kind of request, or a flow of several.
type Request struct {
	Class  string
	Weight float64
	Index  int  // of the class in record.Header.Classes
	Flow   bool // Steps are the steps of one user; otherwise there is one
	Steps  []Step
}

// Step is one request, ready to be filled in.
type Step struct {
	Name     string // the class it is counted under: the request's own, or buy/1
	Index    int    // of that class in record.Header.Classes
	Method   string
	Path     Template
	Headers  []Header // besides HTTP.Headers, which they replace by name
	Body     Template
	BodyFile string // as written; after Load its content is in Body
	Expect   Expect
	Shed     []int // statuses, rising
	Capture  []Capture
	Think    time.Duration // between the end of the step before and this one's start
}

// Expect is what makes an answer valid.
type Expect struct {
	Status   []int // rising
	JSON     []JSONExpect
	Contains Text  // "" expects nothing
	MaxBytes int64 // 0: no limit
	Oracle   string
}

// JSONExpect wants a value at a place of the answer's body.
type JSONExpect struct {
	Path  JSONPath
	Value Template
}

// Capture takes a value out of an answer for later steps of the flow.
type Capture struct {
	Name   string
	Kind   string         // json, header, regex
	Path   JSONPath       // json
	Header string         // header
	Regex  *regexp.Regexp // regex: the first group, or the whole match where there is none
}

// Retries of failed attempts. Off where Max is 0.
type Retries struct {
	Max      int
	Outcomes []record.Outcome // retried outcomes
	Status   []int            // retried statuses, rising
	Backoff  time.Duration
	Factor   float64 // of the backoff, from one attempt to the next
	Jitter   string  // full, none
	Budget   float64 // retries per request at most, over the last 10 s; 0: no limit
}

// Neighbour is what runs beside the load.
type Neighbour struct {
	Name    string
	Every   time.Duration // 0: once
	At      time.Duration
	SQL     Text
	DSN     Text
	Command []Text
}

// Dependency is a TCP proxy that faults act on.
type Dependency struct {
	Name             string
	Listen, Upstream Text
}

// Fault is a planned disturbance.
type Fault struct {
	Name          string
	On            string
	Kind          string
	At            time.Duration
	For           time.Duration // 0: to the end of the run
	Delay, Jitter time.Duration // latency
	Share         float64       // of the connections; 0: all
}

// Observed is a source of resource series.
type Observed struct {
	Kind string   // process, docker, prometheus, postgres
	From Text     // target, a process id, owned, a URL or a DSN
	Only []string // prometheus: names; empty: all
}

// Limit of an observed series, for the time to exhaustion.
type Limit struct {
	Series string
	Value  float64
}

// Production is what is known of production's peak.
type Production struct {
	Peak       float64 // requests per second
	Window     time.Duration
	Resolution time.Duration
	Taken      string // yyyy-mm-dd
	Source     string
	Daily      string      // CSV file, as written
	Profile    string      // profile that all else was taken from, as written; "" none
	Peaks      []DailyPeak // after Load, by date
}

// DailyPeak is the peak of one day.
type DailyPeak struct {
	Date string // yyyy-mm-dd
	Peak float64
}

// Abort ends a run early.
type Abort struct {
	Rule       string
	TargetDead bool          // "target dead"
	Gate       record.Gate   // otherwise: the condition that ends the run …
	For        time.Duration // … once it has held for so long
}
