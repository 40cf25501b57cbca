package keeper

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Check returns an error that says why this system cannot set the limits for a command of a user;
// nil stands for this process's own user. It tries the limits on a program, which it ends before
// that program's first instruction.
func (l Limits) Check(u *User) error {
	if l == (Limits{}) {
		return nil
	}
	rest := l
	g := NewGroup(fmt.Sprintf("check-%d-%d", os.Getpid(), time.Now().UnixNano()), l)
	if g != nil {
		defer g.Remove()
		rest = g.rest(l)
	}
	err := rest.try(g, u)
	if err != nil && g != nil { // as Pool.Start does
		err = l.try(nil, u)
	}
	return err
}

// try sets the limits of a program in a control group, and ends the program. If `g` is nil, it uses
// no group.
func (l Limits) try(g *Group, u *User) error {
	if err := l.uncounted(u); err != nil {
		return err
	}
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if g != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(g.folder.Fd())
	}
	runtime.LockOSThread() // a traced process belongs to its thread
	defer runtime.UnlockOSThread()
	pid, err := l.hold("/proc/self/exe", []string{"parley"}, &syscall.ProcAttr{Sys: attr})
	switch {
	case err == nil:
		end(pid)
		return nil
	case l.NoNetwork && os.Geteuid() != 0:
		return fmt.Errorf("only a node that runs as root can take the network away: %w", err)
	}
	return fmt.Errorf("the system refuses to set them: %w", err)
}

// uncounted returns an error if a limit of processes would have no effect because no control group
// sets it: the system lets root have as many processes as it wants.
func (l Limits) uncounted(u *User) error {
	if l.Processes > 0 && u == nil && os.Geteuid() == 0 {
		return errors.New("the processes of root can be limited in a control group alone (cgroup v2 with the controller pids), and there is none")
	}
	return nil
}

// start starts a program that has these limits from its first instruction on. The goroutine of the
// caller has locked its thread.
func (l Limits) start(path string, args []string, attr *syscall.ProcAttr) (pid int, err error) {
	if l == (Limits{}) {
		return syscall.ForkExec(path, args, attr)
	}
	if pid, err = l.hold(path, args, attr); err != nil {
		return 0, err
	}
	if err := unix.PtraceDetach(pid); err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: somebody has ended it meanwhile
		end(pid)
		return 0, err
	}
	return pid, nil
}

// hold starts a program, stops it before its first instruction, and sets its limits. Go cannot do
// that between fork and exec.
func (l Limits) hold(path string, args []string, attr *syscall.ProcAttr) (pid int, err error) {
	attr.Sys.Ptrace = true
	if l.NoNetwork {
		attr.Sys.Cloneflags |= syscall.CLONE_NEWNET
	}
	if pid, err = syscall.ForkExec(path, args, attr); err != nil {
		return 0, err
	}
	for { // it is stopped, or it has ended; the latter is left to those who wait for the command
		err = unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		err = asOwner(attr.Sys.Credential, func() error { return l.set(pid) })
	}
	if err != nil && !errors.Is(err, unix.ESRCH) {
		end(pid)
		return 0, err
	}
	return pid, nil
}

// asOwner calls `do` with the rights of a process's user. Users may always take something from
// their own processes. Root may not have the right to do that to others, as in many containers.
func asOwner(of *syscall.Credential, do func() error) error {
	if of == nil {
		return do()
	}
	change := func(call, effective, saved uintptr) error { // for this thread only
		if _, _, errno := unix.RawSyscall(call, effective, effective, saved); errno != 0 {
			return errno
		}
		return nil
	}
	gid := uintptr(os.Getgid())
	if err := change(unix.SYS_SETRESGID, uintptr(of.Gid), gid); err != nil {
		return err
	}
	if err := change(unix.SYS_SETRESUID, uintptr(of.Uid), 0); err != nil {
		return errors.Join(err, change(unix.SYS_SETRESGID, gid, gid))
	}
	done := do()
	if err := errors.Join(change(unix.SYS_SETRESUID, 0, 0), change(unix.SYS_SETRESGID, gid, gid)); err != nil {
		panic(err) // what was saved can always be taken back
	}
	return done
}

// end ends a program that was started by hold.
func end(pid int) {
	_ = unix.Kill(pid, unix.SIGKILL)
	for {
		var status unix.WaitStatus
		if got, err := unix.Wait4(pid, &status, 0, nil); !errors.Is(err, unix.EINTR) && (got != pid || !status.Stopped()) {
			return
		}
	}
}

// set limits a process. It never gives the process more than it has already.
func (l Limits) set(pid int) error {
	if l.Nice > 0 {
		const least = 20 // the system call returns 20 minus the value
		if now, err := unix.Getpriority(unix.PRIO_PROCESS, pid); err == nil && least-now < l.Nice {
			if err := unix.Setpriority(unix.PRIO_PROCESS, pid, l.Nice); err != nil {
				return err
			}
		}
	}
	for _, at := range []struct {
		resource int
		most     int
		more     uint64 // by how much the hard limit is higher
	}{
		{unix.RLIMIT_DATA, l.Memory, 0},
		{unix.RLIMIT_CPU, int((l.CPU + time.Second - 1) / time.Second), 1}, // so that a signal comes first
		{unix.RLIMIT_NOFILE, l.Files, 0},
		{unix.RLIMIT_NPROC, l.Processes, 0},
	} {
		if at.most == 0 {
			continue
		}
		var has unix.Rlimit
		if err := unix.Prlimit(pid, at.resource, nil, &has); err != nil {
			return err
		}
		has.Max = min(has.Max, uint64(at.most)+at.more)
		has.Cur = min(has.Cur, has.Max, uint64(at.most))
		if err := unix.Prlimit(pid, at.resource, &has, nil); err != nil {
			return err
		}
	}
	return nil
}

// overCPU reports whether a command ended because it had used up its processor time. `used` is the
// time that it used.
func (l Limits) overCPU(e Ending, used time.Duration) bool {
	const bySignal = 128 // what a shell adds to the number of the signal that ended its child
	return l.CPU > 0 && (e.Signal == syscall.SIGXCPU.String() || e.ExitCode == bySignal+int(syscall.SIGXCPU) || e.Signal != "" && used >= l.CPU)
}

// usage is the processor time, in microseconds, of a process that has ended and of those for which
// it has waited, as the system says.
func usage(r unix.Rusage) string {
	return strconv.FormatInt((r.Utime.Nano()+r.Stime.Nano())/int64(time.Microsecond), 10)
}
