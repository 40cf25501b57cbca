package walls

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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
}

// Around returns the program that puts up the walls and becomes a command, and its words. It adds a
// user namespace and a mount namespace to `attr`. A process in such a namespace sees no process
// outside of it.
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
	attr.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	for _, g := range groups {
		attr.GidMappings = append(attr.GidMappings, syscall.SysProcIDMap{ContainerID: g, HostID: g, Size: 1})
	}
	attr.AmbientCaps = rights
	return "/proc/self/exe", append([]string{"parley", verb, w.String(), dir, path}, args...)
}

// become puts up walls around this process, which has namespaces of its own, and becomes the
// command. It returns only if it could not do that, or if there is no command.
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
		err = fmt.Errorf("cannot start %s: %w", path, syscall.Exec(path, args, os.Environ()))
	}
	fmt.Fprintln(os.Stderr, err)
	return exitWalls
}

// put hides folders by putting empty ones over them.
func (w Walls) put() error {
	shown := map[string]int{}
	for _, dir := range w.Show {
		fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return &fs.PathError{Op: "show", Path: dir, Err: err}
		}
		defer unix.Close(fd)
		shown[dir] = fd
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil { // else other processes would lose sight of the folders too
		return &fs.PathError{Op: "mount", Path: "/", Err: err}
	}
	for _, dir := range w.Hide {
		err := unix.Mount("none", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=64k")
		if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) {
			return &fs.PathError{Op: "hide", Path: dir, Err: err}
		}
	}
	for dir, fd := range shown {
		err := os.MkdirAll(dir, 0o755)
		if err == nil {
			err = unix.Mount(fmt.Sprintf("/proc/self/fd/%d", fd), dir, "", unix.MS_BIND|unix.MS_REC, "")
		}
		if err != nil {
			return &fs.PathError{Op: "show", Path: dir, Err: err}
		}
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
