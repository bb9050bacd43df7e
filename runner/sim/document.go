package sim

import (
	"bytes"
	"net/url"
	"unicode/utf8"
)

// appendDocument appends the answer to a request: a JSON object that depends on
// nothing but method and target, so that expectations and oracles can be tested.
// GET /customers/42/orders?limit=20 is answered with
//
//	{"id":"42","method":"GET","path":"/customers/42/orders","customer":"42","limit":"20"}
//
// A segment at an even place names the one that follows it, without a plural s;
// id is the last such value, or the last segment where there is none. A wrong
// answer has "wrong" for every value but the method.
func appendDocument(b []byte, method string, target []byte, wrong bool) []byte {
	path, query, _ := bytes.Cut(target, []byte{'?'})
	value := func(b, v []byte) []byte {
		if wrong {
			return append(b, `"wrong"`...)
		}
		return appendString(b, unescape(v, url.PathUnescape))
	}
	var id []byte
	odd := false
	for rest := bytes.TrimPrefix(path, []byte{'/'}); rest != nil; {
		var segment []byte
		segment, rest = cut(rest, '/')
		if odd || id == nil {
			id = segment
		}
		odd = !odd
	}
	b = append(b, `{"id":`...)
	b = value(b, id)
	b = append(b, `,"method":`...)
	b = appendString(b, []byte(method))
	b = append(b, `,"path":`...)
	b = value(b, path)
	for rest := bytes.TrimPrefix(path, []byte{'/'}); rest != nil; {
		var name, v []byte
		name, rest = cut(rest, '/')
		if rest == nil {
			break
		}
		v, rest = cut(rest, '/')
		if len(name) > 1 {
			name = bytes.TrimSuffix(name, []byte{'s'})
		}
		b = append(b, ',')
		b = appendString(b, unescape(name, url.PathUnescape))
		b = append(b, ':')
		b = value(b, v)
	}
	for rest := query; len(rest) > 0; {
		var pair []byte
		pair, rest = cut(rest, '&')
		name, v, _ := bytes.Cut(pair, []byte{'='})
		b = append(b, ',')
		b = appendString(b, unescape(name, url.QueryUnescape))
		b = append(b, ':')
		if wrong {
			b = append(b, `"wrong"`...)
		} else {
			b = appendString(b, unescape(v, url.QueryUnescape))
		}
	}
	return append(b, "}\n"...)
}

// cut is what comes before the first sep and what comes after it, nil where there is none.
func cut(s []byte, sep byte) (head, rest []byte) {
	if i := bytes.IndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:]
	}
	return s, nil
}

func unescape(s []byte, f func(string) (string, error)) []byte {
	if bytes.IndexByte(s, '%') < 0 && bytes.IndexByte(s, '+') < 0 {
		return s
	}
	if plain, err := f(string(s)); err == nil {
		return []byte(plain)
	}
	return s
}

// appendString appends s as a JSON string; what is not UTF-8 becomes U+FFFD.
func appendString(b, s []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	if !utf8.Valid(s) {
		s = bytes.ToValidUTF8(s, []byte("\uFFFD"))
	}
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
