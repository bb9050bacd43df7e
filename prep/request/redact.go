package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// pair is a name with a value; bare has no = in a query.
type pair struct {
	name, value string
	bare        bool
}

// noise are headers that tell of one browser and one visit, and those that the
// connection sets. They are left out without a place.
var noise = []string{
	"host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer", "expect", "proxy-connection",
	"user-agent", "referer", "origin", "dnt", "priority", "pragma", "cache-control", "accept-language", "upgrade-insecure-requests",
	"if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "x-forwarded-for", "x-real-ip", "forwarded",
	"traceparent", "tracestate", "baggage", "x-request-id", "x-correlation-id", "x-client-data", "range", "purpose",
}

func isNoise(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(noise, name) || strings.HasPrefix(name, ":") || strings.HasPrefix(name, "sec-") || strings.HasPrefix(name, "x-b3-")
}

// header is a header's value without secrets.
func (s *secrets) header(name, value string) string {
	where := "header " + name
	scheme, rest, two := strings.Cut(strings.TrimSpace(value), " ")
	switch lower := strings.ToLower(name); {
	case places.MatchString(value) && places.ReplaceAllString(value, "") == "":
		return s.named(value, where)
	case (lower == "authorization" || lower == "proxy-authorization") && two && rest != "":
		if places.MatchString(rest) && places.ReplaceAllString(rest, "") == "" {
			return scheme + " " + s.named(rest, where)
		}
		switch strings.ToLower(scheme) {
		case "bearer", "token":
			return scheme + " " + s.leave("TOKEN", where)
		case "basic":
			return scheme + " " + s.leave("BASIC_CREDENTIALS", where)
		}
		return s.leave(name, where)
	case secretName(name) || secretValue(value):
		return s.leave(name, where)
	}
	return value
}

// named notes the variables that a text of places has already.
func (s *secrets) named(text, where string) string {
	for _, m := range places.FindAllStringSubmatch(text, -1) {
		if m[1] != "" {
			s.leave(m[1], where)
		}
	}
	return places.ReplaceAllStringFunc(text, func(p string) string {
		return s.leave(strings.Trim(p, string(variableStart)+string(variableEnd)), where)
	})
}

// value is one of a query or form without secrets; kept is whether it is what
// it was.
func (s *secrets) value(name, value, where string) (text string, kept bool) {
	if places.MatchString(value) && places.ReplaceAllString(value, "") == "" {
		return s.named(value, where), false
	}
	identifier := identifies(value) && !secretName(name)
	if value != "" && !identifier && (secretName(name) || secretValue(value)) {
		return s.leave(name, where), false
	}
	return value, true
}

// pairs takes a query or form apart. What cannot be decoded stays as it is.
func pairs(raw string) (all []pair) {
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		name, value, has := strings.Cut(part, "=")
		all = append(all, pair{decoded(name), decoded(value), !has})
	}
	return all
}

func decoded(s string) string {
	if d, err := url.QueryUnescape(s); err == nil && utf8.ValidString(d) {
		return d
	}
	return s
}

// body is a body without secrets; ok is false where it can't be carried over.
func (s *secrets) body(body, mime string) (text string, ok bool) {
	mime, _, _ = strings.Cut(strings.ToLower(mime), ";")
	mime = strings.TrimSpace(mime)
	switch {
	case body == "":
		return "", true
	case !utf8.ValidString(body) || strings.HasPrefix(mime, "multipart/"):
		return "", false
	case mime == "application/x-www-form-urlencoded":
		return s.form(body), true
	}
	if text, err := s.json(body); err == nil {
		return text, true
	}
	if secretValue(body) || places.MatchString(body) {
		return s.leave("BODY", "a body that is neither JSON nor a form"), true
	}
	return body, true
}

func (s *secrets) form(body string) string {
	var b strings.Builder
	for i, p := range pairs(body) {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(s.encoded(p, "form field "))
	}
	return b.String()
}

