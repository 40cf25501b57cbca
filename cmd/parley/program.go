package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// program is one run of parley: its surroundings, which tests replace, and the
// flags that all commands share.
type program struct {
	stdin  io.Reader
	out    term.Screen
	err    term.Screen
	getenv func(string) string
	zone   *time.Location
	now    func() time.Time
	// connect makes the client of the node with this control socket.
	connect func(socket string) control.Service
	// terminal opens the terminal that the command was started from.
	terminal func() (io.ReadWriteCloser, error)

	home string // --home
	json bool   // --json, on the commands that have it
}

func newProgram(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *program {
	return &program{
		stdin: stdin, getenv: getenv, zone: time.Local, now: time.Now,
		out: term.NewScreen(stdout, getenv), err: term.NewScreen(stderr, getenv),
		connect: func(socket string) control.Service {
			return control.NewClient(socket, version).Bearing(getenv("PARLEY_AGENT"), getenv("PARLEY_TOKEN"))
		},
		terminal: controllingTerminal,
	}
}

// run does what args say with the commands of root and returns the exit code.
func (p *program) run(ctx context.Context, root *cobra.Command, args []string) int {
	checked := &checkedWriter{Writer: p.out.Writer}
	p.out.Writer = checked
	root.SetIn(p.stdin)
	root.SetOut(p.out)
	root.SetErr(p.err)
	sorted, err := sortText(root, args)
	if err == nil {
		root.SetArgs(sorted)
		err = root.ExecuteContext(ctx)
	}
	if err == nil && checked.failed != nil {
		err = fmt.Errorf("cannot write the output: %w", checked.failed)
	}
	return p.report(err, args)
}

// checkedWriter remembers the first failure, so that a full disk behind ">" is
// noticed although nobody looks at each write.
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

// view is how answers are shown.
func (p *program) view() view {
	return view{out: p.out, err: p.err, zone: p.zone, now: p.now, json: p.json, command: p.command, agent: p.getenv("PARLEY_AGENT")}
}

// command is a command of parley as the person would type it here: with --home
// where they did, unless the words name another home.
func (p *program) command(words string) string {
	if p.home == "" {
		return words
	}
	with := strings.ReplaceAll(words, "parley ", "parley --home "+shellWord(p.home)+" ")
	return strings.ReplaceAll(with, "parley --home "+shellWord(p.home)+" --home ", "parley --home ")
}

// shellWord quotes s where a shell would take it apart.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// forPeople reports whether a person looks at the output. A program that reads it
// gets all there is; a person is spared.
func (p *program) forPeople() bool { return p.out.Terminal && !p.json }

// version is that of this program; the node reports it to its clients and peers.
const version = "0.1.0"
