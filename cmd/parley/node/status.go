package node

import (
	"context"
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/cmd/parley/agent"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/host"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewStatusCommand is parley status.
func NewStatusCommand(p *cli.Program) *cobra.Command {
	fleet := false
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how the node fares: record, bus, hosts, agents",
		Long: `Say how the node fares: record, bus, hosts, agents. Nobody is asked but the node
of this host. The first line is one word: healthy, or trouble if something below
waits for you: the record or its remote, a warning, letters refused, no link at
all, or an agent that fails.

With --fleet the node asks all live hosts, at the same time and for at most two
seconds, and shows one table: the state of each host (here, live, away, or git
where it writes but the bus does not reach it), since when that is, the address
of the link to it or the one that it states, the round trip, its version, the
difference of its clock where that is more than a second, and how many messages
it lacks. Below stand links that do not work, and who did not answer. Hosts that
are out of the fleet are left out.`,
		Example: `  parley status --json
  parley status --fleet`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			if fleet {
				return runFleetStatus(cmd.Context(), client, v)
			}
			return runStatus(cmd.Context(), client, v)
		}),
	}
	cmd.Flags().BoolVar(&fleet, "fleet", false, "ask all live hosts, and show the whole fleet")
	return p.JSONFlag(cmd, "print the status as JSON")
}

func runStatus(ctx context.Context, client control.Service, v cli.View) error {
	s, err := control.ShowStatus.Ask(ctx, client)
	return v.Show(s, err, func() {
		word := v.Out.Good("healthy")
		if causes.Worst(standing.Of(s)) == causes.Red {
			word = v.Out.Bad("trouble")
		}
		v.Out.Printf("%s\n", word)
		ShowStatusLine(v, s)
		showStatusFields(v, s)
		if s.Gates > 0 {
			v.Alarm(statusLabel, "gates", fmt.Sprintf("%d for %s to decide: parley gates", s.Gates, s.Human))
		}
		showWarnings(v, s)
		if len(s.Hosts) > 0 {
			v.Out.Printf("\n")
			host.ShowStanding(v, s.Hosts)
		}
		if len(s.Agents) > 0 {
			v.Out.Printf("\n")
			agent.Table(v, s.Agents)
		}
	})
}

// showWarnings shows what the operator should know.
func showWarnings(v cli.View, s control.Status) {
	for _, warning := range s.Warned {
		v.Note("warning: " + warning)
	}
}

// ShowStatusLine says in one line which node runs on which host.
func ShowStatusLine(v cli.View, s control.Status) {
	who := fmt.Sprintf("%s on host %s of fleet %s: ", s.Human, s.Host, s.Fleet)
	what := fmt.Sprintf("running since %s, version %s, process %d", v.At(s.Since, cli.TimeForm), term.Line(s.Version), s.PID)
	if v.Out.Width > 0 && term.Width(who+what) > v.Out.Width {
		what = "\n" + what
	}
	v.Out.Printf("%s on host %s of fleet %s: %s\n", s.Human, v.Out.Bold(s.Host.String()), v.Out.Bold(s.Fleet.String()), what)
}

const statusLabel = 8

func showStatusFields(v cli.View, s control.Status) {
	v.Labelled(statusLabel, "home", s.Home)
	for _, l := range slices.Concat(standing.Record(v, s.Record), standing.Links(s), standing.Node(v, s), standing.Refused(s)) {
		switch text := l.In(v); l.Level {
		case causes.Red:
			v.Trouble(statusLabel, text)
		case causes.Yellow:
			v.Alarm(statusLabel, l.Name, text)
		default:
			v.Labelled(statusLabel, l.Name, text)
		}
	}
}
