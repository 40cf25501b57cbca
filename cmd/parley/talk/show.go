package talk

import (
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewShowCommand is parley show.
func NewShowCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show PATH",
		Short:   "Show a message and how far it has come; writes nothing",
		Example: `  parley show b2c3d4e5 --json`,
		Args:    cli.Exactly(1, "the path of a message"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := p.Client()
			if err != nil {
				return err
			}
			return runShow(cmd.Context(), control.ShowRequest{Path: args[0]}, client, p.View())
		},
	}
	p.JSONFlag(cmd, "print the message as JSON")
	return cmd
}

func runShow(ctx context.Context, r control.ShowRequest, client control.Service, v cli.View) error {
	m, err := control.Show.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if v.JSON {
		return v.WriteJSON(m)
	}
	showLetter(v, m)
	return nil
}
