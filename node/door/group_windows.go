package door

import (
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is the job of a command: it holds the command and all that the command
// starts, and ends with the last handle to it, that is with the node.
type group struct {
	job     windows.Handle // 0 where the system gave none
	leader  windows.Handle // 0 where the command had ended already
	process *os.Process
}

// prepare keeps the node's Ctrl-C from the command.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func adopt(p *os.Process) group {
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.SYNCHRONIZE
	g := group{process: p}
	leader, err := windows.OpenProcess(access, false, uint32(p.Pid))
	if err != nil {
		return g
	}
	g.leader = leader
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, leader)
	}
	if err != nil {
		windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

// terminate ends the job at once: there is no signal to ask it with.
func (g group) terminate() { g.kill() }

// kill passes over errors: they say that nobody is left.
func (g group) kill() {
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1)
		return
	}
	_ = g.process.Kill()
}

// waitLeader blocks until the command has ended.
func (g group) waitLeader() {
	if g.leader != 0 {
		_, _ = windows.WaitForSingleObject(g.leader, windows.INFINITE)
	}
}

func (g group) release() {
	for _, handle := range []windows.Handle{g.job, g.leader} {
		if handle != 0 {
			windows.CloseHandle(handle)
		}
	}
}

// endedBy finds nothing: no signals end a process on Windows.
func endedBy(*os.ProcessState) string { return "" }
