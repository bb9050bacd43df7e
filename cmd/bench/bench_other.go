//go:build !linux

package main

import (
	"context"
	"fmt"
	"os"
)

func run(context.Context, []string) int {
	fmt.Fprintln(os.Stderr, "bench: the comparison pins processes to cores, which it can only do on Linux")
	return 2
}
