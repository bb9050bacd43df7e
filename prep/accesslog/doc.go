// Package accesslog reads lines of access logs: who asked for what, when, with
// which answer and how long it took. It knows the formats that FORMATS.md of
// prep/profile lists, and any nginx log_format or Apache LogFormat string.
//
// Readers work on bytes, allocate nothing per line and never fail on a file: a
// line either is a request, or there is a Reason why it is not. A Parser finds
// out by itself which format a file has, also where formats are mixed.
package accesslog

// Reason says why a line is not a request. The empty string means that it is.
type Reason string

// The reasons.
const (
	// Directive is a line that describes the file, such as #Fields. It is
	// not a fault.
	Directive Reason = "directive"
	// Blank is a line of nothing but white space. It is not a fault.
	Blank Reason = "blank"

	Unrecognised Reason = "unrecognised"            // no known format
	NotRequest   Reason = "not_a_request"           // a known log, but of something else: errors, starts, decisions
	Malformed    Reason = "malformed"               // a known format, with a part missing or broken
	BadTime      Reason = "bad_time"                // a stamp that is no time
	BadStatus    Reason = "bad_status"              // a status that is no status
	BadJSON      Reason = "bad_json"                // JSON that breaks off or is none
	TooFew       Reason = "fewer_values_than_names" // columns are missing
	TooLong      Reason = "line_too_long"           // longer than the caller reads
	NotText      Reason = "not_text"                // binary
)

// Reader reads lines of one format. Parse fills in the entry, whose slices
// point into the line or into the reader and are valid until the next line.
// Where the line is of another format it answers Unrecognised.
type Reader interface {
	Name() string
	Parse(line []byte, e *Entry) Reason
}
