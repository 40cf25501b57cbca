package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newRecordRebuildCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rebuild",
		Short: "Make all that is computed from the record anew",
		Long: `Throw away what the home holds and can be computed, which is all in its folder
cache, and compute it anew from the record and the journal: the state from which
a start begins, and the index of words for "parley search".

It is never needed: what is damaged or missing is noticed and made anew by
itself. The node must not run meanwhile.`,
		Example: `  parley stop
  parley record rebuild`,
		Args: exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := p.homeDir()
			if err != nil {
				return err
			}
			return runRecordRebuild(cmd.Context(), home, p.view())
		},
	}
	p.jsonFlag(cmd, "print what was made as JSON")
	return cmd
}

// rebuilt is what "record rebuild --json" prints.
type rebuilt struct {
	Messages int     `json:"messages"`
	Indexed  int     `json:"indexed"`
	Seconds  float64 `json:"seconds"`
}

func runRecordRebuild(ctx context.Context, home configs.Home, v view) error {
	if !configured(home) {
		return control.Errorf(control.KindNotFound, "parley init", "cannot rebuild: there is no node at %s", home.Dir)
	}
	cfg, err := configs.Load(home.Config())
	if err != nil {
		return fmt.Errorf("cannot rebuild: %w", err)
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
	}, indexing.show)
	reading.end()
	indexing.end()
	if errors.Is(err, node.ErrLocked) {
		return control.Errorf(control.KindConflict, "parley stop", "cannot rebuild: a node runs on %s", home.Dir)
	}
	if err != nil {
		return fmt.Errorf("cannot rebuild: %w", err)
	}
	if v.json {
		return v.writeJSON(rebuilt{done.Messages, done.Indexed, done.Elapsed.Seconds()})
	}
	v.out.Printf("%s read from the record, %d of them indexed, in %s\n",
		count(done.Messages, "message"), done.Indexed, done.Elapsed.Round(10*time.Millisecond))
	return nil
}
