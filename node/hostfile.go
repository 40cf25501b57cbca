package node

import (
	"bytes"
	"context"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// hostState is what this host says of itself: from its own configuration alone.
func (n *Node) hostState() protocol.HostState {
	h := protocol.HostState{Host: n.cfg.Alias, Key: n.ownKey().public, Hostname: hostname(), Addresses: n.addresses(), Humans: []protocol.Name{n.cfg.Human}}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range n.agents {
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
	says := n.hostState()
	if _, err := n.act(ctx, fleet.Join{Host: says}, protocol.Path{}); err != nil {
		return err
	}
	return n.renderHostFile(says)
}

// retireHostFile has the file of a host that is out say so: programs that know no keys
// would go on writing to its agents. The word of its revocation is the truth, this is
// its rendering.
func (n *Node) retireHostFile(alias protocol.Name) {
	n.mu.Lock()
	h, _ := n.state.Host(alias)
	n.mu.Unlock()
	path := protocol.HostFilePath(alias)
	old, _, err := n.record.ReadFile(path)
	if err == nil {
		old, err = protocol.RetireHostFile(old, protocol.HostState{Host: alias, Key: h.Key, Hostname: h.Hostname}, n.now())
	}
	if err == nil {
		err = n.record.PutFile(path, old)
	}
	if err != nil {
		n.log.Warn().Err(err).Msg("cannot say in the host's file that it is out")
	}
}

func (n *Node) renderHostFile(says protocol.HostState) error {
	path := protocol.HostFilePath(n.cfg.Alias)
	old, _, err := n.record.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := protocol.UpdateHostFile(old, says)
	if err != nil || bytes.Equal(old, file) {
		return err
	}
	return n.record.PutFile(path, file)
}
