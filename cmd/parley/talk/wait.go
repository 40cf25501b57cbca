package talk

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// waitDefault is how long wait waits if no time is given.
const waitDefault = time.Minute

// NewWaitCommand is parley wait.
func NewWaitCommand(p *cli.Program) *cobra.Command {
	var r control.WaitRequest
	var as string
	cmd := &cobra.Command{
		Use:   "wait --re PATH | --from NAME | --to NAME",
		Short: "Wait for an answer, or for the next message from or to someone",
		Long: `Wait for one message and print its text alone; everything else goes to standard
error. --re returns the first answer to a message, also one that is there
already, but not your own to somebody else; --from and --to return only what
comes after the command has begun.
A message that is for you counts as read then, and its sender gets a receipt.

Nothing in time: exit code 3. The answer of an agent that failed: exit code 1.`,
		Example: `  parley wait --re b2c3d4e5 --timeout 5m
  parley wait --to nat --timeout 1h && parley inbox`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			if each.Count([]string{"re", "from", "to"}, cmd.Flags().Changed) != 1 {
				return cli.UsageErrorf(cmd, "%s needs one of --re, --from and --to", cmd.CommandPath())
			}
			if r.Within <= 0 {
				return cli.UsageErrorf(cmd, "--timeout needs a time above zero, such as 30s")
			}
			return runWait(cmd.Context(), r, as, client, v)
		}),
	}
	f := cmd.Flags()
	cli.AsFlag(cmd, &as, "who reads it")
	f.StringVar(&r.Re, "re", "", "wait for an answer to this message")
	f.StringVar(&r.From, "from", "", "wait for the next message of this participant")
	f.StringVar(&r.To, "to", "", "wait for the next message to this participant, or all")
	r.Within = waitDefault
	cli.DurationFlag(f, &r.Within, "timeout", "how long")
	p.CompleteFlags(cmd, "from", "to")
	return p.JSONFlag(cmd, "print the message as JSON")
}

func runWait(ctx context.Context, r control.WaitRequest, as string, client control.Service, v cli.View) error {
	v.Acting(ctx, as, client)
	r.As = as
	if r.Re != "" {
		reply, err := awaitReply(ctx, r, as, client, v)
		if err != nil {
			return err
		}
		return showArrived(ctx, reply, as, client, v)
	}
	done := v.Busy("waiting for a message")
	m, err := control.Wait.Ask(ctx, client, r)
	done()
	if late := new(control.Error); errors.As(err, &late) && late.Kind == control.KindTimeout {
		return control.Errorf(control.KindTimeout, late.Hint, "nothing came within %s", span.Text(r.Within))
	}
	if err != nil {
		return err
	}
	return showArrived(ctx, m, as, client, v)
}
