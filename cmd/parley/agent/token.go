package agent

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newTokenCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token NAME",
		Short: "Make a token by which an agent that you start is known",
		Long: `Make a token for an agent that the node does not start itself, such as one with
an inbox. Whoever bears it in PARLEY_TOKEN is that agent: it reads, and speaks
as itself, and what it writes says because of which message. It counts as long
as the agent is served here; after "parley agent remove" it is over.`,
		Example: `  export PARLEY_TOKEN=$(parley agent token mawjs)
  parley agent token mawjs --json`,
		Args: cli.Exactly(1, "the agent's name"),
		RunE: cli.Asks(p, control.MakeToken, named, func(v cli.View, made control.AgentToken) { v.Out.Printf("%s\n", made.Token) }),
	}
	p.JSONFlag(cmd, "print agent and token as JSON")
	cmd.ValidArgsFunction = p.CompleteAgents
	return cmd
}
