package host

import (
	"fmt"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newShowCommand(p *cli.Program) *cobra.Command {
	certificate := false
	cmd := &cobra.Command{
		Use:   "show ALIAS",
		Short: "Show a host: its key, where it is reached, who is there",
		Long: `Show a host as this one knows it: its key and the fingerprint of it, the
addresses at which it says that others reach it, who is there, and when it was
last heard of.

With --cert the only output is the certificate, in PEM, that the host shows to
NATS clients on an address that is not the loopback. A host that is live is
asked for it; it is checked to be made for that host's key.`,
		Example: `  parley fleet show white
  parley fleet show white --cert > white.pem`,
		Args: cli.Exactly(1, "the host's alias"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			r := control.HostRequest{Alias: args[0]}
			if certificate {
				c, err := control.HostCertificate.Ask(cmd.Context(), client, r)
				return v.Show(c, err, func() { v.Out.Printf("%s", v.Out.Body(c.PEM)) })
			}
			h, err := control.ShowHost.Ask(cmd.Context(), client, r)
			return v.Show(h, err, func() { showHost(v, h) })
		}),
		ValidArgsFunction: p.CompleteHosts,
	}
	cmd.Flags().BoolVar(&certificate, "cert", false, "print its certificate for NATS clients, and nothing else")
	return p.JSONFlag(cmd, "print the host, or its certificate, as JSON")
}

func showHost(v cli.View, h control.Host) {
	field := func(name, value string) { v.Labelled(12, name, value) }
	field("host", h.Alias.String()+", "+standing.Host(h.State))
	field("key", h.Key)
	field("fingerprint", h.Fingerprint)
	showKeys(v, h)
	field("addresses", cli.Names(h.Addresses))
	field("hostname", h.Hostname)
	field("humans", cli.Names(h.Humans))
	field("agents", cli.Names(h.Agents))
	field("since", v.AtOrEmpty(h.Since, cli.TimeForm))
	if h.State != control.HostHere && h.State != control.HostLive {
		field("last seen", v.At(h.LastSeen, cli.TimeForm))
	}
	field("round trip", standing.RoundTripOrEmpty(h.RTT.Duration()))
	field("clock", standing.ClockDifference(h.Clock.Duration(), ""))
	field("version", h.Version)
	if last := h.LastMessage; last != nil {
		field("last wrote", v.At(last.Timestamp, cli.TimeForm)+", "+v.Path(last.Path))
	}
	if h.State == control.HostLive {
		v.Next("parley fleet ping "+h.Alias.String(), "how far away it is")
	}
}

// showKeys shows the keys of a host if it had more than one, or has none that still counts.
func showKeys(v cli.View, h control.Host) {
	for _, k := range h.Keys {
		switch {
		case k.Removed:
			v.Labelled(12, "removed", fmt.Sprintf("%s, by %s", v.At(k.Revoked, cli.TimeForm), k.RevokedBy))
		case !k.Revoked.IsZero():
			v.Labelled(12, "revoked", fmt.Sprintf("%s, %s, by %s", k.Fingerprint, v.At(k.Revoked, cli.TimeForm), k.RevokedBy))
		case !k.Until.IsZero():
			v.Labelled(12, "old key", fmt.Sprintf("%s, until %s", k.Fingerprint, v.At(k.Until, cli.TimeForm)))
		case !k.Since.IsZero():
			v.Labelled(12, "key since", v.At(k.Since, cli.TimeForm))
		}
	}
}
