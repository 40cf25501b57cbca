package agent

import (
	"context"
	"fmt"

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
	a, offline, err := changeAgents(ctx, p, control.PauseAgent, r, agentFiles.PauseAgent)
	if err != nil {
		return err
	}
	v := p.View()
	if v.JSON {
		return v.WriteJSON(a)
	}
	same, waiting := len(a.Changed) == 0, cli.Count(a.Queued, "message")+" waiting"
	if a.Running > 0 { // what has just begun was waiting a moment ago
		waiting = fmt.Sprintf("%d running, %s", a.Running, waiting)
	}
	switch {
	case r.Conversation != "" && same:
		v.Out.Printf("nothing waited in that conversation; what agents run in it is counted anew\n")
	case r.Conversation != "":
		v.Out.Printf("%s goes on in that conversation\n", a.Name)
	case offline && a.Paused && same:
		v.Out.Printf("%s is paused already: nothing was changed\n", a.Name)
	case offline && a.Paused:
		v.Out.Printf("%s is paused%s\n", a.Name, fromNextStart(offline))
	case offline && same:
		v.Out.Printf("%s is not paused: nothing was changed\n", a.Name)
	case offline:
		v.Out.Printf("%s goes on at the next start of the node\n", a.Name)
	case a.Paused && same:
		v.Out.Printf("%s is paused already, %s\n", a.Name, waiting)
	case a.Paused:
		v.Out.Printf("%s is paused, %s\n", a.Name, waiting)
	case same && a.Over > 0:
		v.Out.Printf("%s is not paused; %s for a human to speak in its conversation: %s\n", a.Name, waitFor(a.Over),
			v.Command(fmt.Sprintf("parley agent resume %s --conversation MESSAGE", a.Name)))
	case same:
		v.Out.Printf("%s is neither paused nor over budget: it goes on as before, %s\n", a.Name, waiting)
	default:
		v.Out.Printf("%s goes on, %s\n", a.Name, waiting)
	}
	if a.Paused && !offline {
		v.Next("parley agent resume "+a.Name.String(), "let it go on")
	}
	return nil
}

// waitFor is "1 message waits", "2 messages wait".
func waitFor(n int) string {
	if n == 1 {
		return "1 message waits"
	}
	return cli.Count(n, "message") + " wait"
}
