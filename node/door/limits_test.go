package door

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/keeper"
)

// A command that prints more than it may is ended, whichever output it uses. If it ends by itself
// first, it has printed too much all the same.
func TestPrintedTooMuch(t *testing.T) {
	s := newSwitchboard(t)
	c := s.command("flood", "600")
	c.MaxPrinted = 1000
	if got := runToEnd(t, c); got.Failure != Limited || got.Problem() != "ended: printed more than 1 KB" {
		t.Errorf("%+v: %s", got, got.Problem())
	}
	c.MaxPrinted = 2000
	if got := runToEnd(t, c); got.Failure != None {
		t.Errorf("within its limit: %+v", got)
	}
	c = s.command("flood-on")
	c.MaxPrinted, c.Timeout = 1<<20, time.Minute
	if got := runToEnd(t, c); got.Failure != Limited || got.Elapsed > c.Timeout/2 {
		t.Errorf("without an end: %v after %s", got.Failure, got.Elapsed)
	}
}

// If the system refuses a program more of something, the problem names the limit that the program
// has.
func TestNearLimit(t *testing.T) {
	c := Command{Limits: keeper.Limits{Files: 64, Processes: 5, Memory: 2e9}}
	for words, want := range map[string]string{
		"OSError: [Errno 24] Too many open files: 'x'": "64 open files",
		"sh: 1: Cannot fork":                           "5 processes",
		"MemoryError":                                  "2 GB of memory",
		"no such model":                                "",
	} {
		if got := c.nearLimit("", words); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
	if got := (Command{}).nearLimit("Too many open files"); got != "" {
		t.Errorf("without limits: %q", got)
	}
	r := Result{Failure: ExitStatus, ExitCode: 1, Stderr: "Too many open files", Limit: "64 open files"}
	if got, want := r.Problem(), "the command ended with exit code 1: Too many open files (its limit: 64 open files)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
