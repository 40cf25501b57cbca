package host

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newRotateCommand(p *cli.Program) *cobra.Command {
	r := control.RotateRequest{Overlap: 24 * time.Hour}
	cmd := &cobra.Command{
		Use:   "rotate",
		Short: "Give this host a new key",
		Long: `Give this host a new key. The old one signs the message that names it, and
opens links beside it until the overlap is over. What this host wrote before
that message counts; what else the old key signs is refused on every host,
whatever its date. Links are made anew with the new key; nothing else stops.
All keys stay in the folder keys of the home.

It cannot be undone: you are asked to type "rotate ALIAS", at the terminal and
nowhere else. An agent is refused.

Where the old key was stolen: --overlap 0, then revoke it with "parley fleet
revoke", which also refuses what a thief wrote before.`,
		Example: `  parley fleet rotate
  parley fleet rotate --overlap 0`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			return runRotate(cmd.Context(), r, client, p)
		}),
	}
	cli.DurationFlag(cmd.Flags(), &r.Overlap, "overlap", "how long the old key counts still, such as 7d")
	return p.JSONFlag(cmd, "print what was done as JSON")
}

func runRotate(ctx context.Context, r control.RotateRequest, client control.Service, p *cli.Program) error {
	done, err := cli.ByPhrase(ctx, p, "change the key", func(phrase string) (control.Rotation, error) {
		r.Phrase, r.Try = phrase, phrase == ""
		return control.RotateKey.Ask(ctx, client, r)
	}, func(plan control.Rotation) (about, want string) {
		return "The host " + plan.Host.String() + " gets a new key.", control.RotatePhrase(plan.Host)
	})
	v := p.View()
	return v.Show(done, err, func() {
		v.Out.Printf("%s has a new key, %s\n", done.Host, done.Key)
		v.Labelled(12, "fingerprint", done.Fingerprint)
		old := done.Old + ", counts until " + v.At(done.Until, cli.TimeForm)
		if !done.Until.After(time.Now()) {
			old = done.Old + ", counts no more"
		}
		v.Labelled(12, "old key", old)
		if v.Out.Terminal { // not as the next step: it cannot be undone
			v.Out.Printf("%s\n", v.Out.Dim("if the old key was stolen: "+v.Command("parley fleet revoke "+done.Host.String()+" --key "+done.Old)))
		}
	})
}
