package main

import (
	"context"

	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newAgentPauseCommand(p *program) *cobra.Command {
	return p.pauseCommand(true, &cobra.Command{
		Use:   "pause NAME",
		Short: "Let an agent's mail wait",
		Long: `Let an agent's mail wait: what comes is stored and queued, and nothing is run
until "parley agent resume". What runs already is finished. It stays so over a
restart.`,
		Example: `  parley agent pause mawjs`,
	})
}

func newAgentResumeCommand(p *program) *cobra.Command {
	return p.pauseCommand(false, &cobra.Command{
		Use:     "resume NAME",
		Short:   "Let a paused agent go on with its mail",
		Example: `  parley agent resume mawjs`,
	})
}

func (p *program) pauseCommand(paused bool, cmd *cobra.Command) *cobra.Command {
	cmd.Args = exactly(1, "the agent's name")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		client, err := p.client()
		if err != nil {
			return err
		}
		return runAgentPause(cmd.Context(), control.PauseRequest{Name: args[0], Paused: paused}, client, p.view())
	}
	p.jsonFlag(cmd, "print the agent as JSON")
	cmd.ValidArgsFunction = p.completeAgents
	return cmd
}

func runAgentPause(ctx context.Context, r control.PauseRequest, client control.Service, v view) error {
	a, err := client.PauseAgent(ctx, r)
	if err != nil {
		return err
	}
	switch {
	case v.json:
		return v.writeJSON(a)
	case a.Paused:
		v.out.Printf("%s is paused, %s waiting\n", a.Name, count(a.Queued, "message"))
		v.next("parley agent resume "+a.Name.String(), "let it go on")
	default:
		v.out.Printf("%s goes on, %s waiting\n", a.Name, count(a.Queued, "message"))
	}
	return nil
}
