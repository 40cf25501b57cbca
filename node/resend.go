package node

import (
	"context"
	"fmt"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// resend answers the question for messages that another host missed: what follows on
// the last one that it has, oldest first, as far as it is here and fits into one
// answer, and what leads to the one that it wants.
func (n *Node) resend(ctx context.Context, _ protocol.Name, request []byte) ([]byte, error) {
	r, err := protocol.DecodeResendRequest(request)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	chain := n.chainTo(r)
	n.mu.Unlock()
	if len(chain) == 0 {
		return nil, fmt.Errorf("nothing of %s that is missing there is here", r.Host)
	}
	b := n.currentBus()
	if b == nil {
		return nil, fmt.Errorf("there is no bus")
	}
	return protocol.EncodeResent(n.loadChain(ctx, chain, b.MaxAnswer()))
}

// chainTo is what is here of the messages that are asked for, oldest first. The
// caller holds mu.
func (n *Node) chainTo(r protocol.ResendRequest) []*fleet.Item {
	var chain []*fleet.Item
	if r.AfterHash != "" {
		chain = n.state.ChainOn(r.Host, r.AfterHash, r.Want, protocol.MaxResent)
	}
	after := r.After
	if len(chain) > 0 {
		after = chain[len(chain)-1].Path
	}
	return append(chain, n.state.ChainBack(r.Host, r.Want, after, protocol.MaxResent-len(chain))...)
}

// resentHead is what a message takes of an answer besides its bytes.
const resentHead = 320

// loadChain loads messages, as many as fit into limit bytes.
func (n *Node) loadChain(ctx context.Context, chain []*fleet.Item, limit int) []protocol.Resent {
	messages := []protocol.Resent{}
	for _, it := range chain {
		data, err := n.record.Get(it.Path)
		if err != nil || protocol.Hash(data) != it.Hash {
			continue // another file has won its path, or is about to
		}
		if limit -= len(data) + resentHead; limit < 0 || ctx.Err() != nil {
			break
		}
		messages = append(messages, protocol.Resent{Path: it.Path, Data: data})
	}
	return messages
}
