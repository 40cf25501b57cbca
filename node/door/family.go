package door

import (
	"os"
	"os/exec"
)

// family is a started command with the processes that it has started, as far as the system lets us
// hold them together. terminate asks them to end, and kill ends them. Both ignore failures, because
// a failure means that no process is left.
type family interface {
	terminate()
	kill()
	// waitLeader blocks until the command itself has ended.
	waitLeader()
	// release waits for the command, after kill, and releases what is held of it.
	release() ending
}

// ending is how a command ended.
type ending struct {
	exitCode int    // -1 if it did not end by itself
	signal   string // the signal that ended it; "" for none
	limit    string // the limit that ended it; "" if none is known
	left     bool   // some processes that it has started may still live, and nobody knows which
}

// ofState is the ending that the system reports for a process.
func ofState(state *os.ProcessState) ending {
	return ending{exitCode: state.ExitCode(), signal: endedBy(state)}
}

// startAlone starts a command as a child of this process.
func startAlone(cmd *exec.Cmd, began func(pid int)) (family, error) {
	prepare(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	began(cmd.Process.Pid)
	return adopt(cmd), nil
}
