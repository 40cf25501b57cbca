package carrier

import (
	"os/exec"

	"golang.org/x/sys/windows"
)

// ownGroup keeps the console's interrupts from the command. If the command is killed, its helpers
// end when their pipes close.
func ownGroup(cmd *exec.Cmd) (end func()) {
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
	return func() {}
}
