package walls

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// verb is the first argument of a program that puts up walls around itself and then becomes the
// command. The walls, the command's folder, its program and its words follow.
const verb = "be-walled"

// Exit codes if there is no command in the end.
const (
	exitIdle  = 0   // there was no command to run
	exitUsage = 2   // nobody who wants walls started it
	exitWalls = 125 // the walls could not be put up
)

// Idle is the program of a command that does nothing: it ends when its walls are up.
const Idle = ""

// rights are the rights that are needed to put up walls in a namespace of one's own.
var rights = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}

// A command waits for its walls. So they are put up before the rest of the program is initialized,
// which takes longer. Go initializes packages in the order of their paths, each after those that it
// imports. So this package imports little, and above all not net, which comes late.
func init() {
	if len(os.Args) > 1 && os.Args[1] == verb {
		os.Exit(become(os.Args[2:]))
	}
	if Inside(os.Args) {
		os.Exit(stay(os.Args[2:]))
	}
}

// Around returns the program that puts up the walls and starts a command, and its words. It adds a
// user, a mount and a pid namespace to `attr`. A process in these sees no process outside of them.
func (w Walls) Around(attr *syscall.SysProcAttr, dir, path string, args []string) (program string, words []string) {
	uid, groups := os.Geteuid(), []int{os.Getegid()}
	if of := attr.Credential; of != nil {
		uid, groups = int(of.Uid), []int{int(of.Gid)}
		for _, g := range of.Groups {
			if !slices.Contains(groups, int(g)) {
				groups = append(groups, int(g))
			}
		}
		attr.GidMappingsEnableSetgroups = true
	}
	attr.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	for _, g := range groups {
		attr.GidMappings = append(attr.GidMappings, syscall.SysProcIDMap{ContainerID: g, HostID: g, Size: 1})
	}
	attr.AmbientCaps = rights
	return "/proc/self/exe", append([]string{"parley", verb, w.String(), dir, path}, args...)
}

// become puts up walls around this process, which has namespaces of its own, and becomes the process
// that starts the command. It does so by exec: else threads of it would keep rights, which the command
// could take by ptrace. It returns only if it could not do that, or if there is no command.
func become(words []string) int {
	runtime.LockOSThread() // rights belong to a thread
	const before = 3
	if len(words) < before {
		return exitUsage
	}
	w, ok := Parse(words[0])
	dir, path, args := words[1], words[2], words[before:]
	if !ok {
		return exitUsage
	}
	err := w.put()
	if err == nil {
		err = dropRights()
	}
	if err == nil {
		err = os.Chdir(dir) // behind the walls: from its old folder it could still reach what they hide
	}
	switch {
	case err != nil:
		err = fmt.Errorf("cannot put up the walls of the command: %w", err)
	case path == Idle:
		return exitIdle
	default:
		err = fmt.Errorf("cannot start %s: %w", path, syscall.Exec("/proc/self/exe", append([]string{"parley", within, path}, args...), os.Environ()))
	}
	fmt.Fprintln(os.Stderr, err)
	return exitWalls
}

// stay runs the command, as the first process of the namespace. It passes on what asks to end, and
// returns the command's exit code. All that is left there ends with it.
func stay(words []string) int {
	if len(words) < 1 {
		return exitUsage
	}
	if unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) != nil { // the command neither traces this process nor reads what it has
		return exitWalls
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)
	pid, err := syscall.ForkExec(words[0], words[1:], &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}})
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot start %s: %v\n", words[0], err)
		return exitWalls
	}
	go func() { // ends with the process
		for s := range asked {
			_ = unix.Kill(-1, s.(syscall.Signal)) // all but this process
		}
	}()
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		const bySignal = 128 // as a shell says it
		switch {
		case err != nil && !errors.Is(err, unix.EINTR):
			return exitWalls
		case got == pid && status.Signaled():
			return bySignal + int(status.Signal())
		case got == pid && status.Exited():
			return status.ExitStatus()
		}
	}
}

// opened are files and folders by their paths, as they were before walls.
func opened(paths []string) (fds map[string]int, err error) {
	fds = map[string]int{}
	for _, path := range paths {
		if fds[path], err = unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0); err != nil {
			return nil, &fs.PathError{Op: "show", Path: path, Err: err}
		}
	}
	return fds, nil
}

// bind has a path show what was opened.
func bind(fd int, path string) error {
	var is unix.Stat_t
	err := unix.Fstat(fd, &is)
	if err == nil && is.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = os.MkdirAll(path, 0o755)
	} else if err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755)); err == nil {
		var file *os.File
		if file, err = os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o644); err == nil {
			err = file.Close()
		}
	}
	if err == nil {
		err = unix.Mount(fmt.Sprintf("/proc/self/fd/%d", fd), path, "", unix.MS_BIND|unix.MS_REC, "")
	}
	if err != nil {
		return &fs.PathError{Op: "show", Path: path, Err: err}
	}
	return nil
}

// put hides folders by putting others over them, and processes by a /proc of the namespace. A
// container that masks parts of /proc does not allow the latter: command lines stay to be seen there.
func (w Walls) put() error {
	shown, err := opened(w.Show)
	if err != nil {
		return err
	}
	kept := map[string]int{}
	for _, path := range w.Keep {
		if fds, err := opened([]string{path}); err == nil { // else the command could not enter it anyway
			kept[path] = fds[path]
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil { // else other processes would lose sight of the folders too
		return &fs.PathError{Op: "mount", Path: "/", Err: err}
	}
	if w.Tmp != "" {
		own, err := opened([]string{w.Tmp})
		if err != nil {
			return err
		}
		for _, dir := range Temporary() {
			if err := unix.Mount(fmt.Sprintf("/proc/self/fd/%d", own[w.Tmp]), dir, "", unix.MS_BIND, ""); err != nil && !errors.Is(err, unix.ENOENT) {
				return &fs.PathError{Op: "hide", Path: dir, Err: err}
			}
		}
		for path, fd := range kept {
			if err := bind(fd, path); err != nil {
				return err
			}
		}
	}
	for _, dir := range w.Hide {
		err := unix.Mount("none", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=64k")
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) {
			return &fs.PathError{Op: "hide", Path: dir, Err: err}
		}
	}
	for dir, fd := range shown {
		if err := bind(fd, dir); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil && !errors.Is(err, unix.EPERM) {
		return &fs.PathError{Op: "mount", Path: "/proc", Err: err}
	}
	return nil
}

// dropRights gives up the rights that were needed to put up the walls, for this process and all
// that it starts: root could take the walls down again.
func dropRights() error {
	for right := uintptr(0); ; right++ {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, right, 0, 0, 0); err != nil {
			break // the system knows no further rights
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&head, &none[0])
}
