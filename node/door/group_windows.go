package door

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is the job of a command. It holds the command and all processes that the command starts. It
// ends when its last handle is closed, and so with the node.
type group struct {
	job     windows.Handle // 0 if the system gave none
	cmd     *exec.Cmd
	process *os.Process
}

// neverBlock is nothing: there are no pipes among files.
const neverBlock = 0

// prepare keeps the node's Ctrl-C from the command.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func adopt(cmd *exec.Cmd) group {
	p := cmd.Process
	g := group{cmd: cmd, process: p}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		var assignErr error
		err = p.WithHandle(func(handle uintptr) {
			assignErr = windows.AssignProcessToJobObject(job, windows.Handle(handle))
		})
		err = errors.Join(err, assignErr)
	}
	if err != nil {
		windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

// terminate ends the job at once: there is no signal to ask it to end.
func (g group) terminate() { g.kill() }

// kill ignores errors: they mean that no process is left.
func (g group) kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
		return
	}
	_ = g.process.Kill()
}

func (g group) waitLeader() {
	_ = g.process.WithHandle(func(handle uintptr) {
		_, _ = windows.WaitForSingleObject(windows.Handle(handle), windows.INFINITE)
	})
}

func (g group) release() ending {
	_ = g.cmd.Wait() // the state says everything that the error says
	if g.job != 0 {
		windows.CloseHandle(g.job)
	}
	return ofState(g.cmd.ProcessState)
}

// endedBy finds nothing: no signals end a process on Windows.
func endedBy(*os.ProcessState) string { return "" }
