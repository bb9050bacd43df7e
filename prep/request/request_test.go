package request_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"headroom/prep/request"
	"headroom/runner/plan"
)

var leaked = regexp.MustCompile(`(?i)sekret`)

// parsed reads a draft as a plan whose variables are all set, and fails where
// it, or what is said of it, has a secret.
func parsed(t *testing.T, d *request.Draft) *plan.Plan {
	t.Helper()
	text := d.Plan()
	said := strings.Join(d.Notes(), "\n")
	known := map[string]string{}
	for _, v := range d.Variables() {
		known[v.Name] = "value-of-" + v.Name
		said += strings.Join(v.Where, "\n")
	}
	if leaked.Match(text) || leaked.MatchString(said) {
		t.Errorf("a secret got through:\n%s\n%s", said, text)
	}
	p, err := plan.Parse("made.yaml", text, func(name string) (string, bool) {
		v, ok := known[name]
		return v, ok
	})
	if err != nil {
		t.Fatalf("the plan does not read: %v\n%s", err, text)
	}
	return p
}

// row is a class as a test compares it.
type row struct {
	class        string
	weight       float64
	method, path string
	body         string
}

func rows(p *plan.Plan) (all []row) {
	for _, r := range p.Requests {
		s := r.Steps[0]
		all = append(all, row{r.Class, r.Weight, s.Method, s.Path.String(), s.Body.String()})
	}
	return all
}

func compare(t *testing.T, got, want []row) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("missing: %+v", want[i])
		case i >= len(want):
			t.Errorf("too much: %+v", got[i])
		case got[i] != want[i]:
			t.Errorf("class %d:\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
}

func headers(p *plan.Plan, class string) map[string]string {
	all := map[string]string{}
	for _, r := range p.Requests {
		if r.Class == class {
			for _, h := range r.Steps[0].Headers {
				all[strings.ToLower(h.Name)] = h.Value.String()
			}
		}
	}
	return all
}

func TestCurl(t *testing.T) {
	for _, tt := range []struct{ name, command, method, path, body string }{
		{"plain", `curl http://h`, "GET", "/", ""},
		{"no scheme", `curl h:8080/a`, "GET", "/a", ""},
		{"data", `curl -d a=1 -d b=2 http://h/x`, "POST", "/x", "a=1&b=2"},
		{"joined option", `curl -XPUT -da=1 http://h/x`, "PUT", "/x", "a=1"},
		{"cluster", `curl -sSkI http://h/x`, "HEAD", "/x", ""},
		{"get with data", `curl -G -d q=a --data-urlencode 'r=b c' http://h/x?z=1`, "GET", "/x?z=1&q=a&r=b%20c", ""},
		{"json", `curl --json '{"a":{"b":1}}' http://h/`, "POST", "/", `{"a":{"b":1}}`},
		{"ansi quotes", `curl -H 'content-type: application/json' --data-raw $'{"a":"it\'s \u00e9"}' 'http://h/'`, "POST", "/", `{"a":"it's é"}`},
		{"line ends", "curl 'http://h/x' \\\r\n  -X DELETE", "DELETE", "/x", ""},
		{"variable", `curl -d "token=$TOKEN" "http://h/?key=${KEY}"`, "POST", "/?key=${KEY}", "token=${TOKEN}"},
		{"braces are text", `curl --json '{"a":"{id} ${X}"}' 'http://h/{a,b}?q={id}'`, "POST", "/%7Ba,b%7D?q=%7Bid%7D", `{"a":"{{id}} ${{X}}"}`},
		{"identifier", `curl http://h/users/17/cart`, "GET", "/users/{users}/cart", ""},
		{"query token", `curl 'http://h/x?sessionId=sekret'`, "GET", "/x?sessionId=${SESSIONID}", ""},
		{"in no form", `curl -H 'Content-Type: text/plain' -d 'password: sekret' http://h/`, "POST", "/", "${BODY}"},
		{"shell's own variable", `curl --json '{"path":"eyJhbGciOiJIUzI1NiJ9.sekret"}' http://h/`, "POST", "/", `{"path":"${PLAN_PATH}"}`},
		{"piped", `curl -s http://h/x | jq .`, "GET", "/x", ""},
		{"next", `curl http://h/x --next -d a=1 http://other/y`, "GET", "/x", ""},
	} {
		d, err := request.Curl(tt.command)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		got := rows(parsed(t, d))
		if g := got[0]; len(got) != 1 || g.method != tt.method || g.path != tt.path || g.body != tt.body {
			t.Errorf("%s:\n got %+v\nwant %s %s %s", tt.name, got, tt.method, tt.path, tt.body)
		}
	}
}

