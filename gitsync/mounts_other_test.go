//go:build !linux

package gitsync

// ownMounts does nothing: only tests on Linux mount file systems.
func ownMounts() {}
