package control

import (
	"cmp"
	"errors"
	"fmt"
)

// Kind is the sort of failure of an Error, for callers that decide by it.
type Kind string

// The kinds of failure.
const (
	KindUsage       Kind = "usage"       // the request makes no sense as it stands
	KindNotFound    Kind = "not-found"   // what it names does not exist
	KindRefused     Kind = "refused"     // a rule forbids it
	KindSecret      Kind = "secret"      // what was said looks like a secret
	KindConflict    Kind = "conflict"    // it exists already, or somebody else holds it
	KindUnavailable Kind = "unavailable" // no node is running, or it is draining
	KindTimeout     Kind = "timeout"     // nothing came in time
	KindOldNode     Kind = "old-node"    // the running node is older than its client
	KindFailed      Kind = "failed"      // anything else
)

// Error is a failure for people: what could not be done and why, and what to try.
type Error struct {
	Message string `json:"error"` // what could not be done, and why
	Kind    Kind   `json:"kind"`  // a stable word by which programs can decide
	Hint    string `json:"hint"`  // what to try; "" if there is nothing to try
}

// Error returns the message without the hint.
func (e *Error) Error() string { return e.Message }

// Errorf makes an Error of a kind with a hint. An empty hint is none.
func Errorf(kind Kind, hint, format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), Kind: kind, Hint: hint}
}

// AsError is `err` as an Error. If it is none, the result has KindFailed and its text.
func AsError(err error) *Error {
	if e, is := errors.AsType[*Error](err); is {
		return e
	}
	return &Error{Message: err.Error(), Kind: KindFailed}
}

// FailureText is how a run failed, in a few words. `failure` is the word in RunChange, TraceStep
// and the log of runs. `exit` is the exit code of the command, if it has one. A word of a later
// version is returned as it is.
func FailureText(failure string, exit int) string {
	if failure == "exit-status" {
		return fmt.Sprintf("exit code %d", exit)
	}
	return cmp.Or(map[string]string{
		"not-started": "not started", "signal": "ended by a signal", "timed-out": "no answer in time", "empty": "printed nothing",
		"canceled": "stopped before it had answered", "limited": "used more than it may",
	}[failure], failure)
}
