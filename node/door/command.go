package door

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/walls"
)

const (
	defaultTimeout   = 60 * time.Second
	defaultMaxOutput = 256 << 10
	defaultGrace     = 2 * time.Second
	maxStderr        = 4 << 10
)

// Command is what to run and how. Only Argv is needed.
type Command struct {
	// Argv is the program and its arguments. A program without a slash is
	// looked up in the node's PATH; a relative one with a slash counts from Dir.
	Argv []string
	Dir  string   // working directory; "" = the node's
	Env  []string // NAME=value, added to the node's environment
	// Bare has Env be all of the environment.
	Bare  bool
	Stdin []byte // all of standard input; a command need not read it
	// Placeholders has {prompt} and {output} in the words of Argv filled in, as
	// far as CheckPlaceholders allows. With {prompt}, Stdin takes its place and
	// standard input is empty. With {output}, the path of a new private file
	// does, and the answer is read from there; the file is removed.
	Placeholders bool
	// Timeout is how long the command may take; 0 = 60 s.
	Timeout time.Duration
	// MaxOutput is how many bytes of standard output are kept; 0 = 256 KiB.
	MaxOutput int
	// MaxPrinted is how many bytes it may print, on both outputs together, before it is
	// ended; 0 = any number.
	MaxPrinted int
	// Limits are what else it may use. Only with a keeper.
	Limits keeper.Limits
	// Walls are what it does not see of the files of this machine. Only with a keeper, where
	// keeper.CheckWalls says that the system can.
	Walls walls.Walls
	// Scratch is the folder below which the file of its answer is made, which others may
	// pass through; "" = the system's for what may be lost.
	Scratch string
	// Grace is the time between SIGTERM and SIGKILL; 0 = 2 s.
	Grace time.Duration
	// Keepers runs the command beneath one of them, on Linux: the running program has to
	// know how to be a keeper (see package keeper). nil = alone.
	Keepers *keeper.Pool
	// Run is what the command's control group is called after, where there is a keeper
	// and the system allows such groups; "" = none.
	Run string
	// User is as whom it runs; nil = as the node. Only with a keeper.
	User *keeper.User
	// Began is told the process beneath which everything of the command runs. With a
	// keeper it is told before the command begins. nil = nobody is told.
	Began func(pid int)
}

func (c Command) withDefaults() Command {
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.MaxOutput <= 0 {
		c.MaxOutput = defaultMaxOutput
	}
	if c.Grace <= 0 {
		c.Grace = defaultGrace
	}
	if c.Began == nil {
		c.Began = func(int) {}
	}
	return c
}

// Failure is why a command gave no answer.
type Failure int

// The ways in which a command can end.
const (
	None       Failure = iota // it answered
	NotStarted                // there is no such program, or it may not be run
	ExitStatus                // it ended with an exit code that is not 0
	Signal                    // a signal ended it that Run did not send
	TimedOut                  // it took longer than its timeout and was ended
	Empty                     // it ended well and its answer is nothing but space
	Canceled                  // the context ended first, and so was the command
	Limited                   // it used more than it may and was ended
)

// String names the failure in one word, for logs.
func (f Failure) String() string {
	names := [...]string{"none", "not-started", "exit-status", "signal", "timed-out", "empty", "canceled", "limited"}
	if f < 0 || int(f) >= len(names) {
		return fmt.Sprintf("failure(%d)", int(f))
	}
	return names[f]
}

// Result is what came of a command. Output is kept even where it failed.
type Result struct {
	// Output is the answer, standard output or the file in its stead, as it is but
	// for what is no text: valid UTF-8, no line ends at its end, at most MaxOutput
	// bytes.
	Output string
	// Printed is the end of standard output where the answer came from a file, at
	// most 4 KiB of text, of control characters only tabs and newlines.
	Printed string
	// Stderr is the end of standard error, likewise.
	Stderr    string
	Truncated bool // the command printed more than is kept
	Binary    bool // the output held NULs, or bytes that are no text (U+FFFD stands there)
	Failure   Failure
	// Detail says more about some failures: for NotStarted what could not be
	// started and why, for Signal the signal, for TimedOut the time allowed, for
	// Empty what became of the answer's file, for Limited what it used.
	Detail string
	// Limit names the limit of each process that a command which failed seems to have come
	// up against, as far as its last words tell; "" = none.
	Limit    string
	ExitCode int // -1 where the command did not end by itself
	// Left reports that some of what the command has started may live on: somebody has
	// ended its keeper.
	Left    bool
	Elapsed time.Duration
}

// Problem is the failure in one sentence for people, "" where there is none.
func (r Result) Problem() string {
	switch r.Failure {
	case None:
		return ""
	case NotStarted:
		return r.Detail
	case ExitStatus:
		return fmt.Sprintf("the command ended with exit code %d%s%s", r.ExitCode, lastWords(r.Stderr, r.Printed), near(r.Limit))
	case Signal:
		return fmt.Sprintf("the command was ended by a signal (%s)%s%s", r.Detail, lastWords(r.Stderr, r.Printed), near(r.Limit))
	case TimedOut:
		return fmt.Sprintf("no answer within %s: its processes were ended", r.Detail)
	case Empty:
		if r.Detail != "" {
			return "the command " + r.Detail + lastWords(r.Printed, r.Stderr) + near(r.Limit)
		}
		return "the command printed nothing" + lastWords(r.Stderr) + near(r.Limit)
	case Limited:
		return "ended: " + r.Detail
	default:
		return "the command was stopped before it had answered"
	}
}

// lastWords is ": " and the last line of the first of the texts that has one.
func lastWords(texts ...string) string {
	const most = 300
	for _, text := range texts {
		text = strings.TrimSpace(text)
		line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
		if len(line) > most {
			line = cutRunes(line, most) + "…"
		}
		if line != "" {
			return ": " + line
		}
	}
	return ""
}

// cutRunes is the longest beginning of s of at most n bytes that splits no
// character.
func cutRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// seconds writes whole seconds as "60 s", and longer times as people say them.
func seconds(d time.Duration) string {
	if d%time.Second == 0 && d <= time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return span.Text(d)
}
