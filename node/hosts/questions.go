package hosts

import (
	"context"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
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
		presence.QuestionCertificate: func(context.Context, protocol.Name, []byte) ([]byte, error) { return r.certificate() },
		presence.QuestionStatus: func(context.Context, protocol.Name, []byte) ([]byte, error) {
			return protocol.EncodeReport(r.report())
		},
		protocol.AskResend: r.resend,
		protocol.AskTrace:  r.Trace,
	}
}

// certificate is the certificate that this host shows to NATS clients, in PEM.
func (r *reporter) certificate() ([]byte, error) {
	b := r.Bus()
	if b == nil {
		return nil, writing.ErrDraining
	}
	return b.Certificate(), nil
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
