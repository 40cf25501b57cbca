package hosts

import (
	"context"
	"errors"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// reporter answers what other hosts ask about this one: how it fares, its time, its certificate.
type reporter struct {
	*Options
}

// Services are the questions of other hosts that this node answers. The one who asks is a host of
// the fleet, and may know all of the answers.
func (r *reporter) Services() map[protocol.Name]bus.Service {
	return map[protocol.Name]bus.Service{
		presence.QuestionPing: func(context.Context, protocol.Name, []byte) ([]byte, error) {
			return protocol.EncodePong(protocol.Pong{Now: r.Now(), Version: r.Version})
		},
		presence.QuestionCertificate: func(context.Context, protocol.Name, []byte) ([]byte, error) {
			b := r.Bus()
			if b == nil {
				return nil, writing.ErrDraining
			}
			return b.Certificate(), nil
		},
		presence.QuestionStatus: func(context.Context, protocol.Name, []byte) ([]byte, error) {
			return protocol.EncodeReport(r.report())
		},
		protocol.AskResend: r.resend,
		protocol.AskTrace:  r.Trace,
	}
}

// report is what this host says of itself.
func (r *reporter) report() protocol.Report {
	at := r.Record.Status()
	report := protocol.Report{
		Host: r.Config.Alias, Version: r.Version, Since: r.Started, Now: r.Now(), Tip: at.Tip,
		Unrecorded: at.Unrecorded, Unpushed: at.Unpushed, Remote: string(at.Trouble.Kind), Trouble: at.Trouble.Text,
	}
	if b := r.Bus(); b != nil {
		for _, l := range b.Links() {
			if l.Young {
				l.HalfUp, l.Problem = false, ""
			}
			report.Links = append(report.Links, protocol.LinkReport{
				Peer: l.Peer, Host: l.Host, Address: l.Address, Out: l.Out, Up: l.Up, HalfUp: l.HalfUp, RTT: l.RTT, Problem: l.Problem})
		}
	}
	r.Folded(func(s *fleet.State) { report.Messages, report.Have = s.Ledger.Len(), have(s) })
	report.Agents = r.Roster.Names()
	report.AgentCount = len(report.Agents)
	return report
}

// have returns, for each host, the last of its messages that is here.
func have(s *fleet.State) []protocol.Have {
	var all []protocol.Have
	for _, h := range s.Keys().Hosts() {
		if last, ok := s.Chains.LastOf(h.Alias); ok {
			all = append(all, protocol.Have{Host: h.Alias, Run: last.Run, Seq: last.Seq, Path: last.Path})
		}
	}
	return all
}

// questioner asks other hosts what a person wants to know about them: how far away they are, where
// they can be dialled, their certificates, how they are doing.
type questioner struct {
	*Options
	directory *Directory
	hubs      *hubs
	reporter  *reporter
}

// PingHost answers control.PingHost.
func (q *questioner) PingHost(ctx context.Context, r control.PingRequest) (control.Ping, error) {
	host, err := q.directory.Host(ctx, control.HostRequest{Alias: r.Alias})
	if err != nil {
		return control.Ping{}, err
	}
	if err := askable(host, "ping"); err != nil {
		return control.Ping{}, err
	}
	if r.Within <= 0 {
		r.Within = presence.AskWait
	}
	ctx, cancel := context.WithTimeout(ctx, r.Within)
	defer cancel()
	ping, err := q.Asker.Ping(ctx, host.Alias)
	if err != nil {
		return ping, writing.AsError(NoAnswer(host.Alias, r.Within, err))
	}
	return ping, nil
}

// NoAnswer says why a host did not answer, in words for people.
func NoAnswer(host protocol.Name, within time.Duration, err error) error {
	switch {
	case presence.HasAnswered(err):
		return control.Errorf(control.KindFailed, "", "%s", err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return control.Errorf(control.KindFailed, "how it can be reached: parley fleet show "+host.String(), "%s did not answer within %s", host, within)
	}
	return err
}

// ProbeHost answers control.ProbeHost.
func (q *questioner) ProbeHost(ctx context.Context, r control.HostRequest) (control.Probe, error) {
	host, err := q.directory.Host(ctx, r)
	if err != nil {
		return control.Probe{}, err
	}
	b := q.Bus()
	if b == nil {
		return control.Probe{}, writing.AsError(writing.ErrDraining)
	}
	hub := q.hubs.Of(host.Alias)
	if len(hub.Addresses) == 0 && q.NatsBus.Load() != nil {
		return control.Probe{}, control.Errorf(control.KindRefused, "how this host fares there: parley status; whether the other answers: parley fleet ping "+host.Alias.String(),
			"cannot probe %s: hosts meet at an existing NATS system here, and do not dial each other", host.Alias)
	}
	if len(hub.Addresses) == 0 {
		return control.Probe{}, control.Errorf(control.KindRefused,
			"it dials the others by itself; if it is to be dialled, give it a port there: parley fleet listen ADDRESS:PORT",
			"cannot probe %s: it takes no links, so there is no address to dial", host.Alias)
	}
	probe := control.Probe{Alias: host.Alias}
	for _, p := range b.Probe(ctx, hub) {
		probe.Addresses = append(probe.Addresses, q.probeView(host.Alias, p))
	}
	return probe, nil
}

func (q *questioner) probeView(alias protocol.Name, p bus.Probed) control.ProbedAddress {
	v := control.ProbedAddress{
		Address: p.Address, Works: p.Works(), Cause: string(p.Cause), Reason: p.Reason, RTT: control.Seconds(p.Took), Clock: control.Seconds(p.Clock), Version: p.Version,
	}
	if alias == q.Config.Alias && p.Cause == bus.CauseSelf {
		v.Works, v.Cause, v.Reason, v.Version = true, "", "", q.Version // its own key has answered
	}
	var h *keys.Host
	q.Folded(func(s *fleet.State) { h, _ = s.Keys().Host(alias) })
	host, _, err := protocol.SplitHostPort(p.Address)
	if !v.Works && err == nil && protocol.IsLoopback(host) && h.Joined() && h.Hostname != whereabouts.Hostname() {
		v.Reason = "it is an address of that machine alone; " + v.Reason
	}
	return v
}
