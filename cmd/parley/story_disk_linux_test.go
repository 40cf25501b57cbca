package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"golang.org/x/sys/unix"
)

// smallDisk returns a file system of its own with room for so many megabytes. Only root can make one.
func smallDisk(t *testing.T, megabytes int) string {
	t.Helper()
	if os.Getenv("PARLEY_ROOT_TESTS") == "" || os.Getuid() != 0 {
		t.Skip("needs root, to mount a file system: set PARLEY_ROOT_TESTS=1")
	}
	dir := t.TempDir()
	if err := unix.Mount("parley-test", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", megabytes)); err != nil {
		t.Skipf("cannot mount a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes a file until there is no room left.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
}

// A node's disk is full for a while. It prevents: messages that are taken and not kept; a node that
// cannot be asked any more, or needs a restart; half of a commit, or of a push by hand, that stays
// behind.
func TestDiskFullAndFreed(t *testing.T) {
	disk := smallDisk(t, 12)
	home := configs.Home{Dir: filepath.Join(disk, "home")}
	h := &storyHost{t: t, home: home, client: control.NewClient(home.Socket(), cli.Version)}
	h.must("init", "--alias", "small", "--human", "nat")
	t.Cleanup(h.kill)
	h.start()
	h.must("agent", "add", "blob", "--inbox")
	letters := newSaid()
	hey := func(text string) error {
		out, err := h.try("hey", "--as", "nat", "blob", text)
		if err == nil {
			letters.addLine(t, out, text)
		}
		return err
	}
	if err := hey("before"); err != nil {
		t.Fatal(err)
	}
	h.until("it is recorded", func() bool { return h.status().Record.Unrecorded == 0 })

	ballast := filepath.Join(disk, "ballast")
	fill(t, ballast)
	var refused error
	for n := 0; refused == nil && n < 400; n++ { // a file that is begun may still have a little room
		refused = hey("full " + strings.Repeat("x", 100*n))
		fill(t, filepath.Join(disk, "ballast2"))
	}
	if refused == nil || !strings.Contains(refused.Error(), "no space left on device") || !strings.Contains(refused.Error(), "hint: free space") {
		t.Errorf("on a full disk: %v", refused)
	}
	if !strings.Contains(h.must("inbox", "--as", "blob"), "before") {
		t.Error("the inbox of a node on a full disk is not shown")
	}
	h.must("log")
	for _, word := range []string{"running since", "trouble: new messages are refused: cannot ", "free space on the disk that holds the home"} {
		if out := h.must("status"); !strings.Contains(out, word) {
			t.Errorf("status says not %q but %s", word, out)
		}
	}
	record := home.Record()
	byHand := exec.CommandContext(t.Context(), "git", "-C", record, "hash-object", "-w", "--stdin")
	byHand.Stdin = strings.NewReader(strings.Repeat("a text that the disk has no room for\n", 10000))
	if err := byHand.Run(); err == nil {
		t.Error("git wrote an object on a full disk")
	}

	for _, name := range []string{ballast, filepath.Join(disk, "ballast2")} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	h.until("status knows of the room although nobody has tried", func() bool { return !strings.Contains(h.must("status"), "refused") })
	if err := hey("after"); err != nil {
		t.Errorf("once there is room again: %v", err)
	}
	h.until("all is recorded", func() bool {
		s := h.status().Record
		return s.Unrecorded == 0 && s.CommitError == ""
	})
	for _, pattern := range []string{"tmp_*", "objects/*/tmp_parley_*", "refs/heads/*.lock"} {
		if left, err := filepath.Glob(filepath.Join(record, pattern)); err != nil || len(left) > 0 {
			t.Errorf("left behind: %q, %v", left, err)
		}
	}
	h.until("the search finds all again", func() bool {
		out, err := h.try("search", "before")
		return err == nil && strings.Contains(out, "before")
	})
	letters.check(t, h, "")
	gitOut(t, record, "fsck", "--strict", "--no-dangling")
}
