package agent

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

const testText = "This is a test of whether you can be reached. Answer with one short sentence."

func newTestCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "test NAME [TEXT|-]",
		Short: "Run an agent's command once; nothing of it is kept",
		Long: `Run an agent's command once with a text, as the node would for a message, and
print its answer. Nothing is sent and nothing is kept in the record. Standard
output is the answer alone. An agent that does not answer: exit code 1.`,
		Example: `  parley agent test calc '6 * 7'
  parley agent test claude`,
		Args: cli.AtLeast(1, "the agent's name"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) (err error) {
			r := control.TestRequest{Name: args[0], Text: testText}
			if len(args) > 1 {
				if r.Text, err = p.Text(cmd, args[1:]); err != nil {
					return err
				}
			}
			return runTest(cmd.Context(), r, client, v)
		}),
	}
	cli.TakesText(cmd, 1)
	p.JSONFlag(cmd, "print what was run and what came of it as JSON")
	cmd.ValidArgsFunction = p.CompleteAgents
	return cmd
}

func runTest(ctx context.Context, r control.TestRequest, client control.Service, v cli.View) error {
	done := v.Busy("waiting for " + term.Line(r.Name))
	result, err := control.TestAgent.Ask(ctx, client, r)
	done()
	if err != nil {
		return err
	}
	if v.JSON {
		if err := v.WriteJSON(result); err != nil {
			return err
		}
	} else if result.Problem == "" {
		v.Out.Printf("%s\n", v.Out.Body(result.Answer))
		v.Err.Printf("%s\n", v.Err.Dim(term.Line(result.Agent)+" answered within "+result.Elapsed.Duration().Round(time.Millisecond).String()))
	}
	if result.Problem == "" {
		return nil
	}
	if v.JSON {
		return cli.ErrSaid
	}
	v.Err.Printf("ran: %s\n", term.Line(result.Command))
	if result.Stderr != "" {
		v.Err.Printf("%s\n", term.Visible(result.Stderr))
	}
	return control.Errorf(control.KindFailed, "run the command by hand in its folder; its file is agents/"+result.Agent+".yaml in the home",
		"%s did not answer: %s", result.Agent, result.Problem)
}
