package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// module says where a generator comes from, and which version the comparison
// was made with.
var modules = map[string]string{
	"vegeta": "github.com/tsenart/vegeta/v12@v12.13.0",
	"k6":     "go.k6.io/k6@v1.8.1",
}

// generators are those that this machine has; the others are noted.
func (b *bench) generators(ctx context.Context, install []string) []generator {
	all := []generator{ours{b}}
	for _, g := range []struct {
		name, how string
		make      func(path string) generator
	}{
		{"vegeta", "go install " + modules["vegeta"], func(p string) generator { return vegeta{b, p} }},
		{"k6", "go install " + modules["k6"], func(p string) generator { return k6{b, p} }},
		{"wrk2", "build it and put it on PATH; nothing installs it", func(p string) generator { return wrk2{b, p} }},
		{"wrk", "apt-get install wrk", func(p string) generator { return wrk{b, p} }},
	} {
		path, err := find(ctx, g.name, slices.Contains(install, g.name))
		if err != nil {
			b.t.note("%s is not here (%v): %s", g.name, err, g.how)
			continue
		}
		all = append(all, g.make(path))
	}
	return all
}

// find is where a program is: on PATH, in the cache, or, where install is set,
// in the cache after it has been built there.
func find(ctx context.Context, name string, install bool) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "headroom-bench")
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if !install || modules[name] == "" {
		return "", fmt.Errorf("not on PATH")
	}
	say("installing %s into %s, once", modules[name], dir)
	ctx, cancel := context.WithTimeout(ctx, 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "install", modules[name])
	cmd.Dir, cmd.Env = os.TempDir(), append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go install: %w: %s", err, lastLines(string(out), 1))
	}
	return path, nil
}
