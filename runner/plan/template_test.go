package plan

import (
	"strings"
	"testing"
)

func render(t Template) string {
	return string(t.Append(nil, func(name string) string { return "<" + name + ">" }))
}

func TestTemplates(t *testing.T) {
	known := []string{"id", "customers"}
	lookup := func(string) string { return "{id}" }
	for _, tt := range []struct {
		text string
		how  dialect
		want string // rendered
		err  string // part of the first error
	}{
		{"/a/{id}?x={customers}", strictBraces, "/a/<id>?x=<customers>", ""},
		{"{{id}} }}", strictBraces, "{id} }", ""},
		{"{{{id}}}", strictBraces, "{<id>}", ""},
		{"a}", strictBraces, "", `"}" is no place for a value; write {name}, or }} for the brace itself`},
		{"{ id}", strictBraces, "", `"{ id}" is no place for a value`},
		{"{custmers}", strictBraces, "", "did you mean {customers}?"},
		{"{nowhere}", strictBraces, "", "add nowhere under data"},
		{"${X}/{id}", strictBraces, "{id}/<id>", ""}, // what the environment says is never a place
		{"$${X}", looseBraces, "${X}", ""},
		{`{"a": {"b": "{id}"}}`, looseBraces, `{"a": {"b": "<id>"}}`, ""},
		{`{"a":{}}`, looseBraces, `{"a":{}}`, ""},
		{`{{id}} {other} {{other}}`, looseBraces, `{id} {other} {other}`, ""},
		{`{"a": "{custmers}"}`, looseBraces, "", "{{custmers}} is the text itself"},
		{"", strictBraces, "", ""},
	} {
		tpl, faults := parseTemplate(tt.text, tt.how, known, lookup)
		switch {
		case tt.err == "" && len(faults) > 0:
			t.Errorf("%q: %v", tt.text, faults)
		case tt.err == "" && render(tpl) != tt.want:
			t.Errorf("%q gives %q, want %q", tt.text, render(tpl), tt.want)
		case tt.err != "" && (len(faults) == 0 || !strings.Contains(faults[0].Error(), tt.err)):
			t.Errorf("%q: %v, want an error with %q", tt.text, faults, tt.err)
		}
		if tpl.String() != tt.text {
			t.Errorf("%q prints as %q", tt.text, tpl)
		}
	}
}

func TestAppendPathEncodesValues(t *testing.T) {
	tpl, _ := parseTemplate("/a b/{id}?q=1", strictBraces, []string{"id"}, nil)
	got := string(tpl.AppendPath(nil, func(string) string { return "x/é ?&~" }))
	if want := "/a b/x%2F%C3%A9%20%3F%26~?q=1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if names := tpl.Names(); len(names) != 1 || names[0] != "id" {
		t.Errorf("names %v", names)
	}
}

func TestTextLiteral(t *testing.T) {
	for _, s := range []string{"a", "${X}", "$${X}", "{X}", "$"} {
		text := Literal(s)
		var back string
		for _, p := range pieces(text.String()) {
			if p.variable != "" {
				t.Errorf("%q asks the environment for %s", s, p.variable)
			}
			back += p.literal
		}
		if text.Value() != s || back != s {
			t.Errorf("%q: value %q, read back %q", s, text.Value(), back)
		}
	}
}
