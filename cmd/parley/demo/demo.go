// Package demo plays two hosts on one machine, to show what parley is: parley demo. What a demo
// shows is a script beside this file; script.go says how scripts are read, and words.go what their
// words do.
package demo

import (
	"context"
	_ "embed" // the scripts
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
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

//go:embed talk.txtar
var talkScript string

//go:embed party.txtar
var partyScript string

//go:embed frame.txtar
var frameScript string

// NewCommand is parley demo. Some of what a demo shows it prints by the commands of `root`.
func NewCommand(p *cli.Program, root func(*cli.Program) *cobra.Command) *cobra.Command {
	cmd := newScriptCommand(p, root, talkScript, 0, "Make your own: ${first}"+
		"parley init, then parley up -d. How agents work together, and what only humans decide: parley demo party.")
	cmd.Use, cmd.Short = "demo", "Watch two machines talk: a minute that explains parley"
	cmd.Long = `Start two nodes on this machine that play two hosts, with a shared git
repository and a live link between them; let a human and two agents talk; take
one host away and bring it back; then check with git that every message is in
the record once.

No network is used and nothing is left behind.`
	cmd.Example = `  parley demo
  parley demo party
  parley demo frame`

	party := newScriptCommand(p, root, partyScript, demoRest, "Begin one of yours: parley gates key add, then parley party organize TOPIC --with AGENT.")
	party.Use, party.Short = "party", "Watch agents work together while humans decide: half a minute"
	party.Long = `Start two nodes on this machine that play two hosts, each with a human, and
three agents. Two of these agree on something and check whether both still hold
it. A party is organized; the human of the other host decides who of their
agents joins. The party is told something, shares work, and is left again.

The humans' keys are made for the demo and open: they have no passphrase, so
that the demo can sign. No network is used and nothing is left behind.`
	party.Example = "  parley demo party\n  parley demo party --quick"

	frame := newScriptCommand(p, root, frameScript, demoRest, "Ask one of yours: parley fleet policy set frame-member=claude, then parley frame QUESTION.")
	frame.Use, frame.Short = "frame", "Watch a question looked at from several perspectives"
	frame.Long = `Start two nodes on this machine that play two hosts, and ask a question. A brief
is drafted and confirmed, perspectives are chosen, members on both hosts look at
the question, each by itself; two of them disagree and talk; what they found is
joined, with a basis for each claim. The human decides at every gate.

The agents are scripts, and the human's key is open, so that the demo can sign.
No network is used and nothing is left behind.`
	frame.Example = "  parley demo frame\n  parley demo frame --quick"
	cmd.AddCommand(party, frame)
	return cmd
}

// newScriptCommand is a command that plays a script. It pauses between steps if the script is one
// to read along, and says at the end what to do next.
func newScriptCommand(p *cli.Program, root func(*cli.Program) *cobra.Command, script string, rest time.Duration, next string) *cobra.Command {
	var quick bool
	cmd := &cobra.Command{
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d := &demonstration{out: p.Out, root: root, rest: rest}
			if quick {
				d.rest = 0
			}
			return d.play(cmd.Context(), script, os.Expand(next, installFirst))
		},
	}
	if rest > 0 {
		cmd.Flags().BoolVar(&quick, "quick", false, "do not pause between the steps")
	}
	return cmd
}

const (
	demoRest = 2 * time.Second  // how long a step is shown before the next one
	demoWait = 20 * time.Second // for anything that should take a moment
)

// installFirst says what somebody who runs parley from the source has to do before the commands of
// the demo work: ${first} in what is said at the end.
func installFirst(string) string {
	if _, err := exec.LookPath("parley"); err == nil {
		return ""
	}
	return "go install ./cmd/parley, "
}

// play plays a script in a folder of its own, and says at the end what to do next.
func (d *demonstration) play(ctx context.Context, script, next string) (err error) {
	began := time.Now()
	// If the reader reads no further, that ends the demo, and not this process: else its nodes
	// would be left.
	broken := make(chan os.Signal, 1) // nobody reads from it: the write fails as well
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	ctx, end := context.WithCancel(ctx)
	defer end()
	d.out.Writer = &endingWriter{Writer: d.out.Writer, end: end}
	lines, files := sections(script)
	if err := d.prepare(files); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.clear()) }()
	d.out.Printf("Two machines, played by two nodes in %s.\n", d.dir)
	if err := d.perform(ctx, lines); err != nil {
		if ctx.Err() != nil {
			return control.Errorf(control.KindFailed, "", "the demo was ended at step %d", d.step)
		}
		for _, b := range d.behind {
			d.out.Printf("\nlog of %s:\n", b.name)
			d.indent(b.log())
		}
		return fmt.Errorf("the demo failed at step %d: %w", d.step, err)
	}
	done := fmt.Sprintf("Done in %s. %s", time.Since(began).Round(100*time.Millisecond), next)
	d.out.Printf("\n%s\n", strings.Join(term.Wrap(done, d.out.Width), "\n"))
	return nil
}

func (d *demonstration) prepare(files []section) (err error) {
	if d.binary, err = os.Executable(); err != nil {
		return fmt.Errorf("cannot find parley itself: %w", err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		return control.Errorf(control.KindFailed, "install git, then: parley demo", "cannot run the demo: the git program is not installed")
	}
	d.dir, err = os.MkdirTemp("", "parley-demo-")
	for _, file := range files {
		path := filepath.Join(d.dir, filepath.FromSlash(file.name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, []byte(file.text), 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("cannot make a folder for the demo: %w", err)
	}
	return nil
}

// clear ends what runs in the background, and removes the folder.
func (d *demonstration) clear() error {
	errs := each.Of(d.behind, (*background).stop)
	return errors.Join(append(errs, os.RemoveAll(d.dir))...)
}

// endingWriter ends the demo if nobody reads what it prints.
type endingWriter struct {
	io.Writer
	end context.CancelFunc
}

// Write writes data, or ends the demo.
func (w *endingWriter) Write(data []byte) (int, error) {
	n, err := w.Writer.Write(data)
	if err != nil {
		w.end()
	}
	return n, err
}
