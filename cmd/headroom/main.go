package main

import (
	"context"
	"os"
)

// version is set when a release is built: -ldflags "-X main.version=v1.2.3".
var version = "dev"

func main() {
	os.Exit(Main(context.Background(), os.Args[1:], IO{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv}))
}
