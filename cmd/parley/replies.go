package main

import (
	"context"

	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newRepliesCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "replies PATH",
		Short:   "List the answers to a message, oldest first",
		Example: `  parley replies b2c3d4e5`,
		Args:    exactly(1, "the path of a message"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := p.client()
			if err != nil {
				return err
			}
			return runReplies(cmd.Context(), control.ThreadRequest{Path: args[0]}, client, p.view())
		},
	}
	p.jsonFlag(cmd, "print an array of messages as JSON")
	return cmd
}

func runReplies(ctx context.Context, r control.ThreadRequest, client control.Service, v view) error {
	answers, err := control.Replies.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(answers)
	}
	if len(answers) == 0 {
		v.err.Printf("nobody has answered yet\n")
		v.next("parley wait --re "+v.named(r.Path), "wait for the first answer")
		return nil
	}
	mailTable(v, answers)
	v.next("parley thread "+v.named(r.Path), "the whole conversation")
	return nil
}
