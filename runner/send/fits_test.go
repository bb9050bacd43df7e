package send_test

import (
	"testing"

	"headroom/runner/send"
)

func TestFits(t *testing.T) {
	fine := func() *send.Request {
		return &send.Request{Method: "GET", Path: []byte("/a?b=c"), Fields: []send.Field{{Name: "X-A", Value: []byte("a\tb \xe9")}}}
	}
	for _, c := range []struct {
		name   string
		change func(*send.Request)
		want   bool
	}{
		{"as it is", func(*send.Request) {}, true},
		{"another method", func(r *send.Request) { r.Method = "PURGE-ALL" }, true},
		{"no method", func(r *send.Request) { r.Method = "" }, false},
		{"a method with a space", func(r *send.Request) { r.Method = "GET /x" }, false},
		{"CONNECT", func(r *send.Request) { r.Method = "CONNECT" }, false},
		{"no path", func(r *send.Request) { r.Path = nil }, false},
		{"a whole URL", func(r *send.Request) { r.Path = []byte("http://x/") }, false},
		{"the server itself", func(r *send.Request) { r.Path = []byte("*") }, true},
		{"a star and more", func(r *send.Request) { r.Path = []byte("*/") }, false},
		{"a path with a space", func(r *send.Request) { r.Path = []byte("/a b") }, false},
		{"a path with a line break", func(r *send.Request) { r.Path = []byte("/a\r\nX: y") }, false},
		{"a path with a delete", func(r *send.Request) { r.Path = []byte("/\x7f") }, false},
		{"a path that is not escaped", func(r *send.Request) { r.Path = []byte("/é") }, true},
		{"no name", func(r *send.Request) { r.Fields[0].Name = "" }, false},
		{"a name with a colon", func(r *send.Request) { r.Fields[0].Name = "A:" }, false},
		{"a name of another alphabet", func(r *send.Request) { r.Fields[0].Name = "Ä" }, false},
		{"a coding of the body", func(r *send.Request) { r.Fields[0].Name = "transfer-Encoding" }, false},
		{"a value with a line break", func(r *send.Request) { r.Fields[0].Value = []byte("a\nb") }, false},
		{"a value with a zero", func(r *send.Request) { r.Fields[0].Value = []byte{0} }, false},
		{"no value", func(r *send.Request) { r.Fields[0].Value = nil }, true},
	} {
		r := fine()
		if c.change(r); r.Fits() != c.want {
			t.Errorf("%s: %v", c.name, !c.want)
		}
	}
}
