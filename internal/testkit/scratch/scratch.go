// Package scratch gives the tests of a package a folder of their own, and sees to it that nothing
// that they start goes on without them. The folder is in memory, if there is enough: on a disk,
// tests would spend half of their time waiting for it. Nothing that they show needs a disk: what a
// power cut leaves is tested on disks that tests make themselves. Only tests use it.
package scratch

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// watched has the name of the tests' folder, in TMPDIR, for the watchman. Not the whole path: the
// watchman ends those who name it.
const watched = "PARLEY_TEST_WATCHED"

// Tests are the tests of a package, as testing.M runs them.
type Tests interface {
	Run() int
}

// InMemory has tests put their temporary folders into one folder, which is in memory unless TMPDIR
// names a place for it or there is too little memory. When the tests are over, however they end,
// the folder is removed. On Linux every process that names the folder in its environment is ended
// then: nodes of a test that ran out of time would go on and load the machine for good.
func InMemory(tests Tests) Tests { return inMemory{tests} }

type inMemory struct{ tests Tests }

// Run runs the tests, and removes what they leave.
func (m inMemory) Run() int {
	place := os.Getenv("TMPDIR")
	if name := os.Getenv(watched); name != "" {
		return watch(filepath.Join(place, name), os.Stdin)
	}
	if place == "" && plenty(folder) {
		place = folder
	}
	dir, err := os.MkdirTemp(place, "t") // short: the path of a socket has at most 108 bytes
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tests have no folder of their own: %v\n", err)
		return m.tests.Run()
	}
	end, err := setWatch(dir)
	if err != nil {
		fmt.Fprintf(os.Stderr, "nobody watches the tests: %v\n", err)
		end = func() { watch(dir, nil) }
	}
	defer end() // also after a panic
	return m.tests.Run()
}

// setWatch starts the watchman: this program again. It holds the reading end of a pipe, which the
// system closes when this process ends, however it ends. The function ends the watch, and returns
// when nothing is left.
func setWatch(dir string) (end func(), err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	// A test may be told to move elsewhere, and the watchman must not.
	watchman := exec.Command(program, "-test.run=^$")
	watchman.Dir = string(filepath.Separator)
	watchman.Env = append(os.Environ(), watched+"="+filepath.Base(dir), "TMPDIR="+filepath.Dir(dir))
	apart(watchman)
	pipe, err := watchman.StdinPipe()
	if err == nil {
		err = watchman.Start()
	}
	if err != nil {
		return nil, err
	}
	return func() {
		_ = pipe.Close()
		if err := watchman.Wait(); err != nil {
			fmt.Fprintf(os.Stderr, "what tests have left in %s is not removed: %v\n", dir, err)
		}
	}, nil
}

// watch waits for the end of the tests. Then it ends what they have started, and removes their
// folder. It returns an exit code.
func watch(dir string, tests io.Reader) int {
	if tests != nil {
		_, _ = io.Copy(io.Discard, tests)
	}
	// What is just being started may not be seen at first, and may write while it ends.
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(20 * time.Millisecond) {
		late := time.Now().After(deadline)
		if left := endThose(dir); (left == 0 || late) && (os.RemoveAll(dir) == nil || late) {
			break
		}
	}
	if _, err := os.Stat(dir); err == nil {
		return 1
	}
	return 0
}

// Clear ends what was started with a folder in its environment, and removes the folder. It is for
// programs of others that leave something running.
func Clear(t testing.TB, dir string) {
	t.Helper()
	if watch(dir, nil) != 0 {
		t.Errorf("%s is not removed", dir)
	}
}

// started is about when the tests began.
var started = time.Now()

// Patience returns how long a test waits for what must happen: nearly as long as its package may
// still take (-timeout). A busy machine is no failure, and what happens in time is not waited for
// that long.
func Patience() time.Duration {
	const unbounded, toTell = time.Hour, 20 * time.Second
	limit := time.Duration(0)
	if timeout := flag.Lookup("test.timeout"); timeout != nil {
		limit, _ = time.ParseDuration(timeout.Value.String())
	}
	if limit <= 0 {
		return unbounded
	}
	return max(limit-time.Since(started)-toTell, toTell)
}

// Long skips a test that takes long, unless PARLEY_LONG_TESTS asks for such tests.
func Long(t testing.TB) {
	t.Helper()
	if !Longer() {
		t.Skip("takes long: set PARLEY_LONG_TESTS=1")
	}
}

// Unraced skips a test while the race detector looks on. What such a test has run at the same time
// runs at the same time in other tests too, and with the detector it takes very long.
func Unraced(t testing.TB) {
	t.Helper()
	if Raced {
		t.Skip("takes very long while the race detector looks on")
	}
}

// Rounds returns how often a test does what must hold each time: more often if tests that take long
// are asked for.
func Rounds(few, many int) int {
	if Longer() {
		return many
	}
	return few
}

// Longer reports whether tests that take long are asked for.
func Longer() bool { return os.Getenv("PARLEY_LONG_TESTS") != "" }
