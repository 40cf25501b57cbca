package node

import (
	"context"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

// services are the questions of other hosts that this node answers. Who asks is
// a host of the fleet, and may know all of it.
func (n *Node) services() map[protocol.Name]bus.Service {
	return map[protocol.Name]bus.Service{
		presence.QuestionPing: func(context.Context, protocol.Name, []byte) ([]byte, error) {
			return protocol.EncodePong(protocol.Pong{Now: n.now(), Version: n.version})
		},
		presence.QuestionCertificate: n.answerCertificate,
		presence.QuestionStatus: func(context.Context, protocol.Name, []byte) ([]byte, error) {
			return protocol.EncodeReport(n.report())
		},
		protocol.AskResend: n.resender.resend,
	}
}

// report is what this host says of itself.
func (n *Node) report() protocol.Report {
	r := n.record.Status()
	report := protocol.Report{
		Host: n.cfg.Alias, Version: n.version, Since: n.started, Now: n.now(), Tip: r.Tip,
		Unrecorded: r.Unrecorded, Unpushed: r.Unpushed, Remote: string(r.Trouble.Kind), Trouble: r.Trouble.Text,
	}
	if b := n.currentBus(); b != nil {
		for _, l := range b.Links() {
			if l.Young {
				l.HalfUp, l.Problem = false, ""
			}
			report.Links = append(report.Links, protocol.LinkReport{
				Peer: l.Peer, Host: l.Host, Address: l.Address, Out: l.Out, Up: l.Up, HalfUp: l.HalfUp, RTT: l.RTT, Problem: l.Problem})
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	report.Messages, report.Have = n.state.Ledger.Len(), n.have()
	report.Agents = n.roster.Names()
	report.AgentCount = len(report.Agents)
	return report
}

// have is the last message of each host that is here. The caller holds mu.
func (n *Node) have() []protocol.Have {
	var all []protocol.Have
	for _, h := range n.state.Keys().Hosts() {
		if last, ok := n.state.Chains.LastOf(h.Alias); ok {
			all = append(all, protocol.Have{Host: h.Alias, Run: last.Run, Seq: last.Seq, Path: last.Path})
		}
	}
	return all
}
