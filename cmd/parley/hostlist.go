package main

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newHostListCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the hosts of the fleet",
		Long: `List the hosts of the fleet, as this host knows them: live ones were heard on
the bus in the last 15 seconds, those away were not. LAST SEEN is when a host
that is away was last heard, or the time that its last message states.`,
		Example: `  parley host list
  parley host list --json`,
		Args: exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := p.client()
			if err != nil {
				return err
			}
			return runHostList(cmd.Context(), client, p.view())
		},
	}
	p.jsonFlag(cmd, "print an array of hosts as JSON")
	return cmd
}

func runHostList(ctx context.Context, client control.Service, v view) error {
	hosts, err := client.Hosts(ctx)
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(hosts)
	}
	t := term.Table{Heading: []string{"HOST", "STATE", "SINCE", "LAST SEEN", "VERSION", "AGENTS", "FINGERPRINT"}, Flexible: 5}
	for _, h := range hosts {
		t.Rows = append(t.Rows, []string{
			h.Alias.String(), hostState(h.State), v.atOrEmpty(h.Since, shortForm), v.lastSeen(h.State, h.LastSeen),
			term.Line(h.Version), names(h.Agents), h.Fingerprint,
		})
	}
	v.table(t, squeeze{column: 2, least: dayWidth, cut: toDay}, squeeze{column: 4}, squeeze{column: 3, least: dayWidth, cut: toDay},
		squeeze{column: 6, least: 20}, squeeze{column: 5, least: 12}, squeeze{column: 3},
		squeeze{column: 6, least: 14}, squeeze{column: 6})
	return nil
}

// lastSeen is when a host that is away was last heard of; of others that is now.
func (v view) lastSeen(state control.HostState, at time.Time) string {
	if state == control.HostHere || state == control.HostLive {
		return ""
	}
	return v.atOrEmpty(at, shortForm)
}

// atOrEmpty is a time as a cell of a table, empty where there is none.
func (v view) atOrEmpty(t time.Time, form string) string {
	if t.IsZero() {
		return ""
	}
	return v.at(t, form)
}
