package accesslog

import "bytes"

// w3c reads the W3C extended format of IIS and others, and CloudFront's, by
// the names that #Fields gives; they may change within a file. CloudFront
// lines are read without a header too, by their order.
type w3c struct {
	cols   columns
	fields []field
	sep    byte
	day    int64 // of the last #Date, seconds since 1970; −1 before
	millis bool  // time-taken is in milliseconds, as IIS writes it
}

// Name implements Reader.
func (*w3c) Name() string { return "w3c" }

// directive takes a line that begins with # and reports whether it names fields.
func (r *w3c) directive(line []byte) bool {
	switch {
	case bytes.HasPrefix(line, []byte("#Software:")):
		r.millis = bytes.Contains(line, []byte("Microsoft"))
	case bytes.HasPrefix(line, []byte("#Date:")):
		if text := bytes.TrimSpace(line[6:]); len(text) >= 10 {
			if day, ok := date(text[:10]); ok {
				r.day = day
			}
		}
	case bytes.HasPrefix(line, []byte("#Fields:")):
		r.fields = r.fields[:0]
		for _, name := range bytes.Fields(line[8:]) {
			r.fields = append(r.fields, r.fieldOf(string(name)))
		}
		r.sep = 0
		return true
	}
	return false
}

func (r *w3c) fieldOf(name string) field {
	switch name {
	case "date":
		return fieldDate
	case "time":
		return fieldTime
	case "c-ip":
		return fieldClient
	case "cs-method":
		return fieldMethod
	case "cs-uri":
		return fieldTarget
	case "cs-uri-stem":
		return fieldPath
	case "cs-uri-query":
		return fieldQuery
	case "sc-status":
		return fieldStatus
	case "sc-bytes":
		return fieldBytes
	case "time-taken":
		if r.millis {
			return fieldMillis
		}
		return fieldSeconds
	}
	return skip
}

// cloudFront is the order of the columns of CloudFront's standard log.
var cloudFront = []field{
	fieldDate, fieldTime, skip, fieldBytes, fieldClient, fieldMethod, skip, fieldPath, fieldStatus,
	skip, skip, fieldQuery, skip, skip, skip, skip, skip, skip, fieldSeconds,
}

// Parse implements Reader.
func (r *w3c) Parse(line []byte, e *Entry) Reason {
	if r.fields == nil {
		return r.bare(line, e)
	}
	reason := r.named(line, e)
	if reason != "" { // CloudFront's behind another log
		e.reset()
		if r.bare(line, e) == "" {
			return ""
		}
	}
	return reason
}

func (r *w3c) named(line []byte, e *Entry) Reason {
	if r.sep == 0 {
		if r.sep = ' '; bytes.IndexByte(line, '\t') >= 0 {
			r.sep = '\t'
		}
	}
	r.cols.start()
	n := 0
	for rest, more := line, true; more; n++ {
		var v []byte
		v, rest, more = bytes.Cut(rest, []byte{r.sep})
		if n == len(r.fields) { // values without a name, as of columns that were added without a header
			break
		}
		f := r.fields[n]
		if f == fieldMillis && bytes.IndexByte(v, '.') >= 0 {
			f = fieldSeconds
		}
		if reason := r.cols.set(f, v, e); reason != "" {
			return reason
		}
	}
	if n < len(r.fields) {
		return TooFew
	}
	e.Ends = true
	return r.cols.finish(e, r.day)
}

// bare reads a line of CloudFront without #Fields.
func (r *w3c) bare(line []byte, e *Entry) Reason {
	if len(line) < 60 || line[10] != '\t' || line[19] != '\t' || line[4] != '-' {
		return Unrecognised
	}
	if bytes.Count(line, []byte{'\t'}) < len(cloudFront)-1 {
		return TooFew
	}
	r.cols.start()
	rest := line
	for _, f := range cloudFront { // columns were added at the end over the years
		var v []byte
		v, rest, _ = bytes.Cut(rest, []byte{'\t'})
		if reason := r.cols.set(f, v, e); reason != "" {
			return reason
		}
	}
	e.Ends = true
	return r.cols.finish(e, -1)
}

// table reads tab-separated lines under a line of names.
type table struct {
	cols   columns
	fields []field
}

// Name implements Reader.
func (*table) Name() string { return "tsv" }

// header takes a line of names if it is one.
func (r *table) header(line []byte) bool {
	if bytes.IndexByte(line, '\t') < 0 {
		return false
	}
	var fields []field
	have := map[field]bool{}
	for name := range bytes.SplitSeq(line, []byte{'\t'}) {
		f := tableField(string(bytes.TrimSpace(name)))
		fields = append(fields, f)
		have[f] = true
	}
	if !have[fieldStamp] || !have[fieldStatus] || !(have[fieldTarget] || have[fieldRequest]) {
		return false
	}
	r.fields = fields
	return true
}

func tableField(name string) field {
	switch name {
	case "host", "client", "ip", "remote_addr", "client_ip":
		return fieldClient
	case "time", "timestamp", "ts", "date", "datetime":
		return fieldStamp
	case "method":
		return fieldMethod
	case "url", "uri", "path", "target":
		return fieldTarget
	case "request":
		return fieldRequest
	case "status", "response", "code":
		return fieldStatus
	case "bytes", "size":
		return fieldBytes
	case "duration_s", "request_time":
		return fieldSeconds
	case "duration_ms":
		return fieldMillis
	case "duration_us":
		return fieldMicros
	}
	return skip
}

// Parse implements Reader.
func (r *table) Parse(line []byte, e *Entry) Reason {
	if r.fields == nil || bytes.IndexByte(line, '\t') < 0 {
		return Unrecognised
	}
	r.cols.start()
	rest, more := line, true
	for _, f := range r.fields {
		if !more {
			return TooFew
		}
		var v []byte
		v, rest, more = bytes.Cut(rest, []byte{'\t'})
		if reason := r.cols.set(f, v, e); reason != "" {
			return reason
		}
	}
	return r.cols.finish(e, -1)
}
