package talk

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewPromptCommand is parley prompt.
func NewPromptCommand(p *cli.Program) *cobra.Command {
	var r control.PromptRequest
	cmd := &cobra.Command{
		Use:   "prompt PATH",
		Short: "Show exactly what an agent was given for a message",
		Long: `Show exactly what the command of an agent was given here for a message, byte for
byte: the bare text or, where the agent's input is a prompt, its profile, what
the channel is for, the memories that apply, the conversation that it may see,
and the message. Before the agent is run, and with --now, it is what it would be
given now.

What was given is kept by this host, 64 MiB of it; the oldest is let go.`,
		Example: `  parley prompt b2c3d4e5
  parley prompt b2c3d4e5 --agent mawjs --attempt 1
  parley prompt b2c3d4e5 --json`,
		Args: cli.Exactly(1, "the id or path of a message"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			r.Path = args[0]
			return runPrompt(cmd.Context(), r, client, v)
		}),
	}
	const agent = "the agent `NAME` (default: the one that was run last, else the one that it is for)"
	cmd.Flags().StringVar(&r.As, "agent", "", agent)
	cmd.Flags().StringVar(&r.As, "as", "", agent)
	_ = cmd.Flags().MarkHidden("as") // the earlier name of --agent, which still works; it was registered above
	cmd.Flags().IntVar(&r.Attempt, "attempt", 0, "what was given in attempt `N` (default: the last)")
	cmd.Flags().BoolVar(&r.Now, "now", false, "what it would be given now, whatever it was given")
	p.JSONFlag(cmd, "print the prompt, its hash, its parts and when it was given as JSON")
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
	if prompt.Time.IsZero() {
		v.Err.Printf("%s\n", v.Err.Dim(term.Line("this is what "+prompt.Agent+" would be given now")))
	} else if v.Out.Terminal {
		v.Err.Printf("%s\n", v.Err.Dim(term.Line(givenIn(prompt)+" "+v.At(prompt.Time, cli.TimeForm))))
	}
	text := prompt.Text
	if prompt.Base64 != "" {
		exact, err := base64.StdEncoding.DecodeString(prompt.Base64)
		if err != nil {
			return fmt.Errorf("cannot show the prompt: %w", err)
		}
		text = string(exact)
	}
	v.Out.Printf("%s", v.Out.Body(text))
	return nil
}

func givenIn(p control.Prompt) string {
	said := fmt.Sprintf("given to %s, attempt %d", p.Agent, p.Attempt)
	if p.Retry > 0 {
		said += " after somebody had it tried again"
	}
	return said + ","
}
