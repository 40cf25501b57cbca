package node

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// hostState is what this host says of itself: from its own configuration alone.
func (n *Node) hostState() protocol.HostState {
	hostname, _ := os.Hostname() // only a help for people: may stay empty
	h := protocol.HostState{Host: n.cfg.Alias, Key: n.publicKey, Hostname: hostname, Humans: []protocol.Name{n.cfg.Human}}
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

// readHostFiles takes in the host files of the record. A key in one counts for
// nothing; where it contradicts the record's messages the operator is warned.
func (n *Node) readHostFiles() error {
	files, err := n.record.ListFiles(protocol.HostsDir)
	if err != nil {
		return err
	}
	for _, path := range files {
		if strings.HasSuffix(path, ".md") {
			n.readHostFile(path)
		}
	}
	return nil
}

func (n *Node) readHostFile(path string) {
	data, ok, err := n.record.ReadFile(path)
	if err != nil || !ok {
		return
	}
	says, err := protocol.ParseHostFile(data)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil {
		n.notice("%s cannot be read: %v", path, err)
		return
	}
	n.state.SetHostFile(says)
	if h, joined := n.state.Host(says.Host); joined && says.Key != "" && h.Key != says.Key {
		n.notice("%s holds another key than the one %s joined with: it is ignored", path, says.Host)
	}
}

// filesChanged is the record's news of files that are no messages.
func (n *Node) filesChanged(paths []string) {
	for _, path := range paths {
		if strings.HasPrefix(path, protocol.HostsDir+"/") && strings.HasSuffix(path, ".md") {
			n.readHostFile(path)
		}
	}
	if !slices.Contains(paths, protocol.HostFilePath(n.cfg.Alias)) {
		return
	}
	if err := n.renderHostFile(n.hostState()); err != nil {
		n.log.Warn().Err(err).Msg("cannot render this host's file")
	}
}