func TestCurlHeaders(t *testing.T) {
	d, err := request.Curl(`curl -k --http2 -m 3 -u joe:sekret -b a=sekret -A sekret -e http://sekret/ -H 'X-Auth: sekret' -H "X-Tenant: $TENANT" -H 'Accept: a/b; {q}' https://h/`)
	if err != nil {
		t.Fatal(err)
	}
	p := parsed(t, d)
	want := map[string]string{"authorization": "Basic ${BASIC_CREDENTIALS}", "cookie": "${COOKIE}", "x-auth": "${X_AUTH}", "x-tenant": "${TENANT}", "accept": "a/b; {{q}}"}
	got := headers(p, "get_root")
	if len(got) != len(want) {
		t.Errorf("headers %v", got)
	}
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s: %q, want %q", name, got[name], v)
		}
	}
	if !p.HTTP.TLS.Insecure || p.HTTP.Version != "auto" || p.HTTP.Timeout.Seconds() != 3 {
		t.Errorf("http %+v", p.HTTP)
	}
}

func TestCurlRefuses(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"curl http://h/$(cat /etc/passwd)", "runs another one"},
		{"curl http://h/`id`", "runs another one"},
		{"curl -d @<(id) http://h/", "runs another one"},
		{"curl 'http://h/", "at 1:6"},
		{"wget http://h/", "not curl"},
		{"curl", "without a URL"},
		{"curl --nonsense http://h/", "--nonsense is not known"},
		{"curl ftp://h/", "scheme ftp"},
		{"curl http://$HOST/", "write it out"},
		{"curl http://h/ -H", "has no value"},
		{"for i in 1 2; do curl http://h/; done", "a loop"},
		{"curl ^\"http://h/^\"", "Windows"},
		{"curl http://h/$((2+3))", "calculates"},
	} {
		_, err := request.Curl(tt.command)
		if err == nil || !strings.Contains(err.Error(), tt.want) || leaked.MatchString(err.Error()) {
			t.Errorf("%s: %v, want %s", tt.command, err, tt.want)
		}
	}
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestHAR(t *testing.T) {
	d, err := request.HAR(bytes.NewReader(file(t, "shop.har")), "")
	if err != nil {
		t.Fatal(err)
	}
	p := parsed(t, d)
	compare(t, rows(p), []row{
		{"get_api_items", 3, "GET", "/api/items/{items}?page={page}&lang=en&access_token=${ACCESS_TOKEN}", ""},
		{"get_api_items_reviews", 1, "GET", "/api/items/{items}/reviews", ""},
		{"get_reset", 1, "GET", "/reset/${RESET_KEY}", ""},
		{"get_mail_open", 1, "GET", "/mail/${MAIL_KEY}/open", ""},
		{"post_api_login", 1, "POST", "/api/login", "{\"user\": \"${PLAN_USER}\", \"password\":\"${PASSWORD}\", \"remember\": true,\n \"device\": {\"authData\": [\"${AUTHDATA}\", ${AUTHDATA}], \"max_tokens\": 5}, \"text\": \"{{items}} and ${{HOME}}\", \"nested\": \"${NESTED}\"}"},
		{"post_form", 1, "POST", "/form", "name=a%20b&csrf_token=${CSRF_TOKEN}&card%5Bnumber%5D=${CARD_NUMBER}&cardNumber=${CARDNUMBER}"},
		{"post_upload", 1, "POST", "/upload", ""},
		{"post_soap", 1, "POST", "/soap", "${BODY}"},
	})
	h := headers(p, "get_api_items")
	if len(h) != 5 || h["cookie"] != "${COOKIE}" || h["authorization"] != "Bearer ${TOKEN}" || h["x-api-key"] != "${X_API_KEY}" || h["x-trace"] != "${X_TRACE}" || h["accept"] != "application/json" {
		t.Errorf("headers %v", h)
	}
	if p.Target.URL.String() != "https://shop.example" || p.HTTP.Version != "auto" {
		t.Errorf("target %s, version %s", p.Target.URL, p.HTTP.Version)
	}
	for _, s := range p.Data {
		if s.Name == "items" && (len(s.Choices) != 3 || s.Choices[0] != (plan.Choice{Value: "17", Weight: 2})) {
			t.Errorf("items: %+v", s.Choices)
		}
	}
	if e := p.Requests[2].Steps[0].Expect.Status; !slices.Equal(e, []int{302}) {
		t.Errorf("reset expects %v", e)
	}
	notes := strings.Join(d.Notes(), "\n")
	for _, want := range []string{"own cache", "web socket", "https://cdn.example", "multipart", "every answer in the recording was an error"} {
		if !strings.Contains(notes, want) {
			t.Errorf("not said: %s\n%s", want, notes)
		}
	}
	d, err = request.HAR(bytes.NewReader(file(t, "shop.har")), "CDN.example")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, rows(parsed(t, d)), []row{{"get_app_js", 1, "GET", "/app.js?sig=${SIG}", ""}})
	if _, err := request.HAR(bytes.NewReader(file(t, "shop.har")), "other.example"); err == nil || !strings.Contains(err.Error(), "it has shop.example, cdn.example") {
		t.Error(err)
	}
}

