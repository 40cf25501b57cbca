package human

import (
	"context"

	"github.com/nats-io/nkeys"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/hand"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

const openUsage = "keep the key without a passphrase: for scripts and tests; every display\nsays that such decisions are no proof"

func newAddCommand(p *cli.Program) *cobra.Command {
	var open bool
	var file string
	cmd := &cobra.Command{
		Use:   "add [NAME]",
		Short: "Give this host's human a key to sign decisions with",
		Long: `Give this host's human a key to sign decisions with. You are asked for a
passphrase at the terminal. From then on what they decide counts only where the
key has signed it: neither an agent nor who has the host's key can decide in
their name.

On a second host of yours --key takes the key of the first: copy its file, which
is in the folder humans of the home there. Then you are one person on both, and
answer on either what the other asks you.`,
		Example: `  parley gates key add
  parley gates key add nat --open
  parley gates key add --key nat.key`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if open && file != "" {
				return cli.UsageErrorf(cmd, "--key takes a key as it is, with or without its passphrase: leave --open out")
			}
			return runMake(cmd, p, args, making{open: open, file: file})
		},
	}
	cmd.Flags().StringVar(&file, "key", "", "the `FILE` of your key on another host")
	cmd.Flags().BoolVar(&open, "open", false, openUsage)
	return p.JSONFlag(cmd, "print the human and the key as JSON")
}

func newRotateCommand(p *cli.Program) *cobra.Command {
	var open bool
	cmd := &cobra.Command{
		Use:   "rotate [NAME]",
		Short: "Give this host's human another key in the place of theirs",
		Long: `Give this host's human another key in the place of theirs. The old key agrees
to it, so you are asked for its passphrase and for a new one. What the old key
has signed counts still.`,
		Example: `  parley gates key rotate`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runMake(cmd, p, args, making{open: open, next: true})
		},
	}
	cmd.Flags().BoolVar(&open, "open", false, openUsage)
	return p.JSONFlag(cmd, "print the human and the key as JSON")
}

type making struct {
	open bool   // it has no passphrase
	next bool   // it follows the present key
	file string // the key is taken from this file; "": a new key is made
}

// runMake makes the first key of this host's human, or the next one.
func runMake(cmd *cobra.Command, p *cli.Program, args []string, m making) error {
	if err := p.ForPerson("give a human a key"); err != nil {
		return err
	}
	client, err := p.Client()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	all, h, err := here(ctx, client)
	if err == nil {
		err = checkName(cmd, args, all.Here)
	}
	switch {
	case err != nil:
		return err
	case !m.next && h.Key != "":
		return control.Errorf(control.KindConflict, "parley gates key rotate", "%s has a key already: %s", h.Name, h.Fingerprint)
	case m.next && h.Key == "":
		return control.Errorf(control.KindNotFound, "parley gates key add", "%s has no key that another one could follow", h.Name)
	}
	made, err := makeKey(ctx, p, client, all, h, m)
	v := p.View()
	return v.Show(made, err, func() {
		v.Out.Printf("%s signs decisions with %s\n", made.Name, made.Fingerprint)
		if made.Open {
			v.Out.Printf("Whoever may read the files of this host can sign in the name of %s: the key has no passphrase.\n", made.Name)
		}
	})
}

func makeKey(ctx context.Context, p *cli.Program, client control.Service, all control.HumanList, h control.Human, m making) (control.Human, error) {
	keys, err := hand.Of(p)
	if err != nil {
		return control.Human{}, err
	}
	var before nkeys.KeyPair
	if h.Key != "" {
		if before, err = keys.Open(ctx, h.Name, h.Key); err != nil {
			return control.Human{}, err
		}
	}
	var key nkeys.KeyPair
	open := m.open
	if m.file != "" {
		key, open, err = keys.Take(ctx, h.Name, m.file)
	} else {
		key, err = keys.Make(ctx, h.Name, open)
	}
	if err != nil {
		return control.Human{}, err
	}
	says := protocol.HumanKey{Host: h.Host, Human: h.Name, Open: open}
	if err := says.Prove(all.Record, key, before); err != nil {
		return control.Human{}, err
	}
	made, err := control.GiveHumanKey.Ask(ctx, client, control.HumanKeyRequest{Key: says.Key, After: says.After, Open: open, Proof: says.Proof, Agreed: says.Agreed})
	if err != nil {
		return control.Human{}, err
	}
	return made, keys.Made(h.Name, says.Key)
}

func newPassphraseCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:     "passphrase [NAME]",
		Short:   "Give the key of this host's human another passphrase",
		Example: `  parley gates key passphrase`,
		Args:    cobra.MaximumNArgs(1),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			if err := p.ForPerson("change a passphrase"); err != nil {
				return err
			}
			all, h, err := here(cmd.Context(), client)
			if err == nil {
				err = checkName(cmd, args, all.Here)
			}
			if err != nil {
				return err
			}
			keys, err := hand.Of(p)
			if err == nil {
				err = keys.Passphrase(cmd.Context(), h.Name)
			}
			if err != nil {
				return err
			}
			p.Out.Printf("the key of %s has another passphrase; copies of the old file keep the old one\n", h.Name)
			return nil
		}),
	}
}
