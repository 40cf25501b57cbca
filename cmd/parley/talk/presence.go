package talk

import (
	"context"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewPresenceCommand is parley presence.
func NewPresenceCommand(p *cli.Program) *cobra.Command {
	var r control.PresenceRequest
	var said control.SayPresenceRequest
	cmd := &cobra.Command{
		Use:   "presence STATE",
		Short: "Say what an agent is at, and how reachable it is in its parties",
		Long: `Say what an agent that asks for its mail is at, for others to see in "parley
ls": running (it works), idle (it has nothing to do), waiting (for a human) or
away. Programs say so by their hooks. Of several sessions of one agent the
busiest counts. One that is away has ended: mail that it took and has not read
goes to others.

Where mail came while the agent worked, idle prints one digest of it, unless the
agent has a wake command, which is given it.

In its parties an agent says how reachable it is: active, compacted (its context
was), busy (what is told to the party waits until it is not), hidden (it is told
nothing) or away, which ends each of these; --note says more. Who is away comes
back by running, idle or active.

The session is the program that runs this command, past shells such as "sh -c";
what it said counts until it ends. Where that ends too early or cannot be seen,
--session or PARLEY_SESSION names it; then what it said counts for 12 hours.`,
		Example: `  parley presence running
  parley presence idle --as mawjs`,
		Args:      cli.Exactly(1, "a state: "+strings.Join(append(states(), partyStates()...), ", ")),
		ValidArgs: append(states(), partyStates()...),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			if slices.Contains(partyStates(), args[0]) {
				said.As, said.State = r.As, protocol.Presence(args[0])
				return runPartyPresence(cmd.Context(), said, client, v)
			}
			if !slices.Contains(states(), args[0]) {
				return cli.UsageErrorf(cmd, "%q is none of %s", args[0], strings.Join(append(states(), partyStates()...), ", "))
			}
			if said.Note != "" {
				return cli.UsageErrorf(cmd, "--note goes with %s", strings.Join(partyStates(), ", "))
			}
			r.State = control.AgentState(args[0])
			if r.Session == "" {
				r.Session = p.Getenv("PARLEY_SESSION")
			}
			return runPresence(cmd.Context(), r, client, v)
		}),
	}
	cli.AsFlag(cmd, &r.As, "which agent")
	cmd.Flags().StringVar(&r.Session, "session", "", "the `NAME` of its session (default: the program that calls)")
	cmd.Flags().StringVar(&said.Note, "note", "", "`WHY`, shown in parley who")
	return p.JSONFlag(cmd, "print what the agent is at as JSON")
}

// states are what an agent can say that it does.
func states() []string {
	return each.Of(control.AgentStates(), func(state control.AgentState) string { return string(state) })
}

func runPresence(ctx context.Context, r control.PresenceRequest, client control.Service, v cli.View) error {
	v.Acting(ctx, r.As, client)
	at, err := control.SetPresence.Ask(ctx, client, r)
	return v.Show(at, err, func() {
		v.Out.Printf("%s", at.Digest)
		if at.State != r.State && v.Out.Terminal {
			v.Out.Printf("%s is %s, by another session of it\n", at.Agent, at.State)
		}
	})
}

// partyStates are what an agent can say only of how reachable it is in its parties.
func partyStates() []string {
	return []string{string(protocol.PresenceActive), string(protocol.PresenceCompacted), string(protocol.PresenceBusy), string(protocol.PresenceHidden)}
}

func runPartyPresence(ctx context.Context, r control.SayPresenceRequest, client control.Service, v cli.View) error {
	said, err := control.SayPresence.Ask(ctx, client, r)
	return v.Show(said, err, func() {
		switch {
		case len(said.Parties) == 0 && len(said.Failed) == 0:
			v.Out.Printf("%s is %s already\n", said.Me, said.State)
		case len(said.Parties) > 0:
			v.Out.Printf("%s is %s in %s\n", said.Me, said.State, term.Line(strings.Join(said.Parties, ", ")))
		}
		for _, failed := range said.Failed {
			v.Out.Printf("%s\n", v.Out.Warn("not said in "+term.Line(failed)))
		}
	})
}