func TestOpenAPI(t *testing.T) {
	d, err := request.OpenAPI(bytes.NewReader(file(t, "shop.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	p := parsed(t, d)
	compare(t, rows(p), []row{
		{"getItem", 1, "GET", "/items/{itemid}?view={view}&api_key=${API_KEY}", ""},
		{"deleteItem", 0, "DELETE", "/items/{itemid}", ""},
		{"post_login", 0, "POST", "/login", "password=${PASSWORD}&user=joe"},
		{"post_orders", 0, "POST", "/orders", `{"count":1,"item":"blue {{itemId}}","parent":{"day":"2026-01-31","secretNote":"${SECRETNOTE}"}}`},
		{"get_users_orders", 1, "GET", "/users/{name}/orders/{order}", ""},
	})
	if p.Target.URL.String() != "https://eu.shop.example/v1" {
		t.Errorf("target %s", p.Target.URL)
	}
	if h := headers(p, "getItem"); h["authorization"] != "Bearer ${TOKEN}" {
		t.Errorf("headers %v", h)
	}
	if h := headers(p, "get_users_orders"); h["x-shop-key"] != "${X_SHOP_KEY}" || len(h) != 1 {
		t.Errorf("headers %v", h)
	}
	for _, s := range p.Data {
		if s.Name == "itemid" && (s.From != 100 || s.To != 999) {
			t.Errorf("itemid %d to %d", s.From, s.To)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, tt := range []struct{ name, har, openapi, want string }{
		{"empty HAR", "", "", "no JSON at byte"},
		{"other JSON", `{"a": "sekret"}`, "", "it has no log"},
		{"no entries", `{"log": {"entries": []}}`, "", "no request was found"},
		{"wrong type", `{"log": {"entries": "sekret"}}`, "", "log.entries"},
		{"swagger", "", `{"swagger": "2.0", "info": {}, "paths": {}}`, "Swagger 2"},
		{"another file", "", `{"openapi": "3.0.0", "info": {"title":"t","version":"1"}, "paths": {"/a": {"$ref": "/etc/passwd"}}}`, "in one file"},
		{"no operation", "", `{"openapi": "3.1.0", "info": {"title":"t","version":"1"}, "paths": {}}`, "no request was found"},
	} {
		var err error
		if tt.openapi != "" {
			_, err = request.OpenAPI(strings.NewReader(tt.openapi))
		} else {
			_, err = request.HAR(strings.NewReader(tt.har), "")
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || leaked.MatchString(err.Error()) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}

// What is made reads as a plan, whatever it is made of.
func FuzzCurl(f *testing.F) {
	f.Add(`curl -X POST 'http://h/a/17;x?b=1&c&d=$A' -H 'A: {b}' --json $'{"a": ["x${Y}", 1], "pin": 3}' -m 3 --compressed`)
	f.Add(`curl -u a:b -d "x=$Y&z" http://h:1/%7e/%zz --next -T f https://u:p@[::1]/`)
	f.Fuzz(func(t *testing.T, command string) { reads(t, command)(request.Curl(command)) })
}

func FuzzHAR(f *testing.F) {
	f.Add(file(f, "shop.har"))
	f.Fuzz(func(t *testing.T, raw []byte) { reads(t, string(raw))(request.HAR(bytes.NewReader(raw), "")) })
}

func FuzzOpenAPI(f *testing.F) {
	f.Add(file(f, "shop.yaml"))
	f.Fuzz(func(t *testing.T, raw []byte) { reads(t, string(raw))(request.OpenAPI(bytes.NewReader(raw))) })
}

func reads(t *testing.T, in string) func(*request.Draft, error) {
	return func(d *request.Draft, err error) {
		if err != nil {
			return
		}
		_, err = plan.Parse("made.yaml", d.Plan(), func(string) (string, bool) { return "x", true })
		if err != nil {
			t.Errorf("%v\n%s\nof %q", err, d.Plan(), in)
		}
	}
}
