package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// Program is one run of parley: its surroundings, which tests replace, and the flags that all
// commands share.
type Program struct {
	Stdin  io.Reader
	Out    term.Screen
	Err    term.Screen
	Getenv func(string) string
	Zone   *time.Location
	Now    func() time.Time
	// Connect makes the client of the node with this control socket.
	Connect func(socket string) control.Service
	// Terminal opens the terminal from which the command was started.
	Terminal func() (io.ReadWriteCloser, error)
	// PassphraseWork is how much work a try at a passphrase that is set in this run takes, as the
	// power of 2 that scrypt uses; 0: about a second. Tests do not have a second for each try.
	PassphraseWork int
	// Unwatched has what agent programs start count as their user's own in nodes of this run, as in
	// tests and demos that such a program has started. PARLEY_UNWATCHED sets it.
	Unwatched bool

	home     string // --home
	JSON     bool   // --json, in the commands that have it
	mask     bool   // --mask
	secretOK bool   // --secret-ok
}

// New is a run of parley in its real surroundings, with these streams and environment.
func New(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *Program {
	return &Program{
		Stdin: stdin, Getenv: getenv, Zone: time.Local, Now: time.Now,
		Out: term.NewScreen(stdout, getenv), Err: term.NewScreen(stderr, getenv),
		Connect: func(socket string) control.Service {
			return control.NewClient(socket, Version).Bearing(getenv("PARLEY_AGENT"), getenv("PARLEY_TOKEN"))
		},
		Terminal: controllingTerminal, Unwatched: getenv("PARLEY_UNWATCHED") != "",
	}
}

// Run does what `args` say with the commands of `root`, and returns the exit code.
func (p *Program) Run(ctx context.Context, root *cobra.Command, args []string) int {
	checked := &checkedWriter{Writer: p.Out.Writer}
	p.Out.Writer = checked
	root.SetIn(p.Stdin)
	root.SetOut(p.Out)
	root.SetErr(p.Err)
	sorted, err := SortText(root, Today(root, args))
	if err == nil {
		root.SetArgs(append([]string{}, sorted...)) // nil would be the words of this process
		err = root.ExecuteContext(ctx)
	}
	if err == nil && checked.failed != nil {
		err = fmt.Errorf("cannot write the output: %w", checked.failed)
	}
	return p.report(err, args)
}

// checkedWriter remembers the first failure of a write. So a full disk behind ">" is noticed,
// although nobody checks each write.
type checkedWriter struct {
	io.Writer
	failed error
}

// Write writes data unless an earlier write failed.
func (w *checkedWriter) Write(data []byte) (int, error) {
	if w.failed != nil {
		return 0, w.failed
	}
	n, err := w.Writer.Write(data)
	w.failed = err
	return n, err
}

// Unchecked is standard output for a command that does not fail where nobody takes what it prints.
func (p *Program) Unchecked() io.Writer {
	if checked, ok := p.Out.Writer.(*checkedWriter); ok {
		return checked.Writer
	}
	return p.Out.Writer
}

// View returns how answers are shown.
func (p *Program) View() View {
	return View{
		Out: p.Out, Err: p.Err, Zone: p.Zone, Now: p.Now, JSON: p.JSON, Command: p.command, agent: p.Getenv("PARLEY_AGENT"), path: p.Getenv("PATH"),
		alone: p.Getenv("PARLEY_NO_HINTS") != "",
	}
}

// command is a command of parley as the person would type it here. It has --home if the person used
// it, unless the words name another home.
func (p *Program) command(words string) string {
	if p.home == "" {
		return words
	}
	return commandNamed.Regexp().ReplaceAllStringFunc(words, func(named string) string {
		if strings.HasSuffix(named, "--home ") {
			return named
		}
		return named + "--home " + ShellWord(p.home) + " "
	})
}

// commandNamed is where words name a command of parley. A path that ends so, such as a home of the
// usual name, is none.
var commandNamed = pattern.New(`(^|[^/\\])parley (--home )?`)

// Args are the words of a command of parley as this run takes them: for the same home.
func (p *Program) Args(words ...string) []string {
	if p.home == "" {
		return words
	}
	return append([]string{"--home", p.home}, words...)
}

// ShellWord quotes `s` if a shell would split it.
func ShellWord(s string) string { return term.Shell(s) }

// ForPeople reports whether a person looks at the output. A program that reads the output gets all
// there is. For a person, some of it is left out.
func (p *Program) ForPeople() bool { return p.Out.Terminal && !p.JSON }

// Version is the version of this program. The node reports it to its clients and peers. A release is
// built with its own (-ldflags -X); nothing changes it later.
var Version = "0.1.0"
