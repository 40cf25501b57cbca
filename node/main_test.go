package node

import (
	"fmt"
	"os"
	"testing"

	"github.com/parleyfleet/parley/internal/keeper"
)

// sendVar has the test binary send messages to a node in place of running tests, see
// sendAsked.
const sendVar = "PARLEY_NODE_TEST_SEND"

// TestMain lets this test binary be the keeper of agents' commands, and programs that send.
func TestMain(m *testing.M) {
	if keeper.Asked(os.Args) {
		os.Exit(keeper.Main())
	}
	if asked := os.Getenv(sendVar); asked != "" {
		if err := sendAsked(asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
