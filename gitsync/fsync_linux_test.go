package gitsync

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// faultyHome makes a home in a file system that fails when told. One message is recorded in it.
func faultyHome(t *testing.T) (*faultFS, *home) {
	t.Helper()
	f, at := mountFaults(t)
	h := &home{log: &safeBuffer{}, opts: newHome(t, "a", "").opts}
	h.opts.Dir = filepath.Join(at, "a")
	h.opts.Log = h.opts.Log.Output(h.log)
	if _, err := Init(t.Context(), h.opts, rootFiles); err != nil {
		t.Fatal(err)
	}
	h.open(t)
	t.Cleanup(func() { h.close(t) })
	h.run(t)
	t.Cleanup(func() { f.failing(nil) })
	h.append(t, testMessage(1, 0))
	eventually(t, "the first message is recorded", func() bool { return h.Status().Unrecorded == 0 })
	return f, h
}

// tryMessages appends some messages. It returns those that were acknowledged, and the last error.
func tryMessages(t *testing.T, h *home, from, to int) (stored []MessageFile, failed error) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := h.Append(t.Context(), []MessageFile{testMessage(1, n)}); err != nil {
			failed = err
			continue
		}
		stored = append(stored, testMessage(1, n))
	}
	return stored, failed
}

// wantOnDisk opens a copy of what the file system has on its disk, as after a crash. It wants each
// of these messages in it once.
func wantOnDisk(t *testing.T, f *faultFS, h *home, stored []MessageFile) {
	t.Helper()
	c := &home{opts: h.opts, log: &safeBuffer{}}
	c.opts.Dir = filepath.Join(t.TempDir(), "a")
	c.opts.Log = h.opts.Log.Output(c.log)
	f.copyTo(t, "a", c.opts.Dir)
	c.open(t)
	defer c.close(t)
	c.sync(t)
	have := map[string]int{}
	for _, p := range messages(t, c.repo(), "main") {
		have[p]++
	}
	for _, l := range stored {
		if have[l.Path.String()] != 1 {
			t.Errorf("%s was acknowledged and is there %d times\n%s", l.Path, have[l.Path.String()], c.log)
		}
		if data, err := c.Get(l.Path); err != nil || string(data) != string(l.Data) {
			t.Errorf("%s reads %q, %v", l.Path, data, err)
		}
	}
	wantClean(t, c.repo())
}

// TestFailedFsync lets an fsync fail in each place, and lose what it was to keep. It prevents: a
// message that is acknowledged because a second fsync of the same file said that all is well, and a
// node that needs a person to go on.
func TestFailedFsync(t *testing.T) {
	for name, where := range map[string]func(string) bool{
		"a segment of the journal":   within("a/journal/*"),
		"all of the journal":         within("a/journal*"),
		"a file of a pack":           within("a/record.git/objects/pack/*"),
		"the folder of packs":        within("a/record.git/objects/pack"),
		"the lock of main":           within("a/record.git/refs/heads/main.lock"),
		"the folder of main":         within("a/record.git/refs/heads"),
		"the note where main goes":   within("a/record.git/tmp_parley_*", "a/record.git/parley-tip"),
		"record.git":                 within("a/record.git"),
		"everything":                 within("a*"),
		"every second file or so":    every(2),
		"every third file or folder": every(3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, h := faultyHome(t)
			stored := []MessageFile{testMessage(1, 0)}
			f.failing(func(op, path string) syscall.Errno {
				if op == opSync && where(path) {
					return syscall.EIO
				}
				return 0
			})
			some, failed := tryMessages(t, h, 1, 8)
			stored = append(stored, some...)
			eventually(t, "an fsync fails", func() bool { return f.count() > 0 })
			if failed != nil && !strings.Contains(failed.Error(), "input/output error") {
				t.Errorf("it does not say what failed: %v", failed)
			}
			wantOnDisk(t, f, h, stored)
			f.failing(nil)
			some, failed = tryMessages(t, h, 10, 14)
			if failed != nil {
				t.Errorf("after the disk is well again: %v", failed)
			}
			stored = append(stored, some...)
			eventually(t, "all is recorded", func() bool { return h.Status().Unrecorded == 0 })
			wantOnDisk(t, f, h, stored)
			wantRefused(t, h, 1, 8, stored)
		})
	}
}

// every returns a function that picks some files and folders by their names.
func every(n int) func(string) bool {
	return func(path string) bool {
		sum := 0
		for _, c := range path {
			sum += int(c)
		}
		return sum%n == 0
	}
}

// wantRefused wants messages that were not acknowledged to be nowhere. Their senders were told that
// they were not stored.
func wantRefused(t *testing.T, h *home, from, to int, stored []MessageFile) {
	t.Helper()
	known := map[string]bool{}
	for _, l := range stored {
		known[l.Path.String()] = true
	}
	for n := from; n < to; n++ {
		if p := testPath(1, n); !known[p.String()] && h.Place(p) != Absent {
			t.Errorf("%s was refused and is there", p)
		}
	}
}

// TestDiskThatTakesNothing fills the disk, or lets the system mount it read-only, while a node runs
// on it. It prevents: a node that loses messages, takes some that it cannot keep, cannot read any
// more, or does not go on by itself.
func TestDiskThatTakesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		errno syscall.Errno
		ops   string
		says  string
	}{
		"full":      {syscall.ENOSPC, opWrite + opMake, "no space left on device"},
		"nearly":    {syscall.ENOSPC, opWrite, "no space left on device"},
		"turning":   {syscall.EROFS, opWrite + opRemove, "read-only file system"},
		"read-only": {syscall.EROFS, opWrite + opMake + opRemove + opSync, "read-only file system"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, h := faultyHome(t)
			stored, _ := tryMessages(t, h, 1, 4)
			stored = append(stored, testMessage(1, 0))
			f.failing(func(op, _ string) syscall.Errno {
				if strings.Contains(c.ops, op) {
					return c.errno
				}
				return 0
			})
			some, failed := tryMessages(t, h, 4, 12)
			if len(some) > 0 || failed == nil || !strings.Contains(failed.Error(), c.says) {
				t.Errorf("%d messages were taken; the last error: %v", len(some), failed)
			}
			for _, l := range stored {
				if data, err := h.Get(l.Path); err != nil || string(data) != string(l.Data) {
					t.Errorf("%s reads %q, %v", l.Path, data, err)
				}
			}
			eventually(t, "a commit fails or there is none to make", func() bool {
				return h.Status().Unrecorded == 0 || strings.Contains(h.log.String(), "stay in the journal")
			})
			f.failing(nil)
			some, failed = tryMessages(t, h, 20, 24)
			if failed != nil {
				t.Errorf("after there is room again: %v", failed)
			}
			stored = append(stored, some...)
			eventually(t, "all is recorded", func() bool { return h.Status().Unrecorded == 0 })
			left := slices.DeleteFunc(leftovers(t, h.repo()), func(name string) bool {
				base, isKeep := strings.CutSuffix(name, ".keep")
				_, err := os.Stat(filepath.Join(h.repo(), base+".pack"))
				return isKeep && err == nil // the rolling pack has one
			})
			if len(left) > 0 && !strings.Contains(c.ops, opRemove) { // a start removes what could not be removed
				t.Errorf("left behind: %q", left)
			}
			wantOnDisk(t, f, h, stored)
		})
	}
}
