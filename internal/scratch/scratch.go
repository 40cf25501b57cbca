// Package scratch lets tests write into memory, if there is enough: on a disk, they would spend
// half of their time waiting for it. Nothing that they show needs a disk: what a power cut leaves
// is tested on disks that tests make themselves. Only tests use it.
package scratch

import (
	"fmt"
	"os"
)

// Tests are the tests of a package, as testing.M runs them.
type Tests interface {
	Run() int
}

// InMemory makes tests put their temporary folders into memory, unless TMPDIR names a place for
// them, or there is too little memory.
func InMemory(tests Tests) Tests { return inMemory{tests} }

type inMemory struct{ tests Tests }

// Run runs the tests, and removes what they leave.
func (m inMemory) Run() int {
	if os.Getenv("TMPDIR") != "" || !plenty(folder) {
		return m.tests.Run()
	}
	dir, err := os.MkdirTemp(folder, "t") // short: the path of a socket has at most 108 bytes
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "tests write to the disk: %v\n", err)
		return m.tests.Run()
	}
	code := m.tests.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintf(os.Stderr, "cannot remove what tests have left: %v\n", err)
	}
	return code
}
