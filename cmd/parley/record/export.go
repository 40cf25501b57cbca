package record

import (
	"fmt"
	"path/filepath"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newExportCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:   "export DIR",
		Short: "Write all files of the record into an empty folder",
		Long: `Write all files of the record, as they stand in main, into a folder that is
empty or not there yet. A file that cannot be read is named, and the others
are written; then the exit code is 1. With git, "git clone" of record.git in
the home does the same and brings the history along.`,
		Example: `  parley record export ~/record-2026`,
		Args:    cli.Exactly(1, "a folder"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return fmt.Errorf("cannot find the folder %s: %w", args[0], err)
			}
			done := v.Busy("writing the files")
			e, err := control.Export.Ask(cmd.Context(), client, control.ExportRequest{Dir: dir})
			done()
			err = v.Show(e, err, func() { showExported(v, e) })
			if err == nil && len(e.Lost) > 0 {
				return control.Errorf(control.KindFailed, "what may bring them back: parley status", "%s of the record cannot be read", cli.Count(len(e.Lost), "file or folder"))
			}
			return err
		}),
	}, "print what was written as JSON")
}

func showExported(v cli.View, e control.Exported) {
	v.Out.Printf("%s of commit %s written to %s\n", cli.Count(e.Files, "file"), cli.ShortHash(e.Tip), term.Line(e.Dir))
	if e.LeftOut > 0 {
		v.Err.Printf("%s left out: their paths lead out of the folder, or into a .git\n", cli.Count(e.LeftOut, "file"))
	}
	for _, l := range e.Lost {
		v.Err.Printf("%s is missing: %s\n", term.Line(l.Path), term.Line(l.Why))
	}
}
