package foreign

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"headroom/store/record"
)

// classify maps what a tool says of a request to one of our outcomes. Success
// is +1, -1 or 0 for unknown; status is 0 where no answer came or where the
// tool does not say, which hasStatus tells apart. The text of an error is
// looked at and never kept. 429 and 503 are refusals on purpose, as in a plan
// that says nothing else.
func classify(success, status int, hasStatus bool, text string) (record.Outcome, record.ErrorKind) {
	switch {
	case success > 0:
		return record.OK, record.ErrNone
	case status == 429 || status == 503:
		return record.Shed, record.ErrNone
	case status >= 400 || status > 0 && status < 200:
		return record.HTTPError, record.ErrStatus
	case status > 0 && success < 0:
		return record.Wrong, record.ErrContent
	case status > 0:
		return record.OK, record.ErrNone
	case success == 0 && !hasStatus && text == "":
		return record.OK, record.ErrNone
	}
	return failure(text)
}

var failures = []struct {
	word    string
	outcome record.Outcome
	kind    record.ErrorKind
}{
	{"too many open files", record.GeneratorError, record.ErrDescriptors},
	{"cannot assign requested address", record.GeneratorError, record.ErrPorts},
	{"address already in use", record.GeneratorError, record.ErrPorts},
	{"no buffer space", record.GeneratorError, record.ErrMemory},
	{"outofmemory", record.GeneratorError, record.ErrMemory},
	{"connecttimeout", record.ConnectError, record.ErrConnectTimeout},
	{"connect timed out", record.ConnectError, record.ErrConnectTimeout},
	{"timeout", record.Timeout, record.ErrAnswerTimeout},
	{"timed out", record.Timeout, record.ErrAnswerTimeout},
	{"deadline", record.Timeout, record.ErrAnswerTimeout},
	{"refused", record.ConnectError, record.ErrRefused},
	{"hostconnect", record.ConnectError, record.ErrRefused},
	{"reset", record.ConnectError, record.ErrReset},
	{"broken pipe", record.ConnectError, record.ErrReset},
	{"no such host", record.ConnectError, record.ErrDNS},
	{"unknownhost", record.ConnectError, record.ErrDNS},
	{"lookup ", record.ConnectError, record.ErrDNS},
	{"x509", record.ConnectError, record.ErrTLS},
	{"certificate", record.ConnectError, record.ErrTLS},
	{"tls", record.ConnectError, record.ErrTLS},
	{"ssl", record.ConnectError, record.ErrTLS},
	{"unreachable", record.ConnectError, record.ErrUnreachable},
	{"no route", record.ConnectError, record.ErrUnreachable},
	{"eof", record.ConnectError, record.ErrClosed},
	{"closed", record.ConnectError, record.ErrClosed},
	{"nohttpresponse", record.ConnectError, record.ErrClosed},
	{"malformed", record.ConnectError, record.ErrProtocol},
}

func failure(text string) (record.Outcome, record.ErrorKind) {
	low := strings.ToLower(text)
	for _, f := range failures {
		if strings.Contains(low, f.word) {
			return f.outcome, f.kind
		}
	}
	return record.ConnectError, record.ErrProtocol
}

// parseScaled reads a decimal number as ns, one unit being so many ns.
func parseScaled(s string, unitNS int64) (int64, bool) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if n > math.MaxInt64/4/unitNS || n < math.MinInt64/4/unitNS {
			return 0, false
		}
		return n * unitNS, true
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) {
		return 0, false
	}
	// Whole and fraction apart, or seconds since 1970 lose their microseconds.
	whole, dot, found := strings.Cut(s, ".")
	if found && !strings.ContainsAny(s, "eE+-") && len(dot) > 0 {
		w, err := strconv.ParseInt("0"+whole, 10, 64)
		f, err2 := strconv.ParseFloat("0."+dot, 64)
		if err == nil && err2 == nil && w < math.MaxInt64/4/unitNS {
			return w*unitNS + int64(math.Round(f*float64(unitNS))), true
		}
	}
	if v *= float64(unitNS); math.Abs(v) > math.MaxInt64/4 {
		return 0, false
	}
	return int64(math.Round(v)), true
}

var stampLayouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006/01/02 15:04:05.999999999",
	"2006-01-02 15:04:05.999999999-07:00", "2006-01-02T15:04:05.999999999Z0700", "01/02/06 15:04:05.999999999", "2006-01-02 15:04:05,999",
}

// parseInstant reads an instant in ns since 1970: RFC 3339 or a like form (UTC
// where it names no zone), or a number in the unit given; unit 0 takes the
// number's size as a hint: seconds, milli-, micro- or nanoseconds since 1970.
func parseInstant(s string, unitNS int64) (int64, bool) {
	s = strings.TrimSpace(s)
	if s == "" {
		return 0, false
	}
	if strings.ContainsAny(s[1:], "-/:") && !strings.ContainsAny(s, "eE") || strings.HasSuffix(s, "Z") {
		for _, l := range stampLayouts {
			if t, err := time.Parse(l, s); err == nil {
				if y := t.Year(); y < 1971 || y > 2200 {
					return 0, false
				}
				return t.UnixNano(), true
			}
		}
		return 0, false
	}
	if unitNS == 0 {
		whole, _, _ := strings.Cut(s, ".")
		switch n := len(whole); {
		case n <= 11:
			unitNS = 1e9
		case n <= 14:
			unitNS = 1e6
		case n <= 17:
			unitNS = 1e3
		default:
			unitNS = 1
		}
	}
	return parseScaled(s, unitNS)
}

// unitOf is a named unit in ns.
func unitOf(name string) (int64, bool) {
	switch name {
	case "ns":
		return 1, true
	case "us", "µs":
		return 1e3, true
	case "ms":
		return 1e6, true
	case "s":
		return 1e9, true
	}
	return 0, false
}

func parseSuccess(s string) int {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "true", "1", "ok", "yes", "success", "pass":
		return 1
	case "false", "0", "ko", "no", "failure", "fail", "error":
		return -1
	}
	return 0
}

// maxClass bounds a class name, in characters.
const maxClass = 120

// className makes a class name of a label. Of an address only the path stays,
// without its query, and path segments that look like identifiers become {}:
// neither hosts nor keys belong into evidence.
func className(label string) string {
	label = strings.TrimSpace(label)
	method, rest, spaced := strings.Cut(label, " ")
	if !spaced || strings.ToUpper(method) != method {
		method, rest = "", label
	}
	if i := strings.Index(rest, "://"); i >= 0 && i < 12 {
		rest = rest[i+3:]
		if j := strings.IndexAny(rest, "/?#"); j >= 0 {
			rest = rest[j:]
		} else {
			rest = "/"
		}
	}
	if strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "?") {
		rest, _, _ = strings.Cut(rest, "?")
		rest, _, _ = strings.Cut(rest, "#")
		segments := strings.Split(rest, "/")
		for i, g := range segments {
			if strings.ContainsAny(g, "0123456789") && !version(g) || len(g) > 40 {
				segments[i] = "{}"
			}
		}
		if rest = strings.Join(segments, "/"); rest == "" {
			rest = "/"
		}
	} else {
		method, rest = "", label
	}
	if method != "" {
		rest = method + " " + rest
	}
	rest = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(rest, ""))
	if r := []rune(rest); len(r) > maxClass {
		rest = string(r[:maxClass])
	}
	if rest == "" {
		return "request"
	}
	return rest
}

// version reports whether a path segment is an interface's version, such as v2.
func version(s string) bool {
	if len(s) < 2 || len(s) > 3 || s[0] != 'v' {
		return false
	}
	return strings.Trim(s[1:], "0123456789") == ""
}
