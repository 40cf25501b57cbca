package node

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// reporter answers what other hosts ask about this one: how it fares, its time, its certificate.
type reporter struct {
	host    protocol.Name
	version string
	started time.Time
	now     func() time.Time
	record  *gitsync.Record
	folded  folded.State
	roster  *agents.Roster
	bus     func() *bus.Bus // nil if there is none
	resend  bus.Service     // sends again what another host lacks
	trace   bus.Service     // tells what this host knows of messages
}

// services are the questions of other hosts that this node answers. The one who asks is a host of
// the fleet, and may know all of the answers.
func (r *reporter) services() map[protocol.Name]bus.Service {
	return map[protocol.Name]bus.Service{
		presence.QuestionPing: func(context.Context, protocol.Name, []byte) ([]byte, error) {
			return protocol.EncodePong(protocol.Pong{Now: r.now(), Version: r.version})
		},
		presence.QuestionCertificate: func(context.Context, protocol.Name, []byte) ([]byte, error) { return r.certificate() },
		presence.QuestionStatus: func(context.Context, protocol.Name, []byte) ([]byte, error) {
			return protocol.EncodeReport(r.report())
		},
		protocol.AskResend: r.resend,
		protocol.AskTrace:  r.trace,
	}
}

// certificate is the certificate that this host shows to NATS clients, in PEM.
func (r *reporter) certificate() ([]byte, error) {
	b := r.bus()
	if b == nil {
		return nil, ErrDraining
	}
	return b.Certificate(), nil
}

// report is what this host says of itself.
func (r *reporter) report() protocol.Report {
	at := r.record.Status()
	report := protocol.Report{
		Host: r.host, Version: r.version, Since: r.started, Now: r.now(), Tip: at.Tip,
		Unrecorded: at.Unrecorded, Unpushed: at.Unpushed, Remote: string(at.Trouble.Kind), Trouble: at.Trouble.Text,
	}
	if b := r.bus(); b != nil {
		for _, l := range b.Links() {
			if l.Young {
				l.HalfUp, l.Problem = false, ""
			}
			report.Links = append(report.Links, protocol.LinkReport{
				Peer: l.Peer, Host: l.Host, Address: l.Address, Out: l.Out, Up: l.Up, HalfUp: l.HalfUp, RTT: l.RTT, Problem: l.Problem})
		}
	}
	r.folded(func(s *fleet.State) { report.Messages, report.Have = s.Ledger.Len(), have(s) })
	report.Agents = r.roster.Names()
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
