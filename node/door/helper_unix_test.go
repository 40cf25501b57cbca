//go:build linux || darwin

package door

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/internal/keeper"
)

// keptVar has a node keep its command. The command plays the role that keptVar names.
const keptVar = "PARLEY_DOOR_TEST_KEPT"

// runVar names the run after which the control group of a node's command is called.
const runVar = "PARLEY_DOOR_TEST_RUN"

// The runs of a stopped-node.
const (
	stoppedRuns    = 6
	stoppedTimeout = 3 * time.Second
)

// playUnix plays the roles that need a Unix system.
func playUnix(role string) (code int, ok bool) {
	switch role {
	case "die": // ends by a signal
		signal.Reset()
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "runaway-parent": // leaves a child behind that is in another session
		fmt.Println("hi")
		return leave("runaway", os.Stdout), true
	case "runaway": // holds the outputs of its parent
		phone(role)
		fmt.Fprintln(os.Stderr, "up")
		select {}
	case "node": // runs a command as a node does
		c := Command{Argv: []string{os.Args[0]}, Env: []string{roleVar + "=" + cmp.Or(os.Getenv(keptVar), "hold")}, Run: os.Getenv(runVar)}
		if os.Getenv(keptVar) != "" {
			c.Keepers, c.Grace = &keeper.Pool{}, time.Minute
		}
		Run(context.Background(), c)
	case "stopped-node": // runs commands, and says what came of them
		results := make(chan Result)
		for range stoppedRuns {
			go func() {
				results <- Run(context.Background(), Command{Argv: []string{os.Args[0]}, Env: []string{roleVar + "=obey"}, Timeout: stoppedTimeout})
			}()
		}
		for range stoppedRuns {
			r := <-results
			fmt.Printf("%v %q\n", r.Failure, r.Output)
		}
	case "parentage": // tells its session and group
		sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, 0, 0, 0)
		fmt.Println(int(sid) == os.Getpid(), syscall.Getpgrp() == os.Getpid(), strings.Join(os.Args[1:], " "))
	default:
		return 0, false
	}
	return 0, true
}

// inOwnSession starts a runaway in a session of its own.
func inOwnSession(cmd *exec.Cmd, role string) {
	if role == "runaway" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	}
}
