package node

import (
	"os"
	"testing"

	"github.com/parleyfleet/parley/internal/keeper"
)

// TestMain lets this test binary be the keeper of agents' commands.
func TestMain(m *testing.M) {
	if keeper.Asked(os.Args) {
		os.Exit(keeper.Main())
	}
	os.Exit(m.Run())
}
