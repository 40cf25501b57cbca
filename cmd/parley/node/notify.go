package node

import (
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewNotifyCommand is parley notify.
func NewNotifyCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "notify",
		Short: "Try the commands by which you are told what happens",
		Long: `The commands of the setting notify tell you what happens: something waits for
your decision, mail came, an agent failed. They stand in config.yaml.`,
		Example: `  parley notify test`,
		Args:    cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageErrorf(cmd, "%s needs test", cmd.CommandPath())
		},
	}
	test := &cobra.Command{
		Use:     "test",
		Short:   "Run each of them with a text that says it is a test",
		Example: `  parley notify test`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			return runNotifyTest(cmd.Context(), client, v)
		}),
	}
	p.JSONFlag(test, "print an array of what came of each as JSON")
	cmd.AddCommand(test)
	return cmd
}

func runNotifyTest(ctx context.Context, client control.Service, v cli.View) error {
	list, err := control.TryNotifications.Ask(ctx, client, control.TryNotificationsRequest{})
	switch {
	case err != nil:
		return err
	case v.JSON:
		return v.WriteJSON(list)
	case len(list) == 0:
		v.Out.Printf("No command is set: add one to notify in config.yaml.\n")
		return cli.ExitCode(1)
	}
	failed := false
	for _, one := range list {
		if one.Problem == "" {
			v.Out.Printf("✓ %s\n", term.Line(one.Command))
			continue
		}
		failed = true
		v.Out.Printf("✗ %s: %s\n", term.Line(one.Command), term.Line(one.Problem))
	}
	if failed {
		return cli.ExitCode(1)
	}
	return nil
}
