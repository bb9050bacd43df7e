package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// example is one command of the manual or the README.
type example struct {
	line  int
	words []string
	codes []string // exit codes that are right
	want  string   // how a line of the output begins, but for what varies; "" anything
}

// console is what a console block says: files to write and commands to run, in
// order. Lines that begin with $ are commands; `$ cat FILE` shows a file, which
// is written; `# exit 3` or `# exit 0, 3 or 4` behind a command are its exit
// codes.
type console struct {
	files    map[string]string
	env      []string
	examples []example
}

var exitNote = regexp.MustCompile(`\s+# exit ([0-9]+(?:(?:, | or )[0-9]+)*)$`)

var number = regexp.MustCompile(`[0-9]+`)

// read reads the lines of a block; first is the number of the first.
func (c *console) read(t *testing.T, lines []string, first int) {
	file := ""
	for i, line := range lines {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			switch {
			case file != "":
				c.files[file] += line + "\n"
			case len(c.examples) > 0 && c.examples[len(c.examples)-1].want == "":
				c.examples[len(c.examples)-1].want = line
			}
			continue
		}
		e := example{line: first + i, codes: []string{"0"}}
		file = ""
		if m := exitNote.FindStringSubmatch(command); m != nil {
			e.codes = number.FindAllString(m[1], -1)
			command = strings.TrimSuffix(command, m[0])
		}
		e.words = shellWords(t, command)
		if e.words[0] == "cat" {
			file = e.words[1]
			continue
		}
		c.examples = append(c.examples, e)
	}
}

var shellWord = regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`)

// shellWords takes a command apart at its blanks, quotes heeded.
func shellWords(t *testing.T, command string) []string {
	var words []string
	for _, m := range shellWord.FindAllStringSubmatch(command, -1) {
		words = append(words, m[1]+m[2]+m[3])
	}
	if len(words) == 0 {
		t.Fatalf("a command without words: %q", command)
	}
	return words
}

// run runs the examples in one folder, one after the other.
func (c *console) run(t *testing.T) {
	dir := t.TempDir()
	for name, text := range c.files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range c.examples {
		var args []string
		for _, w := range e.words[1:] {
			if found, _ := filepath.Glob(filepath.Join(dir, w)); strings.Contains(w, "*") && len(found) > 0 {
				for _, f := range found {
					rel, _ := filepath.Rel(dir, f)
					args = append(args, rel)
				}
				continue
			}
			args = append(args, w)
		}
		cmd := exec.Command(e.words[0], args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), c.env...)
		out, err := cmd.CombinedOutput()
		if code := exitStatus(err); !slices.Contains(e.codes, strconv.Itoa(code)) {
			t.Errorf("line %d: %s: exit code %d, want %s:\n%s", e.line, strings.Join(e.words, " "), code, strings.Join(e.codes, " or "), out)
		}
		if !saysSo(string(out), e.want) {
			t.Errorf("line %d: %s: no line begins with %q:\n%s", e.line, strings.Join(e.words, " "), e.want, out)
		}
	}
}

// varying is what is different in every run: the instant and the random part of
// a run's name.
var varying = regexp.MustCompile(`[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}|\s+`)

// saysSo reports whether a line of the output begins with the words of want.
func saysSo(out, want string) bool {
	want = varying.ReplaceAllString(want, " ")
	s := bufio.NewScanner(strings.NewReader(out))
	for s.Scan() {
		if strings.HasPrefix(varying.ReplaceAllString(s.Text(), " "), want) {
			return true
		}
	}
	return want == ""
}

func manual(t *testing.T) string {
	src, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// The manual's examples do what the manual says.
func TestManual(t *testing.T) {
	t.Parallel()
	c := console{files: map[string]string{}}
	var block []string
	lines := strings.Split(manual(t), "\n")
	for i, line := range append(lines, "") {
		if text, ok := strings.CutPrefix(line, "\t"); ok {
			block = append(block, text)
			continue
		}
		if len(block) > 0 && strings.HasPrefix(block[0], "$ ") {
			c.read(t, block, i+1-len(block))
		}
		block = nil
	}
	if len(c.examples) < 10 || len(c.files) < 3 {
		t.Fatalf("only %d examples and %d files: the test does not find them", len(c.examples), len(c.files))
	}
	c.run(t)
}

// The manual names every command and every flag.
func TestManualIsWhole(t *testing.T) {
	text := manual(t)
	for _, cmd := range newApp(IO{}).Commands {
		at := regexp.MustCompile(`(?m)^\t(?:.*\], )?` + cmd.Name + `(?: |,|$)`).FindStringIndex(text)
		if at == nil && !regexp.MustCompile(`, `+cmd.Name+` [a-z\[]`).MatchString(text) {
			t.Errorf("the manual has no paragraph on %s", cmd.Name)
		}
		flags := slices.Clone(cmd.Flags)
		for _, sub := range cmd.Subcommands {
			flags = append(flags, sub.Flags...)
		}
		for _, f := range flags {
			found := false
			for _, n := range f.Names() {
				found = found || strings.Contains(text, dashed(n))
			}
			if !found && !cmd.Hidden {
				t.Errorf("the manual does not mention %s of %s", dashed(f.Names()[0]), cmd.Name)
			}
		}
	}
}
