package node

import (
	"context"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// hostState is what this host says of itself: from its own configuration alone.
func (n *Node) hostState() protocol.HostState {
	h := protocol.HostState{Host: n.cfg.Alias, Key: n.ownKey().public, Hostname: hostname(), Addresses: n.hubs.addresses(), Humans: []protocol.Name{n.cfg.Human}}
	for _, a := range n.roster.all() {
		h.Agents = append(h.Agents, hosted(a))
	}
	return h
}

// hosted is what the fleet is told of an agent: never its commands (R12).
func hosted(a configs.Agent) protocol.HostedAgent {
	h := protocol.HostedAgent{Name: a.Name}
	for _, t := range a.Tiers {
		h.Tiers = append(h.Tiers, protocol.Tier{Name: t.Name, Count: t.Count})
	}
	if a.Door == configs.DoorInbox {
		h.Tiers = []protocol.Tier{{Name: protocol.InboxTier, Count: 1}}
	}
	return h
}

// publishHost tells the fleet who is here, where that is news: a signed message,
// and its rendering as the seed's host file.
func (n *Node) publishHost(ctx context.Context) error {
	if _, err := n.act(ctx, fleet.Join{Host: n.hostState()}, protocol.Path{}); err != nil {
		return err
	}
	return n.renderHostFile()
}

// retireHostFile has the file of a host that is out say so: programs that know no keys
// would go on writing to its agents. The word of its revocation is the truth, this is
// its rendering.
func (n *Node) retireHostFile(alias protocol.Name) {
	n.mu.Lock()
	h, _ := n.state.Host(alias)
	n.mu.Unlock()
	says, since := protocol.HostState{Host: alias, Key: h.Key, Hostname: h.Hostname}, n.now()
	err := n.record.UpdateFile(protocol.HostFilePath(alias), func(old []byte) ([]byte, error) {
		return protocol.RetireHostFile(old, says, since)
	})
	if err != nil {
		n.log.Warn().Err(err).Msg("cannot say in the host's file that it is out")
	}
}

// renderHostFile has the next commit put into this host's file what it says of itself
// by then. What others wrote there until then stays.
func (n *Node) renderHostFile() error {
	return n.record.UpdateFile(protocol.HostFilePath(n.cfg.Alias), func(old []byte) ([]byte, error) {
		return protocol.UpdateHostFile(old, n.hostState())
	})
}

// answerTwin writes a message, by which the other node of this name learns of this one.
func (n *Node) answerTwin(ctx context.Context) {
	if _, err := n.act(ctx, fleet.Join{Host: n.hostState(), Again: true}, protocol.Path{}); err != nil {
		n.log.Warn().Err(err).Msg("cannot tell the other node of this name to stay out")
	}
}
