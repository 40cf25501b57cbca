package main

import (
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/internal/testkit/scripts"
)

// TestMain lets this test binary play parley, and a stranger.
func TestMain(m *testing.M) {
	scripts.Main(m, root.Play, map[string]func(){"stranger": stranger, "claude": claudeStandIn})
}

// newRun prepares a run of all commands of parley.
func newRun(t *testing.T) *clitest.Run {
	t.Helper()
	return clitest.New(t, root.New)
}
