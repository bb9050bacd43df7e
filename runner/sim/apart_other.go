//go:build !linux

package sim

import "os/exec"

// apart does nothing here: cmd ends when its standard input is closed.
func apart(*exec.Cmd) {}
