package request

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// maxOpenAPI bounds a document, in bytes.
const maxOpenAPI = 32 << 20

// OpenAPI makes a draft of an OpenAPI 3 document, in JSON or YAML: a class for
// each operation, required parameters and bodies from the document's examples
// and schemas. References to other files are errors. Operations that change
// something get weight 0, unless there are no others.
func OpenAPI(r io.Reader) (*Draft, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxOpenAPI+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxOpenAPI {
		return nil, fmt.Errorf("an OpenAPI document of more than %d MB", maxOpenAPI>>20)
	}
	doc, err := openapi3.NewLoader().LoadFromData([]byte(unmarked(string(withoutMark(raw)))))
	if err != nil {
		return nil, fmt.Errorf("not an OpenAPI 3 document in one file: %s", comment(err.Error()))
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.") {
		return nil, errors.New("not an OpenAPI 3 document: its key openapi is not 3.x; convert a document of Swagger 2 first")
	}
	o := openAPI{Draft: &Draft{name: "from openapi"}, doc: doc}
	o.server()
	if doc.Paths != nil {
		for _, path := range slices.Sorted(slices.Values(doc.Paths.Keys())) {
			item := doc.Paths.Value(path)
			if item == nil {
				continue
			}
			operations := item.Operations()
			for _, m := range append(slices.Clone(verbs), "OPTIONS", "TRACE") {
				if operation := operations[m]; operation != nil {
					o.operation(m, path, item.Parameters, operation)
				}
			}
		}
	}
	o.weights()
	o.made = fmt.Sprintf("Made by headroom prep openapi from %d operations. Weights are not known: put in those of production.", len(o.classes))
	return o.Draft, o.finish()
}

type openAPI struct {
	*Draft
	doc *openapi3.T
}

var serverVariable = regexp.MustCompile(`\{([^{}]*)\}`)

// server takes the first server that has an address.
func (o *openAPI) server() {
	o.target = "http://127.0.0.1:8080"
	for _, s := range o.doc.Servers {
		address := serverVariable.ReplaceAllStringFunc(s.URL, func(m string) string {
			if v := s.Variables[m[1:len(m)-1]]; v != nil {
				return v.Default
			}
			return m
		})
		var c call
		if !strings.Contains(address, "://") || c.address(address) != nil || strings.ContainsAny(address, "{}@?#") {
			continue
		}
		base, err := url.PathUnescape(strings.TrimRight(c.path, "/"))
		if err != nil {
			continue
		}
		o.target = c.target + percent(base)
		if len(o.doc.Servers) > 1 {
			o.note("the document has %d servers; this is the first: put the one under test in its place", len(o.doc.Servers))
		}
		return
	}
	o.note("the document says no address that a plan can have; put the one under test under target")
}

var pathParameter = regexp.MustCompile(`\{([^{}/]+)\}`)

func (o *openAPI) operation(method, path string, shared openapi3.Parameters, op *openapi3.Operation) {
	c := class{method: method, weight: 1, comment: op.Summary}
	if secretValue(c.comment) {
		c.comment = ""
	}
	if op.OperationID != "" && !secretValue(op.OperationID) {
		c.name = identifier(op.OperationID, "")
	}
	var parameters []*openapi3.Parameter
	for _, list := range []openapi3.Parameters{op.Parameters, shared} {
		for _, p := range list {
			if p.Value != nil && !slices.ContainsFunc(parameters, func(q *openapi3.Parameter) bool { return q.Name == p.Value.Name && q.In == p.Value.In }) {
				parameters = append(parameters, p.Value)
			}
		}
	}
	c.path = o.path(path, parameters)
	var query []string
	for _, p := range parameters {
		if !p.Required || p.In == "path" {
			continue
		}
		switch p.In {
		case "query":
			query = append(query, percent(p.Name)+"="+o.parameter(p, path))
		case "header":
			if headerName.MatchString(p.Name) && !isNoise(p.Name) {
				c.headers = append(c.headers, pair{name: p.Name, value: o.secrets.header(p.Name, o.text(p))})
			}
		case "cookie":
			c.headers = append(c.headers, pair{name: "Cookie", value: o.secrets.leave("COOKIE", "header Cookie")})
		}
	}
	o.security(&c, &query, op)
	if len(query) > 0 {
		c.path += "?" + strings.Join(query, "&")
	}
	o.body(&c, op)
	c.headers = slices.CompactFunc(c.headers, func(x, y pair) bool { return strings.EqualFold(x.name, y.name) })
	o.classes = append(o.classes, c)
}

// path puts data sources in place of a path's parameters.
func (o *openAPI) path(path string, parameters []*openapi3.Parameter) string {
	var b strings.Builder
	if !strings.HasPrefix(path, "/") {
		b.WriteByte('/')
	}
	rest := path
	for {
		at := pathParameter.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		b.WriteString(percent(rest[:at[0]]))
		name := rest[at[2]:at[3]]
		i := slices.IndexFunc(parameters, func(p *openapi3.Parameter) bool { return p.In == "path" && p.Name == name })
		p := &openapi3.Parameter{Name: name, In: "path"}
		if i >= 0 {
			p = parameters[i]
		}
		prefix := pathParameter.ReplaceAllString(path[:len(path)-len(rest)+at[0]], "{}")
		b.WriteString(o.drawnFrom(p, prefix))
		rest = rest[at[1]:]
	}
	b.WriteString(percent(rest))
	return b.String()
}

