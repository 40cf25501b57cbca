package door

import "syscall"

// dieWithParent has the kernel kill the command when the thread that started it
// ends; Run holds that thread.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
