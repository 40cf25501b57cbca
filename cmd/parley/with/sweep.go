package with

import (
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// runSweep writes the files of collaborations, and says what has timed out (seed,
// "--sweep-timeouts"). That decides nothing: to do it twice is the same as to do it once.
func runSweep(ctx context.Context, c *call) error {
	done, err := control.SweepTopics.Ask(ctx, c.client, control.SweepRequest{Acting: c.acting})
	return c.view.Show(done, err, func() {
		out := c.view.Out
		fresh := 0
		for _, it := range done.TimedOut {
			mark := " "
			if it.New {
				mark, fresh = "⏱", fresh+1
			}
			out.Printf("%s %s of %q with %s: %s has not decided by %s\n",
				mark, it.ID, term.Line(it.Topic), term.Line(it.With), term.Line(it.Who), c.view.Stamp(it.TimeoutAt))
		}
		switch {
		case len(done.TimedOut) == 0:
			out.Printf("Nothing has timed out.\n")
		default:
			out.Printf("Timed out: %d, of which %d new. Unknown state, not rejection.\n", len(done.TimedOut), fresh)
		}
		switch {
		case done.Folder == "":
			out.Printf("%s has no files of collaborations: it has no folder, or no ψ in it\n", term.Line(done.Me))
		case len(done.Files) == 0:
			out.Printf("All files are as the record is: %s\n", term.Line(done.Folder))
		default:
			out.Printf("Written: %s in %s\n", cli.Count(len(done.Files), "file"), term.Line(done.Folder))
		}
		c.because(done.Me, done.Chosen)
	})
}
