package node

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// sendVar has the test binary send messages to a node instead of running tests, see sendAsked.
const sendVar = "PARLEY_NODE_TEST_SEND"

// TestMain lets this test binary be programs that send. Most of the time nodes wait for each other,
// for git and for the clock. So twice as many tests run at a time as there are processors, unless
// -parallel says otherwise, or the race detector keeps the processors busy.
func TestMain(m *testing.M) {
	if asked := os.Getenv(sendVar); asked != "" {
		if err := sendAsked(asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if !scratch.Raced {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(scratch.InMemory(m).Run())
}
