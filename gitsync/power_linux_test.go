package gitsync

import (
	"bufio"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// powerRig is a disk that can be copied at one moment, as it is when the power goes. It is an ext4
// image in a btrfs that lies in memory. What the system has not brought to the disk yet is not in
// the copy.
type powerRig struct {
	pool string // where the images are
	data string // where the disk is mounted
}

func newPowerRig(t *testing.T) *powerRig {
	t.Helper()
	needsRoot(t)
	for _, program := range []string{"mkfs.btrfs", "mkfs.ext4", "mount"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s (the packages btrfs-progs and e2fsprogs)", program)
		}
	}
	memory := t.TempDir()
	if err := unix.Mount("parley-power", memory, "tmpfs", 0, ""); err != nil {
		t.Skipf("cannot mount a file system in memory: %v", err)
	}
	t.Cleanup(func() { unmount(t, memory) })
	r := &powerRig{pool: filepath.Join(memory, "pool"), data: filepath.Join(memory, "data")}
	image(t, filepath.Join(memory, "pool.img"), 3<<30, "mkfs.btrfs", "-q")
	mountImage(t, filepath.Join(memory, "pool.img"), r.pool)
	image(t, r.disk(), 512<<20, "mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0")
	mountImage(t, r.disk(), r.data)
	return r
}

func (r *powerRig) disk() string { return filepath.Join(r.pool, "disk.img") }

func image(t *testing.T, path string, size int64, mkfs ...string) {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	run(t, append(mkfs, path)...)
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// mountImage mounts an image until the test ends or `end` is called.
func mountImage(t *testing.T, path, at string) (end func()) {
	t.Helper()
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "loop", path, at).CombinedOutput(); err != nil {
		t.Skipf("cannot mount an image here: %v: %s", err, out)
	}
	end = sync.OnceFunc(func() { unmount(t, at) })
	t.Cleanup(end)
	return end
}

// cut copies the disk as it is at this moment.
func (r *powerRig) cut(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open(r.disk())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }()
	copied, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = copied.Close() }()
	if err := unix.IoctlFileClone(int(copied.Fd()), int(from.Fd())); err != nil {
		t.Fatal(err)
	}
}

// TestPowerCut cuts the power of a node at random moments. It prevents: an answer "stored" for a
// message that the disk does not hold, and a home that does not start again.
func TestPowerCut(t *testing.T) {
	for _, c := range []struct{ name, remote string }{{"alone", ""}, {"shared", bareRemote(t)}} {
		t.Run(c.name, func(t *testing.T) {
			r := newPowerRig(t)
			k := crashed{dir: filepath.Join(r.data, "a"), remote: c.remote}
			if _, err := Init(t.Context(), crashOptions(k.dir, c.remote), rootFiles); err != nil {
				t.Fatal(err)
			}
			for range kills(t, 6) / 2 {
				r.round(t, &k)
			}
			k.check(t)
		})
	}
}

// round cuts the power while a node works, kills the node, and looks at what is left.
func (r *powerRig) round(t *testing.T, k *crashed) {
	t.Helper()
	cmd, out := startChild(t, k.environ()...)
	var mu sync.Mutex // guards k.acknowledged
	first, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with the process
		defer close(ended)
		once := sync.OnceFunc(func() { close(first) })
		for lines := bufio.NewScanner(out); lines.Scan(); {
			mu.Lock()
			k.acknowledged = append(k.acknowledged, strings.TrimSpace(lines.Text()))
			mu.Unlock()
			once()
		}
	}()
	<-first
	<-time.After(rand.N(700 * time.Millisecond)) // a random moment, no synchronisation
	mu.Lock()
	said := slices.Clone(k.acknowledged)
	mu.Unlock()
	snap := filepath.Join(r.pool, "snap.img")
	r.cut(t, snap)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-ended
	_ = cmd.Wait() // it was killed
	end := mountImage(t, snap, filepath.Join(r.pool, "snap"))
	left := crashed{dir: filepath.Join(r.pool, "snap", "a"), remote: k.remote, acknowledged: said}
	left.check(t)
	end()
	if err := os.Remove(snap); err != nil {
		t.Fatal(err)
	}
}
