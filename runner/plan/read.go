package plan

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	yaml "go.yaml.in/yaml/v4"

	"headroom/runner/schedule"
)

// maxPlan bounds the length of a plan in bytes.
const maxPlan = 4 << 20

// notYet are the keys of the plan that nothing implements yet. They are refused
// as such and not as unknown. Taking a line out is all that is needed here when
// the rest is there.
func notYet() map[string]bool {
	return map[string]bool{
		// Read already: only the doing is missing.
		"neighbours":             true,
		"dependencies":           true,
		"faults":                 true,
		"requests.expect.oracle": true,

		// Not read either.
		"target.docker": true,
	}
}

// Load reads a plan and the files that it names, which are looked for beside
// it; those of http.tls are not read, but their paths lead there. The error is
// an Errors where the plan is at fault, and one of reading where the file is.
func Load(path string, env func(string) (string, bool)) (*Plan, error) {
	data, err := readFile(path, maxPlan)
	if err != nil {
		return nil, fmt.Errorf("plan: %w", err)
	}
	dir := filepath.Dir(path)
	p, err := parse(path, data, env, notYet(), func(name string) ([]byte, error) {
		return readFile(beside(dir, name), schedule.MaxFileBytes)
	})
	if err != nil {
		return nil, err
	}
	for _, t := range []*Text{&p.HTTP.TLS.CA, &p.HTTP.TLS.Cert, &p.HTTP.TLS.Key} {
		t.value = beside(dir, t.value)
	}
	return p, nil
}

// beside is the path of a file that a plan in the folder dir names.
func beside(dir, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}

func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", path)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes; the limit is %d", path, info.Size(), limit)
	}
	return os.ReadFile(path)
}

// Parse reads a plan without the files that it names: bodies, data, traces and
// daily peaks stay empty. The name stands in problems. The error is an Errors.
func Parse(name string, data []byte, env func(string) (string, bool)) (*Plan, error) {
	return parse(name, data, env, notYet(), nil)
}

func parse(name string, data []byte, env func(string) (string, bool), later map[string]bool, open func(string) ([]byte, error)) (*Plan, error) {
	r := &reader{name: name, env: env, open: open, later: later}
	p := &Plan{}
	if n := r.tree(data); n != nil {
		r.plan(n, p)
	}
	if r.visits > maxVisits {
		r.problem(nil, "", "its aliases repeat too much; write what they stand for")
	}
	if len(r.problems) > 0 {
		r.problems.sort()
		return nil, r.problems
	}
	p.files = r.files
	return p, nil
}

// Two characters of the private area stand for the braces of ${NAME} while the
// file is YAML, where braces have a meaning of their own.
const (
	openMark  = "\ue000"
	closeMark = "\ue001"
)

func hide(data string) string {
	return environment.ReplaceAllStringFunc(data, func(s string) string {
		if strings.HasPrefix(s, "$$") {
			return "$$" + openMark + s[3:len(s)-1] + closeMark
		}
		return "$" + openMark + s[2:len(s)-1] + closeMark
	})
}

func unhide(s string) string {
	return strings.NewReplacer(openMark, "{", closeMark, "}").Replace(s)
}

// tree parses the YAML; nil where it could not.
func (r *reader) tree(data []byte) *yaml.Node {
	text := strings.TrimPrefix(string(data), "\ufeff")
	if len(data) > maxPlan {
		r.problem(nil, "", "is %d bytes long; a plan has at most %d", len(data), maxPlan)
		return nil
	}
	for i, line := range strings.SplitAfter(text, "\n") {
		if at := strings.IndexFunc(line, unusable); at >= 0 {
			c, size := utf8.DecodeRuneInString(line[at:])
			what := fmt.Sprintf("the character U+%04X cannot stand in a plan; delete it", c)
			if c == utf8.RuneError && size == 1 {
				what = "is not UTF-8 here; save the file as UTF-8"
			}
			r.problem(&yaml.Node{Line: i + 1, Column: utf8.RuneCountInString(line[:at]) + 1}, "", "%s", what)
			return nil
		}
	}
	var documents []yaml.Node
	err := yaml.Load([]byte(r.repair(hide(text))), &documents, yaml.WithAllDocuments())
	if err != nil {
		r.syntax(err)
		return nil
	}
	if len(documents) == 0 || len(documents[0].Content) == 0 || isNull(documents[0].Content[0]) {
		r.problem(nil, "", "is empty; `headroom init` writes a plan to start from")
		return nil
	}
	if len(documents) > 1 {
		r.problem(&documents[1], "", "holds a second document; keep one plan a file")
		return nil
	}
	return documents[0].Content[0]
}

