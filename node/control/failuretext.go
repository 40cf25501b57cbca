package control

import "fmt"

// FailureText is how a run failed, in a few words. `failure` is the word in RunChange, TraceStep
// and the log of runs. `exit` is the exit code of the command, if it has one. A word of a later
// version is returned as it is.
func FailureText(failure string, exit int) string {
	switch failure {
	case "exit-status":
		return fmt.Sprintf("exit code %d", exit)
	case "not-started":
		return "not started"
	case "signal":
		return "ended by a signal"
	case "timed-out":
		return "no answer in time"
	case "empty":
		return "printed nothing"
	case "canceled":
		return "stopped before it had answered"
	case "limited":
		return "used more than it may"
	}
	return failure
}
