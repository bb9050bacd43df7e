package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"headroom/analyze"
)

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	a, m := small.make()
	paths, err := Write(dir, a, m, Options{NoPNG: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"analysis.json", "heat.svg", "intervals.csv", "knee.svg", "lag.svg", "latency.svg", "report.html", "report.md", "resources.svg", "spectrum.svg", "steps.csv", "timeline.svg"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
	if len(paths) != len(want) || filepath.Base(paths[0]) != "report.html" {
		t.Errorf("paths %v", paths)
	}
	first, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	// Again over an earlier report: the same bytes. Then without evidence: the
	// pictures over time are gone, nothing stale is left.
	if _, err := Write(dir, a, m, Options{NoPNG: true}); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "report.html")); err != nil || string(again) != string(first) {
		t.Errorf("the same analysis wrote another page (%v)", err)
	}
	if _, err := Write(dir, a, nil, Options{NoPNG: true}); err != nil {
		t.Fatal(err)
	}
	want = []string{"analysis.json", "knee.svg", "latency.svg", "report.html", "report.md", "steps.csv"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

func TestWriteWithoutSteps(t *testing.T) {
	dir := t.TempDir()
	if _, err := Write(dir, &analyze.Analysis{Schema: analyze.Schema}, nil, Options{Lang: Portuguese}); err != nil {
		t.Fatal(err)
	}
	want := []string{"analysis.json", "report.html", "report.md", "steps.csv"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

func TestWriteRefuses(t *testing.T) {
	a, m := small.make()
	t.Run("a file of somebody else", func(t *testing.T) {
		dir := t.TempDir()
		foreign := filepath.Join(dir, "report.md")
		if err := os.WriteFile(foreign, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(dir, a, m, Options{NoPNG: true}); err == nil || !strings.Contains(err.Error(), "report.md") {
			t.Errorf("error %v; want one that names report.md", err)
		}
		if got := names(t, dir); !slices.Equal(got, []string{"report.md"}) {
			t.Errorf("files %v were left", got)
		}
	})
	t.Run("a folder in the way", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "knee.svg"), 0o755); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(dir, a, m, Options{NoPNG: true}); err == nil || !strings.Contains(err.Error(), "knee.svg") {
			t.Errorf("error %v; want one that names knee.svg", err)
		}
		if got := names(t, dir); len(got) != 1 {
			t.Errorf("files %v were left", got)
		}
	})
	t.Run("a number that is none", func(t *testing.T) {
		dir := t.TempDir()
		bad := *a
		bad.Margin = &analyze.Margin{PeakRPS: -1, ResolutionS: inf()}
		if _, err := Write(dir, &bad, m, Options{NoPNG: true}); err == nil {
			t.Error("an infinity was written")
		}
		if got := names(t, dir); len(got) != 0 {
			t.Errorf("files %v were left", got)
		}
	})
}

func inf() float64 { zero := 0.0; return 1 / zero }