// drawnFrom is the place of a parameter's values.
func (o *openAPI) drawnFrom(p *openapi3.Parameter, at string) string {
	if secretName(p.Name) {
		return o.secrets.leave(p.Name, "path parameter "+p.Name)
	}
	v := o.Draft.source(p.Name, p.In+" "+at+" "+p.Name)
	if len(v.order) > 0 || v.up > 0 {
		return source(v.name)
	}
	s := &openapi3.Schema{}
	if p.Schema != nil && p.Schema.Value != nil {
		s = p.Schema.Value
	}
	for _, e := range s.Enum {
		if text := plainText(e); usable(text) {
			v.add(text, 1)
		}
	}
	if text := o.example(p); len(v.order) == 0 && usable(text) {
		v.add(text, 1)
		v.comment = "the example of the document: give real values, such as {file: " + v.name + ".txt}, one a line"
	}
	if len(v.order) > 0 {
		return source(v.name)
	}
	v.comment = "the document has no example: give real values, such as {file: " + v.name + ".txt}, one a line"
	switch {
	case s.Format == "uuid":
		v.add("00000000-0000-4000-8000-000000000001", 1)
	case s.Type.Is("string"):
		v.add(v.name, 1)
	default:
		v.low, v.up = 1, 1000
		if s.Min != nil && *s.Min >= 1 && *s.Min < 1e15 {
			v.low = int64(*s.Min)
			v.up = v.low + 999
		}
		if s.Max != nil && *s.Max >= float64(v.low) && *s.Max < 1e15 {
			v.up = int64(*s.Max)
		}
	}
	return source(v.name)
}

// usable reports whether a text can be a value that is listed.
func usable(text string) bool {
	return text != "" && (identifies(text) || !secretValue(text)) && !environment.MatchString(text) && len(text) < 200
}

// parameter is the value of a required parameter of a query.
func (o *openAPI) parameter(p *openapi3.Parameter, path string) string {
	if p.Schema != nil && p.Schema.Value != nil && len(p.Schema.Value.Enum) > 1 {
		return o.drawnFrom(p, path)
	}
	text, kept := o.secrets.value(p.Name, o.text(p), "query parameter "+p.Name)
	if kept {
		text = percentPlaces(text)
	}
	return text
}

// text is a value of a parameter: its example, or one of its schema.
func (o *openAPI) text(p *openapi3.Parameter) string {
	if text := o.example(p); text != "" {
		return text
	}
	if p.Schema != nil && p.Schema.Value != nil {
		return plainText(sample(p.Schema.Value))
	}
	return "x"
}

func (o *openAPI) example(p *openapi3.Parameter) string {
	if p.Example != nil {
		return plainText(p.Example)
	}
	if v := firstExample(p.Examples); v != nil {
		return plainText(v)
	}
	if p.Schema != nil && p.Schema.Value != nil {
		return plainText(given(p.Schema.Value))
	}
	return ""
}

// security puts places where the credentials of an operation go: the first of
// its alternatives.
func (o *openAPI) security(c *class, query *[]string, op *openapi3.Operation) {
	needs := o.doc.Security
	if op.Security != nil {
		needs = *op.Security
	}
	if len(needs) == 0 || o.doc.Components == nil {
		return
	}
	names := []string{}
	for name := range needs[0] {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		ref := o.doc.Components.SecuritySchemes[name]
		if ref == nil || ref.Value == nil {
			continue
		}
		s := ref.Value
		add := func(name, value string) {
			if !slices.ContainsFunc(c.headers, func(h pair) bool { return strings.EqualFold(h.name, name) }) {
				c.headers = append(c.headers, pair{name: name, value: value})
			}
		}
		switch {
		case s.Type == "apiKey" && s.In == "header" && headerName.MatchString(s.Name):
			add(s.Name, o.secrets.leave(s.Name, "header "+s.Name))
		case s.Type == "apiKey" && s.In == "query":
			*query = append(*query, percent(s.Name)+"="+o.secrets.leave(s.Name, "query parameter "+s.Name))
		case s.Type == "apiKey" && s.In == "cookie":
			add("Cookie", o.secrets.leave("COOKIE", "header Cookie"))
		case s.Type == "http" && strings.EqualFold(s.Scheme, "basic"):
			add("Authorization", "Basic "+o.secrets.leave("BASIC_CREDENTIALS", "header Authorization"))
		case s.Type == "http" || s.Type == "oauth2" || s.Type == "openIdConnect":
			add("Authorization", "Bearer "+o.secrets.leave("TOKEN", "header Authorization"))
		default:
			o.note("the security scheme %s can't be put into a header", name)
		}
	}
}

// weights gives operations that change something no share, where others exist.
func (o *openAPI) weights() {
	reads := func(c class) bool { return c.method == "GET" || c.method == "HEAD" || c.method == "OPTIONS" }
	if !slices.ContainsFunc(o.classes, reads) {
		return
	}
	n := 0
	for i := range o.classes {
		if !reads(o.classes[i]) {
			o.classes[i].weight = 0
			n++
		}
	}
	if n > 0 {
		o.note("%d operations that change something have weight 0: give them one where the target may be written to. check sends each once; delete what it must not", n)
	}
}
