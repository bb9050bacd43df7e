package request

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// body makes the body of an operation, of its first media type that can be
// written.
func (o *openAPI) body(c *class, op *openapi3.Operation) {
	if op.RequestBody == nil || op.RequestBody.Value == nil || c.method == "HEAD" {
		return
	}
	content := op.RequestBody.Value.Content
	types := slices.Sorted(maps.Keys(content))
	slices.SortStableFunc(types, func(a, b string) int { return rank(a) - rank(b) })
	for _, mime := range types {
		m := content[mime]
		if m == nil || rank(mime) > 1 {
			continue
		}
		v := m.Example
		if v == nil {
			v = firstExample(m.Examples)
		}
		if v == nil && m.Schema != nil && m.Schema.Value != nil {
			v = sample(m.Schema.Value)
		}
		text := ""
		if rank(mime) == 0 {
			text = encoded(v)
		} else if fields, ok := v.(map[string]any); ok {
			var parts []string
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				parts = append(parts, percent(name)+"="+encodeValue(plainText(fields[name])))
			}
			text = strings.Join(parts, "&")
		}
		if mime == "application/*" || mime == "*/*" {
			mime = "application/json"
		}
		c.headers = append(c.headers, pair{name: "Content-Type", value: mime})
		c.body, _ = o.secrets.body(text, mime)
		return
	}
	if len(types) > 0 {
		o.note("%s %s: its body of type %s is left out; write it to a file and name it as body_file", c.method, shown(c.path), types[0])
	}
}

// rank is 0 for JSON, 1 for forms, 2 for what can't be made.
func rank(mime string) int {
	mime = strings.TrimSpace(before(strings.ToLower(mime), ";"))
	switch {
	case mime == "application/json" || strings.HasSuffix(mime, "+json") || mime == "*/*" || mime == "application/*":
		return 0
	case mime == "application/x-www-form-urlencoded":
		return 1
	}
	return 2
}

func firstExample(all openapi3.Examples) any {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if e := all[name]; e != nil && e.Value != nil && e.Value.Value != nil {
			return e.Value.Value
		}
	}
	return nil
}

// given is a value that the document itself gives for a schema, or nil.
func given(s *openapi3.Schema) any {
	switch {
	case s.Example != nil:
		return s.Example
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	return nil
}

// maxDepth is how deep a sample goes.
const maxDepth = 12

// sample is a value that fits a schema: what the document gives, else a plain
// one. Objects have their required fields, or, where none is, all. It is nil
// within the schema itself.
func sample(s *openapi3.Schema, within ...*openapi3.Schema) any {
	if v := given(s); v != nil {
		return v
	}
	if len(within) > maxDepth || slices.Contains(within, s) {
		return nil
	}
	within = append(slices.Clone(within), s)
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf} {
		for _, r := range list {
			if r != nil && r.Value != nil {
				return sample(r.Value, within...)
			}
		}
	}
	fields := map[string]any{}
	for _, r := range s.AllOf {
		if r == nil || r.Value == nil {
			continue
		}
		v := sample(r.Value, within...)
		part, ok := v.(map[string]any)
		if !ok && len(s.Properties) == 0 {
			return v
		}
		maps.Copy(fields, part)
	}
	switch {
	case len(s.Properties) > 0 || len(s.AllOf) > 0 || s.Type.Is("object"):
		for name, r := range s.Properties {
			if r == nil || r.Value == nil || r.Value.ReadOnly || len(s.Required) > 0 && !slices.Contains(s.Required, name) {
				continue
			}
			if v := sample(r.Value, within...); v != nil || slices.Contains(s.Required, name) {
				fields[name] = v
			}
		}
		return fields
	case s.Type.Is("array"):
		if s.Items == nil || s.Items.Value == nil {
			return []any{}
		}
		if v := sample(s.Items.Value, within...); v != nil {
			return []any{v}
		}
		return []any{}
	case s.Type.Is("boolean"):
		return true
	case s.Type.Is("integer"), s.Type.Is("number"):
		if s.Min != nil {
			return *s.Min
		}
		return 1.0
	}
	return sampleText(s)
}

func sampleText(s *openapi3.Schema) string {
	switch s.Format {
	case "date":
		return "2026-01-31"
	case "date-time":
		return "2026-01-31T12:00:00Z"
	case "uuid":
		return "00000000-0000-4000-8000-000000000001"
	case "uri", "url":
		return "http://example.invalid/"
	case "ipv4":
		return "192.0.2.1"
	}
	return "text" + strings.Repeat("x", int(max(min(s.MinLength, 1000), 4)-4))
}

// plainText is a value as it stands in a path, a query or a header.
func plainText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, plainText(x))
		}
		return strings.Join(parts, ",")
	case map[string]any:
		return encoded(v)
	}
	return fmt.Sprint(v)
}

// encoded is a value as JSON on one line; "" where it can't be.
func encoded(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if v == nil || e.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}
