package request

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// maxCommand bounds a command line, in bytes.
const maxCommand = 16 << 20

// Curl makes a draft of one or more curl commands, as a shell or a browser's
// "Copy as cURL (bash)" writes them. Nothing is run: a command substitution is
// an error, and a variable of the shell becomes one of the plan. Of several
// hosts the most frequent is taken.
func Curl(command string) (*Draft, error) {
	if len(command) > maxCommand {
		return nil, fmt.Errorf("a command of more than %d MB", maxCommand>>20)
	}
	command = unmarked(string(withoutMark([]byte(command))))
	if strings.Contains(command, `^"`) || strings.Contains(command, "^\n") {
		return nil, errors.New("the command is quoted for the Windows prompt; copy it as cURL (bash)")
	}
	command = strings.ReplaceAll(command, "\r\n", "\n")
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(command), "command")
	if err != nil {
		var p syntax.ParseError
		if errors.As(err, &p) { // its text is part of the command
			return nil, fmt.Errorf("the command can't be read as a shell would, at %d:%d; copy it whole, with its quotes", p.Pos.Line(), p.Pos.Col())
		}
		return nil, errors.New("the command can't be read as a shell would; copy it whole, with its quotes")
	}
	d := newCurl()
	var lines [][]string
	for _, s := range f.Stmts {
		if lines, err = d.commands(lines, s); err != nil {
			return nil, err
		}
	}
	return d, d.curls(lines)
}

// CurlWords is Curl for a command that a shell has taken apart.
func CurlWords(words []string) (*Draft, error) {
	d := newCurl()
	clean := make([]string, len(words))
	for i, w := range words {
		clean[i] = unmarked(w)
	}
	return d, d.curls([][]string{clean})
}

func newCurl() *Draft { return &Draft{name: "from curl"} }

// shellVariables answers every variable with its place; it has no values.
type shellVariables struct{}

func (shellVariables) Get(name string) expand.Variable {
	if name == "IFS" || identifier(name, "") == "" || name[0] >= '0' && name[0] <= '9' {
		return expand.Variable{}
	}
	return expand.Variable{Set: true, Kind: expand.String, Str: variable(name)}
}

func (shellVariables) Each(func(string, expand.Variable) bool) {}

// commands adds the words of each curl command in a statement.
func (d *Draft) commands(lines [][]string, s *syntax.Stmt) ([][]string, error) {
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		lines, err := d.commands(lines, c.X)
		if err != nil {
			return nil, err
		}
		return d.commands(lines, c.Y)
	case *syntax.CallExpr:
		var words []string
		for _, w := range c.Args {
			text, err := literal(w)
			if err != nil {
				return nil, err
			}
			words = append(words, text)
		}
		if len(words) == 0 || path.Base(words[0]) != "curl" && path.Base(words[0]) != "curl.exe" {
			d.note("a command that is not curl is left out")
			return lines, nil
		}
		return append(lines, words), nil
	}
	return nil, errors.New("a loop, a function or another construct of the shell; give curl commands only")
}

// literal is a word as the shell would pass it, variables as places.
func literal(w *syntax.Word) (string, error) {
	var wrong error
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ArithmExp:
			wrong = errors.New("the command runs another one or calculates; put the value itself in its place, or a variable")
		}
		return wrong == nil
	})
	if wrong != nil {
		return "", wrong
	}
	text, err := expand.Literal(&expand.Config{Env: shellVariables{}}, w)
	if err != nil {
		return "", errors.New("the command has an expansion that can't be resolved; put the value itself in its place")
	}
	return strings.ToValidUTF8(text, "?"), nil
}

// curls makes classes of command lines.
func (d *Draft) curls(lines [][]string) error {
	var calls []call
	for _, words := range lines {
		if len(words) == 0 || path.Base(words[0]) != "curl" && path.Base(words[0]) != "curl.exe" {
			return errors.New("the command does not begin with curl")
		}
		rest := words[1:]
		for {
			next := slices.IndexFunc(rest, func(w string) bool { return w == "--next" || w == "-:" })
			part := rest
			if next >= 0 {
				part = rest[:next]
			}
			got, err := d.curl(part)
			if err != nil {
				return err
			}
			calls = append(calls, got...)
			if next < 0 {
				break
			}
			rest = rest[next+1:]
		}
	}
	calls = d.oneTarget(calls, "")
	d.made = fmt.Sprintf("Made by headroom prep curl from %d commands.", len(lines))
	if len(lines) == 1 {
		d.made = "Made by headroom prep curl from one command."
	}
	d.group(calls)
	return d.finish()
}

// oneTarget keeps the calls of one host: the one that is asked for, or the most
// frequent one.
func (d *Draft) oneTarget(calls []call, host string) []call {
	counts := map[string]int{}
	best := ""
	for _, c := range calls {
		counts[c.target]++
	}
	for _, c := range calls {
		if counts[c.target] > counts[best] && (host == "" || strings.HasSuffix(c.target, "://"+host)) {
			best = c.target
		}
	}
	d.target = best
	kept := slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return c.target != best })
	for _, c := range calls {
		if c.target != best {
			d.note("%d requests to %s are left out; a plan has one target", counts[c.target], c.target)
		}
	}
	return kept
}

// curl reads the words behind one curl.
func (d *Draft) curl(words []string) ([]call, error) {
	o := curlOptions{Draft: d}
	if err := o.read(words); err != nil {
		return nil, err
	}
	if len(o.urls) == 0 {
		return nil, errors.New("a curl command without a URL")
	}
	c := call{method: o.method, headers: o.headers, bodyFile: o.bodyFile, body: strings.Join(o.data, "&")}
	for _, h := range c.headers {
		if strings.EqualFold(h.name, "Content-Type") {
			c.mime = h.value
		}
	}
	hasBody := len(o.data) > 0 || o.bodyFile != ""
	switch {
	case o.get:
		c.query, c.body, c.bodyFile = pairs(c.body), "", ""
		hasBody = false
	case hasBody && c.mime == "":
		c.mime = "application/x-www-form-urlencoded"
		if o.json {
			c.mime = "application/json"
		}
		c.headers = append(c.headers, pair{name: "Content-Type", value: c.mime})
	}
	if c.method == "" {
		switch {
		case o.head:
			c.method = "HEAD"
		case o.upload:
			c.method = "PUT"
		case hasBody || o.form:
			c.method = "POST"
		default:
			c.method = "GET"
		}
	}
	if !method(c.method) {
		return nil, errors.New("a method that a plan can't send; it is written in capitals, such as GET")
	}
	var calls []call
	for _, u := range o.urls {
		one := c
		one.headers = slices.Clone(c.headers)
		one.query = slices.Clone(c.query)
		if err := one.address(u); err != nil {
			return nil, err
		}
		if o.socket != "" {
			one.target = "unix://" + o.socket
		}
		calls = append(calls, one)
	}
	return calls, nil
}

// method reports whether a plan can send it.
func method(m string) bool {
	return headerName.MatchString(m) && m == strings.ToUpper(m) && len(m) <= 20 && m != "CONNECT"
}

// setTimeout takes a time in seconds.
func (d *Draft) setTimeout(s string) {
	if t, err := time.ParseDuration(s + "s"); err == nil && t >= time.Millisecond && t <= time.Hour {
		d.timeout = max(d.timeout, t)
	}
}
