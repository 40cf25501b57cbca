package talk

import (
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewPromptCommand is parley prompt.
func NewPromptCommand(p *cli.Program) *cobra.Command {
	var r control.PromptRequest
	cmd := &cobra.Command{
		Use:   "prompt PATH",
		Short: "Show exactly what an agent is given for a message",
		Long: `Show exactly what an agent served here is given for a message: its bare text or,
where the agent's input is a prompt, its profile, what the channel is for, the
memories that apply, the conversation that it may see, and the message.`,
		Example: `  parley prompt b2c3d4e5
  parley prompt b2c3d4e5 --as mawjs`,
		Args: cli.Exactly(1, "the path of a message"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := p.Client()
			if err != nil {
				return err
			}
			r.Path = args[0]
			return runPrompt(cmd.Context(), r, client, p.View())
		},
	}
	cmd.Flags().StringVar(&r.As, "as", "", "the agent (default: the one served here that the message is for)")
	p.JSONFlag(cmd, "print the prompt and what was left out as JSON")
	return cmd
}

func runPrompt(ctx context.Context, r control.PromptRequest, client control.Service, v cli.View) error {
	prompt, err := control.ShowPrompt.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if v.JSON {
		return v.WriteJSON(prompt)
	}
	v.Out.Printf("%s", v.Out.Body(prompt.Text))
	return nil
}
