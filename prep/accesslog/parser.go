package accesslog

import "bytes"

// Parser reads the lines of one file. It finds out which format they have: the
// format of the last line is tried first, then the others, so that files of
// mixed formats are read as well. It is not safe for concurrent use.
type Parser struct {
	given   *Format
	readers []Reader // the last successful one first
	w3c     *w3c
	table   *table
	json    *jsonLines
	counts  map[string]uint64
	hits    uint64 // of the first reader, not yet in counts
}

// NewParser returns a parser that finds the format out, or one that reads the
// given format alone.
func NewParser(given *Format) *Parser {
	p := &Parser{given: given, w3c: &w3c{day: -1}, table: &table{}, json: &jsonLines{}, counts: map[string]uint64{}}
	if given != nil {
		copied := *given // the reader keeps state
		p.readers = []Reader{&copied}
		return p
	}
	p.readers = []Reader{&common{}, p.json, loadBalancer{}, &haproxy{}, &proxyManager{}, envoy{}, &s3{}, p.w3c, p.table}
	return p
}

// Formats is how many requests were read in each format.
func (p *Parser) Formats() map[string]uint64 {
	p.flush()
	return p.counts
}

func (p *Parser) flush() {
	if p.hits > 0 {
		p.counts[p.readers[0].Name()] += p.hits
		p.hits = 0
	}
}

// Parse reads one line, which has no end of line any more. The entry's slices
// are valid until the next call.
func (p *Parser) Parse(line []byte, e *Entry) Reason {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	if len(line) == 0 || (line[0] <= ' ' && len(bytes.TrimSpace(line)) == 0) {
		return Blank
	}
	if p.given != nil {
		return p.try(line, e)
	}
	if line[0] == '#' {
		if p.w3c.directive(line) { // the file says itself what it is
			p.front(p.index(p.w3c))
		}
		return Directive
	}
	if line = unwrap(line); len(line) == 0 {
		return NotRequest
	}
	reason := p.try(line, e)
	if reason == "" {
		return ""
	}
	if line[0] == '{' {
		if inner := p.json.wrapped(); len(inner) > 0 && inner[0] != '{' {
			if inner = unwrap(inner); len(inner) > 0 && p.try(inner, e) == "" {
				return ""
			}
		}
		return reason
	}
	if p.table.header(line) {
		return Directive
	}
	if reason == Unrecognised && looksLikeLog(line) {
		return NotRequest
	}
	if reason == Unrecognised && bytes.IndexByte(line, 0) >= 0 {
		return NotText
	}
	return reason
}

// try asks the readers in turn. The reason is that of the first which knows
// the format.
func (p *Parser) try(line []byte, e *Entry) Reason {
	var why Reason = Unrecognised
	for i := range p.readers {
		e.reset()
		reason := p.readers[i].Parse(line, e)
		if reason == "" {
			p.front(i)
			p.hits++
			return ""
		}
		if why == Unrecognised {
			why = reason
		}
	}
	return why
}

// front makes a reader the first to be asked.
func (p *Parser) front(i int) {
	if i == 0 {
		return
	}
	p.flush()
	r := p.readers[i]
	copy(p.readers[1:i+1], p.readers[:i])
	p.readers[0] = r
}

func (p *Parser) index(r Reader) int {
	for i := range p.readers {
		if p.readers[i] == r {
			return i
		}
	}
	return 0
}

// unwrap takes off what collectors put before a line: containers' runtimes
// (stamp, stream, tag) and syslog, old and new.
func unwrap(line []byte) []byte {
	if len(line) < 24 {
		return line
	}
	if line[4] == '-' && line[10] == 'T' { // 2025-12-31T17:37:40.493035218+01:00 stdout F
		for _, stream := range [...]string{" stdout F ", " stderr F "} {
			if i := bytes.Index(line[:min(60, len(line))], []byte(stream)); i > 0 {
				return line[i+len(stream):]
			}
		}
		return line
	}
	rest := line
	if rest[0] == '<' {
		if i := bytes.IndexByte(rest[:6], '>'); i > 0 {
			rest = rest[i+1:]
		}
		if len(rest) > 3 && rest[0] == '1' && rest[1] == ' ' { // RFC 5424: six fields, then data
			w := words{rest: rest}
			w.skip(7)
			return bytes.TrimPrefix(bytes.TrimLeft(w.rest, " "), []byte("\xef\xbb\xbf"))
		}
	}
	if len(rest) > 20 && monthOf(rest[:3]) > 0 && rest[3] == ' ' && rest[6] == ' ' && rest[9] == ':' && rest[12] == ':' && rest[15] == ' ' {
		if i := bytes.Index(rest[16:min(len(rest), 200)], []byte(": ")); i > 0 {
			return rest[16+i+2:]
		}
	}
	return line
}

// looksLikeLog tells lines of other logs, such as error logs, from junk.
func looksLikeLog(line []byte) bool {
	head := line[:min(len(line), 80)]
	switch {
	case len(line) > 26 && line[0] == '[' && line[4] == ' ' && monthOf(line[5:8]) > 0: // Apache's errors
		return true
	case len(line) > 21 && line[4] == '/' && line[7] == '/' && line[13] == ':' && bytes.Contains(head, []byte("] ")): // nginx's errors
		return true
	case bytes.HasPrefix(line, []byte("Proxy ")), bytes.HasPrefix(line, []byte("Server ")), bytes.HasPrefix(line, []byte("backend ")):
		return true
	}
	return false
}
