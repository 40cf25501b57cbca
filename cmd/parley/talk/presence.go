package talk

import (
	"context"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewPresenceCommand is parley presence.
func NewPresenceCommand(p *cli.Program) *cobra.Command {
	var r control.PresenceRequest
	cmd := &cobra.Command{
		Use:   "presence running|idle|waiting|away",
		Short: "Say what an agent that asks for its mail is at",
		Long: `Say what an agent that asks for its mail is at, for others to see in "parley
ls": running (it works), idle (it has nothing to do), waiting (for a human) or
away. Programs say so by their hooks. Of several sessions of one agent the
busiest counts. One that is away has ended: mail that it took and has not read
goes to others.

Where mail came while the agent worked, idle prints one digest of it, unless the
agent has a wake command, which is given it.

The session is the program that runs this command, past shells such as "sh -c";
what it said counts until it ends. Where that ends too early or cannot be seen,
--session or PARLEY_SESSION names it; then what it said counts for 12 hours.`,
		Example: `  parley presence running
  parley presence idle --as mawjs`,
		Args:      cli.Exactly(1, "running, idle, waiting or away"),
		ValidArgs: states(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(states(), args[0]) {
				return cli.UsageErrorf(cmd, "%q is none of %s", args[0], strings.Join(states(), ", "))
			}
			r.State = control.AgentState(args[0])
			if r.Session == "" {
				r.Session = p.Getenv("PARLEY_SESSION")
			}
			client, err := p.Client()
			if err != nil {
				return err
			}
			return runPresence(cmd.Context(), r, client, p.View())
		},
	}
	cli.AsFlag(cmd, &r.As, "which agent")
	cmd.Flags().StringVar(&r.Session, "session", "", "the `NAME` of its session (default: the program that calls)")
	p.JSONFlag(cmd, "print what the agent is at as JSON")
	return cmd
}

// states are what an agent can say that it is at.
func states() (words []string) {
	for _, state := range control.AgentStates() {
		words = append(words, string(state))
	}
	return words
}

func runPresence(ctx context.Context, r control.PresenceRequest, client control.Service, v cli.View) error {
	v.Acting(ctx, r.As, client)
	at, err := control.SetPresence.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if v.JSON {
		return v.WriteJSON(at)
	}
	v.Out.Printf("%s", at.Digest)
	if at.State != r.State && v.Out.Terminal {
		v.Out.Printf("%s is %s, by another session of it\n", at.Agent, at.State)
	}
	return nil
}
