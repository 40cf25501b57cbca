package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newRecordRebuildCommand(p *program) *cobra.Command {
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
		Args: exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.forOperator("rebuild"); err != nil {
				return err
			}
			home, err := p.homeDir()
			if err != nil {
				return err
			}
			return runRecordRebuild(cmd.Context(), home, acceptLoss, p.view())
		},
	}
	cmd.Flags().BoolVar(&acceptLoss, "accept-loss", false, "go on without what the disk has lost")
	p.jsonFlag(cmd, "print what was made as JSON")
	return cmd
}

// rebuilt is what "record rebuild --json" prints: what was made anew.
type rebuilt struct {
	Messages int             `json:"messages"` // and receipts, from which the state was made
	Indexed  int             `json:"indexed"`  // messages that "parley search" finds
	Elapsed  control.Seconds `json:"elapsed"`  // how long it took
	Lost     []string        `json:"lost"`     // paths of messages that the disk has lost, without a copy
}

func runRecordRebuild(ctx context.Context, home configs.Home, acceptLoss bool, v view) error {
	if !configured(home) {
		return errNotConfigured(home, "cannot rebuild: ")
	}
	cfg, err := configs.Load(home.Config())
	if err != nil {
		return fmt.Errorf("cannot rebuild: %w", err)
	}
	if err := copiedHome(home, "cannot rebuild"); err != nil {
		return err
	}
	file, err := openLog(home.Log())
	if err != nil {
		return err
	}
	defer file.Close()
	reading, indexing := v.progress("reading the record"), v.progress("indexing messages")
	reading.plainly, indexing.plainly = true, true
	done, err := node.Rebuild(ctx, node.Options{
		Home: home, Version: version, Log: newLogger(cfg.LogLevel, file, false, v.err), Progress: reading.show,
	}, acceptLoss, indexing.show)
	reading.end()
	indexing.end()
	if errors.Is(err, node.ErrLocked) {
		return control.Errorf(control.KindConflict, "parley stop", "cannot rebuild: a node runs on %s", home.Dir)
	}
	if err != nil {
		return fmt.Errorf("cannot rebuild: %w", err)
	}
	if v.json {
		return v.writeJSON(rebuilt{done.Messages, done.Indexed, control.Seconds(done.Elapsed), append([]string{}, done.Lost...)})
	}
	for _, path := range done.Lost {
		v.out.Printf("%s: %s\n", term.Line(path), v.out.Warn("the disk has lost it, and there is no copy"))
	}
	v.out.Printf("%s read from the record, %d of them indexed, in %s\n",
		count(done.Messages, "message"), done.Indexed, done.Elapsed.Round(10*time.Millisecond))
	if len(done.Lost) > 0 {
		v.out.Printf("Put what a backup has of objects/pack into that of record.git and start the node; or go on without: %s\n",
			v.command("parley record rebuild --accept-loss"))
	}
	return nil
}
