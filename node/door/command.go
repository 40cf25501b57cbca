package door

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/walls"
)

const (
	defaultTimeout   = 60 * time.Second
	defaultMaxOutput = 256 << 10
	defaultGrace     = 2 * time.Second
	maxStderr        = 4 << 10
	// maxSecret is how much more is looked at, so that the cut does not hide the beginning of a
	// secret.
	maxSecret = 4 << 10
)

// Command is what to run and how. Only Argv is needed.
type Command struct {
	// Argv is the program and its arguments. A program without a slash is looked up in the node's
	// PATH. A relative one with a slash is relative to Dir.
	Argv []string
	Dir  string   // working directory; "" = the node's
	Env  []string // NAME=value, added to the node's environment, from which the variables of sessions are taken
	// Bare says that Env is the whole environment.
	Bare  bool
	Stdin []byte // all of standard input; a command need not read it
	// Placeholders says that {prompt} and {output} in the words of Argv are filled in, as far as
	// CheckPlaceholders allows it. {prompt} becomes Stdin, and then standard input is empty.
	// {output} becomes the path of a new private file from which the answer is read. The file is
	// removed after that.
	Placeholders bool
	// Timeout is how long the command may take; 0 = 60 s.
	Timeout time.Duration
	// MaxOutput is how many bytes of standard output are kept; 0 = 256 KiB.
	MaxOutput int
	// MaxPrinted is how many bytes it may print, on both outputs together, before it is ended; 0 =
	// no limit.
	MaxPrinted int
	// Limits are what else it may use. They need a keeper.
	Limits keeper.Limits
	// Walls are the files of this machine that it does not see. They need a keeper, and a system
	// for which keeper.CheckWalls returns no error.
	Walls walls.Walls
	// Scratch is the folder below which the file of its answer is made. Others may pass through it.
	// "" = the system's folder for temporary files.
	Scratch string
	// Grace is the time between SIGTERM and SIGKILL; 0 = 2 s.
	Grace time.Duration
	// Keepers has the command run beneath a keeper, on Linux. The running program must be able to
	// become a keeper (see package keeper). nil = without one.
	Keepers *keeper.Pool
	// Run is the name of the command's control group, if there is a keeper and the system allows
	// such groups; "" = none.
	Run string
	// User is the user as whom it runs; nil = the node's. It needs a keeper.
	User *keeper.User
	// Began is called with the process beneath which everything of the command runs. With a keeper,
	// it is called before the command begins. nil = nobody is told.
	Began func(pid int)
	// Short is called with the reason why the command cannot be started yet, because the system is
	// short of something, and with nil when that is over. nil = nobody is told.
	Short func(why error)
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

// Failure says why a command gave no answer.
type Failure int

// The ways in which a command can end.
const (
	None       Failure = iota // it answered
	NotStarted                // there is no such program, or it may not be run
	ExitStatus                // it ended with an exit code that is not 0
	Signal                    // a signal ended it that Run did not send
	TimedOut                  // it took longer than its timeout and was ended
	Empty                     // it ended without an error, and its answer is only white space
	Canceled                  // the context ended first, so the command was ended
	Limited                   // it used more than it may and was ended
)

var failures = [...]string{"none", "not-started", "exit-status", "signal", "timed-out", "empty", "canceled", "limited"}

// Failures are the names of the ways in which a command can end without an answer.
func Failures() []string { return slices.Clone(failures[1:]) }

// String names the failure in one word, for logs.
func (f Failure) String() string {
	if f < 0 || int(f) >= len(failures) {
		return fmt.Sprintf("failure(%d)", int(f))
	}
	return failures[f]
}

// Result is what came of a command. Output is kept even if the command failed. No text in it has
// secrets of parley that the command printed, such as its token: texts go into the record.
type Result struct {
	// Output is the answer, from standard output or from the file in its place. It is unchanged,
	// except for what is no text: it is valid UTF-8, has no line ends at its end, and at most
	// MaxOutput bytes.
	Output string
	// Printed is the end of standard output if the answer came from a file: at most 4 KiB of text,
	// whose only control characters are tabs and newlines.
	Printed string
	// Stderr is the end of standard error, in the same form.
	Stderr    string
	Truncated bool // the command printed more than is kept
	Strange   int  // how many bytes of the output are no text, so that U+FFFD stands for them
	Failure   Failure
	// Detail says more about some failures. For NotStarted, it is what could not be started and
	// why; for Signal, the signal; for TimedOut, the time allowed; for Empty, what is wrong with
	// the answer's file; for Limited, what the command used.
	Detail string
	// Limit names a limit of single processes that a failed command seems to have reached, as far
	// as its last words show it; "" = none.
	Limit    string
	ExitCode int // -1 if the command did not end by itself
	// Left reports that some processes of the command may still live: somebody has ended its
	// keeper.
	Left    bool
	Elapsed time.Duration
	// Secrets is how many secrets were masked in what is shown of it: tokens and private keys of
	// known forms.
	Secrets int
}

// Problem is the failure in one sentence for people; "" if there is none.
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

// lastWords is ": " and the last line of the first text that has one.
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

// cutRunes is the longest beginning of valid text that has at most `n` bytes and splits no character.
func cutRunes(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

// seconds writes whole seconds as "60 s", and longer times in the form for people.
func seconds(d time.Duration) string {
	if d%time.Second == 0 && d <= time.Minute {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return span.Text(d)
}
