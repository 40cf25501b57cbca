package main

import (
	"context"

	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newReadCommand(p *program) *cobra.Command {
	var r control.ReadRequest
	cmd := &cobra.Command{
		Use:   "read PATH",
		Short: "Read a message; its sender gets a receipt",
		Long: `Read a message, named by its path or by the eight hex digits of its name. The
first time, its sender gets a receipt; show looks without one.`,
		Example: `  parley read b2c3d4e5`,
		Args:    exactly(1, "the path of a message"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := p.client()
			if err != nil {
				return err
			}
			r.As, r.Path = p.speaker(r.As), args[0]
			return runRead(cmd.Context(), r, client, p.view())
		},
	}
	asFlag(cmd, &r.As, "who reads")
	p.jsonFlag(cmd, "print the message as JSON")
	return cmd
}

func runRead(ctx context.Context, r control.ReadRequest, client control.Service, v view) error {
	v.acting(ctx, r.As, "", client)
	m, err := client.Read(ctx, r)
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(m)
	}
	v.letter(m)
	if v.out.Terminal {
		v.out.Printf("\n")
	}
	v.next("parley reply "+v.path(m.Path)+" TEXT", "answer it")
	return nil
}
