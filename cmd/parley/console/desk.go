package console

import (
	"context"
	"strings"
	"sync"
	"time"

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
	changed  func()                            // called when what it asks has changed
	root     func(*cli.Program) *cobra.Command // the commands that decide

	clock func() time.Time

	mu    sync.Mutex // guards what follows
	now   *decision  // what it asks; nil: nothing
	left  bool       // a page has taken that back
	rests time.Duration
	until time.Time // so long nothing is asked after a decision that was left, or that took no time
}

// After a decision that was over at once the terminal rests, and after one that a page has taken back
// twice as long each time. So a page that somebody has taken over cannot put another question in the place of
// the one that is about to be answered, nor fill the terminal.
const (
	leastRest = 3 * time.Second
	mostRest  = 5 * time.Minute
	atOnce    = time.Second // nobody reads and answers within it
	mostAsked = 4 << 10     // bytes of a command: the terminal shows all of it, and then what is decided
)

// decision is something that the human at the terminal is asked.
type decision struct {
	hint   string                              // what to do where it cannot be asked
	about  string                              // as pages say it: a command
	do     func(context.Context, *cli.Program) // asks
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
	return d.now.about
}

// decide brings a command to the terminal. It returns when the terminal shows it.
func (d *desk) decide(ctx context.Context, words ...string) error {
	about := command(words)
	if len(about) > mostAsked {
		return control.Errorf(control.KindUsage, "shorten it, or decide it at the terminal", "cannot ask it: it has more than %d bytes, and what you decide would be out of sight", mostAsked)
	}
	asks, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return d.bring(ctx, decision{hint: "at the terminal: " + about, about: about, ctx: asks, cancel: cancel, do: func(ctx context.Context, p *cli.Program) {
		p.Err.Printf("\n%s\n", p.Err.Bold("Clicked on the page: "+term.Line(p.View().Command(about))))
		own := *p // each run has its own flags
		own.Run(ctx, d.root(&own), p.Args(words...))
	}})
}

// bring has the terminal ask. It returns when the terminal does.
func (d *desk) bring(ctx context.Context, next decision) error {
	if !d.terminal {
		next.cancel()
		return control.Errorf(control.KindRefused, next.hint, "cannot decide it here: the console was not started at a terminal")
	}
	d.mu.Lock()
	busy, rests := d.now, d.until.Sub(d.clock())
	if busy == nil && rests <= 0 {
		d.now, d.left = &next, false
	}
	d.mu.Unlock()
	switch {
	case busy != nil:
		next.cancel()
		return control.Errorf(control.KindConflict, next.hint, "the terminal asks about another decision: %s", busy.about)
	case rests > 0:
		next.cancel()
		return control.Errorf(control.KindConflict, next.hint, "the terminal has just asked something else, which was over at once: click again in %s", rests.Truncate(time.Second)+time.Second)
	}
	select {
	case d.asked <- next:
		return nil
	case <-ctx.Done():
		d.end(time.Time{})
		return ctx.Err()
	}
}

// leave takes back the decision that the terminal asks about.
func (d *desk) leave() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.now != nil {
		d.now.cancel()
		d.left = true
	}
}

// end ends a decision that was brought at a time.
func (d *desk) end(brought time.Time) {
	d.mu.Lock()
	d.now.cancel()
	d.now = nil
	now := d.clock()
	switch {
	case d.left:
		d.rests = min(max(leastRest, 2*d.rests), mostRest)
	case now.Sub(brought) < atOnce:
		d.rests = leastRest
	default:
		d.rests = 0
	}
	d.until = now.Add(d.rests)
	d.mu.Unlock()
	d.changed()
}

// serve asks about one decision after the other, until `ctx` ends.
func (d *desk) serve(ctx context.Context, p *cli.Program) {
	for {
		select {
		case <-ctx.Done():
			return
		case next := <-d.asked:
			brought := d.clock()
			d.changed()
			term.Forget(p.Stdin) // what was typed before is no answer
			stop := context.AfterFunc(ctx, next.cancel)
			next.do(next.ctx, p)
			stop()
			d.end(brought)
			if ctx.Err() == nil {
				p.Err.Printf("%s\n", p.Err.Dim("The console goes on. Ctrl-C ends it."))
			}
		}
	}
}
