package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
)

// completionFlag is what the completion scripts put at the end of a command line.
const completionFlag = "--generate-bash-completion"

// arrange moves the flags of a command before its arguments, so that a flag
// after an argument works as well. What follows `--` stays where it is. A flag
// that the command needs and does not get is an error.
func arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 || args[len(args)-1] == completionFlag {
		return args, nil
	}
	switch args[0] {
	case "help":
		return args, nil
	case "-h", "-help", "--help":
		return append([]string{"help"}, args[1:]...), nil
	}
	cmd := app.Command(args[0])
	if cmd == nil || cmd.SkipFlagParsing {
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
	flags, plain, err := divide(cmd, rest)
	if err != nil {
		return nil, err
	}
	for _, f := range flags {
		if f == "-h" || f == "-help" || f == "--help" {
			return append(head, "--help"), nil // with arguments, the parser would explain those
		}
	}
	if err := needed(cmd, flags); err != nil {
		return nil, err
	}
	if len(plain) > 0 {
		flags = append(flags, "--")
	}
	return append(append(head, flags...), plain...), nil
}

// divide takes the flags, with their values, apart from the arguments.
func divide(cmd *cli.Command, args []string) (flags, plain []string, err error) {
	takesValue := map[string]bool{}
	for _, f := range cmd.Flags {
		_, boolean := f.(*cli.BoolFlag)
		for _, n := range f.Names() {
			takesValue[n] = !boolean
		}
	}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			if cmd.Name == "compare" {
				plain = append(plain, separator)
			}
			return flags, append(plain, args[i+1:]...), nil
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			plain = append(plain, a)
			continue
		}
		flags = append(flags, a)
		name, _, hasValue := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if takesValue[name] && !hasValue {
			if i+1 == len(args) {
				return nil, nil, usagef("the flag %s of %s needs a value", a, cmd.Name)
			}
			i++
			flags = append(flags, args[i])
		}
	}
	return flags, plain, nil
}

// needed reports the first flag that a command can't do without and that is not
// among flags.
func needed(cmd *cli.Command, flags []string) error {
	given := map[string]bool{}
	for _, a := range flags {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		given[name] = true
	}
	for _, f := range cmd.Flags {
		r, ok := f.(cli.RequiredFlag)
		if !ok || !r.IsRequired() {
			continue
		}
		has := false
		for _, n := range f.Names() {
			has = has || given[n]
		}
		if !has {
			return usagef("%s needs the flag %s; `headroom help %[1]s` explains it", cmd.Name, dashed(f.Names()[0]))
		}
	}
	return nil
}

// flagError says in our words what the flag parser found wrong.
func flagError(c *cli.Context, err error) error {
	text := err.Error()
	where, help := c.Command.Name, "`headroom help`"
	known := c.Command.Flags
	if where == "" || where == c.App.Name {
		where, known = "", nil
	} else {
		help = fmt.Sprintf("`headroom help %s`", where)
	}
	if name, unknown := strings.CutPrefix(text, "flag provided but not defined: -"); unknown {
		name = strings.TrimLeft(name, "-")
		if where == "" {
			return usagef("there is no flag %s before the command; the flags of a command follow it, see %s", dashed(name), help)
		}
		var names []string
		for _, f := range known {
			for _, n := range f.Names() {
				if len(n) > 1 { // any two letters are alike
					names = append(names, dashed(n))
				}
			}
		}
		return usagef("%s has no flag %s%s; see %s", where, dashed(name), didYouMean(dashed(name), names), help)
	}
	if value, rest, ok := strings.Cut(strings.TrimPrefix(text, "invalid value "), " for flag -"); ok && value != text {
		name, _, _ := strings.Cut(rest, ":")
		return usagef("%s %s: %s", dashed(name), value, wanted(known, name))
	}
	if name, ok := strings.CutPrefix(text, "flag needs an argument: -"); ok {
		return usagef("the flag %s needs a value", dashed(strings.TrimLeft(name, "-")))
	}
	return usagef("%w; see %s", err, help)
}

// wanted says what kind of value a flag takes.
func wanted(known []cli.Flag, name string) string {
	for _, f := range known {
		for _, n := range f.Names() {
			if n != name {
				continue
			}
			switch f.(type) {
			case *cli.DurationFlag:
				return "it is a duration with its unit, as in 30s or 5m"
			case *cli.IntFlag, *cli.Int64Flag:
				return "it is a whole number"
			case *cli.UintFlag, *cli.Uint64Flag:
				return "it is a whole number, 0 or more"
			case *cli.Float64Flag:
				return "it is a plain number, as in 450 or 0.5"
			case *cli.BoolFlag:
				return "it takes no value, or true or false after ="
			}
		}
	}
	return "this value is not understood"
}

func dashed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
