package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// maxHAR bounds a HAR file, in bytes.
const maxHAR = 512 << 20

// harFile is what is read of a HAR file.
type harFile struct {
	Log *struct {
		Entries []harEntry `json:"entries"`
	} `json:"log"`
}

type harEntry struct {
	Request struct {
		Method   string    `json:"method"`
		URL      string    `json:"url"`
		Headers  []harPair `json:"headers"`
		PostData *struct {
			MimeType string    `json:"mimeType"`
			Text     string    `json:"text"`
			Encoding string    `json:"encoding"`
			Params   []harPair `json:"params"`
		} `json:"postData"`
	} `json:"request"`
	Response struct {
		Status      int    `json:"status"`
		HTTPVersion string `json:"httpVersion"`
	} `json:"response"`
	FromCache json.RawMessage `json:"_fromCache"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// HAR makes a draft of a recording of a browser, HTTP Archive 1.1 or 1.2. The
// weights are how often each kind of request was recorded. A plan has one
// target: the given host, with its port where it is not the usual one, or, for
// "", the one with the most requests.
func HAR(r io.Reader, host string) (*Draft, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxHAR+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxHAR {
		return nil, fmt.Errorf("a HAR file of more than %d MB; record fewer pages, or without content", maxHAR>>20)
	}
	var f harFile
	if err := json.Unmarshal(withoutMark(raw), &f); err != nil {
		return nil, jsonError("HAR file", err)
	}
	if f.Log == nil {
		return nil, errors.New("not a HAR file: it has no log; save the network panel as HAR")
	}
	d := &Draft{name: "from har", recorded: true}
	var calls []call
	cached, broken, kinds := 0, 0, 0
	h2 := map[string]bool{}
	for i := range f.Log.Entries {
		e := &f.Log.Entries[i]
		if len(e.FromCache) > 0 && string(e.FromCache) != "null" && string(e.FromCache) != `""` {
			cached++
			continue
		}
		if e.Response.Status == 0 || e.Response.Status == 101 {
			broken++
			continue
		}
		c := e.call()
		if !method(c.method) || c.address(unmarked(e.Request.URL)) != nil {
			kinds++
			continue
		}
		if v := strings.ToLower(e.Response.HTTPVersion); strings.HasPrefix(v, "h2") || strings.HasPrefix(v, "http/2") || strings.HasPrefix(v, "h3") || strings.HasPrefix(v, "http/3") {
			h2[c.target] = true
		}
		calls = append(calls, c)
	}
	if cached > 0 {
		d.note("%d requests that the browser answered from its own cache are left out", cached)
	}
	if broken > 0 {
		d.note("%d requests without an answer, or of a web socket, are left out", broken)
	}
	if kinds > 0 {
		d.note("%d requests that are not HTTP, or whose method or address a plan can't have, are left out", kinds)
	}
	kept := d.oneTarget(calls, strings.ToLower(host))
	if len(kept) == 0 && len(calls) > 0 && host != "" {
		return nil, fmt.Errorf("no request goes to the host that was asked for; it has %s", hosts(calls))
	}
	if h2[d.target] && strings.HasPrefix(d.target, "https:") {
		d.version = "auto"
	}
	d.made = fmt.Sprintf("Made by headroom prep har from %d of %d recorded requests. Weights are counts.", len(kept), len(f.Log.Entries))
	d.group(kept)
	return d, d.finish()
}

// call is a request of an entry; its address is set by the caller.
func (e *harEntry) call() call {
	c := call{method: e.Request.Method, status: e.Response.Status}
	for _, h := range e.Request.Headers {
		c.headers = append(c.headers, pair{name: h.Name, value: unmarked(h.Value)})
		if strings.EqualFold(h.Name, "Content-Type") {
			c.mime = h.Value
		}
	}
	p := e.Request.PostData
	if p == nil {
		return c
	}
	if c.mime == "" {
		c.mime = p.MimeType
	}
	c.body = unmarked(p.Text)
	switch {
	case p.Encoding == "base64":
		c.body = "\xff" // binary: not carried over
	case c.body == "" && strings.HasPrefix(strings.ToLower(c.mime), "application/x-www-form-urlencoded"):
		var parts []string
		for _, q := range p.Params {
			parts = append(parts, url.QueryEscape(unmarked(q.Name))+"="+url.QueryEscape(unmarked(q.Value)))
		}
		c.body = strings.Join(parts, "&")
	case c.body == "" && len(p.Params) > 0:
		c.body = "\xff"
	}
	return c
}

func hosts(calls []call) string {
	var all []string
	seen := map[string]bool{}
	for _, c := range calls {
		if !seen[c.target] && len(all) < 8 {
			all = append(all, strings.TrimPrefix(strings.TrimPrefix(c.target, "https://"), "http://"))
		}
		seen[c.target] = true
	}
	return strings.Join(all, ", ")
}

// jsonError says what is wrong without quoting what is there.
func jsonError(what string, err error) error {
	var s *json.SyntaxError
	var t *json.UnmarshalTypeError
	switch {
	case errors.As(err, &s):
		return fmt.Errorf("not a %s: no JSON at byte %d", what, s.Offset)
	case errors.As(err, &t):
		return fmt.Errorf("not a %s: %s is not a %s", what, t.Field, t.Type)
	}
	return fmt.Errorf("not a %s: no JSON", what)
}
