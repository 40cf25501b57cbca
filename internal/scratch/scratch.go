// Package scratch has tests write into memory, where there is plenty: they would wait for a
// disk half of their time. Nothing that they show needs it: what a power cut leaves is looked
// at on disks that tests make themselves. Only tests use it.
package scratch

import (
	"fmt"
	"os"
)

// Tests are those of a package, as testing.M runs them.
type Tests interface {
	Run() int
}

// InMemory is tests whose temporary folders are in memory, unless TMPDIR names a place for
// them, or there is too little memory.
func InMemory(tests Tests) Tests { return inMemory{tests} }

type inMemory struct{ tests Tests }

// Run runs the tests and removes what they leave.
func (m inMemory) Run() int {
	if os.Getenv("TMPDIR") != "" || !plenty(folder) {
		return m.tests.Run()
	}
	dir, err := os.MkdirTemp(folder, "t") // short: a socket's path has 108 bytes at most
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
