package human

import (
	"cmp"
	"context"
	"fmt"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/hand"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

func newRevokeCommand(p *cli.Program) *cobra.Command {
	var at, key string
	var none bool
	cmd := &cobra.Command{
		Use:   "revoke [NAME]",
		Short: "End the key of a human, for ever",
		Long: `End the key of a human: nothing that it signs from now on counts. What this host
knows of its decisions so far counts still, or with --none nothing does. A human
ends their own key with that key, on their host; where it is lost or stolen, a
human of the host that began the record ends it there, with a key of their own
(--host names the other's). Then "parley gates key add" gives them a new one.
Where somebody with the key of a host has told of another first key of its
human, it is contested which one is theirs: --key names the one that ends.`,
		Example: `  parley gates key revoke
  parley gates key revoke zoe --host white --none`,
		Args: cobra.MaximumNArgs(1),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			if err := p.ForPerson("revoke the key of a human"); err != nil {
				return err
			}
			var err error
			r := control.EndHumanKeyRequest{Try: true, Key: key}
			if len(args) > 0 {
				if r.Human, err = protocol.ParseName(args[0]); err != nil {
					return cli.UsageErrorf(cmd, "cannot revoke a key: %v", err)
				}
			}
			if at != "" {
				if r.Of, err = protocol.ParseName(at); err != nil {
					return cli.UsageErrorf(cmd, "cannot revoke a key: %v", err)
				}
			}
			return runRevoke(cmd.Context(), r, none, client, p)
		}),
	}
	cmd.Flags().StringVar(&at, "host", "", "the `ALIAS` of the human's host, where it is another one")
	cmd.Flags().StringVar(&key, "key", "", "the public `KEY` that ends, where it is not the last one")
	cmd.Flags().BoolVar(&none, "none", false, "no decision counts that the key has signed")
	return p.JSONFlag(cmd, "print what was done as JSON")
}

func runRevoke(ctx context.Context, r control.EndHumanKeyRequest, none bool, client control.Service, p *cli.Program) error {
	all, mine, err := here(ctx, client)
	if err != nil {
		return err
	}
	own := cmp.Or(r.Human, all.Here) == all.Here && cmp.Or(r.Of, all.Host) == all.Host
	if r.By = mine.Key; own {
		r.By = ""
	} else if mine.Key == "" {
		return control.Errorf(control.KindRefused, "parley gates key add", "cannot revoke the key of another: %s has no key that could agree to it", all.Here)
	}
	plan, err := control.EndHumanKey.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if none {
		plan.Counts = nil
	}
	keys, err := hand.Of(p)
	if err != nil {
		return err
	}
	key, err := keys.Open(ctx, all.Here, cmp.Or(r.By, plan.Key))
	if err != nil {
		return err
	}
	end := protocol.HumanEnd{Host: all.Host, Of: plan.Of, Human: plan.Human, Key: plan.Key, Counts: plan.Counts}
	if err := end.Agree(all.Record, key); err != nil {
		return err
	}
	v := p.View()
	done, err := cli.ByPhrase(ctx, p, "revoke the key", func(phrase string) (control.HumanKeyEnd, error) {
		if phrase == "" {
			return plan, nil
		}
		return control.EndHumanKey.Ask(ctx, client, control.EndHumanKeyRequest{
			Human: end.Human, Of: end.Of, Key: end.Key, Counts: end.Counts, By: end.By, Agreed: end.Agreed,
		})
	}, func(plan control.HumanKeyEnd) (about, want string) {
		return fmt.Sprintf("The key of %s at %s signs nothing any more that counts. Of what it has signed so far %s.", plan.Human, plan.Of, stays(len(plan.Counts))),
			"revoke " + plan.Human.String()
	})
	return v.Show(done, err, func() {
		v.Out.Printf("the key of %s at %s is revoked; %s\n", done.Human, done.Of, stays(len(done.Counts)))
	})
}

func stays(decisions int) string {
	switch decisions {
	case 0:
		return "nothing counts"
	case 1:
		return "one decision counts still"
	}
	return fmt.Sprintf("%d decisions count still", decisions)
}
