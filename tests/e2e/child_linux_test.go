package e2e

import "syscall"

// childAttributes let the kernel end the server when the tests die without doing so.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
