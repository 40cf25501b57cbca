package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
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
	// connect makes the client of the node with this control socket.
	connect func(socket string) control.Service

	output *checkedWriter // beneath out
	home   string         // --home
	json   bool           // --json, on the commands that have it
}

func newProgram(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *program {
	p := &program{
		stdin: stdin, getenv: getenv, zone: time.Local,
		out: term.NewScreen(stdout, getenv), err: term.NewScreen(stderr, getenv),
		connect: func(socket string) control.Service { return control.NewClient(socket, version) },
		output:  &checkedWriter{Writer: stdout},
	}
	p.out.Writer = p.output
	return p
}

// run does what args say and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := newRootCommand(p)
	root.SetArgs(args)
	root.SetIn(p.stdin)
	root.SetOut(p.out)
	root.SetErr(p.err)
	err := root.ExecuteContext(ctx)
	if err == nil && p.output.failed != nil {
		err = fmt.Errorf("cannot write the output: %w", p.output.failed)
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

// homeDir is the home that --home, PARLEY_HOME or the system's custom names.
func (p *program) homeDir() (configs.Home, error) {
	if p.home != "" {
		dir, err := filepath.Abs(p.home)
		return configs.Home{Dir: dir}, err
	}
	dir, err := configs.DefaultHome(p.getenv)
	return configs.Home{Dir: dir}, err
}

// client is the node of the home. No connection is made before the first call.
func (p *program) client() (control.Service, error) {
	home, err := p.homeDir()
	if err != nil {
		return nil, err
	}
	return p.connect(home.Socket()), nil
}

// view is how answers are shown.
func (p *program) view() view {
	return view{out: p.out, err: p.err, zone: p.zone, json: p.json, command: p.command, agent: p.getenv("PARLEY_AGENT")}
}

// speaker is who speaks: --as, else PARLEY_AGENT, else the node decides (R14).
func (p *program) speaker(as string) string {
	if as != "" {
		return as
	}
	return p.getenv("PARLEY_AGENT")
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

// configured reports whether "parley init" was run for the home.
func configured(home configs.Home) bool {
	_, err := os.Stat(home.Config())
	return err == nil
}

// forPeople reports whether a person looks at the output. A program that reads it
// gets all there is; a person is spared.
func (p *program) forPeople() bool { return p.out.Terminal && !p.json }

// jsonFlag gives a command the flag --json.
func (p *program) jsonFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVar(&p.json, "json", false, usage)
}
