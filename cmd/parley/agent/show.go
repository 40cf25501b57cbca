package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newShowCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show how an agent is served, with all that is set",
		Long: `Show how an agent of this host is served, with all that is set, called as the
flags of "parley agent set", and what holds where nothing is said. Of variables
of the environment the names are shown.`,
		Example: `  parley agent show mawjs
  parley agent show mawjs --json`,
		Args: cli.Exactly(1, "the agent's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := p.Client()
			if err != nil {
				return err
			}
			return runShow(cmd.Context(), control.AgentRequest{Name: args[0]}, client, p.View())
		},
	}
	p.JSONFlag(cmd, "print the agent and its settings as JSON")
	cmd.ValidArgsFunction = p.CompleteAgents
	return cmd
}

func runShow(ctx context.Context, r control.AgentRequest, client control.Service, v cli.View) error {
	a, err := control.ShowAgent.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if v.JSON {
		return v.WriteJSON(a)
	}
	width := len("agent:")
	for _, s := range a.Settings {
		width = max(width, len(s.Name)+1)
	}
	v.Labelled(width, "agent", a.Name.String())
	v.Labelled(width, "state", stateAndWork(a.Agent))
	for _, s := range a.Settings {
		v.Labelled(width, s.Name, s.Value)
	}
	return nil
}

// stateAndWork says what an agent does, and what it has to do.
func stateAndWork(a control.Agent) string {
	words := []string{fmt.Sprintf("%d running", a.Running), fmt.Sprintf("%d waiting", a.Queued)}
	if a.Unread > 0 {
		words = []string{fmt.Sprintf("%d unread", a.Unread)}
	}
	if state := stateOf(a); state != "" {
		words = append(words, state)
	}
	return strings.Join(words, ", ")
}
