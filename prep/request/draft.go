package request

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Draft is a plan in the making. It holds no secret.
type Draft struct {
	name     string
	made     string // first line of the plan's comment
	target   string
	version  string // http.version; "" the default
	insecure bool
	timeout  time.Duration // 0: the default
	secrets  secrets
	notes    []string
	sources  []*values
	classes  []class
	recorded bool // weights are counts
}

// class is one kind of request, its texts with places.
type class struct {
	name, method, path string
	weight             float64
	headers            []pair
	body, bodyFile     string
	status             []string // expect.status; empty: the default
	comment            string
}

// values are those that a data source draws from.
type values struct {
	name    string
	at      string // what they stand for; one source each
	seen    map[string]int
	order   []string
	low, up int64 // where seen is empty
	comment string
}

// Variables lists what was left out, in the order in which it was met.
func (d *Draft) Variables() []Variable { return slices.Clone(d.secrets) }

// Notes says what could not be carried over, a sentence each.
func (d *Draft) Notes() []string { return slices.Clone(d.notes) }

// Classes is how many kinds of requests the plan has.
func (d *Draft) Classes() int { return len(d.classes) }

func (d *Draft) note(format string, args ...any) {
	if n := fmt.Sprintf(format, args...); !slices.Contains(d.notes, n) {
		d.notes = append(d.notes, n)
	}
}

// source is the data source of a place, named like hint where that is free.
func (d *Draft) source(hint, at string) *values {
	for _, v := range d.sources {
		if v.at == at {
			return v
		}
	}
	name := strings.ToLower(identifier(hint, "id"))
	for n := 2; slices.ContainsFunc(d.sources, func(v *values) bool { return v.name == name }); n++ {
		name = fmt.Sprintf("%s_%d", strings.ToLower(identifier(hint, "id")), n)
	}
	v := &values{name: name, at: at, seen: map[string]int{}}
	d.sources = append(d.sources, v)
	return v
}

func (v *values) add(value string, n int) {
	if v.seen[value] == 0 {
		v.order = append(v.order, value)
	}
	v.seen[value] += n
}

// maxClasses is what a plan may have; what is seldom gives way.
const maxClasses = 1000

// finish puts the classes in order and names them.
func (d *Draft) finish() error {
	if len(d.classes) == 0 {
		return fmt.Errorf("no request was found that a plan could send; %s", cmp.Or(strings.Join(d.notes, "; "), "it is empty"))
	}
	if d.recorded {
		slices.SortStableFunc(d.classes, func(a, b class) int { return cmp.Compare(b.weight, a.weight) })
	}
	if n := len(d.classes); n > maxClasses {
		d.classes = d.classes[:maxClasses]
		d.note("%d kinds of requests: the %d most frequent are in the plan", n, maxClasses)
	}
	used := map[string]bool{}
	for i := range d.classes {
		c := &d.classes[i]
		base := c.name
		if base == "" {
			words := places.ReplaceAllString(before(c.path, "?"), "")
			base = strings.ToLower(c.method) + "_" + strings.ToLower(identifier(words, "root"))
			base = strings.ReplaceAll(base, "__", "_")
		}
		c.name = base
		for n := 2; used[c.name]; n++ {
			c.name = fmt.Sprintf("%s_%d", base, n)
		}
		used[c.name] = true
		for _, text := range append([]pair{{value: c.path}, {value: c.body}}, c.headers...) {
			for _, m := range places.FindAllStringSubmatch(text.value, -1) {
				if m[1] != "" && !slices.ContainsFunc(d.secrets, func(v Variable) bool { return v.Name == m[1] }) {
					d.secrets.leave(m[1], "class "+c.name)
				}
			}
		}
	}
	return nil
}

func before(s, sep string) string {
	s, _, _ = strings.Cut(s, sep)
	return s
}

// maxChoices is how many single values a data source lists.
const maxChoices = 100

var control = regexp.MustCompile(`[\x00-\x1f\x7f\x{2028}\x{2029}\x{85}]+`)

