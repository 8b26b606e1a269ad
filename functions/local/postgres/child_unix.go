//go:build unix && !linux

package postgres

import "syscall"

// childAttributes keep the terminal's Ctrl-C away from the server: we end it, in our order. There is
// no death signal here; the next start reports a server that outlived its owner.
func childAttributes(user *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: user, Setpgid: true}
}
