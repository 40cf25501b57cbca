package root

import (
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/clitest"
)

// newRun prepares a run of all commands of parley.
func newRun(t *testing.T) *clitest.Run {
	t.Helper()
	return clitest.New(t, New)
}
