package clitest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// Run is one run of parley against a recorder.
type Run struct {
	Recorder
	Program *cli.Program
	Out     bytes.Buffer
	Err     bytes.Buffer
	Env     map[string]string
	Ctx     context.Context
	root    func(*cli.Program) *cobra.Command
}

// New prepares a run of the commands that `root` returns. Its output is piped, and its home is not
// set up.
func New(t *testing.T, root func(*cli.Program) *cobra.Command) *Run {
	t.Helper()
	r := &Run{Env: map[string]string{"PARLEY_HOME": t.TempDir()}, Ctx: t.Context(), root: root}
	if err := os.Chmod(r.Env["PARLEY_HOME"], 0o700); err != nil { // the mode that a home has to have
		t.Fatal(err)
	}
	r.Program = cli.New(strings.NewReader(""), &r.Out, &r.Err, func(key string) string { return r.Env[key] })
	r.Program.Unwatched = true // an agent program may have started the tests
	r.Program.Zone = time.FixedZone("", 2*60*60)
	r.Program.Now = func() time.Time { return Message("").Timestamp.Add(24 * time.Hour) }
	r.Program.Connect = func(string) control.Service { return &r.Recorder }
	r.Program.Terminal = func() (io.ReadWriteCloser, error) { return nil, errors.New("there is none") }
	r.HasMessage(Message("hello"))
	return r
}

// Do runs parley and returns its exit code.
func (r *Run) Do(args ...string) int { return r.Program.Run(r.Ctx, r.root(r.Program), args) }

// Typing makes a terminal at which somebody types a line.
func (r *Run) Typing(line string) {
	r.Program.Terminal = func() (io.ReadWriteCloser, error) {
		return keyboard{strings.NewReader(line + "\n"), &r.Err}, nil
	}
}

// keyboard is a terminal. It shows questions on standard error.
type keyboard struct {
	io.Reader
	io.Writer
}

// Close does nothing.
func (keyboard) Close() error { return nil }

// AtTerminal makes the output a terminal without colour.
func (r *Run) AtTerminal(width int) {
	for _, s := range []*term.Screen{&r.Program.Out, &r.Program.Err} {
		s.Terminal, s.Width = true, width
	}
}

// WantPrinted runs a command line, and compares what it prints, with an empty line before it. If
// `width` is above zero, the output is a terminal of that width.
func (r *Run) WantPrinted(t *testing.T, width int, line []string, want string) {
	t.Helper()
	if width > 0 {
		r.AtTerminal(width)
	}
	if code := r.Do(line...); code != cli.ExitDone {
		t.Errorf("%q: exit %d, %s", line, code, r.Err.String())
	}
	if diff := cmp.Diff(want, "\n"+r.Out.String()); diff != "" {
		t.Errorf("%q printed (-want +got):\n%s", line, diff)
	}
}

// WantAsked runs a command line, and compares the one question that it asks the node.
func (r *Run) WantAsked(t *testing.T, line []string, want string) {
	t.Helper()
	if code := r.Do(line...); code != cli.ExitDone {
		t.Errorf("%q: exit %d, %s", line, code, r.Err.String())
	}
	if diff := cmp.Diff([]string{want}, r.Asked); diff != "" {
		t.Errorf("%q asks (-want +got):\n%s", line, diff)
	}
}
