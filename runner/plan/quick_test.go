package plan

import (
	"strings"
	"testing"
	"time"
)

func TestQuick(t *testing.T) {
	for _, tt := range []struct{ url, target, path string }{
		{"http://127.0.0.1:8080", "http://127.0.0.1:8080", "/"},
		{"http://127.0.0.1:8080/a/b?x=1&y={z}", "http://127.0.0.1:8080", "/a/b?x=1&y={z}"},
		{"https://shop.example/%20a", "https://shop.example", "/%20a"},
		{"http://127.0.0.1/a?x=${HOME}", "http://127.0.0.1", "/a?x=${HOME}"},
		{"unix:///run/a.sock", "unix:///run/a.sock", "/"},
	} {
		text, err := Quick{URL: tt.url, Load: "{steady: {rate: 10, length: 10s}}", Timeout: 3 * time.Second, Peak: 450, Gates: []string{"margin >= 2"}}.Plan()
		if err != nil {
			t.Errorf("%s: %v", tt.url, err)
			continue
		}
		p, err := Parse("quick", text, nil)
		if err != nil {
			t.Errorf("%s: %v\n%s", tt.url, err, text)
			continue
		}
		if got := p.Target.URL.Text.Value(); got != tt.target {
			t.Errorf("%s: target %s", tt.url, got)
		}
		if got := string(p.Requests[0].Steps[0].Path.Append(nil, nil)); got != tt.path {
			t.Errorf("%s: path %s, want %s", tt.url, got, tt.path)
		}
		if p.HTTP.Timeout != 3*time.Second || p.Production.Peak != 450 || len(p.Gates) != 1 {
			t.Errorf("%s:\n%s", tt.url, text)
		}
	}
	text, err := Quick{Name: "find", URL: "http://127.0.0.1/", Load: "{step: {from: auto, within: 6m}}", Interval: 250 * time.Millisecond}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if p, err := Parse("find", text, nil); err != nil || p.Name != "find" || p.Interval != 250*time.Millisecond || !p.Load.Step.Auto || p.Load.Step.Within != 6*time.Minute {
		t.Errorf("%v\n%s", err, text)
	}
	for _, bad := range []string{"", "127.0.0.1:80", "ftp://a/b", "http://me:pw@host/"} {
		if text, err := (Quick{URL: bad, Load: "{}"}).Plan(); err == nil {
			t.Errorf("%q: %s", bad, text)
		} else if strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: the message has the password", bad)
		}
	}
}

func TestTraceScale(t *testing.T) {
	a := Arrivals{Kind: "trace", Instants: []int64{0, 500e6, 1000e6, 2000e6}} // 1.5/s
	for _, tt := range []struct{ scale, rate, want float64 }{
		{0, 3, 0.5}, // twice the rate in half the time
		{0, 1.5, 1},
		{2, 0, 2},
	} {
		a.Scale = tt.scale
		if got := a.TraceScale(tt.rate); got != tt.want {
			t.Errorf("scale %v, rate %v: %v, want %v", tt.scale, tt.rate, got, tt.want)
		}
	}
	if one := (Arrivals{Instants: []int64{5}}); one.TraceRate() != 0 {
		t.Errorf("one instant has a rate")
	}
}
