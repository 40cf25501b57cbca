package console

import (
	"context"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// desk is the terminal at which the console was started. What a human decides on a page comes there as
// the command that decides it. The command shows all of it, asks, and signs with the passphrase that
// is typed there: the page has no part in that.
type desk struct {
	terminal bool // a person is there
	asked    chan decision
	changed  func() // called when what it asks has changed

	mu  sync.Mutex
	now *decision // what it asks; nil: nothing
}

// decision is a command that decides something.
type decision struct {
	words  []string
	cancel context.CancelFunc
	ctx    context.Context
}

// command is the decision as a person would type it.
func command(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = cli.ShellWord(w)
	}
	return "parley " + strings.Join(quoted, " ")
}

// Asks is the command that the terminal asks about; "" for none.
func (d *desk) Asks() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now == nil {
		return ""
	}
	return command(d.now.words)
}

// decide brings a decision to the terminal. It returns when the terminal shows it.
func (d *desk) decide(ctx context.Context, words ...string) error {
	hint := "at the terminal: " + command(words)
	if !d.terminal {
		return control.Errorf(control.KindRefused, hint, "cannot decide it here: the console was not started at a terminal")
	}
	asks, cancel := context.WithCancel(context.WithoutCancel(ctx))
	next := decision{words: words, cancel: cancel, ctx: asks}
	d.mu.Lock()
	busy := d.now
	if busy == nil {
		d.now = &next
	}
	d.mu.Unlock()
	if busy != nil {
		cancel()
		return control.Errorf(control.KindConflict, hint, "the terminal asks about another decision: %s", command(busy.words))
	}
	select {
	case d.asked <- next:
		return nil
	case <-ctx.Done():
		d.end()
		return ctx.Err()
	}
}

// leave takes back the decision that the terminal asks about.
func (d *desk) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now != nil {
		d.now.cancel()
	}
}

func (d *desk) end() {
	d.mu.Lock()
	d.now.cancel()
	d.now = nil
	d.mu.Unlock()
	d.changed()
}

// serve asks about one decision after the other, until `ctx` ends.
func (d *desk) serve(ctx context.Context, p *cli.Program, root func(*cli.Program) *cobra.Command) {
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-d.asked:
			d.changed()
			stop := context.AfterFunc(ctx, next.cancel)
			p.Err.Printf("\n%s\n", p.Err.Bold("Clicked on the page: "+term.Line(p.View().Command(command(next.words)))))
			own := *p // each run has its own flags
			own.Run(next.ctx, root(&own), p.Args(next.words...))
			p.Err.Printf("%s\n", p.Err.Dim("The console goes on. Ctrl-C ends it."))
			stop()
			d.end()
		}
	}
}
