//go:build !unix

package main

import (
	"os/exec"
	"time"
)

func ownGroup(*exec.Cmd) {}

// stopGroup ends the program. There is no gentle way that works for all.
func stopGroup(cmd *exec.Cmd, gone <-chan struct{}, _ time.Duration) error {
	err := cmd.Process.Kill()
	<-gone
	return err
}