// comment is a text that a comment may hold.
func comment(s string) string {
	s = control.ReplaceAllString(s, " ")
	if r := []rune(s); len(r) > 160 {
		s = string(r[:160]) + "…"
	}
	return s
}

// Plan writes the plan, which reads without a problem once the variables are set.
func (d *Draft) Plan() []byte {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# %s\n", comment(d.made))
	p("# It is a start: set the rate, and the values under data, before the first run.\n")
	if len(d.secrets) > 0 {
		p("#\n# Left out, and taken from these variables of the environment:\n")
		for _, v := range d.secrets {
			p("#   %-24s %s\n", v.Name, comment(strings.Join(v.Where, ", ")))
		}
	}
	for i, n := range d.notes {
		if i == 0 {
			p("#\n# Not carried over as it was:\n")
		}
		p("#   %s\n", comment(n))
	}
	p("\nname: %s\nseed: 1                               # same plan and seed: the same schedule and the same keys\n\n", d.name)
	p("target:\n  url: %s\n\n", quoted(d.target))
	if d.version != "" || d.insecure || d.timeout > 0 {
		p("http:\n")
		if d.version != "" {
			p("  version: %s\n", d.version)
		}
		if d.timeout > 0 {
			p("  timeout: %dms\n", d.timeout.Milliseconds())
		}
		if d.insecure {
			p("  tls: {insecure: true}               # certificates are not checked\n")
		}
		p("\n")
	}
	p("load:                                 # `headroom init -` shows the other shapes; step finds the limit\n")
	p("  steady: {rate: 10, length: 30s}     # requests per second, all classes together\n\n")
	d.writeData(&b)
	p("requests:\n")
	for _, c := range d.classes {
		c.write(&b)
	}
	return []byte(b.String())
}

func (d *Draft) writeData(b *strings.Builder) {
	if len(d.sources) == 0 {
		return
	}
	b.WriteString("data:                                 # where {names} come from; prep profile learns how popular each is\n")
	for _, v := range d.sources {
		if v.comment != "" {
			fmt.Fprintf(b, "  # %s\n", comment(v.comment))
		}
		if len(v.order) == 0 {
			fmt.Fprintf(b, "  %s: {range: [%d, %d]}\n", v.name, v.low, v.up)
			continue
		}
		order := slices.Clone(v.order)
		slices.SortStableFunc(order, func(x, y string) int { return cmp.Compare(v.seen[y], v.seen[x]) })
		if len(order) > maxChoices {
			fmt.Fprintf(b, "  # the %d most frequent of %d\n", maxChoices, len(order))
			order = order[:maxChoices]
		}
		fmt.Fprintf(b, "  %s:\n    choice:\n", v.name)
		for _, value := range order {
			fmt.Fprintf(b, "      %s: %d\n", quoted(value), v.seen[value])
		}
	}
	b.WriteString("\n")
}

var verbs = []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}

func (c *class) write(b *strings.Builder) {
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	if c.comment != "" {
		p("  # %s\n", comment(c.comment))
	}
	p("  - class: %s\n    weight: %g\n", quoted(c.name), c.weight)
	path := quoted(written(c.path, inField))
	if slices.Contains(verbs, c.method) {
		p("    %s: %s\n", strings.ToLower(c.method), path)
	} else {
		p("    method: %s\n    path: %s\n", quoted(c.method), path)
	}
	for i, h := range c.headers {
		if i == 0 {
			p("    headers:\n")
		}
		p("      %s: %s\n", quoted(h.name), quoted(written(h.value, inField)))
	}
	switch {
	case c.method == "HEAD":
	case c.bodyFile != "":
		p("    body_file: %s\n", quoted(c.bodyFile))
	case c.body != "":
		p("    body: %s\n", quoted(written(c.body, inBody)))
	}
	if len(c.status) > 0 {
		p("    expect: {status: [%s]}\n", strings.Join(c.status, ", "))
	}
}
