package talk

import (
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
			answers, err := control.Replies.Ask(cmd.Context(), client, control.ThreadRequest{Path: args[0]})
			return v.Show(answers, err, func() {
				if len(answers) == 0 {
					v.Err.Printf("nobody has answered yet\n")
					if m, err := control.Show.Ask(cmd.Context(), client, control.ShowRequest{Path: args[0]}); err == nil {
						for _, line := range moment(m, v) {
							v.Err.Printf("%s\n", v.Err.Dim(line))
						}
					}
					v.Next("parley wait --re "+v.Named(args[0]), "wait for the first answer")
					return
				}
				mailTable(v, answers, unmarked)
				v.Next("parley thread "+v.Named(args[0]), "the whole conversation")
			})
		}),
	}, "print an array of messages as JSON")
}
