package record

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newAdmitCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "admit COMMIT",
		Short: "Let in a commit of the remote that brings very much",
		Long: `Take in a commit of the remote, however much it brings, and what git needs to
unpack it. By itself a node takes in what hosts have signed, and no more than
5,000 files or 32 MiB without a signature at a time, and ten times as many new
ones in a day: a few kilobytes that somebody pushes can stand for millions of
files. "parley status" names the commit and who made it. Look at it before.

Each host decides for itself, and only until its node stops.`,
		Example: `  parley record admit 3f786850e387550fdab836ed7e6dc881de23001b`,
		Args:    cli.Exactly(1, "a commit"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			done := v.Busy("taking it in")
			_, err := control.Admit.Ask(cmd.Context(), client, control.AdmitRequest{Commit: args[0]})
			done()
			if err == nil {
				v.Out.Printf("%s is taken in\n", term.Line(args[0]))
			}
			return err
		}),
	}
}
