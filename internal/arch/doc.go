// Package arch keeps parley's architecture true: it reads the source files of a tree, and reports
// every file that climbs over a wall between two rooms.
//
// It parses the files itself, and never asks the go command. The reason is that go test caches the
// result of a test that runs another program, even if files have changed. It reads the files for
// all systems (_unix.go as well as _windows.go), whatever system the test runs on.
//
// Only tests do that. So all of it is in test files but the limits of lines (lines.go). The walls are
// in walls_test.go; docs/explanation/architecture.md explains them.
package arch
