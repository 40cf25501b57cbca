package scratch

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/parleyfleet/parley/internal/process"
)

// apart keeps a process from getting the signals of a terminal.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// endThose ends all processes whose environment names the folder, and returns how many there were.
// The watchman itself does not count.
func endThose(dir string) (ended int) {
	for _, pid := range process.All() {
		environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) // it may have ended
		names := bytes.Contains(environment, []byte(dir+"/")) || bytes.Contains(environment, []byte(dir+"\x00"))
		if pid != os.Getpid() && names {
			ended++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	return ended
}
