package talk

import (
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewReadCommand is parley read.
func NewReadCommand(p *cli.Program) *cobra.Command {
	var r control.ReadRequest
	var all bool
	var which control.ReadAllRequest
	cmd := &cobra.Command{
		Use:   "read PATH | --all",
		Short: "Read a message; its sender gets a receipt",
		Long: `Read a message, named by its path or by the eight hex digits of its name. The
first time, its sender gets a receipt; show looks without one. --all leaves the
receipts for all that waits, without showing it.`,
		Example: `  parley read b2c3d4e5
  parley read --all --channel sprint`,
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return cli.Exactly(0, "no path with --all")(cmd, args)
			}
			return cli.Exactly(1, "the path of a message, or --all")(cmd, args)
		},
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			if !all && (which.Channel != "" || which.From != "") {
				return cli.UsageErrorf(cmd, "--channel and --from go with --all")
			}
			if all {
				which.As = r.As
				return runReadAll(cmd.Context(), which, client, v)
			}
			r.Path = args[0]
			return runRead(cmd.Context(), r, client, v)
		}),
	}
	cli.AsFlag(cmd, &r.As, "who reads")
	cmd.Flags().BoolVar(&all, "all", false, "mark all that waits as read")
	cmd.Flags().StringVar(&which.Channel, "channel", "", "with --all: only what stands in this channel, by name or id")
	cmd.Flags().StringVar(&which.From, "from", "", "with --all: only what this participant wrote")
	p.CompleteFlags(cmd, "channel", "from")
	return p.JSONFlag(cmd, "print the message, or how many were marked, as JSON")
}

func runRead(ctx context.Context, r control.ReadRequest, client control.Service, v cli.View) error {
	v.Acting(ctx, r.As, client)
	m, err := control.Read.Ask(ctx, client, r)
	return v.Show(m, err, func() {
		showLetter(v, m)
		if v.Out.Terminal {
			v.Out.Printf("\n")
		}
		v.Next("parley reply "+v.ID(m.Path)+cli.SayAs(r.As)+" TEXT", "answer it")
	})
}

func runReadAll(ctx context.Context, r control.ReadAllRequest, client control.Service, v cli.View) error {
	v.Acting(ctx, r.As, client)
	done := v.Busy("marking what waits as read")
	marked, err := control.ReadAll.Ask(ctx, client, r)
	done()
	return v.Show(marked, err, func() {
		v.Out.Printf("%s marked as read\n", cli.Count(marked.Read, "message"))
	})
}
