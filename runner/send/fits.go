package send

import "strings"

// token marks the bytes of a field name (RFC 9110, 5.6.2).
var token = func() (t [256]bool) {
	for b := '0'; b <= 'z'; b++ {
		t[b] = b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a'
	}
	for _, b := range "!#$%&'*+-.^_`|~" {
		t[b] = true
	}
	return t
}()

func isToken(s string) bool {
	for i := range len(s) {
		if !token[s[i]] {
			return false
		}
	}
	return len(s) > 0
}

// Fits reports whether a request can be written over HTTP/1.1 without becoming
// another one: a method and names that are tokens, a target and values that stay
// on their line, no coding of the body. One that does not is ErrRequest.
func (r *Request) Fits() bool {
	if !isToken(r.Method) || r.Method == "CONNECT" || len(r.Path) == 0 {
		return false
	}
	if r.Path[0] != '/' && string(r.Path) != "*" {
		return false
	}
	for _, b := range r.Path {
		if b <= ' ' || b == 0x7f {
			return false
		}
	}
	for i := range r.Fields {
		f := &r.Fields[i]
		if !isToken(f.Name) || strings.EqualFold(f.Name, "transfer-encoding") {
			return false
		}
		for _, b := range f.Value {
			if b < ' ' && b != '\t' || b == 0x7f {
				return false
			}
		}
	}
	return true
}
