package hosts

import (
	"context"
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// resend answers a host that asks for messages that it missed. The answer has the messages that
// follow the last one that the asker has, the oldest first. It also has the messages before the one
// that the asker wants, as far as they are here and fit into one answer.
func (r *reporter) resend(ctx context.Context, _ protocol.Name, request []byte) ([]byte, error) {
	asked, err := protocol.DecodeResendRequest(request)
	if err != nil {
		return nil, err
	}
	chain := r.ChainTo(asked)
	if len(chain) == 0 {
		return nil, fmt.Errorf("nothing of %s that is missing there is here", asked.Host)
	}
	b := r.Bus()
	if b == nil {
		return nil, fmt.Errorf("there is no bus")
	}
	return protocol.EncodeResent(r.loadChain(ctx, chain, b.MaxAnswer()))
}

// chainStep is how many messages of a chain are looked up in one reading of the state, so that the
// search for one answer keeps nobody else waiting.
const chainStep = 64

// ChainTo returns those of the requested messages that are here, the oldest first.
func (r *reporter) ChainTo(asked protocol.ResendRequest) (chain []*fleet.Item) {
	after, end := asked.After, asked.AfterHash
	for room := protocol.MaxResent; end != "" && room > 0; room = protocol.MaxResent - len(chain) {
		var step []*fleet.Item
		r.Folded(func(s *fleet.State) { step = s.Chains.On(asked.Host, end, asked.Want, min(room, chainStep)) })
		if len(step) == 0 {
			break
		}
		chain = append(chain, step...)
		after, end = step[len(step)-1].Path, step[len(step)-1].Hash
	}
	var back []*fleet.Item // newest first
	hash := asked.Want
	for room := protocol.MaxResent - len(chain); room > 0; room = protocol.MaxResent - len(chain) - len(back) {
		var step []*fleet.Item
		r.Folded(func(s *fleet.State) { step = s.Chains.Back(asked.Host, hash, after, min(room, chainStep)) })
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

// resentHead is how many bytes a message takes in an answer, not counting its own bytes.
const resentHead = 320

func (r *reporter) loadChain(ctx context.Context, chain []*fleet.Item, limit int) []protocol.Resent {
	messages := []protocol.Resent{}
	for _, it := range chain {
		data, err := r.Record.Get(it.Path)
		if err != nil || protocol.Hash(data) != it.Hash {
			continue // another file has won its path, or is about to win it
		}
		if limit -= len(data) + resentHead; limit < 0 || ctx.Err() != nil {
			break
		}
		messages = append(messages, protocol.Resent{Path: it.Path, Data: data})
	}
	return messages
}
