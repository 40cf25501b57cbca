package talk

import (
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewRepliesCommand is parley replies.
func NewRepliesCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "replies PATH",
		Short:   "List the answers to a message, oldest first",
		Example: `  parley replies b2c3d4e5`,
		Args:    cli.Exactly(1, "the path of a message"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			return runReplies(cmd.Context(), control.ThreadRequest{Path: args[0]}, client, v)
		}),
	}, "print an array of messages as JSON")
}

func runReplies(ctx context.Context, r control.ThreadRequest, client control.Service, v cli.View) error {
	answers, err := control.Replies.Ask(ctx, client, r)
	return v.Show(answers, err, func() {
		if len(answers) == 0 {
			v.Err.Printf("nobody has answered yet\n")
			v.Next("parley wait --re "+v.Named(r.Path), "wait for the first answer")
			return
		}
		mailTable(v, answers, unmarked)
		v.Next("parley thread "+v.Named(r.Path), "the whole conversation")
	})
}
