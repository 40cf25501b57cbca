package gitsync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// withOwnMounts is a variable of the environment. It says that this process has mounts of its own.
const withOwnMounts = "PARLEY_TEST_OWN_MOUNTS"

// ownMounts starts this process anew, in its place, where nobody else sees what it mounts, if its
// tests mount file systems. Otherwise a process that enters a network namespace meanwhile, as the
// tests of other packages do, would take a copy of every mount with it. It would hold the file
// systems after they were unmounted here. At the end of the process, however that comes, the system
// unmounts what is left. If ownMounts returns, no mounts are wanted or possible, or it has been
// done.
func ownMounts() {
	if os.Getenv("PARLEY_ROOT_TESTS") == "" || os.Getuid() != 0 || os.Getenv(withOwnMounts) != "" {
		return
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	runtime.LockOSThread() // the thread that has the mounts is the one that goes on
	defer runtime.UnlockOSThread()
	if unix.Unshare(unix.CLONE_NEWNS) == nil && unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") == nil {
		_ = unix.Exec(self, os.Args, append(os.Environ(), withOwnMounts+"=1"))
	}
}

// unmount unmounts what is at a folder. A program that was just killed, and a loop device, let go
// of it a moment later.
func unmount(t *testing.T, at string) {
	t.Helper()
	tick, deadline := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		err := unix.Unmount(at, 0)
		if err == nil {
			return
		}
		if errors.Is(err, unix.EBUSY) {
			select {
			case <-tick.C:
				continue
			case <-deadline:
			}
		}
		t.Errorf("cannot unmount %s: %v; it is held by %s", at, err, strings.Join(holders(at), ", "))
		if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
		return
	}
}

// holders returns the links of processes into a folder, and the loop devices over a file in it.
func holders(at string) []string {
	var found []string
	for _, pattern := range []string{"/proc/[0-9]*/cwd", "/proc/[0-9]*/root", "/proc/[0-9]*/exe", "/proc/[0-9]*/fd/*"} {
		links, _ := filepath.Glob(pattern) // the pattern is right
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && strings.HasPrefix(to, at) {
				found = append(found, link+" → "+to)
			}
		}
	}
	loops, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, loop := range loops {
		if to, err := os.ReadFile(loop); err == nil && strings.HasPrefix(string(to), at) {
			found = append(found, loop+" → "+strings.TrimSpace(string(to)))
		}
	}
	return found
}

// It prevents: a file system that cannot be unmounted, because another process has
// taken a copy of all mounts with it.
func TestMountsAreOurOwn(t *testing.T) {
	needsRoot(t)
	ours, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", os.Getppid()))
	if err != nil {
		t.Skipf("cannot look at the mounts of others: %v", err)
	}
	if ours == theirs {
		t.Error("who started this process sees what it mounts")
	}
}
