package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/spf13/cobra"
)

func newRebuildCommand(p *cli.Program) *cobra.Command {
	var acceptLoss bool
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make all that is computed from the record anew",
		Long: `Throw away what the home holds and can be computed, which is all in its folder
cache, and compute it anew from the record and the journal: the state from which
a start begins, and the index of words for "parley search".

It is never needed: what is damaged or missing is noticed and made anew by
itself. The node must not run meanwhile.

Where the disk has lost a part of record.git itself, and neither the journal nor
the remote has it, the rest is read and what is lost is listed. No agent runs
until it is back, because what is lost may say what the agent has done already.
--accept-loss gives it up: agents run again.`,
		Example: `  parley stop
  parley record rebuild`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(cmd *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			if err := p.ForOperator("rebuild"); err != nil {
				return err
			}
			return runRebuild(cmd.Context(), home, acceptLoss, v)
		}),
	}
	cmd.Flags().BoolVar(&acceptLoss, "accept-loss", false, "go on without what the disk has lost")
	return p.JSONFlag(cmd, "print what was made as JSON")
}

// Rebuilt is what "record rebuild --json" prints: what was made anew.
type Rebuilt struct {
	Messages int             `json:"messages"` // messages and receipts from which the state was made
	Indexed  int             `json:"indexed"`  // messages that "parley search" finds
	Elapsed  control.Seconds `json:"elapsed"`  // how long it took
	Lost     []string        `json:"lost"`     // paths of messages that the disk has lost, and of which there is no copy; and parts of the journal that are lost, each beginning with "journal/"
}

func runRebuild(ctx context.Context, home configs.Home, acceptLoss bool, v cli.View) error {
	if !cli.Configured(home) {
		return cli.NotConfigured(home, "cannot rebuild: ")
	}
	cfg, err := homes.LoadConfig(home)
	if err != nil {
		return fmt.Errorf("cannot rebuild: %w", err)
	}
	if err := cli.CopiedHome(home, "cannot rebuild"); err != nil {
		return err
	}
	file, err := cli.OpenLog(home)
	if err != nil {
		return err
	}
	defer file.Close()
	reading, indexing := v.Progress("reading the record"), v.Progress("indexing messages")
	reading.Plainly, indexing.Plainly = true, true
	done, err := node.Rebuild(ctx, node.Options{
		Home: home, Version: cli.Version, Log: cli.NewLogger(cfg.LogLevel, file, false, v.Err), Progress: reading.Show,
	}, acceptLoss, indexing.Show)
	reading.End()
	indexing.End()
	if errors.Is(err, homes.ErrLocked) {
		return control.Errorf(control.KindConflict, "parley stop", "cannot rebuild: a node runs on %s", home.Dir)
	}
	if err != nil {
		return fmt.Errorf("cannot rebuild: %w", err)
	}
	for _, entry := range done.Entries {
		done.Lost = append(done.Lost, "journal/"+entry)
	}
	rebuilt := Rebuilt{done.Messages, done.Indexed, control.Seconds(done.Elapsed), append([]string{}, done.Lost...)}
	return v.Show(rebuilt, nil, func() {
		for _, path := range done.Lost {
			v.Out.Printf("%s: %s\n", term.Line(path), v.Out.Warn("the disk has lost it, and there is no copy"))
		}
		v.Out.Printf("%s read from the record, %d of them indexed, in %s\n",
			cli.Count(done.Messages, "message"), done.Indexed, done.Elapsed.Round(10*time.Millisecond))
		if len(done.Lost) > 0 {
			v.Out.Printf("Put what a backup has of objects/pack into that of record.git and start the node; or go on without: %s\n",
				v.Command("parley record rebuild --accept-loss"))
		}
	})
}
