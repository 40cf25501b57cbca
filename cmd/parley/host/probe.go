package host

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newProbeCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:   "probe ALIAS",
		Short: "Say how far a link to a host gets, and what keeps it",
		Long: `Dial each address of a host from here, up to where a link would begin, and say
how far that gets:

  name      the address' name cannot be looked up
  route     no way there: a firewall, a broken network, a machine that is off
  refused   the machine is there, and nobody listens at that port
  tls       what listens there is no links port of parley
  key       another key answers than the host's, or it does not accept ours
  self      this host itself answers there
  version   it speaks another version of links
  clock     a link works, but the two clocks are far apart

It exits with 1 if no address works. No link is changed.`,
		Example: `  parley fleet probe white
  parley fleet probe white --json`,
		Args: cli.Exactly(1, "the host's alias"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			return runProbe(cmd.Context(), control.HostRequest{Alias: args[0]}, client, v)
		}),
		ValidArgsFunction: p.CompleteHosts,
	}, "print alias and addresses, each with works, cause, reason, rtt and clock, as JSON")
}

func runProbe(ctx context.Context, r control.HostRequest, client control.Service, v cli.View) error {
	done := v.Busy("dialling " + term.Line(r.Alias))
	probe, err := control.ProbeHost.Ask(ctx, client, r)
	done()
	err = v.Show(probe, err, func() {
		for _, a := range probe.Addresses {
			v.Out.Printf("%s  %s\n", term.Line(a.Address), probed(v, a))
		}
	})
	if err == nil && !slices.ContainsFunc(probe.Addresses, func(a control.ProbedAddress) bool { return a.Works }) {
		return cli.ErrSaid
	}
	return err
}

func probed(v cli.View, a control.ProbedAddress) string {
	switch {
	case !a.Works || a.Cause != "":
		return v.Out.Warn(a.Cause) + ": " + term.Line(a.Reason)
	case a.RTT == 0:
		return "fine, this host itself answers"
	}
	return "fine, round trip " + standing.RoundTrip(a.RTT.Duration()) + ", version " + term.Line(a.Version) + standing.ClockDifference(a.Clock.Duration(), "; ")
}
