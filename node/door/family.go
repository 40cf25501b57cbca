package door

import (
	"os"
	"os/exec"
)

// family is a started command and what it has started, as far as the system lets us hold it
// together. terminate asks it to end, and kill ends it. Both pass over failures, because a
// failure says that nobody is left.
type family interface {
	terminate()
	kill()
	// waitLeader blocks until the command itself has ended.
	waitLeader()
	// release waits for the command, after kill, and gives up what is held of it.
	release() ending
}

// ending is how a command ended.
type ending struct {
	exitCode int    // -1 where it did not end by itself
	signal   string // the signal that ended it, "" for none
	limit    string // the limit that ended it, "" for none that is known of
	left     bool   // some of what it has started may live on, and nobody knows what
}

// ofState is the ending that the system tells of a process.
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
