//go:build !linux

package bench

// diskOf is not known on this system.
func diskOf(string) (kind, device string) { return "", "" }
