package talk

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewShowCommand is parley show.
func NewShowCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "show PATH",
		Short:   "Show a message and how far it has come; writes nothing",
		Example: `  parley show b2c3d4e5 --json`,
		Args:    cli.Exactly(1, "the path of a message"),
		RunE:    cli.Asks(p, control.Show, func(args []string) control.ShowRequest { return control.ShowRequest{Path: args[0]} }, showLetter),
	}, "print the message as JSON")
}
