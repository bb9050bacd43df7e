//go:build unix

package main

import (
	"errors"
	"os/exec"
	"syscall"
	"time"
)

// ownGroup gives a program a process group of its own, so that a Ctrl-C at the
// terminal does not end it in the middle of a run.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// stopGroup asks the program and its children to end, and ends them after the grace.
func stopGroup(cmd *exec.Cmd, gone <-chan struct{}, grace time.Duration) error {
	pid := cmd.Process.Pid
	if err := syscall.Kill(-pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	// A stopped program can't react before it goes on.
	_ = syscall.Kill(-pid, syscall.SIGCONT)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-gone:
	case <-timer.C:
	}
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	<-gone
	return nil
}
