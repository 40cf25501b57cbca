// Package human holds the commands for the keys with which humans sign decisions: parley gates key.
package human

import (
	"context"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewCommand is parley gates key.
func NewCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "human",
		Short: "The keys with which humans sign what they decide",
		Long: `The keys with which humans sign what they decide. A human's key is theirs, not
the host's: it is kept under a passphrase in the folder "humans" of the home,
and used by the program at which they sit; no node and no agent gets it. Once a
human has one, what they decide counts only with its signature.`,
		Example: `  parley gates key add
  parley gates key list`,
	}, newAddCommand(p), NewListCommand(p), newPassphraseCommand(p), newRotateCommand(p), newRevokeCommand(p))
}

// NewListCommand is parley gates key list.
func NewListCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "list",
		Short:   "List the humans of the fleet and their keys",
		Example: `  parley gates key list --json`,
		Args:    cli.Exactly(0, "nothing"),
		RunE:    cli.Asks(p, control.Humans, nil, showHumans),
	}, "print the humans and their keys as JSON")
}

func showHumans(v cli.View, all control.HumanList) {
	t := term.Table{Heading: []string{"HUMAN", "HOST", "KEY", "KEPT", "SINCE"}, Flexible: 2}
	for _, h := range all.Humans {
		row := []string{h.Name.String(), h.Host.String(), "none", "-", "-"}
		switch {
		case h.Key != "":
			row = []string{h.Name.String(), h.Host.String(), h.Fingerprint, kept(h), v.At(h.Since, cli.TimeForm)}
		case len(h.Contested) > 0:
			row[2] = "contested"
		case !h.Revoked.IsZero():
			row[2], row[4] = "revoked", v.At(h.Revoked, cli.TimeForm)
		}
		t.Rows = append(t.Rows, row)
	}
	v.Table(t)
}

func kept(h control.Human) string {
	if h.Open {
		return "open: no passphrase"
	}
	return "passphrase"
}

// here returns this host's human with what is known of them.
func here(ctx context.Context, client control.Service) (control.HumanList, control.Human, error) {
	all, err := control.Humans.Ask(ctx, client, control.HumansRequest{})
	if err != nil {
		return all, control.Human{}, err
	}
	for _, h := range all.Humans {
		if h.Name == all.Here && h.Host == all.Host {
			return all, h, nil
		}
	}
	return all, control.Human{Name: all.Here, Host: all.Host}, nil
}

func checkName(cmd *cobra.Command, args []string, here protocol.Name) error {
	if len(args) > 0 && args[0] != here.String() {
		return cli.UsageErrorf(cmd, "the human of this host is %s; %q has their key where they sit", here, args[0])
	}
	return nil
}
