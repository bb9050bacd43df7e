package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v4"
)

func (r *reader) expect(n *yaml.Node, path string, e *Expect, names []string) {
	o := r.object(n, path, "status", "json", "body_contains", "max_bytes", "oracle")
	if n, path := o.get("status"); n != nil {
		e.Status = r.statuses(n, path)
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
			r.problem(n, path, "is empty; no answer would be valid")
		}
	}
	if n, path := o.get("json"); n != nil {
		j := r.object(n, path)
		for _, key := range j.order {
			n, path := j.get(key)
			at, err := ParseJSONPath(key)
			if err != nil {
				r.problem(j.keys[key], path, "%v", err)
			}
			if t, ok := r.template(n, path, strictBraces, names); ok {
				e.JSON = append(e.JSON, JSONExpect{Path: at, Value: t})
			}
		}
	}
	o.text("body_contains", &e.Contains)
	o.size("max_bytes", &e.MaxBytes)
	o.label("oracle", &e.Oracle)
}

var statusRange = regexp.MustCompile(`^([1-5])xx$|^(\d{3})\.\.(\d{3})$`)

func rangeOf(low, high int) (all []int) {
	for s := low; s <= high; s++ {
		all = append(all, s)
	}
	return all
}

// statuses reads 200, 2xx and 200..204, alone or in a list.
func (r *reader) statuses(n *yaml.Node, path string) []int {
	items := []*yaml.Node{n}
	list := n.Kind != yaml.ScalarNode
	if list {
		items, _ = r.list(n, path)
	}
	all := []int{}
	for i, item := range items {
		where := path
		if list {
			where = at(path, i)
		}
		s, ok := r.fixed(item, where)
		if !ok {
			continue
		}
		codes, ok := parseStatus(s)
		if !ok {
			r.problem(item, where, "%q is not a status; write 100 to 599, 2xx or 200..204", excerpt(s))
		}
		all = append(all, codes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func parseStatus(s string) ([]int, bool) {
	if m := statusRange.FindStringSubmatch(s); m != nil {
		if m[1] != "" {
			low := int(m[1][0]-'0') * 100
			return rangeOf(low, low+99), true
		}
		low, _ := strconv.Atoi(m[2])
		high, _ := strconv.Atoi(m[3])
		return rangeOf(low, high), low >= 100 && high <= 599 && low <= high
	}
	v, err := strconv.Atoi(s)
	return []int{v}, err == nil && v >= 100 && v <= 599 && len(s) == 3
}

// capture reads "json $.id", "header Location" or "regex /carts/(\d+)".
func (r *reader) capture(n *yaml.Node, path, name string) (Capture, bool) {
	s, ok := r.fixed(n, path)
	if !ok {
		return Capture{}, false
	}
	kind, arg, _ := strings.Cut(s, " ")
	arg = strings.TrimSpace(arg)
	c := Capture{Name: name, Kind: kind}
	var err error
	switch {
	case kind == "json" && arg != "":
		c.Path, err = ParseJSONPath(arg)
	case kind == "header" && token.MatchString(arg):
		c.Header = arg
	case kind == "regex" && arg != "":
		if c.Regex, err = regexp.Compile(arg); err == nil && c.Regex.NumSubexp() > 1 {
			err = fmt.Errorf("the expression has %d groups; write one, and (?:…) for the others", c.Regex.NumSubexp())
		}
	default:
		err = fmt.Errorf("%q is not a capture; write json $.id, header Location or regex id=(\\d+)", excerpt(s))
	}
	if err != nil {
		r.problem(n, path, "%v", err)
		return Capture{}, false
	}
	return c, true
}
