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
	out := &result{to: std.Out}
	std.Out = out
	app := newApp(std)
	args, err := arrange(app, args)
	if err == nil {
		err = app.RunContext(ctx, append([]string{"headroom"}, args...))
	}
	if out.err != nil { // whatever the command made of it
		err = fmt.Errorf("the result can't be written: %w", out.err)
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

// result is stdout. It keeps the first error, so that none of them is lost.
type result struct {
	to  io.Writer
	err error
}

func (r *result) Write(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.to.Write(p)
	r.err = err
	return n, err
}

func newApp(std IO) *cli.App {
	usage := func(c *cli.Context, err error, _ bool) error { return flagError(c, err) }
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

func commandNames(app *cli.App) []string {
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return names
}

// didYouMean suggests the name that is at most two changes away, and no more
// than half of the name.
func didYouMean(got string, names []string) string {
	best, distance := "", 3
	for _, n := range names {
		if d := editDistance(got, n); d < distance && 2*d <= len(n) {
			best, distance = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %s?)", best)
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
