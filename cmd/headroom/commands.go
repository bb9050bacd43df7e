package main

import (
	"fmt"
	"sort"

	"github.com/urfave/cli/v2"
)

func commands(std IO) []*cli.Command {
	return []*cli.Command{
		demoCommand(std),
		findCommand(std),
		initCommand(std),
		checkCommand(std),
		runCommand(std),
		analyzeCommand(std),
		reportCommand(std),
		compareCommand(std),
		trendCommand(std),
		lsCommand(std),
		verifyCommand(std),
		exportCommand(std),
		importCommand(std),
		mergeCommand(std),
		serveCommand(std),
		pushCommand(std),
		prepCommand(std),
		recoverCommand(std),
		targetCommand(std),
		versionCommand(std),
		completionCommand(std),
		helpCommand(std),
	}
}

var formats = []string{"text", "json", "csv", "markdown"}

// commonFlags are on every command, since a flag belongs where one types it.
func commonFlags(extra ...cli.Flag) []cli.Flag {
	return append(extra,
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no words about the work on stderr"},
		&cli.BoolFlag{Name: "no-progress", Usage: "no progress line"},
	)
}

func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: "format", Value: "text", Usage: "text, json, csv or markdown"}
}

func checkFormat(c *cli.Context) (string, error) {
	f := c.String("format")
	for _, known := range formats {
		if f == known {
			return f, nil
		}
	}
	return "", usagef("--format %s: it is one of text, json, csv and markdown", f)
}

// oneArgument returns the only argument, or says what is wrong.
func oneArgument(c *cli.Context, what string) (string, error) {
	if c.NArg() != 1 {
		return "", usagef("%s wants exactly one argument, %s; it got %d", c.Command.Name, what, c.NArg())
	}
	return c.Args().First(), nil
}

func noArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("%s takes no argument; it got %q", c.Command.Name, c.Args().First())
	}
	return nil
}

func helpCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "help", Usage: "explain a command, or the exit codes", ArgsUsage: "[COMMAND | exit-codes]",
		Action: func(c *cli.Context) error {
			switch topic := c.Args().First(); topic {
			case "":
				return cli.ShowAppHelp(c)
			case "exit-codes":
				return printExitCodes(std.Out)
			default:
				if c.App.Command(topic) == nil {
					names := append(commandNames(c.App), "exit-codes")
					sort.Strings(names)
					return usagef("there is no help on %q%s", topic, didYouMean(topic, names))
				}
				return cli.ShowCommandHelp(c, topic)
			}
		},
	}
}

func completionCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a completion script: bash, zsh or fish", ArgsUsage: "SHELL",
		Action: func(c *cli.Context) error {
			shell, err := oneArgument(c, "bash, zsh or fish")
			if err != nil {
				return err
			}
			switch shell {
			case "bash":
				_, err = fmt.Fprint(std.Out, bashCompletion)
			case "zsh":
				_, err = fmt.Fprint(std.Out, zshCompletion)
			case "fish":
				var text string
				if text, err = c.App.ToFishCompletion(); err == nil {
					_, err = fmt.Fprint(std.Out, text)
				}
			default:
				return usagef("completion for %q: it is one of bash, zsh and fish", shell)
			}
			return err
		},
	}
}

const bashCompletion = `_headroom() {
  local cur opts
  cur="${COMP_WORDS[COMP_CWORD]}"
  opts=$("${COMP_WORDS[@]:0:COMP_CWORD}" "$cur" --generate-bash-completion 2>/dev/null)
  COMPREPLY=($(compgen -W "$opts" -- "$cur") $(compgen -f -- "$cur"))
}
complete -o filenames -F _headroom headroom
`

const zshCompletion = `#compdef headroom
_headroom() {
  local -a opts
  opts=("${(@f)$(${words[@]:0:#words[@]-1} --generate-bash-completion 2>/dev/null)}")
  _describe 'headroom' opts
  _files
}
compdef _headroom headroom
`
