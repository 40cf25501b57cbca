package main

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
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitNothing = 3 // waited and nothing came
)

// errSaid is a failure of which all is said already.
var errSaid = errors.New("failed")

// usageErrorf says what is wrong with the command line of cmd and where its
// help is.
func usageErrorf(cmd *cobra.Command, format string, args ...any) error {
	return control.Errorf(control.KindUsage, cmd.CommandPath()+" --help", format, args...)
}

// atLeast accepts n words and more; needs says what they are.
func atLeast(n int, needs string) cobra.PositionalArgs {
	return between(n, -1, needs)
}

// exactly accepts n words; needs says what they are.
func exactly(n int, needs string) cobra.PositionalArgs { return between(n, n, needs) }

func between(least, most int, needs string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usageErrorf(cmd, "%s needs %s", cmd.CommandPath(), needs)
		case most >= 0 && len(args) > most && most == 0:
			return usageErrorf(cmd, "%s takes no words, but %q was given", cmd.CommandPath(), args[0])
		case most >= 0 && len(args) > most:
			return usageErrorf(cmd, "%s takes only %s, but %q was given too", cmd.CommandPath(), needs, args[most])
		}
		return nil
	}
}

// report shows err on the error screen and returns the exit code for it.
func (p *program) report(err error, args []string) int {
	if err == nil {
		return exitDone
	}
	if errors.Is(err, errSaid) {
		return exitFailed
	}
	if code := exitCode(0); errors.As(err, &code) {
		return int(code)
	}
	e := p.explain(err)
	if p.json || askedForJSON(args) {
		_ = writeJSON(p.err, *e) // nobody is left to tell if it fails
	} else {
		said := "parley: " + term.Visible(strings.TrimPrefix(e.Message, "parley: "))
		p.err.Printf("%s\n", strings.Join(wrapWords(said, p.err.Width), "\n"))
		if e.Hint != "" {
			for _, line := range wrapWords("hint: "+term.Line(e.Hint), p.err.Width) {
				p.err.Printf("%s\n", p.err.Dim(line))
			}
		}
	}
	switch e.Kind {
	case control.KindUsage:
		return exitUsage
	case control.KindTimeout:
		return exitNothing
	}
	return exitFailed
}

// explain is err with a hint that fits this home.
func (p *program) explain(err error) *control.Error {
	e := *control.AsError(err)
	if home, err := p.homeDir(); err == nil && noNodeRuns(&e) {
		if !configured(home) {
			e = *errNotConfigured(home, "cannot find a node: ")
		} else if copied := copiedHome(home, "no node runs here"); copied != nil {
			e.Message, e.Hint = copied.Message, copied.Hint
		}
	}
	if !strings.HasSuffix(e.Hint, "--help") {
		e.Hint = p.command(e.Hint)
	}
	return &e
}

// askedForJSON looks for --json where the command line could not be read.
func askedForJSON(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--json")
}

// exitCode is the exit code of a program that parley ran in its own place.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
