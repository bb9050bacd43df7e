package profile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"headroom/prep/accesslog"
)

var wordRE = regexp.MustCompile(`[A-Za-z0-9]+`)

// ourWords are in profiles whatever the log is.
var ourWords = map[string]bool{
	"segment": true, "name": true, "text": true, "hash": true, "uuid": true, "other": true, "rest": true, "request": true,
}

// kept collects the texts of a profile that could come from a log: everything
// but the sentences and codes of the program itself, and instants.
func kept(v any, path string, f func(path, text string)) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if path == ".status" || path == ".methods" {
				f(path, k)
			}
			kept(x, path+"."+k, f)
		}
	case []any:
		for _, x := range v {
			kept(x, path, f)
		}
	case string:
		f(path, v)
	}
}

var programTexts = regexp.MustCompile(`^\.(schema|window\.(from|to)|peak\.(second|ten_seconds|minute)\.at|peak\.daily\.date|rate_curve\.from|refused\.(code|text)|notes\.(code|text)|identifiers\.(refused|pseudonyms))$`)

// TestNothingPersonalSurvives looks in each profile for every word of its log
// that has more than three characters and is not a word of a path or the name
// of a parameter in at least Fold requests.
func TestNothingPersonalSurvives(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(dataFolder(t), "A", "*"))
	if err != nil || len(names) < 31 {
		t.Fatalf("%d logs: %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			p := mustRead(t, Options{}, fileInput(name))
			var b, dry bytes.Buffer
			if err := p.Encode(&b); err != nil {
				t.Fatal(err)
			}
			if err := p.DryRun(&dry); err != nil {
				t.Fatal(err)
			}
			words, routeWords, secrets := wordsOf(t, name)
			var tree any
			if err := json.Unmarshal(b.Bytes(), &tree); err != nil {
				t.Fatal(err)
			}
			texts := 0
			kept(tree, "", func(path, text string) {
				if programTexts.MatchString(path) {
					return
				}
				texts++
				for _, w := range wordRE.FindAllString(text, -1) {
					if len(w) > 3 && words[w] && routeWords[w] < Fold && !ourWords[w] {
						t.Errorf("%s: %q of the log is kept", path, w)
					}
				}
			})
			if p.Requests > 0 && texts == 0 {
				t.Error("nothing was looked at")
			}
			for s := range secrets {
				if strings.Contains(b.String(), s) {
					t.Errorf("%q is in the profile", s)
				}
				if strings.Contains(dry.String(), s) {
					t.Errorf("%q is in the dry run", s)
				}
			}
		})
	}
}

// wordsOf returns all words of a log, how many requests have each as a word of
// their path or as the name of a parameter, and whole texts that must not
// survive: addresses of clients and values of queries.
func wordsOf(t *testing.T, name string) (words map[string]bool, route map[string]uint64, secrets map[string]bool) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	words, route, secrets = map[string]bool{}, map[string]uint64{}, map[string]bool{}
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	parser := accesslog.NewParser(nil)
	var e accesslog.Entry
	for sc.Scan() {
		for _, w := range wordRE.FindAllString(sc.Text(), -1) {
			words[w] = true
		}
		if parser.Parse(bytes.TrimPrefix(sc.Bytes(), []byte("\xef\xbb\xbf")), &e) != "" {
			continue
		}
		if len(e.Client) > 6 {
			secrets[string(e.Client)] = true
		}
		once := map[string]bool{}
		for _, w := range wordRE.FindAllString(string(e.Path), -1) {
			once[w] = true
		}
		for _, pair := range strings.FieldsFunc(string(e.Query), func(r rune) bool { return r == '&' || r == ';' }) {
			key, value, _ := strings.Cut(pair, "=")
			for _, w := range wordRE.FindAllString(key, -1) {
				once[w] = true
			}
			if len(value) > 9 {
				secrets[value] = true
			}
		}
		once[string(e.Method)] = true
		once[fmt.Sprint(e.Status)] = true
		for w := range once {
			route[w]++
		}
		for _, m := range methods {
			route[m] = Fold
		}
	}
	if err := sc.Err(); err != nil {
		t.Fatal(err)
	}
	return words, route, secrets
}

// TestFewRequestsAreFolded: what four requests have does not survive, what
// five have does.
func TestFewRequestsAreFolded(t *testing.T) {
	var b strings.Builder
	for i := range 5 {
		b.WriteString(clf(i, "GET /public/page?shared=1 HTTP/1.1"))
		if i < 4 {
			b.WriteString(clf(i, "GET /private/page?hidden=1 HTTP/1.1"))
			b.WriteString(clf(i, "PURGE /public/page HTTP/1.1"))
		}
	}
	var out bytes.Buffer
	if err := mustRead(t, Options{}, textInput(b.String())).Encode(&out); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]bool{"public": true, "shared": true, "private": false, "hidden": false} {
		if got := strings.Contains(out.String(), word); got != want {
			t.Errorf("%s survives: %t, want %t", word, got, want)
		}
	}
}

func TestPseudonymsAreOfOneReading(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		b.WriteString(clf(i, fmt.Sprintf("GET /a/%d HTTP/1.1", i*i%7)))
		b.WriteString(clf(i, fmt.Sprintf("GET /b/%d HTTP/1.1", i*i%7)))
	}
	read := func() []string {
		p := mustRead(t, Options{}, textInput(b.String()))
		x, err := p.Find("/a/{id}", "")
		if err != nil {
			t.Fatal(err)
		}
		y, err := p.Find("/b/{id}", "")
		if err != nil {
			t.Fatal(err)
		}
		set := map[string]bool{}
		for _, s := range x.Pseudonyms {
			set[s] = true
		}
		for _, s := range y.Pseudonyms {
			if !set[s] {
				t.Errorf("%s is not among %v: the same value, another pseudonym", s, x.Pseudonyms)
			}
		}
		return x.Pseudonyms
	}
	if a, b := read(), read(); a[0] == b[0] {
		t.Errorf("two readings have the same pseudonym %s: the secret is not thrown away", a[0])
	}
}
