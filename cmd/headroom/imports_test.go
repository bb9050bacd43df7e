package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Who may import whom. A package may import those of its row and nothing else
// of ours; the sentence says why. Tests may import more.
var mayImport = []struct {
	pkg, why string
	may      []string
}{
	{"store/record", "the vocabulary depends on nothing", nil},
	{"store", "files hold records and know nothing of how they arise or what they mean", []string{"store/record"}},
	{"analyze/stat", "arithmetic on slices", nil},
	{"analyze/stat/queueing", "formulas of queueing theory", nil},
	{"analyze", "evidence in, answer out: no file, no clock, no run", []string{"store/record", "analyze/stat"}},
	{"runner/schedule", "arrivals are pure data", nil},
	{"runner/plan", "a file, read; the options of the built-in service are its own, and a profile knows how to read itself", []string{"store/record", "runner/sim", "runner/schedule", "prep/profile"}},
	{"runner/send", "the interface of sending", []string{"store/record"}},
	{"runner/send/loop", "one way of sending", []string{"store/record", "runner/send"}},
	{"runner/send/std", "the other way of sending", []string{"store/record", "runner/send"}},
	{"runner/send/sendtest", "what every way of sending must pass; only tests import it", []string{"store/record", "runner/send"}},
	{"runner/tally", "results in, intervals out", []string{"store/record"}},
	{"runner/observe", "readings of processes", []string{"store/record"}},
	{"runner/sim", "a service of known capacity", []string{"store/record", "runner/send", "runner/schedule"}},
	{"runner/sim/faulty", "a service of known faults", nil},
	{"runner/live", "a run seen from outside while it goes on", []string{"store/record"}},
	{"runner", "one run, from plan to records; the sink is an interface", []string{"store/record", "analyze", "runner/plan", "runner/schedule", "runner/send", "runner/tally", "prep/realism"}},
	{"prep/foreign", "other tools' files in, evidence out, counted by the runner's own tally", []string{"store/record", "runner/tally"}},
	{"prep/accesslog", "a line in, a request out", nil},
	{"prep/profile", "logs in, distributions out", []string{"analyze/stat", "prep/accesslog"}},
	{"prep/request", "commands, recordings and documents in, the text of a plan out", nil},
	{"prep/realism", "a plan's facts beside a profile's: pure", []string{"prep/profile"}},
	{"report/plot", "values in, pictures out", []string{"store/record"}},
	{"report", "an analysis, told", []string{"analyze", "store/record", "report/plot"}},
	{"report/web", "a handler over an interface that it declares itself", []string{"analyze", "store/record", "report", "report/plot"}},
}

// Each third-party package has one importer of ours.
var importers = map[string][]string{
	"go.etcd.io/bbolt":                        {"store"},
	"github.com/HdrHistogram/hdrhistogram-go": {"store"},
	"github.com/jackc/pgx":                    {"prep/dataset", "runner/observe"},
	"github.com/docker/docker":                {"runner/own"},
	"gonum.org/v1/gonum":                      {"analyze/stat"},
	"gonum.org/v1/plot":                       {"report/plot"},
	"github.com/urfave/cli":                   {"cmd/headroom"},
	"go.yaml.in/yaml":                         {"runner/plan"},
	"github.com/prometheus/procfs":            {"runner/observe"},
	"github.com/prometheus/common":            {"runner/observe"},
	"github.com/klauspost/compress":           {"prep/profile"},
	"github.com/axiomhq/hyperloglog":          {"prep/profile"},
	"github.com/getkin/kin-openapi":           {"prep/request"},
	"mvdan.cc/sh":                             {"prep/request"},
}

// Only these may read the clock: the rim of the house.
var clocks = []string{"runner", "prep", "cmd"}

func under(path string, dirs ...string) bool {
	for _, d := range dirs {
		if path == d || strings.HasPrefix(path, d+"/") {
			return true
		}
	}
	return false
}

func TestImports(t *testing.T) {
	root := "../.."
	rules := map[string][]string{}
	for _, r := range mayImport {
		rules[r.pkg] = r.may
		if r.why == "" {
			t.Errorf("the rule for %s has no reason", r.pkg)
		}
	}
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		seen++
		rel, _ := filepath.Rel(root, path)
		pkg := filepath.ToSlash(filepath.Dir(rel))
		if strings.Count(pkg, "/") > 2 {
			t.Errorf("%s: deeper than two folders below the top", rel)
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, parser.ImportsOnly)
		if err != nil {
			return err
		}
		may, ruled := rules[pkg]
		if !ruled && !under(pkg, "cmd") {
			t.Errorf("%s has no rule in mayImport", pkg)
		}
		for _, spec := range f.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if ours, ok := strings.CutPrefix(name, "headroom/"); ok {
				if under(ours, "cmd") {
					t.Errorf("%s imports %s: nobody imports cmd", rel, name)
				}
				if ours == "runner/send/sendtest" {
					t.Errorf("%s imports %s, which is for tests", rel, name)
				}
				if ruled && !under(pkg, "cmd") && !contains(may, ours) {
					t.Errorf("%s imports %s, which its rule does not allow", rel, name)
				}
				continue
			}
			for third, homes := range importers {
				if strings.HasPrefix(name, third) && !under(pkg, homes...) {
					t.Errorf("%s imports %s, which is kept behind %s", rel, name, strings.Join(homes, " and "))
				}
			}
			if name == "math/rand" || (name == "os/exec" && !under(pkg, "runner", "cmd", "prep")) {
				t.Errorf("%s imports %s", rel, name)
			}
		}
		text := string(src)
		if strings.Contains(text, "time.Now()") && !under(pkg, clocks...) {
			t.Errorf("%s reads the clock", rel)
		}
		if strings.Contains(text, "os.Exit(") && (!under(pkg, "cmd") || filepath.Base(rel) != "main.go") {
			t.Errorf("%s exits the process", rel)
		}
		if n := strings.Count(text, "\n"); n > 400 && !strings.Contains(text, "// Long because") {
			t.Errorf("%s has %d lines: split it, or say why (// Long because ...)", rel, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 {
		t.Fatalf("only %d files seen: the test looks in the wrong place", seen)
	}
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}
