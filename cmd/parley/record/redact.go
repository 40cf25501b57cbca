package record

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/hand"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

func newRedactCommand(p *cli.Program) *cobra.Command {
	var r control.RedactRequest
	cmd := &cobra.Command{
		Use:   "redact ID",
		Short: "Hide the text of a message or memory on every host",
		Long: `Hide the text of a message or a memory on every host: views, search, prompts and
exports show who redacted it, when and why in its place. It is for a secret that
was sent. The human of the host that wrote the text can do it, and a human with
whom the record was begun, who signs it with their own key (parley gates key).

Nothing is gone by that. Git keeps the text, as does every clone. So first make
the secret worthless where it was made. Said again, the command writes nothing
and shows which hosts hide the text by now.

Only talk and memories can be hidden. What humans decided, what agents agreed on
and what hosts say of their keys stays as it was signed.`,
		Example: `  parley record redact b2c3d4e5 --reason 'it has a token'`,
		Args:    cli.Exactly(1, "the id of a message or a memory"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			r.ID, r.Try = args[0], true
			plan, err := control.Redact.Ask(cmd.Context(), client, r)
			if err == nil && plan.Path.IsZero() {
				if r.Hsig, err = hand.Sign(cmd.Context(), p, client, protocol.HumanDecision{Act: protocol.ActRedact, Reason: plan.Decides}); err != nil {
					return err
				}
				r.Try = false
				plan, err = control.Redact.Ask(cmd.Context(), client, r)
			}
			return v.Show(plan, err, func() { showRedacted(v, plan) })
		}),
	}
	cmd.Flags().StringVar(&r.Reason, "reason", "", "`WHY`, which everybody reads in place of the text")
	return p.JSONFlag(cmd, "print what is known of each host as JSON")
}

func showRedacted(v cli.View, done control.Redacted) {
	v.Out.Printf("%s\n", v.Out.Bad("Rotate the secret now: git still holds it, and so does every clone."))
	v.Out.Printf("%s\nis redacted by %s@%s: %s\n", term.Line(done.File), term.Line(done.By), done.Host, term.Line(done.Reason))
	for _, h := range done.Hosts {
		state := "hides the text"
		if !h.Hides {
			state = v.Out.Bad("does not confirm: ") + term.Line(h.Why)
		}
		v.Out.Printf("  %s  %s\n", h.Host, state)
	}
	v.Out.Printf("beyond it: git's history and every clone; messages that quote it, which are\n" +
		"redacted one by one; what was posted elsewhere, such as comments at GitHub; what\n" +
		"programs and people were shown before\n")
}
