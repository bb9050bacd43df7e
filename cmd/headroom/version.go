package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

type buildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Date    string `json:"date"`
	Dirty   bool   `json:"dirty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func readBuildInfo() buildInfo {
	b := buildInfo{Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	return b
}

func versionText() string {
	b := readBuildInfo()
	return fmt.Sprintf("%s (%s, %s/%s)", b.Version, b.Go, b.OS, b.Arch)
}

func versionCommand(std IO) *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version of headroom",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
		Action: func(c *cli.Context) error {
			b := readBuildInfo()
			if !c.Bool("json") {
				_, err := fmt.Fprintln(std.Out, "headroom version", versionText())
				return err
			}
			e := json.NewEncoder(std.Out)
			e.SetIndent("", "  ")
			return e.Encode(b)
		},
	}
}
