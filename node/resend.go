package node

import (
	"context"
	"fmt"
	"slices"

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
	chain := n.chainTo(r)
	if len(chain) == 0 {
		return nil, fmt.Errorf("nothing of %s that is missing there is here", r.Host)
	}
	b := n.currentBus()
	if b == nil {
		return nil, fmt.Errorf("there is no bus")
	}
	return protocol.EncodeResent(n.loadChain(ctx, chain, b.MaxAnswer()))
}

// chainStep is how many messages of a chain are looked up while mu is held: the walk
// for one answer keeps nobody else waiting.
const chainStep = 64

// chainTo is what is here of the messages that are asked for, oldest first.
func (n *Node) chainTo(r protocol.ResendRequest) (chain []*fleet.Item) {
	after, end := r.After, r.AfterHash
	for room := protocol.MaxResent; end != "" && room > 0; room = protocol.MaxResent - len(chain) {
		step := n.walk(func(s *fleet.State) []*fleet.Item { return s.ChainOn(r.Host, end, r.Want, min(room, chainStep)) })
		if len(step) == 0 {
			break
		}
		chain = append(chain, step...)
		after, end = step[len(step)-1].Path, step[len(step)-1].Hash
	}
	var back []*fleet.Item // newest first
	hash := r.Want
	for room := protocol.MaxResent - len(chain); room > 0; room = protocol.MaxResent - len(chain) - len(back) {
		step := n.walk(func(s *fleet.State) []*fleet.Item { return s.ChainBack(r.Host, hash, after, min(room, chainStep)) })
		if len(step) == 0 {
			break
		}
		hash = step[0].Prev
		slices.Reverse(step)
		back = append(back, step...)
	}
	slices.Reverse(back)
	return append(chain, back...)
}

// walk takes one step along a chain.
func (n *Node) walk(step func(*fleet.State) []*fleet.Item) []*fleet.Item {
	n.mu.Lock()
	defer n.mu.Unlock()
	return step(n.state)
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
