package host

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/hand"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewPolicyCommand is parley fleet policy and its subcommands.
func NewPolicyCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "policy",
		Short: "What the fleet has settled for all its hosts",
		Long: `What the fleet has settled for all its hosts, such as how long decisions stay
open. The humans of the host that began the record settle it. Every host shows
what holds, who settled it and when; the record keeps what held before.`,
		Example: `  parley fleet policy list
  parley fleet policy set window-cross-host=3d --reason 'we meet twice a week'`,
	}, newPolicyListCommand(p), newPolicySetCommand(p))
}

func newPolicyListCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "list",
		Short:   "List what a fleet can settle, and what holds",
		Example: `  parley fleet policy list --json`,
		Args:    cli.Exactly(0, "nothing"),
		RunE:    cli.Asks(p, control.ListPolicy, nil, showPolicyList),
	}, "print an array of settings as JSON")
}

func showPolicyList(v cli.View, list []control.PolicySetting) {
	t := term.Table{Heading: []string{"KEY", "VALUE", "SETTLED", "WHAT IT IS"}, Flexible: 3}
	for _, s := range list {
		t.Rows = append(t.Rows, []string{s.Key, valueOf(s), settledBy(v, s), term.Line(s.Doc)})
	}
	v.Table(t)
}

// valueOf is the value that holds. A value that another version has settled has no meaning here.
func valueOf(s control.PolicySetting) string {
	switch {
	case s.Doc == "":
		return term.Line(s.Settled) + " (unknown to this version)"
	case s.Settled != "" && s.Settled != s.Value:
		return fmt.Sprintf("%s (%s cannot be read)", s.Value, term.Line(s.Settled))
	}
	return term.Line(s.Value)
}

func settledBy(v cli.View, s control.PolicySetting) string {
	if s.By == "" {
		return "by default"
	}
	text := fmt.Sprintf("by %s@%s%s, %s", term.Line(s.By), s.Host, proof(s.Proof), v.At(s.Time, cli.TimeForm))
	if s.Settled == "" {
		text = "taken back " + text
	}
	if s.Reason != "" {
		text += ": " + term.Line(s.Reason)
	}
	return text
}

// proof says what proves that somebody has decided, if that is more than the word of their host.
func proof(by string) string {
	switch by {
	case control.ProofOwnKey:
		return " (signed)"
	case control.ProofOpenKey:
		return " (signed, open key)"
	}
	return ""
}

func newPolicySetCommand(p *cli.Program) *cobra.Command {
	var r control.SetPolicyRequest
	cmd := &cobra.Command{
		Use:   "set KEY=VALUE",
		Short: "Settle something for the whole fleet",
		Long: `Settle something for the whole fleet. Only a human of the host that began the
record can; who has a key of their own (parley gates key) signs it. KEY= without
a value takes back what was settled.`,
		Example: `  parley fleet policy set reprompt=yes
  parley fleet policy set window-issue=`,
		Args: cli.Exactly(1, "KEY=VALUE"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			key, value, ok := strings.Cut(args[0], "=")
			if !ok || key == "" {
				return cli.UsageErrorf(cmd, "%q is not of the form KEY=VALUE", args[0])
			}
			r.Key, r.Value = key, strings.TrimSpace(value)
			var err error
			r.Hsig, err = hand.Sign(cmd.Context(), p, client, protocol.HumanDecision{Act: protocol.ActPolicy, Reason: r.Key + "=" + r.Value})
			if err != nil {
				return err
			}
			s, err := control.SetPolicy.Ask(cmd.Context(), client, r)
			return v.Show(s, err, func() {
				if s.Settled == "" {
					v.Out.Printf("%s is %s again, as where nothing is settled\n", s.Key, s.Value)
					return
				}
				v.Out.Printf("%s is %s for the whole fleet, %s\n", s.Key, s.Value, settledBy(v, s))
			})
		}),
	}
	cmd.Flags().StringVar(&r.Reason, "reason", "", "`WHY`, kept in the record")
	return p.JSONFlag(cmd, "print the setting as JSON")
}
