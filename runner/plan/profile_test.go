package plan

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"headroom/prep/profile"
)

// shopProfile writes the profile of a log into a folder: 3 requests per second
// on average, but 9 in every third one, for customers with a law of their own.
func shopProfile(t *testing.T, dir string, o profile.Options) {
	t.Helper()
	var log strings.Builder
	start := time.Date(2024, 1, 3, 12, 0, 0, 0, time.UTC)
	for s := 0; s < 1200; s += 3 {
		for i := range 9 {
			n := s*3 + i
			path := fmt.Sprintf("/customers/%d/orders?page=%d", n*n%97, i%3)
			switch {
			case i == 8:
				path = "/health"
			case i == 7:
				path = fmt.Sprintf("/products/%d", n%50)
			}
			method := "GET"
			if i == 6 {
				method = "POST"
			}
			fmt.Fprintf(&log, "192.0.2.1 - - [%s] \"%s %s HTTP/1.1\" 200 10\n", start.Add(time.Duration(s)*time.Second).Format("02/Jan/2006:15:04:05 -0700"), method, path)
		}
	}
	p, err := profile.Read(context.Background(), []profile.Input{{Name: "log", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(log.String())), nil
	}}}, o)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "shop.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Encode(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func loadIn(t *testing.T, dir, text string) (*Plan, error) {
	t.Helper()
	name := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Load(name, environ)
}

func TestPlanFromProfile(t *testing.T) {
	dir := t.TempDir()
	shopProfile(t, dir, profile.Options{})
	p, err := loadIn(t, dir, `name: shop
target: {url: "http://127.0.0.1:1"}
load: {steady: {rate: 10, length: 10s}}
data:
  who: {profile: shop.json, route: "/customers/{id}/orders", first: 1000}
  page: {profile: shop.json, route: "/customers/{id}/orders", at: page}
requests: {from_profile: shop.json}
arrivals: {profile: shop.json}
production: {profile: shop.json, resolution: 1s}
gates: [margin >= 2]
`)
	if err != nil {
		t.Fatal(err)
	}
	who := p.Data[0]
	if who.First != 1000 || who.Count < 40 || len(who.Head) == 0 || who.Head[0] < who.Head[len(who.Head)-1] {
		t.Errorf("customers: first %d, count %d, head %v", who.First, who.Count, who.Head)
	}
	if page := p.Data[1]; page.Count != 3 || len(page.Head) != 3 {
		t.Errorf("pages: %+v", page)
	}
	// Bursts of nine: the variance of 9 in a third of the seconds is 18, the mean 3.
	if p.Arrivals.Kind != "bursty" || math.Abs(p.Arrivals.Dispersion-6) > 0.1 || math.Abs(p.Arrivals.CV2-5.0/3) > 0.05 {
		t.Errorf("arrivals %+v", p.Arrivals)
	}
	if v := p.Production; v.Peak != 9 || v.Resolution != time.Second || v.Taken != "2024-01-03" || len(v.Peaks) != 1 || v.Peaks[0].Peak != 9 {
		t.Errorf("production %+v", v)
	}
	var got []string
	for _, q := range p.Requests {
		got = append(got, fmt.Sprintf("%s %g %s %s", q.Class, q.Weight, q.Steps[0].Method, q.Steps[0].Path.plain))
	}
	want := "get_customers_id_orders 2400 GET /customers/{who}/orders, get_health 400 GET /health, get_products_id 400 GET /products/{products}"
	if strings.Join(got, ", ") != want {
		t.Errorf("requests\n%s, want\n%s", strings.Join(got, ", "), want)
	}
	if p.Data[2].Name != "products" || p.Data[2].Count != 50 {
		t.Errorf("products: %+v", p.Data[2])
	}
	if p.Profile() == nil {
		t.Error("no profile stands for production")
	}
	if strings.Contains(string(p.Public()), "shop.json") {
		t.Errorf("a file's name is in the public plan:\n%s", p.Public())
	}
	again, err := loadIn(t, dir, string(p.Canonical()))
	if err != nil {
		t.Fatalf("%v in\n%s", err, p.Canonical())
	}
	if again.Digest() != p.Digest() || len(again.Requests) != len(p.Requests) {
		t.Errorf("the canonical form is another plan:\n%s", p.Canonical())
	}
}

func TestProfileRefuses(t *testing.T) {
	dir := t.TempDir()
	shopProfile(t, dir, profile.Options{Sampled: 0.01})
	if err := os.WriteFile(filepath.Join(dir, "other.json"), []byte(`{"schema":"headroom.other/1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const head = "name: shop\ntarget: {url: \"http://127.0.0.1:1\"}\nload: {steady: {rate: 10, length: 10s}}\n"
	for _, c := range []struct{ text, want string }{
		{"requests: [{class: a, get: /}]\nproduction: {profile: shop.json}", "5:23: production.profile: the profile has no peak (sampled_peak"},
		{"requests: [{class: a, get: /}]\narrivals: {profile: shop.json}", "5:21: arrivals.profile: the profile has no index of dispersion at 1 s (sampled_peak"},
		{"requests: [{class: a, get: /}]\nproduction: {profile: shop.json, resolution: 5s}", "a profile has peaks of 1s, 10s and 1m"},
		{"requests: [{class: a, get: /}]\ndata: {a: {profile: shop.json, route: /nowhere}}", "the profile has no identifiers of /nowhere"},
		{"requests: [{class: a, get: /}]\ndata: {a: {profile: other.json}}", "not a profile"},
		{"requests: [{class: a, get: /}]\ndata: {a: {profile: gone.json}}", "name a file that can be read"},
		{"requests: {from_profile: shop.json, methods: [DELETE]}", "the profile has no route with DELETE"},
	} {
		_, err := loadIn(t, dir, head+c.text+"\n")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
