package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What testdata/run-tests says of a tree is what happened in it: whatever ends
// badly is counted, shown and makes it fail.
func TestRunTests(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("skip: no bash; install it")
	}
	script, err := os.ReadFile("../../testdata/run-tests")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"good":     `func TestA(t *testing.T) { t.Run("sub", func(*testing.T) {}) }`,
		"skips":    `func TestA(t *testing.T) { t.Skip("skip: no nginx; install it") }` + "\n" + `func TestB(t *testing.T) { t.Skip("skip: no nginx; install it") }`,
		"fails":    `func TestA(t *testing.T) { t.Error("the reason") }`,
		"panics":   `func TestA(*testing.T) { panic("out of cheese") }`,
		"broken":   `func TestA(*testing.T) { undefinedName() }`,
		"leaves":   `func TestMain(*testing.M) { println("left"); panic(0) }`,
		"hangs":    `func TestA(*testing.T) { select {} }`,
		"cmd/last": `func TestA(*testing.T) {}`,
	}
	for _, c := range []struct {
		packages []string
		summary  string
		says     []string
		fails    bool
	}{
		{[]string{"./good", "./skips", "./cmd/..."}, "3 passed, 0 failed, 2 skipped", []string{"ok  \tm/good", "  no nginx; install it (2 tests)"}, false},
		{[]string{"./good", "./fails"}, "2 passed, 1 failed, 0 skipped", []string{"the reason", "FAIL\tm/fails"}, true},
		{[]string{"./broken", "./good"}, "2 passed, 1 failed, 0 skipped", []string{"undefined: undefinedName", "FAIL\tm/broken [build failed]"}, true},
		{[]string{"./panics"}, "0 passed, 1 failed, 0 skipped", []string{"out of cheese"}, true},
		{[]string{"./leaves"}, "0 passed, 1 failed, 0 skipped", []string{"left"}, true},
		{[]string{"./hangs", "./cmd/..."}, "1 passed, 1 failed, 0 skipped", []string{"test timed out after 1s", "ok  \tm/cmd/last"}, true},
		{[]string{"./nowhere"}, "0 passed, 1 failed, 0 skipped", []string{"nowhere"}, true},
		{[]string{"."}, "0 passed, 0 failed, 0 skipped", []string{"no test ran"}, true},
	} {
		t.Run(strings.Join(c.packages, " "), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write := func(name, text string) {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o755)); err != nil {
					t.Fatal(err)
				}
			}
			write("testdata/run-tests", string(script))
			write("go.mod", "module m\n\ngo 1.26\n")
			write("none.go", "package none\n")
			for _, p := range c.packages {
				name := strings.TrimPrefix(strings.Replace(p, "...", "last", 1), "./")
				if text, ok := tests[name]; ok {
					write(name+"/a_test.go", "package p\n\nimport \"testing\"\n\n"+text+"\n")
				}
			}
			cmd := exec.Command("bash", append([]string{filepath.Join(dir, "testdata", "run-tests")}, c.packages...)...)
			cmd.Env = append(os.Environ(), "HEADROOM_TEST_TIMEOUT=1s", "HEADROOM_TEST_FLAGS=", "GOFLAGS=")
			out, err := cmd.CombinedOutput()
			text := strings.TrimSuffix(string(out), "\n")
			if (err != nil) != c.fails {
				t.Errorf("it ended with %v", err)
			}
			if last := text[strings.LastIndex(text, "\n")+1:]; c.summary != last {
				t.Errorf("it says %q, want %q", last, c.summary)
			}
			for _, s := range c.says {
				if !strings.Contains(text, s) {
					t.Errorf("it does not say %q", s)
				}
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}
