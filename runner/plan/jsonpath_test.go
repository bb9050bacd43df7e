package plan

import (
	"encoding/json"
	"testing"
)

func TestMatchJSON(t *testing.T) {
	const body = ` {"id": "a\u00e9\"b", "n": -1.50e3, "ok": true, "none": null, "o": {"x": [1, {"y": "z"}, []]}, "a b": 1,
		"id": "second", "esc\u0061ped": "yes", "s": "plain", "empty": ""} `
	for _, tt := range []struct {
		path, want string
		ok         bool
	}{
		{"$.id", "aé\"b", true},
		{"$.n", "-1.50e3", true},
		{"$.ok", "true", true},
		{"$.none", "null", true},
		{"$.o.x[0]", "1", true},
		{"$.o.x[1].y", "z", true},
		{"$.o.x[2]", "[]", true},
		{"$.o.x", `[1, {"y": "z"}, []]`, true},
		{"$.o.x[3]", "", false},
		{"$.o.x[2][0]", "", false},
		{"$.o.x.y", "", false},
		{"$.o[0]", "", false},
		{"$['a b']", "1", true},
		{`$["a b"]`, "1", true},
		{"$.escaped", "yes", true},
		{"$.s", "plain", true},
		{"$.empty", "", true},
		{"$.s.x", "", false},
		{"$.nowhere", "", false},
	} {
		p, err := ParseJSONPath(tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		got, ok := MatchJSON([]byte(body), p)
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %q, %v; want %q, %v", tt.path, got, ok, tt.want, tt.ok)
		}
		if EqualJSON([]byte(body), p, []byte(tt.want)) != tt.ok {
			t.Errorf("%s: EqualJSON disagrees", tt.path)
		}
	}
}

func TestMatchJSONBroken(t *testing.T) {
	p, err := ParseJSONPath("$.a[1]")
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"", " ", "{", `{"a"`, `{"a":`, `{"a": [`, `{"a": [1`, `{"a": [1,`, `{"a": [1 2]}`, `{"a": "x`, `{"b": 1 "a": [1,2]}`, "[]", "1", `{"a\`, `{"a": [1, "x]}`} {
		if got, ok := MatchJSON([]byte(body), p); ok {
			t.Errorf("%q: found %q", body, got)
		}
	}
	top, err := ParseJSONPath("$")
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := MatchJSON([]byte(" 12 "), top); !ok || got != "12" {
		t.Errorf("top: %q, %v", got, ok)
	}
}

func TestParseJSONPathRefuses(t *testing.T) {
	for _, s := range []string{"", "a", ".a", "$a", "$.", "$..a", "$.a[*]", "$.*", "$[-1]", "$[1:2]", "$[?(@.a)]", "$.a b", "$['a'", "$[1234567890]", "$['']"} {
		if p, err := ParseJSONPath(s); err == nil {
			t.Errorf("%q parsed to %+v", s, p)
		}
	}
}

func TestFindJSONAllocatesNothing(t *testing.T) {
	body := []byte(`{"skip": {"deep": [1, 2, {"a": "}"}]}, "id": "customer-17"}`)
	p, err := ParseJSONPath("$.id")
	if err != nil {
		t.Fatal(err)
	}
	want := []byte("customer-17")
	if n := testing.AllocsPerRun(100, func() {
		if !EqualJSON(body, p, want) {
			t.Fatal("not found")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// On valid JSON the value found is valid JSON and what the decoder finds.
func FuzzMatchJSON(f *testing.F) {
	f.Add(`{"a": [1, {"b": "c"}]}`, "$.a[1].b")
	f.Add(`{"a\"": [[], {}], "x": "\u00e9"}`, "$['x']")
	f.Add(`[1,2,3]`, "$[2]")
	f.Add(`{"a`, "$.a")
	f.Fuzz(func(t *testing.T, body, path string) {
		p, err := ParseJSONPath(path)
		if err != nil {
			return
		}
		raw, ok := FindJSON([]byte(body), p)
		if _, match := MatchJSON([]byte(body), p); match && !ok {
			t.Fatal("MatchJSON found what FindJSON did not")
		}
		if !json.Valid([]byte(body)) {
			return
		}
		var v any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			return
		}
		found := true
		for _, s := range p.steps {
			switch x := v.(type) {
			case map[string]any:
				v, found = x[s.name]
				found = found && s.index < 0
			case []any:
				found = s.index >= 0 && s.index < len(x)
				if found {
					v = x[s.index]
				}
			default:
				found = false
			}
			if !found {
				break
			}
		}
		if ok && !json.Valid(raw) {
			t.Fatalf("%q at %s: %q is not JSON", body, path, raw)
		}
		// The decoder takes the last of members with the same name, and
		// replaces what is not UTF-8: only the presence is compared.
		if found && !ok {
			t.Fatalf("%q: nothing at %s, the decoder has %v", body, path, v)
		}
	})
}
