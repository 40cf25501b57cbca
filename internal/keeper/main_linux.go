package keeper

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"golang.org/x/sys/unix"
)

// Exit codes of a keeper.
const (
	exitDone  = 0
	exitLeft  = 3 // it could not end all
	exitUsage = 2
)

// endWithin is how long it tries to end what is left, pass after pass: each makes
// the children of those it has ended its own children.
const (
	endWithin = 5 * time.Second
	endPause  = time.Millisecond
)

// The two ends of pipes that a keeper gets beside the standard ones.
const (
	ordersFD  = 3
	reportsFD = 4
)

// Main is a keeper; args are all words of the program. It returns its exit code.
func Main(args []string) int {
	// The command is killed with the thread that started it (Pdeathsig), so this one
	// must last as long as the process.
	runtime.LockOSThread()
	const words = 5 // parley, the verb, the user, the program, its name
	if len(args) < words {
		return exitUsage
	}
	user, ok := parseUser(args[2])
	if !ok {
		return exitUsage
	}
	k := &keeping{orders: os.NewFile(ordersFD, "orders"), reports: os.NewFile(reportsFD, "reports")}
	if err := keepFiles(); err != nil {
		k.failed(err)
		return exitDone
	}
	// Who ends all programs of a name, or a session, means no keeper. Signals that are
	// caught, unlike those that are ignored, reach the command as always.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		k.failed(err)
		return exitDone
	}
	if k.order() != orderBegin {
		return exitDone
	}
	leader, err := syscall.ForkExec(args[3], args[4:], &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Credential: user.credential()},
	})
	if err != nil {
		k.failed(err)
		return exitDone
	}
	fmt.Fprintln(k.reports, reportBegan)
	letGo()
	go k.obey() // ends with the process
	k.reap(leader)
	return exitDone
}

// keepFiles has the command get the standard files alone. Whoever started the node may
// have left it others, such as a lock or a secret of its own user.
func keepFiles() error {
	const first = 3 // behind the standard ones
	entries, err := os.ReadDir("/proc/self/fd")
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

// letGo closes the standard files, which are the command's: who reads them waits
// for their end.
func letGo() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		for fd := range 3 {
			_ = unix.Close(fd)
		}
		return
	}
	for fd := range 3 {
		_ = unix.Dup3(int(null.Fd()), fd, 0)
	}
}

func (u *User) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	return &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
}

// keeping is a keeper at work.
type keeping struct {
	orders, reports *os.File
	// reaping is held while ended children are waited for, and while children are
	// looked for and signalled: so no number is another process's by then.
	reaping sync.Mutex
}

// order waits for the next order; 0 says that everything is to end, because the
// starter says so or is dead.
func (k *keeping) order() byte {
	var b [1]byte
	if n, err := k.orders.Read(b[:]); err != nil || n == 0 {
		return 0
	}
	return b[0]
}

func (k *keeping) failed(err error) {
	errno := syscall.EINVAL
	_ = errors.As(err, &errno)
	fmt.Fprintln(k.reports, reportFailed, int(errno))
}

// obey follows orders. The last of them ends all.
func (k *keeping) obey() {
	for k.order() == orderTerminate {
		k.each(func(pid int) {
			group, err := unix.Getpgid(pid)
			if err == nil && group != unix.Getpgrp() {
				_ = unix.Kill(-group, unix.SIGTERM)
				_ = unix.Kill(-group, unix.SIGCONT)
			}
			_ = unix.Kill(pid, unix.SIGTERM)
			_ = unix.Kill(pid, unix.SIGCONT)
		})
	}
	for began := time.Now(); time.Since(began) < endWithin; {
		k.each(func(pid int) { _ = unix.Kill(pid, unix.SIGKILL) })
		<-time.After(endPause) // reap ends the process when none is left
	}
	os.Exit(exitLeft)
}

// each calls do with every child.
func (k *keeping) each(do func(pid int)) {
	k.reaping.Lock()
	defer k.reaping.Unlock()
	for _, pid := range process.Children(os.Getpid()) {
		do(pid)
	}
}

// reap waits for children until there are none, and reports the command's end.
func (k *keeping) reap(leader int) {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return // ECHILD: nobody is left
		}
		k.waitAll(leader)
	}
}

func (k *keeping) waitAll(leader int) {
	k.reaping.Lock()
	defer k.reaping.Unlock()
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || pid <= 0 {
			return
		}
		if pid != leader {
			continue
		}
		if status.Signaled() {
			fmt.Fprintln(k.reports, reportSignal, int(status.Signal()))
		} else {
			fmt.Fprintln(k.reports, reportExit, status.ExitStatus())
		}
	}
}
