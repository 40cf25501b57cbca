package main

import (
	"context"
	"fmt"

	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newHostShowCommand(p *program) *cobra.Command {
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
		Example: `  parley host show white
  parley host show white --cert > white.pem`,
		Args: exactly(1, "the host's alias"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := p.client()
			if err != nil {
				return err
			}
			if certificate {
				return runHostCertificate(cmd.Context(), control.HostRequest{Alias: args[0]}, client, p.view())
			}
			return runHostShow(cmd.Context(), control.HostRequest{Alias: args[0]}, client, p.view())
		},
	}
	cmd.Flags().BoolVar(&certificate, "cert", false, "print its certificate for NATS clients, and nothing else")
	p.jsonFlag(cmd, "print the host, or its certificate, as JSON")
	cmd.ValidArgsFunction = p.completeHosts
	return cmd
}

func runHostShow(ctx context.Context, r control.HostRequest, client control.Service, v view) error {
	h, err := control.ShowHost.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(h)
	}
	field := func(name, value string) { v.labelled(12, name, value) }
	field("host", h.Alias.String()+", "+hostState(h.State))
	field("key", h.Key)
	field("fingerprint", h.Fingerprint)
	showKeys(v, h)
	field("addresses", names(h.Addresses))
	field("hostname", h.Hostname)
	field("humans", names(h.Humans))
	field("agents", names(h.Agents))
	field("since", v.atOrEmpty(h.Since, timeForm))
	if h.State != control.HostHere && h.State != control.HostLive {
		field("last seen", v.at(h.LastSeen, timeForm))
	}
	field("round trip", roundTripOrEmpty(h.RTT.Duration()))
	field("clock", clockDifference(h.Clock.Duration(), ""))
	field("version", h.Version)
	if last := h.LastMessage; last != nil {
		field("last wrote", v.at(last.Timestamp, timeForm)+", "+v.path(last.Path))
	}
	if h.State == control.HostLive {
		v.next("parley host ping "+h.Alias.String(), "how far away it is")
	}
	return nil
}

func runHostCertificate(ctx context.Context, r control.HostRequest, client control.Service, v view) error {
	c, err := control.HostCertificate.Ask(ctx, client, r)
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(c)
	}
	v.out.Printf("%s", v.out.Body(c.PEM))
	return nil
}

// showKeys shows the keys of a host, where it had more than one, or none that
// counts any more.
func showKeys(v view, h control.Host) {
	for _, k := range h.Keys {
		switch {
		case k.Removed:
			v.labelled(12, "removed", fmt.Sprintf("%s, by %s", v.at(k.Revoked, timeForm), k.RevokedBy))
		case !k.Revoked.IsZero():
			v.labelled(12, "revoked", fmt.Sprintf("%s, %s, by %s", k.Fingerprint, v.at(k.Revoked, timeForm), k.RevokedBy))
		case !k.Until.IsZero():
			v.labelled(12, "old key", fmt.Sprintf("%s, until %s", k.Fingerprint, v.at(k.Until, timeForm)))
		case !k.Since.IsZero():
			v.labelled(12, "key since", v.at(k.Since, timeForm))
		}
	}
}