// encoded is a pair of a query or form as it is sent, without secrets.
func (s *secrets) encoded(p pair, what string) string {
	if secretValue(p.name) && !secretName(p.name) || places.MatchString(p.name) {
		return s.leave("FIELD", what+"without a name") // such as ?<token>
	}
	if p.bare {
		return percent(p.name)
	}
	text, kept := s.value(p.name, p.value, what+p.name)
	if kept {
		text = percentPlaces(text)
	}
	return percent(p.name) + "=" + text
}

// percentPlaces encodes all but the places.
func percentPlaces(s string) string {
	var b strings.Builder
	for {
		at := places.FindStringIndex(s)
		if at == nil {
			return b.String() + encodeValue(s)
		}
		b.WriteString(encodeValue(s[:at[0]]) + s[at[0]:at[1]])
		s = s[at[1]:]
	}
}

func encodeValue(s string) string {
	return strings.NewReplacer("+", "%2B", ";", "%3B").Replace(percent(s))
}

// json replaces secrets in a JSON text and leaves all other bytes as they are.
func (s *secrets) json(body string) (string, error) {
	if !strings.ContainsAny(strings.TrimSpace(body)[:min(1, len(strings.TrimSpace(body)))], `{["`) {
		return "", errors.New("no JSON text")
	}
	j := jsonText{secrets: s, text: body, d: json.NewDecoder(strings.NewReader(body))}
	j.d.UseNumber()
	if err := j.value("", false, 0); err != nil {
		return "", err
	}
	if _, err := j.d.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("more than one JSON text")
	}
	j.out.WriteString(body[j.done:])
	return j.out.String(), nil
}

// jsonText walks a JSON text; what is before done has been written to out.
type jsonText struct {
	secrets *secrets
	text    string
	d       *json.Decoder
	out     strings.Builder
	done    int64
}

// value reads one value that has a name; inSecret is whether it is part of one.
func (j *jsonText) value(name string, inSecret bool, depth int) error {
	before := j.d.InputOffset()
	tok, err := j.d.Token()
	if err != nil {
		return err
	}
	if depth > 100 {
		return errors.New("nested too deep")
	}
	inSecret = inSecret || secretName(name)
	switch v := tok.(type) {
	case json.Delim:
		for j.d.More() {
			field := name
			if v == '{' {
				at := j.d.InputOffset()
				key, err := j.d.Token()
				if err != nil {
					return err
				}
				field, _ = key.(string)
				if secretValue(field) && !secretName(field) {
					j.replace(at, j.secrets.leave("KEY_OF_BODY", "the name of a JSON field"), true)
					field = "key of body"
				}
			}
			if err := j.value(field, inSecret, depth+1); err != nil {
				return err
			}
		}
		_, err := j.d.Token()
		return err
	case string:
		where := "JSON field " + name
		switch {
		case places.MatchString(v) && places.ReplaceAllString(v, "") == "":
			j.replace(before, j.secrets.named(v, where), true)
		case v != "" && (inSecret || secretValue(v) && !identifies(v)):
			j.replace(before, j.secrets.leave(name, where), true)
		}
	case json.Number:
		if inSecret && !strings.HasSuffix(strings.ToLower(name), "tokens") {
			j.replace(before, j.secrets.leave(name, "JSON field "+name), false)
		}
	}
	return nil
}

// replace writes a text in place of the token that was read last.
func (j *jsonText) replace(before int64, text string, quotes bool) {
	start := before + int64(len(j.text[before:])-len(strings.TrimLeft(j.text[before:], " \t\r\n,:")))
	j.out.WriteString(j.text[j.done:start])
	if quotes {
		text = `"` + text + `"`
	}
	j.out.WriteString(text)
	j.done = j.d.InputOffset()
}

// withoutMark drops a byte order mark.
func withoutMark(raw []byte) []byte { return bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")) }
