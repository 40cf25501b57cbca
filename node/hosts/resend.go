package hosts

import (
	"context"
	"fmt"

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

// ChainTo returns those of the requested messages that are here, the oldest first.
func (r *reporter) ChainTo(asked protocol.ResendRequest) (chain []*fleet.Item) {
	r.Folded(func(s *fleet.State) {
		after := asked.After
		if asked.AfterHash != "" {
			chain = s.Chains.On(asked.Host, asked.AfterHash, asked.Want, protocol.MaxResent)
		}
		if n := len(chain); n > 0 {
			after = chain[n-1].Path
		}
		chain = append(chain, s.Chains.Back(asked.Host, asked.Want, after, protocol.MaxResent-len(chain))...)
	})
	return chain
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
