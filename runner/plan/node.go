package plan

import (
	"fmt"
	"regexp"
	"strings"

	yaml "go.yaml.in/yaml/v4"

	"headroom/prep/profile"
	"headroom/store/record"
)

// reader walks the tree of a plan and collects what is wrong with it.
type reader struct {
	name     string
	env      func(string) (string, bool)
	open     func(path string) ([]byte, error) // nil: files are not read
	later    map[string]bool                   // keys that nothing implements yet
	moved    map[int]int                       // line → columns that repair inserted in front
	problems Errors
	visits   int
	traced   bool // the arrivals are a trace
	files    []fileDigest
	profiles map[string]*profile.Profile
}

// maxVisits bounds the work that aliases can multiply.
const maxVisits = 2_000_000

func (r *reader) problem(n *yaml.Node, key, format string, args ...any) {
	p := Problem{File: r.name, Key: key, Text: fmt.Sprintf(format, args...)}
	if n != nil {
		p.Line, p.Column = n.Line, max(1, n.Column-r.moved[n.Line])
	}
	r.problems = append(r.problems, p)
}

// resolve follows an alias.
func (r *reader) resolve(n *yaml.Node) *yaml.Node {
	r.visits++
	for range 8 {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// what names a node's type for a message.
func what(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if isNull(n) {
		return "nothing"
	}
	switch n.Tag {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	}
	return "a text"
}

// object is a mapping whose keys are known.
type object struct {
	r      *reader
	node   *yaml.Node
	path   string
	values map[string]*yaml.Node
	keys   map[string]*yaml.Node
	order  []string // keys that are present and known, as they stand
	broken bool     // not a mapping: said already
}

// object reads a mapping and reports unknown, repeated, empty and not yet
// supported keys. With no known keys any will do.
func (r *reader) object(n *yaml.Node, path string, known ...string) *object {
	n = r.resolve(n)
	o := &object{r: r, node: n, path: path, values: map[string]*yaml.Node{}, keys: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		o.broken = true
		if isNull(n) {
			r.problem(n, path, "has no value; write its keys below it, or delete it")
		} else {
			r.problem(n, path, "is %s, not a mapping; write its keys as `key: value`", what(n))
		}
		return o
	}
	if r.visits > maxVisits {
		return o
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := r.resolve(n.Content[i]), r.resolve(n.Content[i+1])
		name := k.Value
		at := join(path, name)
		switch {
		case k.Kind != yaml.ScalarNode:
			r.problem(k, path, "has %s for a key; a key is a word", what(k))
		case k.Tag == "!!merge":
			r.problem(k, at, "merge keys are not supported; repeat the keys")
		case name == "" || len(name) > 128:
			r.problem(k, path, "has a key of %d characters; a key has 1 to 128", len(name))
		case fromEnvironment(unhide(name)):
			r.problem(k, path, "has a key from the environment; ${NAME} is replaced in values only")
		case len(known) > 0 && !contains(known, name):
			o.unknown(k, at, name, known)
		case o.values[name] != nil:
			r.problem(k, at, "is given twice, first in line %d; keep one", o.keys[name].Line)
		case r.later[feature(at)]:
			r.problem(k, at, "`%s` is not supported yet by this version; delete it", name)
			o.keys[name] = k // so that it is not missed
		case isNull(v):
			r.problem(k, at, "has no value; write one, or delete the key")
			o.keys[name] = k
		default:
			o.keys[name], o.values[name] = k, v
			o.order = append(o.order, name)
		}
	}
	return o
}

func (o *object) unknown(k *yaml.Node, at, name string, known []string) {
	if near := record.Nearest(name, known); near != "" {
		o.r.problem(k, at, "unknown key; did you mean %s?", near)
		return
	}
	if alias := aliases[name]; alias != "" && contains(known, alias) {
		o.r.problem(k, at, "unknown key; did you mean %s?", alias)
		return
	}
	o.r.problem(k, at, "unknown key; known here are %s", strings.Join(known, ", "))
}

// aliases are what other tools call our keys.
var aliases = map[string]string{
	"duration":     "length",
	"rps":          "rate",
	"vus":          "users",
	"concurrency":  "max_connections",
	"connections":  "max_connections",
	"endpoints":    "requests",
	"scenarios":    "requests",
	"thresholds":   "gates",
	"insecure":     "tls",
	"start":        "from",
	"end":          "to",
	"host":         "url",
	"distribution": "arrivals",
	"variables":    "data",
	"name":         "class",
	"sleep":        "think",
	"increment":    "by",
	"dwell":        "plateau",
}

var index = regexp.MustCompile(`\[\d+\]`)

// feature is a path without the positions in lists.
func feature(path string) string { return index.ReplaceAllString(path, "") }

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// get is the value of a key, nil where it is absent.
func (o *object) get(key string) (n *yaml.Node, path string) {
	return o.values[key], join(o.path, key)
}

// has reports whether a key was written, with whatever value.
func (o *object) has(key string) bool { return o.keys[key] != nil }

// require reports keys that are missing; why may say more.
func (o *object) require(keys ...string) {
	for _, k := range keys {
		if !o.has(k) && !o.broken {
			o.r.problem(o.node, join(o.path, k), "is missing; add it")
		}
	}
}

// one reports unless exactly one of the keys is present, and says which is.
func (o *object) one(keys ...string) string {
	found := ""
	for _, k := range keys {
		if !o.has(k) {
			continue
		}
		if found != "" {
			o.r.problem(o.keys[k], join(o.path, k), "contradicts %s; keep one of the two", found)
			continue
		}
		found = k
	}
	if found == "" && !o.broken {
		missing := o.path
		if missing == "" {
			missing = keys[0]
		}
		o.r.problem(o.node, missing, "needs one of %s", strings.Join(keys, ", "))
	}
	return found
}

// conflict reports the second key where both are present.
func (o *object) conflict(key, with, why string) bool {
	if o.has(key) && o.has(with) {
		o.r.problem(o.keys[key], join(o.path, key), "contradicts %s: %s", with, why)
		return true
	}
	return false
}

// list is the items of a sequence; ok is false where it is none.
func (r *reader) list(n *yaml.Node, path string) (items []*yaml.Node, ok bool) {
	n = r.resolve(n)
	if n.Kind != yaml.SequenceNode {
		r.problem(n, path, "is %s, not a list; write [a, b] or one `- item` a line", what(n))
		return nil, false
	}
	if r.visits > maxVisits {
		return nil, false
	}
	for i, c := range n.Content {
		c = r.resolve(c)
		if isNull(c) {
			r.problem(n.Content[i], at(path, i), "has no value; write one, or delete the item")
			continue
		}
		items = append(items, c)
	}
	return items, true
}

func at(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
