package plan

import (
	_ "embed"
	"slices"
)

//go:embed init.yaml
var first []byte

// Init is a commented plan to start from. It parses.
func Init() []byte { return slices.Clone(first) }
