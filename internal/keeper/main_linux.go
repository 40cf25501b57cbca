package keeper

import (
	"errors"
	"fmt"
	"net"
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
	exitLeft  = 3 // the keeper could not end everything
	exitUsage = 2 // nobody who wants a keeper started it, or the system has none
)

// endWithin is how long a keeper tries to end what is left, pass after pass. In each pass, the
// children of the processes that it has ended become its own children. endPause is the pause
// between two passes.
const (
	endWithin = 5 * time.Second
	endPause  = time.Millisecond
)

// lineFD is the socket to its starter, which a keeper gets in addition to the standard files.
const lineFD = 3

// play does the work of a keeper. It returns the keeper's exit code.
func play() int {
	// A command is killed with the thread that started it (Pdeathsig). So this thread must last as
	// long as the process.
	runtime.LockOSThread()
	file := os.NewFile(lineFD, "starter")
	conn, err := net.FileConn(file)
	line, ok := conn.(*net.UnixConn)
	if err != nil || !ok || file.Close() != nil || keepFiles() != nil {
		return exitUsage
	}
	// Somebody who ends all programs of a name, or a session, does not mean a keeper. Signals that
	// are caught reach the command as always. Signals that are ignored would not.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return exitUsage
	}
	k := &keeping{line: line, alone: make(chan struct{})}
	close(k.alone)
	for {
		o, err := receive(line)
		if err != nil { // the starter wants it, or is dead
			return k.end()
		}
		switch o.kind {
		case orderBegin:
			k.begin(o)
		case orderTerminate:
			k.terminate()
		case orderKill:
			if code := k.end(); code != exitDone {
				return code
			}
			k.report(reportClean)
		}
	}
}

// begin starts a command. No other command is beneath the keeper at that time.
func (k *keeping) begin(o order) {
	attr := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Credential: o.user.credential()}
	files := len(o.c.Files)
	if len(o.fds) > files {
		attr.UseCgroupFD, attr.CgroupFD = true, o.fds[files]
	}
	standard := []uintptr{uintptr(o.fds[0]), uintptr(o.fds[1]), uintptr(o.fds[2])}
	path, args := o.c.Path, o.c.Args
	if len(o.c.Walls.Hide) > 0 {
		path, args = o.c.Walls.Around(attr, o.c.Dir, path, args)
	}
	leader, err := o.c.Limits.start(path, args, &syscall.ProcAttr{Dir: o.c.Dir, Env: o.c.Env, Files: standard, Sys: attr})
	for _, fd := range o.fds { // they belong to the command: somebody who reads them waits for their end
		_ = unix.Close(fd)
	}
	if err != nil {
		errno := syscall.EINVAL
		_ = errors.As(err, &errno)
		k.report(reportFailed, int(errno))
		return
	}
	k.report(reportBegan)
	k.alone = make(chan struct{})
	go k.reap(leader, k.alone) // ends with the last of its children
}

func (k *keeping) report(what ...any) { fmt.Fprintln(k.line, what...) }

// keepFiles makes sure that the command gets only the standard files. Whoever started the node may
// have left other files open, such as a lock or a secret of their own.
func keepFiles() error {
	const first = 3 // after the standard ones
	entries, err := os.ReadDir("/proc/self/fd")
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
	return err
}

func (u *User) credential() *syscall.Credential {
	if u == nil {
		return nil
	}
	return &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
}

// keeping is a keeper at work.
type keeping struct {
	line  *net.UnixConn
	alone chan struct{} // closed when nothing of the last command is left
	// reaping is held while ended children are waited for, and while children are looked for and
	// signalled. So no number can belong to another process at that moment.
	reaping sync.Mutex
}

// terminate asks everything that runs to end.
func (k *keeping) terminate() {
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

// end ends everything that runs, and returns the exit code with which the keeper would end then.
func (k *keeping) end() int {
	select {
	case <-k.alone: // the usual case; else it would look at every process of the system to find children
		return exitDone
	default:
	}
	for began := time.Now(); time.Since(began) < endWithin; {
		k.each(func(pid int) { _ = unix.Kill(pid, unix.SIGKILL) })
		select {
		case <-k.alone:
			return exitDone
		case <-time.After(endPause):
		}
	}
	return exitLeft
}

// each calls `do` with every child.
func (k *keeping) each(do func(pid int)) {
	k.reaping.Lock()
	defer k.reaping.Unlock()
	for _, pid := range process.Children(os.Getpid()) {
		do(pid)
	}
}

// reap waits for children until there are none, and reports the end of the command.
func (k *keeping) reap(leader int, alone chan<- struct{}) {
	defer close(alone)
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return // ECHILD: no child is left
		}
		k.waitAll(leader)
	}
}

func (k *keeping) waitAll(leader int) {
	k.reaping.Lock()
	defer k.reaping.Unlock()
	for {
		var status unix.WaitStatus
		var used unix.Rusage
		pid, err := unix.Wait4(-1, &status, unix.WNOHANG, &used)
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
			k.report(reportSignal, int(status.Signal()), usage(used))
		} else {
			k.report(reportExit, status.ExitStatus(), usage(used))
		}
	}
}
