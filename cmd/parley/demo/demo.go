// Package demo plays two hosts on one machine, to show what parley is: parley demo.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewCommand is parley demo.
func NewCommand(p *cli.Program) *cobra.Command {
	var keep string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch two machines talk: a minute that explains parley",
		Long: `Start two nodes on this machine that play two hosts, with a shared git
repository and a live link between them; let a human and two agents talk; take
one host away and bring it back; then check with git that every message is in
the record once.

No network is used and nothing is left behind, unless --keep names a folder.`,
		Example: `  parley demo
  parley demo --keep ./demo
  parley demo party
  parley demo frame`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), keep, p.Out) },
	}
	keepFlag(cmd, &keep)
	cmd.AddCommand(newPartyCommand(p), newFrameCommand(p))
	return cmd
}

func keepFlag(cmd *cobra.Command, keep *string) {
	cmd.Flags().StringVar(keep, "keep", "", "new folder for both nodes and the repository, kept for you to look at")
}

// demonstration is one run of the demo.
type demonstration struct {
	out    term.Screen
	dir    string
	binary string // path of the program parley
	remote string
	nodes  map[string]*demoNode
	people map[string]string // the human of each host
	asked  []protocol.Path   // what the human said, in order
	rest   time.Duration     // the pause after each step, for the reader
}

// step is one thing that a demo shows.
type step struct {
	title string
	run   func(context.Context) error
}

// The hosts of the demo, and its times.
const (
	demoHub   = "oracle-world"
	demoOther = "white"
	demoWait  = 20 * time.Second // for anything that should take a moment
)

func runDemo(ctx context.Context, keep string, out term.Screen) error {
	d := &demonstration{out: out, people: map[string]string{demoHub: "nat", demoOther: "nat"}}
	steps := []step{
		{"Two hosts, one record: a git repository that both share. Each host runs a node. The second finds the first by the record.", d.hosts},
		{"An agent on each host. An agent is any program that reads a text and prints an answer.", d.agents},
		{"hey: talk to an agent on your own host.", d.hey},
		{"wormhole: ask an agent on another host.", d.wormhole},
		{"broadcast: tell everyone. The answers come to your inbox.", d.broadcast},
		{"One host goes away. What it is sent meanwhile is safe, and it catches up from git.", d.away},
		{"How far each message has come: stored, heard, recorded, pushed, read, answered. The last that holds is its stage.", d.stages},
		{"How fast, measured just now on this machine.", d.measure},
		{"Both nodes stop. What is left is the record, as the git program sees it.", d.git},
	}
	end := fmt.Sprintf("Make your own: %sparley init, then parley up -d. How agents work together, and what only humans decide: parley demo party.", installFirst())
	return d.play(ctx, keep, steps, end)
}

// play shows the steps one after the other, and at the end what to do next.
func (d *demonstration) play(ctx context.Context, keep string, steps []step, next string) (err error) {
	began := time.Now()
	// If the reader reads no further, that ends the demo, and not this process: else its nodes
	// would be left.
	broken := make(chan os.Signal, 1) // nobody reads from it: the write fails as well
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	ctx, end := context.WithCancel(ctx)
	defer end()
	d.out.Writer = &endingWriter{to: d.out.Writer, end: end}
	d.nodes = map[string]*demoNode{}
	if err := d.prepare(ctx, keep); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.clear(keep)) }()
	for i, step := range steps {
		d.out.Printf("\n")
		for _, line := range term.Wrap(fmt.Sprintf("%d  %s", i+1, step.title), d.out.Width) {
			d.out.Printf("%s\n", d.out.Bold(line))
		}
		err := step.run(ctx)
		if err == nil {
			err = pause(ctx, d.rest)
		}
		if err != nil {
			if ctx.Err() != nil {
				return control.Errorf(control.KindFailed, "", "the demo was ended at step %d", i+1)
			}
			d.showLogs()
			return fmt.Errorf("the demo failed at step %d: %w", i+1, err)
		}
	}
	done := fmt.Sprintf("Done in %s. %s", time.Since(began).Round(100*time.Millisecond), next)
	d.out.Printf("\n%s\n", strings.Join(term.Wrap(done, d.out.Width), "\n"))
	return nil
}

// pause gives a reader time to read.
func pause(ctx context.Context, rest time.Duration) error {
	select {
	case <-time.After(rest):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endingWriter ends the demo if nobody reads what it prints.
type endingWriter struct {
	to  io.Writer
	end context.CancelFunc
}

// Write writes data, or ends the demo.
func (w *endingWriter) Write(data []byte) (int, error) {
	n, err := w.to.Write(data)
	if err != nil {
		w.end()
	}
	return n, err
}

// installFirst says what somebody who runs parley from the source has to do before the commands of
// the demo work.
func installFirst() string {
	if _, err := exec.LookPath("parley"); err == nil {
		return ""
	}
	return "go install ./cmd/parley, "
}

// prepare makes the folder and the shared repository.
func (d *demonstration) prepare(ctx context.Context, keep string) (err error) {
	if d.binary, err = os.Executable(); err != nil {
		return fmt.Errorf("cannot find parley itself: %w", err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		return control.Errorf(control.KindFailed, "install git, then: parley demo", "cannot run the demo: the git program is not installed")
	}
	if keep == "" {
		d.dir, err = os.MkdirTemp("", "parley-demo-")
	} else {
		d.dir, err = newFolder(keep)
	}
	if err != nil {
		return fmt.Errorf("cannot make a folder for the demo: %w", err)
	}
	d.remote = filepath.Join(d.dir, "shared.git")
	d.out.Printf("Two machines, played by two nodes in %s.\n", d.dir)
	return d.gitQuiet(ctx, d.dir, "init", "--quiet", "--bare", "--initial-branch=main", d.remote)
}

func newFolder(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return dir, os.Mkdir(dir, 0o700)
}

// clear stops the nodes, and removes the folder unless it is to be kept.
func (d *demonstration) clear(keep string) error {
	var errs []error
	for _, n := range d.nodes {
		errs = append(errs, n.stop())
	}
	if keep != "" {
		d.out.Printf("\nKept: PARLEY_HOME=%s parley up\n", cli.ShellWord(filepath.Join(d.dir, demoHub)))
		return errors.Join(errs...)
	}
	return errors.Join(append(errs, os.RemoveAll(d.dir))...)
}
