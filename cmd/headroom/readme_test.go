package main

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shorter makes a plan of the README one that a test can wait for. What it does
// to the words of the plan is nothing else.
var shorter = strings.NewReplacer("plateau: 1m ", "plateau: 1s ", "settle: 10s", "settle: 200ms", "length: 30s", "length: 1s", "to: 2000", "to: 200")

// The commands of the README run, in the order in which it gives them.
func TestReadme(t *testing.T) {
	t.Parallel()
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer service.Close()
	f, err := os.Open("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := console{files: map[string]string{}, env: []string{"SHOP_URL=" + service.URL}}
	var block []string
	inside, made := false, 0
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		switch {
		case strings.HasPrefix(line, "```"):
			if inside {
				c.read(t, block, n-len(block))
			}
			inside, block = line == "```console", nil
		case inside:
			if goal, ok := strings.CutPrefix(line, "$ make "); ok {
				made++
				cmd := exec.Command("make", "-n", goal)
				cmd.Dir = "../.."
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("line %d: make %s: %v\n%s", n, goal, err, out)
				}
				line = ""
			}
			block = append(block, line)
		}
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	if len(c.examples) < 5 || made < 2 {
		t.Fatalf("only %d commands and %d goals: the test does not find them", len(c.examples), made)
	}
	for name, text := range c.files {
		c.files[name] = shorter.Replace(text)
	}
	c.run(t)
}

var link = regexp.MustCompile(`\]\(([^)]+)\)`)

// Every file that the project's pages link to is there.
func TestLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	pages := []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "store/FORMAT.md", "analyze/METHODS.md"}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(page), target)); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}
