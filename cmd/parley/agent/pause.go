package agent

import (
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newPauseCommand(p *cli.Program) *cobra.Command {
	return pauseOrResume(p, true, &cobra.Command{
		Use:   "pause NAME",
		Short: "Let an agent's mail wait",
		Long: `Let an agent's mail wait: what comes is stored and queued, and nothing is run
until "parley agent resume". What runs already is finished. It stays so over a
restart, and may be said while no node runs.`,
		Example: `  parley agent pause mawjs`,
	})
}

func newResumeCommand(p *cli.Program) *cobra.Command {
	conversation := ""
	cmd := pauseOrResume(p, false, &cobra.Command{
		Use:   "resume NAME",
		Short: "Let an agent go on that is paused, or that waits because of others",
		Long: `Let an agent go on with its mail that is paused, or whose mail waits because
agents have had it run max_runs times within an hour (see config.yaml):
what was counted counts no more.

With --conversation, a message of it, the agent goes on in one conversation that
waits because agents have had each other run in it
max_conversation_runs times since a human last spoke there. So you speak there,
without a text for anybody to answer; to write in it does the same.`,
		Example: `  parley agent resume mawjs
  parley agent resume mawjs --conversation 2ed25ea1`,
	}, func(r *control.PauseRequest) { r.Conversation = conversation })
	cmd.Flags().StringVar(&conversation, "conversation", "", "let it go on in the conversation of this `MESSAGE`, a path or the end of one")
	return cmd
}

func pauseOrResume(p *cli.Program, paused bool, cmd *cobra.Command, more ...func(*control.PauseRequest)) *cobra.Command {
	cmd.Args = cli.Exactly(1, "the agent's name")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r := control.PauseRequest{Name: args[0], Paused: paused}
		for _, add := range more {
			add(&r)
		}
		return runPause(cmd.Context(), r, p)
	}
	p.JSONFlag(cmd, "print the agent as JSON")
	cmd.ValidArgsFunction = p.CompleteAgents
	return cmd
}

func runPause(ctx context.Context, r control.PauseRequest, p *cli.Program) error {
	a, offline, err := changeAgents(ctx, p,
		func(client control.Service) (control.Agent, error) { return control.PauseAgent.Ask(ctx, client, r) },
		func(files agentFiles) (control.Agent, error) { return files.PauseAgent(r) })
	if err != nil {
		return err
	}
	v := p.View()
	switch {
	case v.JSON:
		return v.WriteJSON(a)
	case offline && a.Paused:
		v.Out.Printf("%s is paused%s\n", a.Name, fromNextStart(offline))
	case r.Conversation != "":
		v.Out.Printf("%s goes on in that conversation\n", a.Name)
	case offline:
		v.Out.Printf("%s goes on at the next start of the node\n", a.Name)
	case a.Paused:
		v.Out.Printf("%s is paused, %s waiting\n", a.Name, cli.Count(a.Queued, "message"))
		v.Next("parley agent resume "+a.Name.String(), "let it go on")
	default:
		v.Out.Printf("%s goes on, %s waiting\n", a.Name, cli.Count(a.Queued, "message"))
	}
	return nil
}
