package postgres

import "syscall"

// childAttributes keep the terminal's Ctrl-C away from the server (we end it, in our order), and let
// the kernel ask it to shut down when we die without doing so.
func childAttributes(user *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: user, Setpgid: true, Pdeathsig: syscall.SIGINT}
}
