//go:build !linux

package e2e

import "syscall"

// childAttributes are none: there is no death signal here.
func childAttributes() *syscall.SysProcAttr { return nil }