// unusable characters: those that YAML refuses without saying where, and ours.
func unusable(c rune) bool {
	switch {
	case c == '\t', c == '\n', c == '\r', c == 0x85:
		return false
	case c < 0x20, c >= 0x7f && c < 0xa0, c == 0xfeff, c == 0xfffe, c == 0xffff, c == utf8.RuneError:
		return true
	}
	return c == 0xe000 || c == 0xe001
}

// syntax turns the parser's errors into problems.
func (r *reader) syntax(err error) {
	var many *yaml.LoadErrors
	var one *yaml.LoadError
	var all []*yaml.LoadError
	switch {
	case errors.As(err, &many):
		all = many.Errors
	case errors.As(err, &one):
		all = append(all, one)
	}
	if len(all) == 0 {
		r.problem(nil, "", "is not YAML: %v", err)
		return
	}
	for _, e := range all {
		n := &yaml.Node{Line: e.Mark.Line, Column: max(1, e.Mark.Column)}
		if n.Line == 0 {
			n = nil
		}
		where := ""
		if e.ContextMsg != "" && e.ContextMark.Line > 0 {
			where = fmt.Sprintf(", %s that begins in line %d", e.ContextMsg, e.ContextMark.Line)
		}
		r.problem(n, "", "is not YAML: %s%s; check indentation, quotes and brackets", unhide(strings.TrimPrefix(e.Message, "yaml: ")), where)
	}
}

var (
	observeKey = regexp.MustCompile(`^observe:\s*(#.*)?$`)
	itemLine   = regexp.MustCompile(`^(\s+)- `)
	limitsLine = regexp.MustCompile(`^(\s+)limits:\s*\{`)
)

// repair makes an item of a `limits: {…}` line that stands below the items of
// observe, where a list cannot have a key.
func (r *reader) repair(text string) string {
	lines := strings.SplitAfter(text, "\n")
	indent, inside := "", false
	for i, line := range lines {
		trimmed := strings.TrimRight(line, "\r\n")
		switch {
		case observeKey.MatchString(trimmed):
			inside, indent = true, ""
		case !inside, strings.TrimSpace(trimmed) == "", strings.HasPrefix(strings.TrimSpace(trimmed), "#"):
		case trimmed[0] != ' ' && trimmed[0] != '-':
			inside = false
		case indent == "":
			if m := itemLine.FindStringSubmatch(trimmed); m != nil {
				indent = m[1]
			} else {
				inside = false
			}
		default:
			if m := limitsLine.FindStringSubmatch(trimmed); m != nil && m[1] == indent {
				lines[i] = indent + "- " + line[len(indent):]
				if r.moved == nil {
					r.moved = map[int]int{}
				}
				r.moved[i+1] = 2
			}
		}
	}
	return strings.Join(lines, "")
}

// file reads a file that the plan names.
func (r *reader) file(n *yaml.Node, path, name string) (content []byte, ok bool) {
	if r.open == nil {
		return nil, false
	}
	content, err := r.open(name)
	if err != nil {
		r.problem(n, path, "%v; name a file that can be read, relative to the plan's folder", err)
		return nil, false
	}
	r.files = append(r.files, digestFile(feature(path)+" "+name, content))
	return content, true
}

const day = 24 * time.Hour

// plan reads the whole tree.
func (r *reader) plan(n *yaml.Node, p *Plan) {
	o := r.object(n, "", "name", "release", "seed", "target", "http", "arrivals", "load", "warmup", "interval", "data", "requests",
		"retries", "neighbours", "dependencies", "faults", "observe", "production", "gates", "abort")
	if o.broken {
		return
	}
	o.require("name", "target", "load", "requests")
	o.label("name", &p.Name)
	o.label("release", &p.Release)
	p.Seed = 1
	o.seed(&p.Seed)
	r.target(o, &p.Target)
	r.data(o, p)
	r.http(o, p)
	r.arrivals(o, &p.Arrivals)
	r.load(o, p)
	p.Interval = time.Second
	if p.Load.Soak != nil {
		p.Interval = 10 * time.Second
	}
	o.duration("interval", &p.Interval, 100*time.Millisecond, time.Hour)
	r.requests(o, p)
	r.retries(o, &p.Retries)
	r.neighbours(o, p)
	r.dependencies(o, p)
	r.faults(o, p)
	r.observe(o, p)
	r.production(o, p)
	r.gates(o, p)
	r.abort(o, p)
	p.profile = r.chosen(p)
}
