//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
)

// limitFiles makes writes fail beyond a size, as they do on a full disk.
func limitFiles(size string) {
	n, err := strconv.ParseUint(size, 10, 64)
	if err == nil {
		signal.Ignore(syscall.SIGXFSZ)
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "limit of file size:", err)
		os.Exit(99)
	}
}

func sendSignal(p *os.Process, name string) error {
	s, ok := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}[name]
	if !ok {
		return errors.New("unknown")
	}
	return p.Signal(s)
}

// alive reports whether a process runs; one that has ended and that nobody has
// asked about is not alive.
func alive(id string) bool {
	pid, err := strconv.Atoi(id)
	if err != nil || syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + id + "/stat")
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	_, rest, _ := bytes.Cut(stat, []byte(") "))
	return !bytes.HasPrefix(rest, []byte("Z"))
}
