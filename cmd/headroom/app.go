package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// IO is what a command may touch of its surroundings.
type IO struct {
	In       io.Reader
	Out, Err io.Writer
	Env      func(string) (string, bool)
}

// separator stands for a `--` between two lists of arguments, which the flag
// parser would swallow.
const separator = "\x00--"

// Main runs headroom with the arguments after the program's name and returns
// its exit code.
func Main(ctx context.Context, args []string, std IO) int {
	app := newApp(std)
	args, err := arrange(app, args)
	if err == nil {
		err = app.RunContext(ctx, append([]string{"headroom"}, args...))
	}
	if err == nil {
		return exitDone
	}
	var e *exitError
	if !errors.As(err, &e) || e.err != nil {
		for _, line := range strings.Split(strings.TrimSpace(err.Error()), "\n") {
			fmt.Fprintf(std.Err, "headroom: %s\n", line)
		}
	}
	return codeOf(err)
}

func newApp(std IO) *cli.App {
	usage := func(_ *cli.Context, err error, _ bool) error {
		return usagef("%w (see headroom help)", plainFlagError(err))
	}
	app := &cli.App{
		Name:                      "headroom",
		Usage:                     "find the load at which a service stops keeping up, and how far production is from it",
		Version:                   versionText(),
		Reader:                    std.In,
		Writer:                    std.Out,
		ErrWriter:                 std.Err,
		HideVersion:               false,
		HideHelpCommand:           true,
		DisableSliceFlagSeparator: true,
		EnableBashCompletion:      true,
		OnUsageError:              usage,
		ExitErrHandler:            func(*cli.Context, error) {},
		CommandNotFound:           func(*cli.Context, string) {},
		Commands:                  commands(std),
	}
	app.Action = func(c *cli.Context) error {
		if c.NArg() > 0 {
			return usagef("there is no command %q%s; `headroom help` lists them", c.Args().First(), didYouMean(c.Args().First(), commandNames(app)))
		}
		return cli.ShowAppHelp(c)
	}
	for _, c := range app.Commands {
		c.OnUsageError = usage
		c.HideHelpCommand = true
		for _, sub := range c.Subcommands {
			sub.OnUsageError = usage
			sub.HideHelpCommand = true
		}
	}
	return app
}

func plainFlagError(err error) error {
	text := err.Error()
	text = strings.TrimPrefix(text, "flag provided but not defined: ")
	if text != err.Error() {
		return fmt.Errorf("there is no flag -%s here", text)
	}
	if strings.Contains(text, "for flag") && strings.Contains(text, "parse error") {
		return fmt.Errorf("%s: a duration needs a unit, as in 30s or 5m; a rate is a plain number of requests per second", strings.TrimSuffix(text, ": parse error"))
	}
	return err
}

func commandNames(app *cli.App) []string {
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return names
}

// didYouMean suggests the name that is at most two changes away.
func didYouMean(got string, names []string) string {
	best, distance := "", 3
	for _, n := range names {
		if d := editDistance(got, n); d < distance {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost = 1 + min(diagonal, row[j], row[j-1])
			}
			diagonal, row[j] = row[j], cost
		}
	}
	return row[len(b)]
}

// arrange moves the flags of a command before its arguments, so that a flag
// after an argument works as well. What follows `--` stays where it is.
func arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	if args[0] == "help" {
		return args, nil
	}
	cmd := app.Command(args[0])
	if cmd == nil {
		return args, nil
	}
	head := []string{args[0]}
	rest := args[1:]
	if len(cmd.Subcommands) > 0 && len(rest) > 0 {
		sub := cmd.Command(rest[0])
		if sub == nil {
			return args, nil
		}
		head, rest, cmd = append(head, rest[0]), rest[1:], sub
	}
	takesValue := map[string]bool{}
	for _, f := range cmd.Flags {
		_, boolean := f.(*cli.BoolFlag)
		for _, n := range f.Names() {
			takesValue[n] = !boolean
		}
	}
	var flags, plain []string
	for i := 0; i < len(rest); i++ {
		a := rest[i]
		if a == "--" {
			if cmd.Name == "compare" {
				plain = append(plain, separator)
				plain = append(plain, rest[i+1:]...)
			} else {
				plain = append(plain, rest[i+1:]...)
			}
			break
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			plain = append(plain, a)
			continue
		}
		flags = append(flags, a)
		name, _, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if takesValue[name] && !hasValue {
			if i+1 == len(rest) {
				return nil, usagef("the flag %s needs a value", a)
			}
			i++
			flags = append(flags, rest[i])
		}
	}
	if len(plain) > 0 {
		flags = append(flags, "--")
	}
	return append(append(head, flags...), plain...), nil
}
