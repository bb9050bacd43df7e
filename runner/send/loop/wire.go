package loop

import (
	"strconv"

	"headroom/runner/send"
)

// userAgent is sent where the request has no User-Agent of its own.
const userAgent = "headroom"

// wire appends the head of req to p and reports whether it ends the connection.
// Content-Length is always our own; the other fields that have a default here
// are overridden by the request's.
func wire(p []byte, req *send.Request, host string, last bool) ([]byte, bool) {
	p = append(p, req.Method...)
	p = append(p, ' ')
	p = append(p, req.Path...)
	p = append(p, " HTTP/1.1\r\n"...)
	var hasHost, hasAgent, hasConnection bool
	for i := range req.Fields {
		f := &req.Fields[i]
		switch len(f.Name) {
		case len("host"):
			hasHost = hasHost || foldString(f.Name, "host")
		case len("user-agent"): // and connection
			if foldString(f.Name, "user-agent") {
				hasAgent = true
			} else if foldString(f.Name, "connection") {
				if fold(trim(f.Value), "close") {
					last = true
				}
				if last {
					continue
				}
				hasConnection = true
			}
		case len("content-length"):
			if foldString(f.Name, "content-length") {
				continue
			}
		}
		p = append(p, f.Name...)
		p = append(p, ": "...)
		p = append(p, f.Value...)
		p = append(p, "\r\n"...)
	}
	if !hasHost {
		p = append(p, "Host: "...)
		p = append(p, host...)
		p = append(p, "\r\n"...)
	}
	if !hasAgent {
		p = append(p, "User-Agent: "+userAgent+"\r\n"...)
	}
	if last && !hasConnection {
		p = append(p, "Connection: close\r\n"...)
	}
	if len(req.Body) > 0 || req.Method == "POST" || req.Method == "PUT" || req.Method == "PATCH" {
		p = append(p, "Content-Length: "...)
		p = strconv.AppendInt(p, int64(len(req.Body)), 10)
		p = append(p, "\r\n"...)
	}
	return append(p, "\r\n"...), last
}

func foldString(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}
