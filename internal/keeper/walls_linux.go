package keeper

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// wallsWord is the second word of a keeper that puts up walls around itself and then becomes
// the command. Behind it come the walls, the command's folder, its program and its words.
const wallsWord = "walls"

// exitWalls is the exit code of a command whose walls could not be put up.
const exitWalls = 125

// wallsIdle is the program of a command that is none: it ends when its walls are up.
const wallsIdle = ""

// wallRights are what puts walls up needs, in a name space of its own.
var wallRights = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP}

// CheckWalls reports why this system puts up no walls around a command of that user (nil: this
// process's own). It tries it on a command that does nothing.
func CheckWalls(u *User) error {
	dir, err := os.MkdirTemp("", "parley-walls-")
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	c := Command{Dir: "/", Path: wallsIdle, Walls: Walls{Hide: []string{dir}}}
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: u.credential()}
	path, args := c.walled(attr)
	runtime.LockOSThread() // it would end with the thread
	defer runtime.UnlockOSThread()
	out, err := (&exec.Cmd{Path: path, Args: args, Dir: "/", SysProcAttr: attr}).CombinedOutput()
	if text := strings.TrimSpace(string(out)); err != nil && text != "" {
		return errors.New(text)
	}
	return err
}

// walled is the program that puts up a command's walls and becomes it, with its words. attr is
// given name spaces of users and of mounts: whoever is in such a one sees no process outside.
func (c Command) walled(attr *syscall.SysProcAttr) (path string, args []string) {
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
	attr.AmbientCaps = wallRights
	return "/proc/self/exe", append([]string{"parley", Verb, wallsWord, c.Walls.String(), c.Dir, c.Path}, c.Args...)
}

// beWalled puts up walls around this process, which has name spaces of its own, and becomes
// the command. It returns only where it could not, or where there is none.
func beWalled(words []string) int {
	runtime.LockOSThread() // rights are a thread's
	const before = 3
	if len(words) < before {
		return exitUsage
	}
	w, ok := parseWalls(words[0])
	dir, path, args := words[1], words[2], words[before:]
	if !ok {
		return exitUsage
	}
	err := w.put()
	if err == nil {
		err = dropRights()
	}
	if err == nil {
		err = os.Chdir(dir) // behind the walls: from where it was it could go on to what they hide
	}
	switch {
	case err != nil:
		err = fmt.Errorf("cannot put up the walls of the command: %w", err)
	case path == wallsIdle:
		return exitDone
	default:
		err = fmt.Errorf("cannot start %s: %w", path, syscall.Exec(path, args, os.Environ()))
	}
	fmt.Fprintln(os.Stderr, err)
	return exitWalls
}

// put hides folders behind empty ones.
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
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil { // or others lose sight of them too
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

// dropRights gives up, for this process and all that comes of it, what it took to put up the
// walls: root could take them down.
func dropRights() error {
	for right := uintptr(0); ; right++ {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, right, 0, 0, 0); err != nil {
			break // the system knows no more
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
