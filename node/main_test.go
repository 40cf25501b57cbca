package node

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"

	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/scratch"
)

// TestMain lets this test binary be the keeper of agents' commands. Nodes wait for each other,
// for git and for the clock most of the time: so twice as many tests run at a time as there
// are processors, unless -parallel says otherwise, or the race detector keeps the processors busy.
func TestMain(m *testing.M) {
	if keeper.Asked(os.Args) {
		os.Exit(keeper.Main())
	}
	if !raced {
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	os.Exit(scratch.InMemory(m).Run())
}
