package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// The exit codes.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitNothing = 3 // it waited, and nothing came
)

// ErrSaid is a failure about which everything has been said already.
var ErrSaid = errors.New("failed")

// UsageErrorf says what is wrong with the command line of `cmd`, and how to get its help.
func UsageErrorf(cmd *cobra.Command, format string, args ...any) error {
	return control.Errorf(control.KindUsage, cmd.CommandPath()+" --help", format, args...)
}

// AtLeast accepts `n` words and more. `needs` says what they are.
func AtLeast(n int, needs string) cobra.PositionalArgs {
	return Between(n, -1, needs)
}

// Exactly accepts `n` words. `needs` says what they are.
func Exactly(n int, needs string) cobra.PositionalArgs { return Between(n, n, needs) }

// Between accepts `least` to `most` words; if `most` is below zero, it accepts any number from
// `least` on. `needs` says what they are.
func Between(least, most int, needs string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return UsageErrorf(cmd, "%s needs %s", cmd.CommandPath(), needs)
		case most >= 0 && len(args) > most && most == 0:
			return UsageErrorf(cmd, "%s takes no words, but %q was given", cmd.CommandPath(), args[0])
		case most >= 0 && len(args) > most:
			return UsageErrorf(cmd, "%s takes only %s, but %q was given too", cmd.CommandPath(), needs, args[most])
		}
		return nil
	}
}

// report shows an error on the error screen, and returns the exit code for it.
func (p *Program) report(err error, args []string) int {
	if err == nil {
		return ExitDone
	}
	if errors.Is(err, ErrSaid) {
		return ExitFailed
	}
	if code := ExitCode(0); errors.As(err, &code) {
		return int(code)
	}
	e := p.Explain(err)
	if p.JSON || askedForJSON(args) {
		_ = writeJSON(p.Err, *e) // if it fails, there is nobody left to tell
	} else {
		said := "parley: " + term.Visible(strings.TrimPrefix(e.Message, "parley: "))
		said = strings.Join(WrapWords(said, p.Err.Width), "\n")
		p.Err.Printf("%s%s\n", p.Err.Bad("parley:"), strings.TrimPrefix(said, "parley:"))
		if e.Hint != "" {
			for _, line := range WrapWords("hint: "+term.Line(e.Hint), p.Err.Width) {
				p.Err.Printf("%s\n", p.Err.Dim(line))
			}
		}
	}
	switch e.Kind {
	case control.KindUsage:
		return ExitUsage
	case control.KindTimeout:
		return ExitNothing
	}
	return ExitFailed
}

// Explain returns the error with a hint that fits this home.
func (p *Program) Explain(err error) *control.Error {
	e := *control.AsError(err)
	if home, err := p.HomeDir(); err == nil && NoNodeRuns(&e) {
		if !Configured(home) {
			e = *NotConfigured(home, "cannot find a node: ")
		} else if copied := CopiedHome(home, "no node runs here"); copied != nil {
			e.Message, e.Hint = copied.Message, copied.Hint
		}
	}
	if !strings.HasSuffix(e.Hint, "--help") {
		e.Hint = p.command(e.Hint)
	}
	return &e
}

// askedForJSON looks for --json in a command line that could not be read.
func askedForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// ExitCode is the exit code of a program that parley ran in its own place.
type ExitCode int

// Error names the code. Nobody is shown it.
func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
