package node

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// sendVar has the test binary send messages to a node instead of running tests, see sendAsked.
const sendVar = "PARLEY_NODE_TEST_SEND"

// TestMain lets this test binary be programs that send. Most of the time nodes wait for each other,
// for git and for the clock. So four times as many tests run at a time as there are processors, unless
// -parallel says otherwise, or the race detector keeps the processors busy. Memory is collected less
// often, up to a gigabyte of it: a quarter of what the nodes computed was that.
func TestMain(m *testing.M) {
	if asked := os.Getenv(sendVar); asked != "" {
		if err := sendAsked(asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// Nodes are started by the hundred, and git is asked once at each start how it runs ssh.
	if err := os.Setenv("GIT_SSH_COMMAND", "ssh"); err != nil {
		panic(err)
	}
	if !scratch.Raced {
		debug.SetMemoryLimit(1 << 30)
		debug.SetGCPercent(400)
		if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(scratch.InMemory(m).Run())
}
