package host

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

func newListCommand(p *cli.Program) *cobra.Command {
	var r control.HostsRequest
	cmd := &cobra.Command{
		Use:     "hosts",
		Aliases: []string{"list"},
		Short:   "List the hosts of the fleet",
		Long: `List the hosts of the fleet, as this host knows them: live ones were heard on
the bus in the last 15 seconds, those away were not. LAST SEEN is when a host
that is away was last heard, or the time that its last message states. With
--all those stand there too that were removed from the fleet, or whose key was
revoked.`,
		Example: `  parley fleet hosts
  parley fleet hosts --all --json`,
		Args: cli.Exactly(0, "nothing"),
		RunE: cli.Asks(p, control.Hosts, func([]string) control.HostsRequest { return r }, ShowHosts),
	}
	cmd.Flags().BoolVar(&r.All, "all", false, "those too that are out of the fleet")
	return p.JSONFlag(cmd, "print an array of hosts as JSON")
}

// ShowStanding shows hosts as a status has them.
func ShowStanding(v cli.View, hosts []control.HostStatus) {
	ShowHosts(v, each.Of(hosts, func(h control.HostStatus) control.Host {
		return control.Host{Alias: h.Alias, State: h.State, Since: h.Since, LastSeen: h.LastSeen, Version: h.Version, Agents: each.Of(h.Agents, func(name string) protocol.Name { return protocol.Name(name) })}
	}))
}

// ShowHosts shows hosts in a table.
func ShowHosts(v cli.View, hosts []control.Host) {
	t := term.Table{Heading: []string{"HOST", "STATE", "SINCE", "LAST SEEN", "VERSION", "AGENTS", "FINGERPRINT"}, Flexible: 5}
	t.Paint = term.Paint{Column: 1, Style: func(row int, cell string) string { return Coloured(v, hosts[row].State, 0, cell) }}
	for _, h := range hosts {
		t.Rows = append(t.Rows, []string{
			h.Alias.String(), standing.Host(h.State), v.StampOrEmpty(h.Since), standing.LastSeen(v, h.State, h.LastSeen),
			term.Line(h.Version), cli.Names(h.Agents), h.Fingerprint,
		})
	}
	v.Table(t, cli.Squeeze{Column: 5, Least: 20}, cli.Squeeze{Column: 2, Least: cli.DayWidth, Cut: cli.ToDay}, cli.Squeeze{Column: 3, Least: cli.DayWidth, Cut: cli.ToDay},
		cli.Squeeze{Column: 4}, cli.Squeeze{Column: 6, Least: 20}, cli.Squeeze{Column: 5, Least: 12}, cli.Squeeze{Column: 3},
		cli.Squeeze{Column: 6, Least: 14}, cli.Squeeze{Column: 6})
}
