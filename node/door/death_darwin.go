package door

import "syscall"

// dieWithParent does nothing: macOS has no parent-death signal.
func dieWithParent(*syscall.SysProcAttr) {}
