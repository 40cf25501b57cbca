//go:build unix

package service

import "syscall"

// apart starts a shell in a session of its own: an interactive one would take the terminal.
func apart(l Login) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if l.UID >= 0 {
		attr.Credential = &syscall.Credential{Uid: uint32(l.UID), Gid: uint32(l.GID)}
	}
	return attr
}
