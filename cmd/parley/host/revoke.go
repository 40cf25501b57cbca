package host

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

func newRevokeCommand(p *cli.Program) *cobra.Command {
	var r control.RevokeRequest
	cmd := &cobra.Command{
		Use:   "revoke ALIAS",
		Short: "End a key of a host, for ever",
		Long: `End a key of a host: its last one, or the one that is named. What it signed so
far, as this host knows it, counts still, or with --after what the host wrote up
to that message; of a key that this host had before, what this host wrote with
it. Everything else that bears its signature is refused on every host, whatever
its date. A host whose last key is revoked is out of the fleet: its links end,
its mail is refused, nobody can write to it.

A host may revoke its own keys. Those of others may be revoked on the host that
began the record, by a human with whom it was begun.

It cannot be undone. A person decides it: you are told what it does and asked to
type "revoke ALIAS", at the terminal and nowhere else. An agent is refused.`,
		Example: `  parley fleet revoke white
  parley fleet revoke white --after 2026/05/23/190100000Z-b2c3d4e5.md
  parley fleet revoke white --key SHA256:2SWU…`,
		Args: cli.Exactly(1, "the host's alias"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			alias, err := protocol.ParseName(args[0])
			if err != nil {
				return cli.UsageErrorf(cmd, "cannot revoke a key: %v", err)
			}
			r.Host = alias
			return runRevoke(cmd.Context(), r, client, p)
		}),
		ValidArgsFunction: p.CompleteHosts,
	}
	f := cmd.Flags()
	f.StringVar(&r.Key, "key", "", "the `KEY`, or its fingerprint, if it is not the last one of the host")
	f.StringVar(&r.After, "after", "", "nothing that the host wrote after this message counts, by its `PATH`")
	return p.JSONFlag(cmd, "print what was done as JSON")
}

func runRevoke(ctx context.Context, r control.RevokeRequest, client control.Service, p *cli.Program) error {
	v := p.View()
	done, err := cli.ByPhrase(ctx, p, "revoke the key", func(phrase string) (control.Revocation, error) {
		r.Phrase, r.Try = phrase, phrase == ""
		return control.RevokeKey.Ask(ctx, client, r)
	}, func(plan control.Revocation) (about, want string) {
		return revocationText(v, plan, r.After != ""), control.RevokePhrase(r.Host)
	})
	return v.Show(done, err, func() {
		v.Say(fmt.Sprintf("the key %s of %s is revoked", done.Key, done.Host))
		switch {
		case done.Out && done.Here:
			v.Out.Printf("%s is out of the fleet: this node ends now\n", done.Host)
		case done.Out:
			v.Out.Printf("%s is out of the fleet\n", done.Host)
		}
	})
}

// revocationText says what a revocation does, with or without a named last message.
func revocationText(v cli.View, r control.Revocation, after bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "If %s revokes\n%s of %s:\n", r.Human, r.Key, r.Host)
	switch {
	case r.Runs == 0:
		b.WriteString("- nothing that it signed counts any more\n")
	case after:
		fmt.Fprintf(&b, "- what it signed up to the message that you name counts still (%s of its node)\n", cli.Count(r.Runs, "start"))
	case r.Here && !r.Out:
		b.WriteString("- what this host signed with it, until it took the next key, counts still\n")
	default:
		fmt.Fprintf(&b, "- what it signed so far counts still, as far as this host has it (%s of its node)\n", cli.Count(r.Runs, "start"))
	}
	if r.Forks > 0 {
		fmt.Fprintf(&b, "- its chain forks (in %s): two machines sign with it, and what both wrote counts; to let only one count,\n"+
			"  name the last message that it wrote: --after PATH (see %s)\n",
			cli.Count(r.Forks, "place"), v.Command("parley record verify"))
	}
	if r.Later > 0 {
		fmt.Fprintf(&b, "- %s that came after that or beside it are refused; mail that it acknowledged in them counts as unread again\n", cli.Count(r.Later, "message"))
	}
	b.WriteString("- everything else that bears its signature is refused, whatever its date")
	if r.Out {
		fmt.Fprintf(&b, "\n- %s is out of the fleet, and comes back only under another name", r.Host)
		if r.Here {
			b.WriteString("; this node ends")
		}
	}
	return b.String()
}
