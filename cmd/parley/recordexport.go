package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newRecordExportCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Write all files of the record into an empty folder",
		Long: `Write all files of the record, as they stand in main, into a folder that is
empty or not there yet. With git, "git clone" of record.git in the home does
the same and brings the history along.`,
		Example: `  parley record export ~/record-2026`,
		Args:    exactly(1, "a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("cannot find the folder %s: %w", args[0], err)
			}
			client, err := p.client()
			if err != nil {
				return err
			}
			return runRecordExport(cmd.Context(), control.ExportRequest{Dir: dir}, client, p.view())
		},
	}
	p.jsonFlag(cmd, "print what was written as JSON")
	return cmd
}

func runRecordExport(ctx context.Context, r control.ExportRequest, client control.Service, v view) error {
	done := v.busy("writing the files")
	e, err := control.Export.Ask(ctx, client, r)
	done()
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(e)
	}
	v.out.Printf("%s of commit %s written to %s\n", count(e.Files, "file"), short(e.Tip), term.Line(e.Dir))
	if e.LeftOut > 0 {
		v.err.Printf("%s left out: their paths lead out of the folder, or into a .git\n", count(e.LeftOut, "file"))
	}
	return nil
}
