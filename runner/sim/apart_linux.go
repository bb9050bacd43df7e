package sim

import (
	"os/exec"
	"syscall"
)

// apart keeps a terminal's Ctrl-C from cmd, which ends when its parent says so
// or dies, even while it is stopped.
func apart(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
