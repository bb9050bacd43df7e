package profile

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRoutes(t *testing.T) {
	var b strings.Builder
	for i := range 600 {
		for _, r := range []string{
			fmt.Sprintf("GET /customers/%d/orders?limit=20&page=%d HTTP/1.1", i, i%3),
			fmt.Sprintf("GET /files/%08x-aaaa-4aaa-8aaa-%012x.png HTTP/1.1", i, i),
			fmt.Sprintf("GET /users/%c%c%c/posts HTTP/1.1", 'a'+i%26, 'a'+i/26%26, 'x'),
			"GET /users/me HTTP/1.1",
			"GET /health HTTP/1.1",
			fmt.Sprintf("POST /api/v2/things/a1%x HTTP/1.1", mix(uint64(i+1))),
			fmt.Sprintf("GET /search/%%D8%%B3%d HTTP/1.1", i),
		} {
			b.WriteString(clf(i, r))
		}
	}
	b.WriteString(clf(600, "GET /secret/of/one HTTP/1.1"))
	b.WriteString(clf(601, "-"))
	p := mustRead(t, Options{}, textInput(b.String()))
	var got []string
	for _, r := range p.Routes {
		got = append(got, fmt.Sprintf("%d %s %s", r.Requests, r.Method, r.Template))
	}
	slices.Sort(got)
	wanted := []string{
		"1 (odd request) (odd request)", "1 * {other}",
		"600 GET /customers/{id}/orders", "600 GET /files/{uuid}.png", "600 GET /health", "600 GET /search/{text}",
		"600 GET /users/{name}", "600 GET /users/{name}/posts", "600 POST /api/v2/things/{hash}",
	}
	if d := cmp.Diff(wanted, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	id, err := p.Find("/customers/{id}/orders", "")
	if err != nil || id.Distinct != 600 || id.At != "segment 2" {
		t.Errorf("customers: %+v, %v", id, err)
	}
	if id, err := p.Find("/customers/{id}/orders", "page"); err != nil || id.Distinct != 3 {
		t.Errorf("pages: %+v, %v", id, err)
	}
	// What is folded may be named, and what is not folded may be folded.
	p = mustRead(t, Options{Routes: []string{"/users/me", "/users/{user}/posts", "/{page}"}}, textInput(b.String()))
	found := map[string]bool{}
	for _, r := range p.Routes {
		found[r.Template] = true
	}
	for _, r := range []string{"/users/me", "/users/{user}/posts", "/{page}"} {
		if !found[r] {
			t.Errorf("the pattern %s has no route: %v", r, found)
		}
	}
	if found["/health"] {
		t.Error("/health is kept beside /{page}")
	}
}

func TestPathsMadeUpByTheThousand(t *testing.T) {
	var b strings.Builder
	for i := range 60_000 {
		w := func(n int) string { return fmt.Sprintf("%c%c%c", 'a'+n%26, 'a'+n/26%26, 'a'+n/676%26) }
		b.WriteString(clf(i/100, "GET /"+w(i%300)+"/"+w(i/300%90)+"/"+w(i/7)+"/x HTTP/1.1"))
	}
	p := mustRead(t, Options{}, textInput(b.String()))
	if len(p.Routes) > keptRoutes+1 {
		t.Errorf("%d routes", len(p.Routes))
	}
}

func TestSegmentsClassified(t *testing.T) {
	for seg, want := range map[string]kind{
		"orders": word, "v2": word, "index.html": word, "jquery-3.6.0.min.js": word, "sts-71": word, "favicon.ico": word, "": word,
		"12": number, "60844": number, "M17286": number, "2024-01-02": number, "10.0.0.1": number, "123.jpg": number, "18182835-my-first": number,
		"0a9b8c7d-1234-4abc-8def-0123456789ab": uuid, "0a9b8c7d-1234-4abc-8def-0123456789ab.png": uuid,
		"deadbeef12": hash, "9f86d081884c7d659a2feaa0c55ad015": hash, "eyJhbGciOiJIUzI1NiIsInR5cCI6": hash,
		"%D8%B3": text, "jo@example.org": text, "a,b": text, "shop.example": text, "~jo": text, "caf\xc3\xa9": text,
	} {
		if got, _ := classify([]byte(seg)); got != want {
			t.Errorf("%q: %s, want %s", seg, kindNames[got], kindNames[want])
		}
	}
}
