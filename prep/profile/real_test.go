package profile

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dataFolder is where the real inputs for tests lie.
func dataFolder(t *testing.T) string {
	dir := os.Getenv("HEADROOM_DATA")
	if dir == "" {
		dir = "../../../shared/data"
	}
	if _, err := os.Stat(filepath.Join(dir, "TRUTH.json")); err != nil {
		t.Skip("no real logs here: set HEADROOM_DATA to the folder that holds TRUTH.json")
	}
	return dir
}

func fileInput(name string) Input {
	return Input{Name: name, Open: func() (io.ReadCloser, error) { return os.Open(name) }}
}

func textInput(text string) Input {
	return Input{Name: "text", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

func mustRead(t *testing.T, o Options, in ...Input) *Profile {
	t.Helper()
	p, err := Read(context.Background(), in, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type truth struct {
	Lines, Records  *uint64
	Clients         *uint64
	Methods, Status map[string]uint64
	Paths           *uint64         `json:"paths_no_query"`
	URLs            *uint64         `json:"urls_with_query"`
	Bytes           *uint64         `json:"bytes_sum"`
	Dash            *uint64         `json:"bytes_dash"`
	First           *int64          `json:"first_unix"`
	Last            *int64          `json:"last_unix"`
	Peak            json.RawMessage `json:"peak_per_second"`
	TopClient       json.RawMessage `json:"top_client"`
	Top             json.RawMessage `json:"top3_paths"`
	Dispersion      map[string]struct {
		Index float64 `json:"var_over_mean"`
	}
	Popularity *struct {
		Top1   float64
		Top10  float64 `json:"top10_share"`
		Top100 float64 `json:"top100_share"`
		Once   uint64
	}
}

// TestRealLogs holds profiles against what was counted by other means.
func TestRealLogs(t *testing.T) {
	dir := dataFolder(t)
	raw, err := os.ReadFile(filepath.Join(dir, "TRUTH.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for name, text := range all {
		if !strings.HasPrefix(name, "A/") {
			continue
		}
		t.Run(name[2:], func(t *testing.T) {
			var want truth
			if err := json.Unmarshal(text, &want); err != nil {
				t.Fatal(err)
			}
			p := mustRead(t, Options{}, fileInput(filepath.Join(dir, name)))
			var b bytes.Buffer
			if err := p.Encode(&b); err != nil {
				t.Fatal(err)
			}
			again, err := Decode(b.Bytes())
			if err != nil {
				t.Fatalf("what was written cannot be read: %v", err)
			}
			if d := cmp.Diff(p, again); d != "" {
				t.Errorf("read back (-written +read):\n%s", d)
			}
			switch name[2:] {
			case "nginx_proxy_manager_mixed.log": // the truth knows one line of twelve
				return
			case "apache_mixed_vhost.log": // and takes virtual hosts for clients
				*want.Clients = 5
				want.TopClient = nil // so 1.2.3.4 has three lines
			case "caddy_json_12.log":
				*want.Lines += p.Lines.Blank
			}
			equal(t, "lines", p.Lines.Read, want.Lines)
			if want.Records != nil {
				equal(t, "requests", p.Requests, want.Records)
				want.URLs = nil
			}
			equal(t, "clients", p.Clients.Distinct, want.Clients)
			equal(t, "paths", p.URLs.Paths, want.Paths)
			equal(t, "urls", p.URLs.WithQuery, want.URLs)
			equal(t, "bytes", p.Bytes.Sum, want.Bytes)
			equal(t, "sizes missing", p.Bytes.Unknown, want.Dash)
			if want.Methods != nil {
				if d := cmp.Diff(want.Methods, p.Methods); d != "" {
					t.Errorf("methods (-want +got):\n%s", d)
				}
			}
			if want.Status != nil {
				if d := cmp.Diff(want.Status, p.Status); d != "" {
					t.Errorf("status (-want +got):\n%s", d)
				}
			}
			if want.First != nil && (p.Window.From != stampText(*want.First) || p.Window.To != stampText(*want.Last)) {
				t.Errorf("window %s to %s, want %s to %s", p.Window.From, p.Window.To, stampText(*want.First), stampText(*want.Last))
			}
			checkPeak(t, p, want)
			for w, d := range want.Dispersion {
				if got, ok := p.Dispersion[w]; ok && math.Abs(got/d.Index-1) > 0.02 {
					t.Errorf("dispersion at %s: %.4f, want %.4f", w, got, d.Index)
				}
			}
			if pop := want.Popularity; pop != nil {
				id, err := p.Find("*", "url")
				if err != nil {
					t.Fatal(err)
				}
				n := float64(p.Requests)
				if math.Round(id.TopShare["1"]*n) != pop.Top1 || math.Abs(id.TopShare["10"]-pop.Top10) > 1e-4 || math.Abs(id.TopShare["100"]-pop.Top100) > 1e-4 || id.Single != pop.Once {
					t.Errorf("popularity %v, %d once; want %+v", id.TopShare, id.Single, *pop)
				}
			}
		})
	}
}

func equal(t *testing.T, what string, got uint64, want *uint64) {
	t.Helper()
	if want != nil && got != *want {
		t.Errorf("%s: %d, want %d", what, got, *want)
	}
}

func checkPeak(t *testing.T, p *Profile, want truth) {
	t.Helper()
	if want.Peak != nil {
		var pair [2]json.RawMessage
		var n float64
		var at []int64
		if json.Unmarshal(want.Peak, &pair) != nil || json.Unmarshal(pair[0], &n) != nil || json.Unmarshal(pair[1], &at) != nil {
			t.Fatalf("truth of the peak: %s", want.Peak)
		}
		if s := p.Peak.Second; s == nil || s.RPS != n || s.At != stampText(slices.Min(at)) {
			t.Errorf("busiest second %+v, want %g at %v", s, n, at)
		}
	}
	if want.TopClient != nil {
		var pair [2]any
		if json.Unmarshal(want.TopClient, &pair) != nil {
			t.Fatalf("truth of the client: %s", want.TopClient)
		}
		if float64(p.Clients.Busiest) != pair[1].(float64) {
			t.Errorf("busiest client has %d, want %v", p.Clients.Busiest, pair[1])
		}
	}
}

func TestRewrittenClockIsRefused(t *testing.T) {
	p := mustRead(t, Options{}, fileInput(filepath.Join(dataFolder(t), "A/apache_combined_blog_1-5000.log")))
	if !p.Has(ClockGoesBack) || !p.Has(FixedMinute) || len(p.Dispersion) != 0 {
		t.Errorf("refused %v, dispersion %v: the stamps of this log were rewritten", p.Refused, p.Dispersion)
	}
	if len(p.Routes) < 20 || p.Identifiers[0].Requests != 5000 {
		t.Error("mix and popularity may be learned from it")
	}
}

// TestFolders reads all logs as one.
func TestManyLogsInAnyOrder(t *testing.T) {
	dir := dataFolder(t)
	names, err := filepath.Glob(filepath.Join(dir, "A", "*"))
	if err != nil || len(names) < 31 {
		t.Fatalf("%d logs: %v", len(names), err)
	}
	var in []Input
	for _, n := range names {
		in = append(in, fileInput(n))
	}
	forward := mustRead(t, Options{}, in...)
	slices.Reverse(in)
	backward := mustRead(t, Options{}, in...)
	for _, p := range []*Profile{forward, backward} {
		p.Lines.RejectedInput = nil // they number the logs as given
		for i := range p.Identifiers {
			p.Identifiers[i].Pseudonyms = nil // the secret is another
		}
	}
	if d := cmp.Diff(forward, backward); d != "" {
		t.Errorf("another order of the logs, another profile:\n%s", d)
	}
	if forward.Lines.Inputs != len(names) || len(forward.Lines.Formats) < 8 {
		t.Errorf("%d logs, formats %v", forward.Lines.Inputs, forward.Lines.Formats)
	}
}
