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

func newRemoveCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "remove ALIAS",
		Short: "Take a host out of the fleet, for ever",
		Long: `Take a host out of the fleet whose machine is retired. Run it on that host, as
its last word; or, once its node runs no more, on the host that began the
record. All that it wrote stays and counts. Its agents are served there no more,
its key ends, nobody can write to it, and lists leave it out, but for "parley
fleet hosts --all". Its name stays taken, because what it wrote bears it.

Where a key was stolen, see "parley fleet revoke": that says what counts of it.

It cannot be undone. A person decides it: you are told what it does and asked to
type "remove ALIAS", at the terminal and nowhere else. An agent is refused.`,
		Example: `  parley fleet remove white`,
		Args:    cli.Exactly(1, "the host's alias"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			alias, err := protocol.ParseName(args[0])
			if err != nil {
				return cli.UsageErrorf(cmd, "cannot remove a host: %v", err)
			}
			return Remove(cmd.Context(), p, client, alias)
		}),
		ValidArgsFunction: p.CompleteHosts,
	}
	return p.JSONFlag(cmd, "print what was done as JSON")
}

// Remove takes a host out of the fleet, once a person has said so at the terminal.
func Remove(ctx context.Context, p *cli.Program, client control.Service, alias protocol.Name) error {
	r := control.RemoveHostRequest{Host: alias}
	done, err := cli.ByPhrase(ctx, p, "remove the host", func(phrase string) (control.HostRemoval, error) {
		r.Phrase, r.Try = phrase, phrase == ""
		return control.RemoveHost.Ask(ctx, client, r)
	}, func(plan control.HostRemoval) (about, want string) {
		return removalText(plan), control.RemovePhrase(r.Host)
	})
	v := p.View()
	return v.Show(done, err, func() {
		if done.Here {
			v.Out.Printf("%s is removed from the fleet: this node ends now\n", done.Host)
			return
		}
		v.Out.Printf("%s is removed from the fleet\n", done.Host)
	})
}

func removalText(r control.HostRemoval) string {
	var b strings.Builder
	fmt.Fprintf(&b, "If %s removes %s from the fleet:\n", r.Human, r.Host)
	b.WriteString("- what it wrote stays and counts, as far as this host has it\n")
	switch {
	case len(r.Agents) > 0 && r.Waiting > 0:
		fmt.Fprintf(&b, "- %s served there no more; %s to them wait, and nobody will answer these\n", areServed(r.Agents), cli.Count(r.Waiting, "message"))
	case len(r.Agents) > 0:
		fmt.Fprintf(&b, "- %s served there no more; no message to them waits\n", areServed(r.Agents))
	}
	if r.Running > 0 {
		fmt.Fprintf(&b, "- its agents work on %s: what they have not answered in 3 seconds is not answered\n", cli.Count(r.Running, "message"))
	}
	if r.Founder {
		b.WriteString("- it began the record: nobody can remove other hosts or revoke their keys any more, but they themselves\n")
	}
	b.WriteString("- its key ends, its links too, and nobody can write to it\n")
	if r.Here {
		b.WriteString("- this node ends, and does not start again\n")
	}
	b.WriteString("- its name stays taken: the machine comes back only under another one")
	return b.String()
}

func areServed(agents []protocol.Name) string {
	if len(agents) == 1 {
		return agents[0].String() + " is"
	}
	return cli.Names(agents) + " are"
}
