package main

import (
	"context"
	"errors"
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
	now    func() time.Time
	// connect makes the client of the node with this control socket.
	connect func(socket string) control.Service
	// terminal opens the terminal that the command was started from.
	terminal func() (io.ReadWriteCloser, error)

	output *checkedWriter // beneath out
	home   string         // --home
	json   bool           // --json, on the commands that have it
}

func newProgram(stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) *program {
	p := &program{
		stdin: stdin, getenv: getenv, zone: time.Local, now: time.Now,
		out: term.NewScreen(stdout, getenv), err: term.NewScreen(stderr, getenv),
		connect: func(socket string) control.Service {
			return control.NewClient(socket, version).Bearing(getenv("PARLEY_AGENT"), getenv("PARLEY_TOKEN"))
		},
		terminal: controllingTerminal,
		output:   &checkedWriter{Writer: stdout},
	}
	p.out.Writer = p.output
	return p
}

// run does what args say and returns the exit code.
func (p *program) run(ctx context.Context, args []string) int {
	root := newRootCommand(p)
	root.SetIn(p.stdin)
	root.SetOut(p.out)
	root.SetErr(p.err)
	sorted, err := sortText(root, args)
	if err == nil {
		root.SetArgs(sorted)
		err = root.ExecuteContext(ctx)
	}
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
	return p.connect(p.socket(home)), nil
}

// socket is the node's socket: the one that PARLEY_SOCKET names for an agent that has
// no access to a home, unless the person names a home.
func (p *program) socket(home configs.Home) string {
	if socket := p.getenv("PARLEY_SOCKET"); socket != "" && p.home == "" {
		return socket
	}
	return home.Socket()
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

// configured reports whether "parley init" was run for the home.
func configured(home configs.Home) bool {
	_, err := os.Stat(home.Config())
	return err == nil
}

// errNotConfigured says that a home has no configuration, behind what cannot be done
// because of that, with what "parley init" would do about it.
func errNotConfigured(home configs.Home, cannot string) *control.Error {
	foreign := new(configs.HomeError)
	if errors.As(home.Check(), &foreign) {
		return control.Errorf(control.KindRefused, "name another folder with --home DIR", "%s%v", cannot, foreign)
	}
	if _, err := os.Stat(home.Record()); err == nil {
		return control.Errorf(control.KindNotFound, configs.LostHint, "%s%s holds a record and no config.yaml", cannot, home.Dir)
	}
	return control.Errorf(control.KindNotFound, "parley init", "%sthere is no node at %s yet", cannot, home.Dir)
}

// forPeople reports whether a person looks at the output. A program that reads it
// gets all there is; a person is spared.
func (p *program) forPeople() bool { return p.out.Terminal && !p.json }

// jsonFlag gives a command the flag --json.
func (p *program) jsonFlag(cmd *cobra.Command, usage string) {
	cmd.Flags().BoolVar(&p.json, "json", false, usage)
}
